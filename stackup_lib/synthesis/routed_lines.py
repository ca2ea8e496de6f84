"""Routed lines of a board that is laid out, in a stackup that is new to it: which keep their impedance. Lengths in mm.

A board is not routed anew for a stackup where another one keeps its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.errors import StackwrightError
from stackup_lib.field_solver.sections import Section
from stackup_lib.field_solver.solution import VACUUM_IMPEDANCE_OHM
from stackup_lib.field_solver.solver import LADDER, impedance_once, solve
from stackup_lib.synthesis.candidates import OUTER_COPPER_MM, CandidateStackup
from stackup_lib.synthesis.goals import RoutedSize
from stackup_lib.transmission_lines.buildup import BuildupRow, site_of
from stackup_lib.transmission_lines.finish import LineFinish

TOLERANCE = 1e-3
"""Of the solver; what is shown of routed lines is solved to it too."""

NEAR = 0.005
"""Relative; nearer to a limit than this the coarsest mesh does not decide. It was off by 0.06 % at most."""

HEIGHTS_MM = (0.05, 0.065, 0.085, 0.11, 0.15, 0.2, 0.28, 0.4)
DKS = (3.0, 4.5)
"""Between these an outer line is interpolated: within 0.5 % of the solver on sizes of demo boards."""

MARGIN = 0.95
"""Share of the tolerance that an interpolated line may use."""

LEAVES, OFF = 1.0, 0.1
"""What a size that leaves its tolerance, and one at its edge, add to how uneasy a build is: more than a tenth of the
thickness does, and as much as a dielectric that a fab asks about."""

Reals = NDArray[np.float64]


def rerouted(candidate: CandidateStackup, sizes: Sequence[RoutedSize], known: dict[tuple[object, ...], bool]) -> int:
    """Return how many routed sizes leave their tolerance; one without a plane does not count.

    Args:
        candidate: the stackup.
        sizes: as they are routed.
        known: what was found before, by section and limits.
    """
    count = 0
    for size in sizes:
        try:
            section = candidate.site(size.layer).section(size.width_mm, size.gap_mm)
            key = (section, size.low_ohm, size.high_ohm)
            if key not in known:
                known[key] = leaves(section, size)
        except StackwrightError:  # no plane, or no room between its planes
            continue
        count += known[key]
    return count


def leaves(section: Section, size: RoutedSize) -> bool:
    """Tell whether a routed size leaves its tolerance; one far too wide is not solved."""
    if most_ohm(section) < size.low_ohm * (1 - NEAR):
        return True
    ohm = impedance_once(section, LADDER[0])
    if any(abs(ohm / limit - 1) < NEAR for limit in (size.low_ohm, size.high_ohm)):
        found = solve(section, TOLERANCE)
        ohm = found.z0_ohm if size.gap_mm is None else found.z_diff_ohm
    return not size.low_ohm <= ohm <= size.high_ohm


def most_ohm(section: Section) -> float:
    """Return an impedance that a line, or a pair of equal traces, cannot exceed.

    The flat faces against their planes are parallel plates; fringes, walls and the other trace only add capacitance
    (Thomson's principle: free sides of a part of the field store the least energy). Infinite without a plane.
    """
    strip = section.strips[0]
    faces = [(strip.half_width_at(strip.bottom_mm), 0.0, strip.bottom_mm)] if section.plane_below else []
    if section.plane_above:
        faces.append((strip.half_width_at(strip.top_mm), strip.top_mm, section.height_mm))
    ends = section.interfaces_mm
    filled = vacuum = 0.0
    for half_width, low, high in faces:
        between = zip(section.layers, ends, ends[1:], strict=False)
        optical = sum(max(min(top, high) - max(end, low), 0.0) / layer.er for layer, end, top in between)
        filled += 2 * half_width / optical
        vacuum += 2 * half_width / (high - low)
    single = VACUUM_IMPEDANCE_OHM / np.sqrt(filled * vacuum) if faces else np.inf
    return float(single * len(section.strips))


def outer_misfit(sizes: Sequence[RoutedSize], heights_mm: Reals, dks: Reals, finish: LineFinish) -> Reals:
    """Return how badly routed sizes on the surface keep their impedance over dielectrics; 0 is good.

    Args:
        sizes: on outer layers, a plane under each.
        heights_mm: thickness of each dielectric.
        dks: its Dk.
        finish: copper, taper and solder mask of the outer layers.
    """
    total = np.zeros(len(heights_mm))
    for size in sizes:
        inverse = _inverse_squares(size.width_mm, size.gap_mm, finish)
        if inverse is None:
            continue
        # the square of an impedance falls with the capacitance, which is nearly linear in Dk
        logs = np.log(HEIGHTS_MM)
        low, high = (np.exp(np.interp(np.log(heights_mm), logs, np.log(row))) for row in inverse)
        share = (dks - DKS[0]) / (DKS[1] - DKS[0])
        ohm = 1 / np.sqrt(low + share * (high - low))
        middle, half = np.sqrt(size.low_ohm * size.high_ohm), np.log(size.high_ohm / size.low_ohm) / 2
        off = np.abs(np.log(ohm / middle)) / half
        total += LEAVES * (off > MARGIN) + OFF * off
    return total


@lru_cache(maxsize=256)
def _inverse_squares(width_mm: float, gap_mm: float | None, finish: LineFinish) -> tuple[Reals, Reals] | None:
    """Return 1 over the square of an outer line's impedance by height, for either Dk; None where it cannot be made."""
    try:
        low, high = (
            [impedance_once(_section(width_mm, gap_mm, finish, h, dk), LADDER[0]) for h in HEIGHTS_MM] for dk in DKS
        )
    except StackwrightError:
        return None
    return np.array(low) ** -2.0, np.array(high) ** -2.0


def _section(width_mm: float, gap_mm: float | None, finish: LineFinish, height_mm: float, dk: float) -> Section:
    site = site_of(
        "outer",
        copper_mm=finish.outer_copper_mm or OUTER_COPPER_MM,
        above=(),
        below=(BuildupRow(name="dielectric", kind="prepreg", thickness_mm=height_mm, dk=dk),),
        reference_above=None,
        reference_below="plane",
        in_upper_half=True,
        mask=finish.mask,
        taper_mm=finish.taper_mm(outer=True),
    )
    return site.section(width_mm, gap_mm)
