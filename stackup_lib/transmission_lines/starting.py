"""Closed forms that are right to ten percent or so: where a search starts that the field solver then finishes."""

from __future__ import annotations

import math
from collections.abc import Callable

from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.field_solver.solution import VACUUM_IMPEDANCE_OHM
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment


def rough_line(site: TraceEnvironment) -> Callable[[float, float | None], float]:
    """Return (width, gap) -> Z0, or Zdiff of a pair, to ten percent or so; mask and coplanar ground left out.

    Over one plane by Hammerstad and Jensen (1980), eq. 1 and 2, with Hammerstad's permittivity (1975). Between two by
    Wheeler (1978), each side as half of a symmetric line. Pairs: 2 Z0 (1 - 0.48 exp(-0.96 s/h)), between planes 2 Z0
    (1 - 0.347 exp(-2.9 s/b)) (IPC-2141). Lengths in mm.
    """
    t = site.copper_mm
    below, dk_below = height_and_dk(site.below)
    above, dk_above = (0.0, 1.0) if site.reference_above is None else height_and_dk(site.above)

    def ohm(width_mm: float, gap_mm: float | None) -> float:
        width = width_mm - site.taper_mm / 2
        if site.reference_above is None:
            single = _microstrip_ohm(width, below, t, dk_below)
            coupling = 0.48 * math.exp(-0.96 * (gap_mm or 0.0) / below)
        else:
            sides = _stripline_ohm(width, below, t, dk_below), _stripline_ohm(width, above, t, dk_above)
            single = 2 / (1 / sides[0] + 1 / sides[1])
            coupling = 0.347 * math.exp(-2.9 * (gap_mm or 0.0) / (below + above + t))
        return single if gap_mm is None else 2 * single * (1 - coupling)

    return ohm


def height_and_dk(sheets: tuple[DielectricSheet, ...]) -> tuple[float, float]:
    """Return the distance and the permittivity of sheets in series.

    Raises:
        GeometryError: there are none.
    """
    if not sheets:
        raise GeometryError("nothing between the trace and a plane", "name the dielectric between them")
    height = math.fsum(s.thickness_mm for s in sheets)
    return height, height / math.fsum(s.thickness_mm / s.dk for s in sheets)


def _microstrip_ohm(w: float, h: float, t: float, er: float) -> float:
    if t > 0:
        w += 1.25 * t / math.pi * (1 + max(math.log(2 * h / t), 0.0))  # Bahl and Garg (1977)
    u = w / h
    f = 6 + (2 * math.pi - 6) * math.exp(-((30.666 / u) ** 0.7528))
    eps_eff = (er + 1) / 2 + (er - 1) / 2 / math.sqrt(1 + 12 / u)
    return VACUUM_IMPEDANCE_OHM / (2 * math.pi * math.sqrt(eps_eff)) * math.log(f / u + math.sqrt(1 + 4 / u**2))


def _stripline_ohm(w: float, h: float, t: float, er: float) -> float:
    """Return Z0 between planes at a distance 2 h + t."""
    b = 2 * h + t
    if t > 0:
        x = t / b
        m = 2 / (1 + 2 * x / (3 * (1 - x)))
        w += t / math.pi * (1 - 0.5 * math.log((x / (2 - x)) ** 2 + (0.0796 * x / (w / b + 1.1 * x)) ** m))
    a = 8 * (b - t) / (math.pi * w)
    return VACUUM_IMPEDANCE_OHM / (4 * math.pi * math.sqrt(er)) * math.log(1 + a / 2 * (a + math.sqrt(a**2 + 6.27)))
