"""What the drop of a rail may be when copper is as thin, or as thick, as a fab may deliver what the stackup states."""

from __future__ import annotations

from collections.abc import Mapping

from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.materials import copper_weights, ounce_class
from stackup_lib.transmission_lines.materials.conductor_models import copper_conductivity_s_per_m

PLATING_UM = Interval(low=18.0, nominal=20.0, high=30.0)
"""Copper in holes: IPC-6012 requires 20 um (class 2) or 25 um (class 3) on average, as quoted; a fab states 18."""

OUTER_PLATING_UM = 30.0
"""An outer thickness may be that of the foil: plating then adds as much as in the holes."""

LOSS = 0.1
"""Foil may be 10 % under its nominal thickness (IPC-4562, as quoted)."""

COPPER_C = Interval(low=20.0, nominal=20.0, high=85.0)
"""Temperature of copper where none is stated: numbers are given at 20 degrees, the board may be hot."""


@record
class Ratio:
    """Factors on a drop or a loss of a rail: `low` with thick cold copper, `high` with thin hot copper."""

    low: float
    high: float

    def of(self, solved: Interval) -> Interval:
        """Widen what the solver found with the copper as stated."""
        return Interval(low=solved.low * self.low, nominal=solved.nominal, high=solved.high * self.high)


def finished_range_mm(stated_mm: float, *, outer: bool) -> tuple[float, float]:
    """Return the least and largest finished thickness of a copper layer of a stated thickness, in mm.

    Inner: down to the least that IPC-6012 allows of its ounce class, as quoted, and up to the foil's nominal. Outer:
    from 10 % less up to plating on a foil of the stated thickness.
    """
    if outer:
        return stated_mm * (1 - LOSS), stated_mm + OUTER_PLATING_UM / 1000
    oz = ounce_class(stated_mm, outer=False).value
    row = next((w for w in copper_weights() if w.oz == oz), None)
    if row is None:
        return stated_mm * (1 - LOSS), stated_mm * (1 + LOSS)
    return min(row.internal_min_um / 1000, stated_mm), max(row.nominal_um / 1000, stated_mm)


def drop_ratio(
    layer_power_w: Mapping[int, float],
    barrel_power_w: float,
    thickness_mm: Mapping[int, tuple[float, float, float]],
    plating_um: tuple[float, float, float],
    copper_c: tuple[float, float, float],
) -> Ratio:
    """Return by how much the loss of a rail, or the drop at one of its loads, may differ from the solved one.

    Of the loss these are bounds: with the currents left as they are it is no less than the new one (Thomson), with the
    voltages left as they are it is no more than it, scaled to the same currents (Dirichlet). Of a rail with one load
    the drop goes with the loss. Of one with several the same holds for each drop as far as the currents keep their
    ways; where other loads lift a load's potential, that part is taken at its opposite end.

    Args:
        layer_power_w: lost in each layer, or of a drop what arises there, solved with the middle values below.
        barrel_power_w: the same of the holes.
        thickness_mm: thin, stated and thick copper of each layer.
        plating_um: the same of the copper in holes.
        copper_c: cold, solved and hot.
    """
    rows = [(watt, *thickness_mm[layer]) for layer, watt in layer_power_w.items()] + [(barrel_power_w, *plating_um)]
    total = sum(watt for watt, *_ in rows)
    if total <= 0:
        return Ratio(low=1.0, high=1.0)
    cold, solved, hot = (1 / copper_conductivity_s_per_m(c) for c in copper_c)
    thinner = sum(watt * stated / (thin if watt > 0 else thick) for watt, thin, stated, thick in rows) / total
    thicker = sum(watt * (thick if watt > 0 else thin) / stated for watt, thin, stated, thick in rows) / total
    return Ratio(low=min(cold / solved / thicker, 1.0), high=max(hot / solved * thinner, 1.0))  # 1 but for rounding
