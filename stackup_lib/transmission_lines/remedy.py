"""What would bring an impedance within reach: a wider gap or other dielectrics, found by the field solver."""

from __future__ import annotations

import math
from typing import Literal

from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.field_solver.solver import LADDER, impedance_once
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment

MOST_CHANGE = 5.0
"""Dielectrics are sought from a fifth to five times as thick."""

GAP_MATCH = 1e-3
"""Relative accuracy of a gap that is advised."""

Side = Literal["below", "above"]


@record
class Thickness:
    """The dielectric between a trace and a plane, as it is and as it would reach a target; mm."""

    plane: str
    from_mm: float
    to_mm: float

    def __str__(self) -> str:
        return f"{self.to_mm:.3g} mm in place of {self.from_mm:.3g} mm" + (f" to {self.plane}" if self.plane else "")


@record
class Remedy:
    """What would reach a target at given sizes, one thing or the other.

    Attributes:
        dielectrics: all of them together; empty where none from a fifth to five times as thick does.
        gap_mm: of the pair, as it is and as it would; None where no wider one does.
    """

    dielectrics: tuple[Thickness, ...]
    gap_mm: tuple[float, float] | None = None

    def __str__(self) -> str:
        ways = [] if self.gap_mm is None else [f"a gap of {self.gap_mm[1]:.3g} mm in place of {self.gap_mm[0]:.3g} mm"]
        if self.dielectrics:
            ways.append("a dielectric of " + " and ".join(map(str, self.dielectrics)))
        if ways:
            return f"{' or '.join(ways)} would reach it there"
        return "no dielectric from a fifth to five times as thick reaches it there: change the other sizes"


def remedy_for(
    site: TraceEnvironment,
    ohm: float,
    sizes: tuple[float, float | None, float | None],
    widest_gap_mm: float | None = None,
) -> Remedy:
    """Return what would give a line this impedance.

    Args:
        site: where it runs.
        ohm: wanted.
        sizes: width, gap and coplanar gap in mm, the latter None where there is none.
        widest_gap_mm: up to which a wider gap is sought, None where the gap is not to change.
    """
    width, gap, coplanar = sizes
    wider = None if gap is None or widest_gap_mm is None else gap_for(site, ohm, sizes, widest_gap_mm)
    dielectrics = thickness_for(site, ohm, width, gap, coplanar)
    return Remedy(dielectrics, None if gap is None or wider is None else (gap, wider))


def gap_for(
    site: TraceEnvironment, ohm: float, sizes: tuple[float, float | None, float | None], widest_gap_mm: float
) -> float | None:
    """Return the wider gap with which a pair has this impedance, None where none up to the widest does."""
    from scipy.optimize import brentq  # noqa: PLC0415 - heavy, and only this function needs it

    width, gap, coplanar = sizes

    def miss(other_mm: float) -> float:
        return math.log(impedance_once(site.section(width, other_mm, coplanar), LADDER[1]) / ohm)

    if gap is None or gap >= widest_gap_mm or miss(gap) >= 0 or miss(widest_gap_mm) <= 0:
        return None
    return float(brentq(miss, gap, widest_gap_mm, xtol=GAP_MATCH * gap))


def thickness_for(
    site: TraceEnvironment,
    ohm: float,
    width_mm: float,
    gap_mm: float | None = None,
    coplanar_gap_mm: float | None = None,
) -> tuple[Thickness, ...]:
    """Return the dielectric toward the nearer plane with which a line has this impedance, to a tenth of a percent.

    Where the nearer side alone does not do it, both sides change by one factor; where that does not, nothing is
    returned. Impedance rises steadily with either thickness.
    """
    sides = _nearer_first(site)
    for changed in (sides[:1], sides) if len(sides) == 2 else (sides,):
        factor = _factor(site, changed, ohm, (width_mm, gap_mm, coplanar_gap_mm))
        if factor is not None:
            return tuple(_thickness(site, side, factor) for side in changed)
    return ()


def _nearer_first(site: TraceEnvironment) -> tuple[Side, ...]:
    if site.reference_above is None:
        return ("below",)
    return ("below", "above") if _height_mm(site, "below") <= _height_mm(site, "above") else ("above", "below")


def _height_mm(site: TraceEnvironment, side: Side) -> float:
    return math.fsum(s.thickness_mm for s in (site.below if side == "below" else site.above))


def _thickness(site: TraceEnvironment, side: Side, factor: float) -> Thickness:
    plane = site.reference_below if side == "below" else site.reference_above
    height = _height_mm(site, side)
    return Thickness(plane or "", height, height * factor)


def _factor(
    site: TraceEnvironment, sides: tuple[Side, ...], ohm: float, sizes: tuple[float, float | None, float | None]
) -> float | None:
    """Return the factor on the thickness of these sides that gives the impedance, None where none in reach does."""
    from scipy.optimize import brentq  # noqa: PLC0415 - heavy, and only this function needs it

    def miss(log_factor: float) -> float:
        factor = math.exp(log_factor)
        update: dict[str, tuple[DielectricSheet, ...]] = {
            side: tuple(s.model_copy(update={"thickness_mm": s.thickness_mm * factor}) for s in getattr(site, side))
            for side in sides
        }
        section = site.model_copy(update=update).section(*sizes)
        return math.log(impedance_once(section, LADDER[1]) / ohm)

    here = miss(0.0)
    far = math.log(MOST_CHANGE) * (1 if here < 0 else -1)
    try:
        if miss(far) * here > 0:
            return None
        return math.exp(brentq(miss, min(far, 0.0), max(far, 0.0), xtol=1e-3))
    except GeometryError:  # a dielectric would be thinner than any
        return None
