"""Published closed forms of an ideal line: what calculators such as KiCad's use. Lengths in mm, impedances in ohm.

They know one dielectric, a rectangular trace, no solder mask and no etching. Of what a field solver finds for a real
line they are off by a few percent, and by more for thick copper, narrow gaps and mask; this module is for comparing.

Microstrip: E. Hammerstad, O. Jensen, "Accurate models for microstrip computer-aided design", IEEE MTT-S 1980. Coupled
microstrip: M. Kirschning, R. Jansen, "Accurate wide-range design equations for the frequency-dependent characteristic
of parallel coupled microstrip lines", IEEE Trans. MTT-32, 1984, static part; thickness by R. Jansen, IEEE Trans.
MTT-26, 1978. Stripline: S. Cohn, "Problems in strip transmission lines", IRE Trans. MTT-3, 1955. Coupled stripline:
S. Cohn, "Shielded coupled-strip transmission line", IRE Trans. MTT-3, 1955.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stackup_lib.field_solver.solution import VACUUM_IMPEDANCE_OHM

NARROW = 0.35
"""Cohn: below this ratio of width to what the copper leaves of the plane distance, a strip is a round wire."""

WIDE_GAP = 5.0
"""Cohn: from this ratio of gap to thickness on, thick strips couple as their fringing fields do."""


def microstrip_ohm(width_mm: float, height_mm: float, copper_mm: float, dk: float) -> float:
    """Return Z0 of a trace over a plane (Hammerstad and Jensen)."""
    return _microstrip(width_mm, height_mm, copper_mm, dk)[0]


def coupled_microstrip_ohm(width_mm: float, gap_mm: float, height_mm: float, copper_mm: float, dk: float) -> float:
    """Return Zdiff of a pair over a plane: twice the odd mode (Kirschning and Jansen)."""
    g = gap_mm / height_mm
    u = width_mm / height_mm + _odd_widening(width_mm, gap_mm, height_mm, copper_mm, dk)
    single, eps = _microstrip(u * height_mm, height_mm, 0.0, dk)
    ao = 0.7287 * (eps - (dk + 1) / 2) * (1 - math.exp(-0.179 * u))
    bo = 0.747 * dk / (0.15 + dk)
    co = bo - (bo - 0.207) * math.exp(-0.414 * u)
    do = 0.593 + 0.694 * math.exp(-0.562 * u)
    eps_odd = ((dk + 1) / 2 + ao - eps) * math.exp(-co * g**do) + eps
    return 2 * single * math.sqrt(eps / eps_odd) / (1 - math.sqrt(eps) * single / VACUUM_IMPEDANCE_OHM * _q10(u, g))


class Planes(NamedTuple):
    """Distances from the lower and the upper face of a trace to the planes, and its thickness, in mm."""

    below_mm: float
    above_mm: float
    copper_mm: float


def stripline_ohm(width_mm: float, planes: Planes, dk: float) -> float:
    """Return Z0 of a trace between two planes (Cohn); off centre as half of each symmetric line, in parallel."""
    t = planes.copper_mm
    below, above = (_centred(width_mm, 2 * side + t, t, dk) for side in planes[:2])
    return 2 / (1 / below + 1 / above)


def coupled_stripline_ohm(width_mm: float, gap_mm: float, planes: Planes, dk: float) -> float:
    """Return Zdiff of a pair between two planes: twice the odd mode (Cohn); off centre as `stripline_ohm`."""
    t = planes.copper_mm
    below, above = (_centred_odd(width_mm, gap_mm, 2 * side + t, t, dk) for side in planes[:2])
    return 4 / (1 / below + 1 / above)


def _microstrip(width_mm: float, height_mm: float, copper_mm: float, dk: float) -> tuple[float, float]:
    """Z0 and effective permittivity."""
    u = width_mm / height_mm
    added = _widening(u, copper_mm / height_mm)
    u1, ur = u + added, u + added * (1 + 1 / math.cosh(math.sqrt(dk - 1))) / 2
    eps = _eps(ur, dk)
    return _air_ohm(ur) / math.sqrt(eps), eps * (_air_ohm(u1) / _air_ohm(ur)) ** 2


def _widening(u: float, t: float) -> float:
    """By how much thickness widens a strip, in heights (Hammerstad and Jensen, eq. 6)."""
    if t <= 0:
        return 0.0
    coth = 1 / math.tanh(math.sqrt(6.517 * u))
    return t / math.pi * math.log(1 + 4 * math.e / (t * coth**2))


def _odd_widening(width_mm: float, gap_mm: float, height_mm: float, copper_mm: float, dk: float) -> float:
    """By how much thickness widens a strip of a pair in the odd mode, in heights (Jansen)."""
    t = copper_mm / height_mm
    added = _widening(width_mm / height_mm, t) * (1 + 1 / math.cosh(math.sqrt(dk - 1))) / 2
    if t <= 0:
        return 0.0
    of_gap = 2 * t * height_mm / (gap_mm * dk)
    return added * (1 - 0.5 * math.exp(-0.69 * added / of_gap)) + of_gap


def _air_ohm(u: float) -> float:
    f = 6 + (2 * math.pi - 6) * math.exp(-((30.666 / u) ** 0.7528))
    return VACUUM_IMPEDANCE_OHM / (2 * math.pi) * math.log(f / u + math.sqrt(1 + 4 / u**2))


def _eps(u: float, dk: float) -> float:
    a = 1 + math.log((u**4 + (u / 52) ** 2) / (u**4 + 0.432)) / 49 + math.log(1 + (u / 18.1) ** 3) / 18.7
    b = 0.564 * ((dk - 0.9) / (dk + 3)) ** 0.053
    return (dk + 1) / 2 + (dk - 1) / 2 * math.pow(1 + 10 / u, -a * b)


def _q10(u: float, g: float) -> float:
    """Kirschning and Jansen's term of the odd mode."""
    q1 = 0.8695 * u**0.194
    q2 = 1 + 0.7519 * g + 0.189 * g**2.31
    q3 = 0.1975 + math.pow(16.6 + (8.4 / g) ** 6, -0.387) + math.log(g**10 / (1 + (g / 3.4) ** 10)) / 241
    q4 = 2 * q1 / q2 / (math.pow(u, q3) * math.exp(-g) + (2 - math.exp(-g)) * math.pow(u, -q3))
    q5 = 1.794 + 1.14 * math.log(1 + 0.638 / (g + 0.517 * g**2.43))
    q6 = 0.2305 + math.log(g**10 / (1 + (g / 5.8) ** 10)) / 281.3 + math.log(1 + 0.598 * g**1.154) / 5.1
    q7 = (10 + 190 * g**2) / (1 + 82.3 * g**3)
    q8 = math.exp(-6.5 - 0.95 * math.log(g) - (g / 0.15) ** 5)
    q9 = math.log(q7) * (q8 + 1 / 16.5)
    return float(q2 * q4 - q5 * math.exp(math.log(u) * q6 * math.pow(u, -q9))) / float(q2)


def _fringing(x: float) -> float:
    """Fringing capacitance of a strip's edge over the permittivity; x is 1 / (1 - t/b) (Cohn)."""
    edge = 0.0 if x <= 1 else (x - 1) * math.log(x**2 - 1)
    return (2 * x * math.log(x + 1) - edge) / math.pi


def _centred(width_mm: float, planes_mm: float, copper_mm: float, dk: float) -> float:
    x = planes_mm / (planes_mm - copper_mm)
    if width_mm / (planes_mm - copper_mm) >= NARROW:
        per_width = width_mm / planes_mm * x
        return VACUUM_IMPEDANCE_OHM / 4 / math.sqrt(dk) / (per_width + _fringing(x))
    return 60 / math.sqrt(dk) * math.log(4 * planes_mm / (math.pi * _round_wire_mm(width_mm, copper_mm)))


def _round_wire_mm(width_mm: float, copper_mm: float) -> float:
    """Diameter of the round wire that a narrow strip is like (Flammer, as Cohn quotes him)."""
    if copper_mm <= 0:
        return width_mm / 2
    t = copper_mm / width_mm
    return width_mm / 2 * (1 + t / math.pi * (1 + math.log(4 * math.pi / t)) + 0.51 * t**2)


def _centred_odd(width_mm: float, gap_mm: float, planes_mm: float, copper_mm: float, dk: float) -> float:
    """Odd-mode impedance between planes; thick strips by Cohn's fringing capacitances."""
    thin = _thin_odd(width_mm, gap_mm, planes_mm, dk)
    if copper_mm <= 0:
        return thin
    alone, alone_thin = (_centred(width_mm, planes_mm, t, dk) for t in (copper_mm, 0.0))
    ratio = _fringing(planes_mm / (planes_mm - copper_mm)) / _fringing(1.0)
    if gap_mm >= WIDE_GAP * copper_mm:
        return 1 / (1 / alone + ratio * (1 / thin - 1 / alone_thin))
    vacuum = VACUUM_IMPEDANCE_OHM / math.sqrt(dk)
    edges = 2 / vacuum * (_fringing(planes_mm / (planes_mm - copper_mm)) - _fringing(1.0))
    return 1 / (1 / thin + 1 / alone - 1 / alone_thin - edges + 2 * copper_mm / (vacuum * gap_mm))


def _thin_odd(width_mm: float, gap_mm: float, planes_mm: float, dk: float) -> float:
    """Exact for thin strips: 30 pi / sqrt(dk) * K(k') / K(k)."""
    from scipy.special import ellipk  # noqa: PLC0415 - heavy, and only this function needs it

    scale = math.pi / (2 * planes_mm)
    k = math.tanh(scale * width_mm) / math.tanh(scale * (width_mm + gap_mm))
    return VACUUM_IMPEDANCE_OHM / 4 / math.sqrt(dk) * float(ellipk(1 - k**2) / ellipk(k**2))
