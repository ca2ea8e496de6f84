"""The delay of a via that changes layers. Lengths in mm, delays in ps.

The barrel is a short line of its own impedance; what it overhangs past the two layers is a capacitance next to it.
Between lines of Z_0 a two-port of inductance L and capacitance C delays (L / Z_0 + C Z_0) / 2 while it is short against
the wavelength. Held against layer changes in a 3-D field solver, `fixtures/reference/openems_vias.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from drc_rules.analysis.via.high_speed_vias import USUAL_CLEARANCE_MM
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.holes import drilled_one_mm
from stackup_lib.board.board import NO_LAYER
from stackup_lib.core.interval import Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record
from stackup_lib.nets.routes import Crossing
from stackup_lib.vias.stub_resonance import ViaShape, loading, via_ohm

LINE_OHM = 50.0
"""Lines that a via joins; between 42 and 58 ohm its delay moves by 5 %, more where most of it is a stub."""

BARREL_LOADING = (1.0, 1.5, 2.2)
"""Dk_eff over Dk of a barrel whose drill or pad is not stated: bare, usual, and with all its pads between planes (2.1
by a 3-D solution of through vias of 1.5 mm, signal-integrity test board of Antmicro, openEMS)."""

USUAL_DK = 4.0
"""Along a via where a Dk is not known."""


@record
class Climb:
    """A via that changes layers.

    Attributes:
        upper, lower: the layers that it joins.
        top, bottom: where its barrel ends; the two layers themselves where the rest is drilled away.
        drill_mm: finished; NaN where the file does not say.
        has_all_pads: on layers that it only passes, too.
        clearance_mm: of its net.
    """

    upper: int
    lower: int
    top: int
    bottom: int
    drill_mm: float
    pad_mm: float
    has_all_pads: bool
    clearance_mm: float


def climb_of(ctx: Context, crossing: Crossing) -> Climb | None:
    """Return what a via on a route climbs, None where the route leaves it on the layer that it came on."""
    upper, lower = sorted((crossing.entry_layer, crossing.exit_layer))
    if upper == lower:
        return None
    vias, row = ctx.board.vias, crossing.via
    is_drilled = vias.drilling.backdrill_must_cut[row] != NO_LAYER
    top, bottom = (upper, lower) if is_drilled else (int(vias.start_layer[row]), int(vias.end_layer[row]))
    return Climb(
        upper=upper,
        lower=lower,
        top=min(top, upper),
        bottom=max(bottom, lower),
        drill_mm=round(float(vias.drill_mm[row]), 6),
        pad_mm=round(float(vias.size_mm[row]), 6),
        has_all_pads=bool(vias.remove_unused[row] != 1),
        clearance_mm=ctx.board.project.effective(ctx.board.nets[int(vias.net[row])]).clearance_mm or 0.0,
    )


def via_delay_ps(ctx: Context, climb: Climb) -> Interval:
    """Return the delay of a via: low is that of a bare barrel.

    Raises:
        MissingFact: the stackup does not tell how high it climbs.
    """
    heights = ctx.copper_heights_mm()
    height = heights[climb.lower] - heights[climb.upper]
    overhangs = (heights[climb.upper] - heights[climb.top], heights[climb.bottom] - heights[climb.lower])
    dk = _mean_dk(ctx)
    if not (climb.drill_mm > 0 and climb.pad_mm > 0):
        low, nominal, high = (1000 * height * math.sqrt(dk * factor) / LIGHT_MM_GHZ for factor in BARREL_LOADING)
        return Interval(low=low, nominal=nominal, high=high)
    barrel = drilled_one_mm(climb.drill_mm, climb.pad_mm)
    pad = max(climb.pad_mm, barrel)
    antipad = pad + 2 * max(climb.clearance_mm, USUAL_CLEARANCE_MM)
    sizes = (barrel, antipad, pad if climb.has_all_pads else None)
    return _delay_ps(sizes, round(height, 6), tuple(round(mm, 6) for mm in overhangs), round(dk, 6))


@lru_cache(maxsize=4096)
def _delay_ps(
    sizes_mm: tuple[float, float, float | None], height_mm: float, overhangs_mm: tuple[float, ...], dk: float
) -> Interval:
    barrel, antipad, pad = sizes_mm
    return delay_ps(ViaShape(barrel_mm=barrel, antipad_mm=antipad, pad_mm=pad), height_mm, overhangs_mm, dk)


def delay_ps(shape: ViaShape, height_mm: float, overhangs_mm: Iterable[float], dk: float) -> Interval:
    """Return the delay of a barrel between two lines; low is that of one that nothing loads.

    Args:
        shape: the via.
        height_mm: between the two lines.
        overhangs_mm: what the barrel goes on past either of them; open ends.
        dk: laminate along it.
    """
    inductances, capacitances = _values(shape, height_mm, dk)
    ends = [_values(shape, mm, dk)[1] for mm in overhangs_mm if mm > 0]
    nominal, high = (
        (inductances[k] / LINE_OHM + (capacitances[k] + sum(end[k] for end in ends)) * LINE_OHM) / 2 for k in range(2)
    )
    bare = 1000 * height_mm * math.sqrt(dk) / LIGHT_MM_GHZ
    return Interval(low=bare, nominal=max(nominal, bare), high=max(high, nominal, bare))


def _values(shape: ViaShape, length_mm: float, dk: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return L in ps ohm and C in ps/ohm of a barrel, each nominal and highest."""
    factors, ohm = loading(shape, length_mm), via_ohm(shape, dk, length_mm).nominal
    nominal, high = (1000 * length_mm * math.sqrt(dk * one) / LIGHT_MM_GHZ for one in (factors.nominal, factors.high))
    return (nominal * ohm, high * ohm), (nominal / ohm, high / ohm)


def _mean_dk(ctx: Context) -> float:
    """Mean Dk of the board by thickness."""
    rows = [(ply.dk_at(1.0).value, ply.thickness.value) for ply in ctx.plies]
    known = [(dk, mm) for dk, mm in rows if dk is not None and mm]
    return sum(dk * mm for dk, mm in known) / sum(mm for _, mm in known) if known else USUAL_DK
