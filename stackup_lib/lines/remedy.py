"""What would bring an impedance within reach: dielectrics of another thickness, found by the field solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stackup_lib.lines.sections import GeometryError
from stackup_lib.lines.site import LineSite, Sheet
from stackup_lib.lines.solver import LADDER, solve_once

MOST_CHANGE = 5.0
"""Dielectrics are sought from a fifth to five times as thick."""

Side = Literal["below", "above"]


@dataclass(frozen=True, slots=True)
class Thickness:
    """The dielectric between a trace and a plane, as it is and as it would reach a target; mm."""

    plane: str
    from_mm: float
    to_mm: float

    def __str__(self) -> str:
        return f"{self.to_mm:.3g} mm in place of {self.from_mm:.3g} mm" + (f" to {self.plane}" if self.plane else "")


def thickness_for(
    site: LineSite, ohm: float, width_mm: float, gap_mm: float | None = None, coplanar_gap_mm: float | None = None
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


def _nearer_first(site: LineSite) -> tuple[Side, ...]:
    if site.reference_above is None:
        return ("below",)
    return ("below", "above") if _height_mm(site, "below") <= _height_mm(site, "above") else ("above", "below")


def _height_mm(site: LineSite, side: Side) -> float:
    return math.fsum(s.thickness_mm for s in (site.below if side == "below" else site.above))


def _thickness(site: LineSite, side: Side, factor: float) -> Thickness:
    plane = site.reference_below if side == "below" else site.reference_above
    height = _height_mm(site, side)
    return Thickness(plane or "", height, height * factor)


def _factor(
    site: LineSite, sides: tuple[Side, ...], ohm: float, sizes: tuple[float, float | None, float | None]
) -> float | None:
    """Return the factor on the thickness of these sides that gives the impedance, None where none in reach does."""
    from scipy.optimize import brentq  # noqa: PLC0415 - heavy, and only this function needs it

    def miss(log_factor: float) -> float:
        factor = math.exp(log_factor)
        update: dict[str, tuple[Sheet, ...]] = {
            side: tuple(s.model_copy(update={"thickness_mm": s.thickness_mm * factor}) for s in getattr(site, side))
            for side in sides
        }
        section = site.model_copy(update=update).section(*sizes)
        return math.log(solve_once(section, LADDER[1]).impedance_ohm / ohm)

    here = miss(0.0)
    far = math.log(MOST_CHANGE) * (1 if here < 0 else -1)
    try:
        if miss(far) * here > 0:
            return None
        return math.exp(brentq(miss, min(far, 0.0), max(far, 0.0), xtol=1e-3))
    except GeometryError:  # a dielectric would be thinner than any
        return None
