"""Thermal resistance of a via array between a part's pad and copper below it, as an interval of K/W.

The pad's solder and the planes' own spreading are not in it: it is what the array alone adds. Lengths in mm,
conductivities in W/(m K), resistances in K/W.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import tomli

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.thermal.pad_spread import pad_rise_k

MM_PER_M = 1000.0


class _Range(Frozen):
    low: float
    nominal: float
    high: float
    source: str


class _Figures(Frozen):
    copper: _Range
    laminate: _Range
    plating_um: _Range
    class_3_um: _Range
    fill: dict[str, _Range]


@cache
def _figures() -> _Figures:
    text = Path(__file__).with_name("conductivity.toml").read_text(encoding="utf-8")
    return _Figures.model_validate(tomli.loads(text))


@record
class ThermalBarrel:
    """One plated hole on the way of the heat.

    Attributes:
        drill_mm: as the board file states it.
        length_mm: from the pad's copper to the copper that the heat is led to.
        fill: `none`, `resin`, `conductive epoxy`, `copper`, or `unknown`.
        plating_um: wall as declared, None for what IPC-6012 lets expect.
        is_class_3: the order requires class 3.
    """

    drill_mm: float
    length_mm: float
    fill: str = "unknown"
    plating_um: float | None = None
    is_class_3: bool = False


def barrel_k_per_w(length_mm: float, copper_mm2: float, fill_mm2: float, copper_w: float, fill_w: float) -> float:
    """Return L / (k1 A1 + k2 A2): wall and fill of one barrel side by side.

    Args:
        length_mm: of the barrel.
        copper_mm2: cross section of the wall.
        fill_mm2: cross section of what the wall encloses.
        copper_w: conductivity of the wall in W/(m K).
        fill_w: conductivity of the fill.

    Fourier's law; F. P. Incropera, D. P. DeWitt, "Fundamentals of Heat and Mass Transfer", section 3.1.
    """
    return MM_PER_M * length_mm / (copper_w * copper_mm2 + fill_w * fill_mm2)


def barrel_range_k_per_w(barrel: ThermalBarrel) -> Interval:
    """Return the resistance of one barrel.

    At worst the stated diameter is the drill's, with the wall inside it; at best it is the finished hole's, with the
    wall outside. The nominal value takes it for the finished hole, as board files mean it.
    """
    figures = _figures()
    walls, fill = figures.class_3_um if barrel.is_class_3 else figures.plating_um, figures.fill[barrel.fill]
    given = barrel.plating_um
    thin, usual, thick = (given,) * 3 if given else (walls.low, walls.nominal, walls.high)
    low = _barrel(barrel, thick / 1000, figures.copper.high, fill.high, is_finished=True)
    nominal = _barrel(barrel, usual / 1000, figures.copper.nominal, fill.nominal, is_finished=True)
    high = _barrel(barrel, thin / 1000, figures.copper.low, fill.low, is_finished=False)
    return Interval(low=low, nominal=nominal, high=high)


def _barrel(barrel: ThermalBarrel, wall_mm: float, copper_w: float, fill_w: float, *, is_finished: bool) -> float:
    inner = barrel.drill_mm if is_finished else max(barrel.drill_mm - 2 * wall_mm, 0.0)
    outer = inner + 2 * wall_mm if is_finished else barrel.drill_mm
    copper = math.pi / 4 * (outer**2 - inner**2)
    return barrel_k_per_w(barrel.length_mm, copper, math.pi / 4 * inner**2, copper_w, fill_w)


def array_k_per_w(
    barrels: Sequence[ThermalBarrel],
    at_mm: Sequence[tuple[float, float]],
    pad_size_mm: tuple[float, float],
    pad_copper_mm: float,
) -> Interval:
    """Return the resistance of an array from pad to the copper below, laminate between the barrels included.

    At worst heat reaches the holes through the pad's own copper alone (see `pad_rise_k`); at best the package's slug
    spreads it without loss; nominally the pad's copper has half its resistance.

    Args:
        barrels: one at least.
        at_mm: where they are, from the middle of the pad along its sides.
        pad_size_mm: of the pad, a rectangle.
        pad_copper_mm: thickness of its copper.
    """
    figures = _figures()
    ranges = [barrel_range_k_per_w(barrel) for barrel in barrels]
    pad_mm2 = pad_size_mm[0] * pad_size_mm[1]
    radius_mm = np.array([barrel.drill_mm / 2 for barrel in barrels])
    square = MM_PER_M / (figures.copper.low * pad_copper_mm)
    places_mm = np.array(at_mm, dtype=np.float64)
    length = min(barrel.length_mm for barrel in barrels)
    open_mm2 = max(pad_mm2 - sum(math.pi / 4 * b.drill_mm**2 for b in barrels), 0.0)

    def together(ways: Sequence[float], share: float, laminate_w: float) -> float:
        through_laminate = laminate_w * open_mm2 / (MM_PER_M * length)
        rise = pad_rise_k(np.array(ways), places_mm, radius_mm, pad_size_mm, share * square)
        return 1 / (1 / rise + through_laminate)

    return Interval(
        low=together([r.low for r in ranges], 0.0, figures.laminate.high),
        nominal=together([r.nominal for r in ranges], 0.5, figures.laminate.nominal),
        high=together([r.high for r in ranges], 1.0, figures.laminate.low),
    )


def most_laminate_w_per_mm2_k(length_mm: float) -> float:
    """Return what a square millimetre of laminate of a thickness conducts at most."""
    return _figures().laminate.high / (MM_PER_M * length_mm)


def least_square_k_per_w(copper_mm: float) -> float:
    """Return the lowest resistance of a square of copper of a thickness, along it."""
    return MM_PER_M / (_figures().copper.high * copper_mm)
