"""A via of a differential pair in its odd and its even mode, as a lone via that carries as much.

Both vias are alike, each with a return via behind it in one line with both, or with none. In a mode the other via has
the same current and voltage, reversed in the odd mode. Between planes their fields and those of the return vias add up,
as of thin parallel wires; the odd mode needs no return via, and induces little in one (Schuster, Kwark, Selli and
Muthana, Developing a "Physical" Model for Vias, DesignCon 2006). In the planes each via stands in its own antipad or
both in one oval opening: the flat field between pads and rim is solved, and the round opening with the same capacitance
takes its place in `via_field`. Where planes are so far apart that they do not screen the vias from each other, that
adds capacitance: modes of the pair of planes, one cylinder in the field of the other (Zhang, Fan, Selli, Cocchini and
de Paulis, IEEE Trans. MTT 56 (2008) 2118). Lengths in mm, capacitances in pF.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record
from stackup_lib.vias.stub_resonance import RADIAL_LINE
from stackup_lib.vias.via_circuit import ModelledVia, scaled_bessel_k
from stackup_lib.vias.via_field import EPSILON_0

Complex = NDArray[np.complex128]

ODD, EVEN = -1, 1
"""Sign of the other via's current and voltage."""

POINTS, TERMS = 60, 10
"""Places on each part of a contour, and terms of each series: the capacitance of an oval is right to 0.1 %, that of two
round openings that meet in corners to 1.5 %."""

MODES = 15
"""Modes between two planes in what the vias add to each other; the last is screened within a third of a barrel."""


@record
class PairPlace:
    """Where both vias of a pair stand.

    Attributes:
        apart_mm: from centre to centre.
        return_mm: from each via to the return via behind it.
        is_oval: both share one opening in each plane, as wide as an antipad.
    """

    apart_mm: float
    return_mm: float
    is_oval: bool


@lru_cache(maxsize=1024)
def mode_of_pair(via: ModelledVia, place: PairPlace, sign: int) -> ModelledVia:
    """Return a via of a pair in its odd or its even mode.

    Args:
        via: one of the two alone; its return path does not count.
        place: of both.
        sign: `ODD` or `EVEN`.
    """
    body = via.body
    inner = body.pad_mm if set(body.padded) & set(via.stack.planes) else body.barrel_mm
    opening = round_opening_mm(inner, body.antipad_mm, place.apart_mm, is_oval=place.is_oval, sign=sign)
    return ModelledVia(
        stack=via.stack,
        body=replace(body, antipad_mm=round(opening, 6)),
        return_log=max(log_of_pair(body.barrel_mm, place, sign), 0.0),
        other_pf=_from_the_other(via, place.apart_mm, sign),
    )


def log_of_pair(barrel_mm: float, place: PairPlace, sign: int) -> float:
    """Return ln(a'/a) of each barrel between planes.

    Return vias carry what makes the flux between them nothing in the odd mode, and all of the current in the even one.
    """
    radius, apart, away = barrel_mm / 2, place.apart_mm, place.return_mm
    between_returns = math.log((apart + 2 * away) / radius)
    to_both = math.log((apart + away) / away)
    if sign == ODD:
        return math.acosh(apart / barrel_mm) - to_both**2 / between_returns
    sum_of_both = math.log(away / radius) + math.log((apart + away) / apart)
    return sum_of_both + math.log(away * (apart + away) / (radius * (apart + 2 * away)))


def slowed_log(apart_mm: float, barrel_mm: float, dk: float, frequency_ghz: float) -> float:
    """Return what the odd mode's ln(a'/a) gains at a frequency, where the vias are a good part of a wave apart.

    Between planes the field of a barrel is that of a radial line, -pi/2 Y0(kr) for ln(1/r) (Marcuvitz, Waveguide
    Handbook, 1951, section 1.7); what the pair radiates, its real part, is left out.
    """
    wave_number = 2 * math.pi * frequency_ghz * math.sqrt(dk) / LIGHT_MM_GHZ
    far, near = (_radial(wave_number * r) for r in (apart_mm, barrel_mm / 2))
    return far - near - math.log(2 * apart_mm / barrel_mm)


def _radial(x: float) -> float:
    """Return pi/2 Y0(x) by its series, x below 8."""
    term, bessel, rest, harmonic = 1.0, 1.0, 0.0, 0.0
    for k in range(1, 25):
        term *= -((x / 2 / k) ** 2)
        harmonic += 1 / k
        bessel += term
        rest -= term * harmonic
    return math.log(x / RADIAL_LINE) * bessel + rest


@lru_cache(maxsize=1024)
def round_opening_mm(inner_mm: float, antipad_mm: float, apart_mm: float, *, is_oval: bool, sign: int) -> float:
    """Return the diameter of a round opening in which a cylinder has the capacitance per height that it has in a pair.

    The potential is that of both cylinders' line charges and multipoles and of a polynomial, each even across the line
    through both and even or odd across the other, fitted by least squares to 1 V on the cylinder and 0 on the rim.
    """
    half, radius, rim = apart_mm / 2, inner_mm / 2, antipad_mm / 2
    if not is_oval and rim <= half:
        return antipad_mm
    begin = -math.asin(min(half / rim, 1.0)) if not is_oval else 0.0
    turns = np.linspace(begin, math.pi / 2, POINTS)
    contour = 1j * half + rim * np.exp(1j * turns)
    if is_oval:
        contour = np.concatenate([rim + 1j * np.linspace(half / POINTS, half, POINTS), contour])
    own = 1j * half + radius * np.exp(1j * np.linspace(-math.pi / 2, math.pi / 2, POINTS))
    places = np.concatenate([own, contour])
    volt = np.concatenate([np.ones(len(own)), np.zeros(len(contour))])
    found, *_ = np.linalg.lstsq(_potentials(places, half, radius, half + rim, sign), volt, rcond=None)
    return inner_mm * math.exp(1 / abs(found[0]))


def _potentials(at: Complex, half: float, radius: float, scale: float, sign: int) -> NDArray[np.float64]:
    """Potentials at places: of the line charges first, then of multipoles and polynomials."""
    up, down = at - 1j * half, at + 1j * half
    columns = [-np.log(np.abs(up)) - sign * np.log(np.abs(down))]
    columns += [((1j * radius / up) ** k + sign * (-1j * radius / down) ** k).real for k in range(1, TERMS + 1)]
    powers = range(0, 2 * TERMS, 2) if sign == EVEN else range(1, 2 * TERMS, 2)
    columns += [_power(at / scale, k) for k in powers]
    return np.stack(columns, axis=1)


def _power(at: Complex, k: int) -> NDArray[np.float64]:
    return np.asarray((at**k).real if k % 2 == 0 else (at**k).imag)


def _from_the_other(via: ModelledVia, apart_mm: float, sign: int) -> tuple[float, ...]:
    """Return the capacitance in each dielectric that the other via adds; a share of that of both planes around it."""
    faces, radius = via.stack.faces_mm, via.body.barrel_mm / 2
    added = np.zeros(len(via.stack.dk))
    for upper, lower in pairwise(via.stack.planes):
        low, high = faces[upper][1], faces[lower][0]
        if via.body.ends_mm[0] > low + 1e-9 or via.body.ends_mm[1] < high - 1e-9:
            continue
        more = _between_planes(high - low, radius, apart_mm, sign)
        for ply in range(upper, lower):
            height = faces[ply + 1][0] - faces[ply][1]
            added[ply] += 2 * math.pi * EPSILON_0 * via.stack.dk[ply] * height * more
    return tuple(added.tolist())


@lru_cache(maxsize=1024)
def _between_planes(height_mm: float, radius_mm: float, apart_mm: float, sign: int) -> float:
    """Return what the other via adds between two planes, per 2 pi eps and height."""
    wave = np.asarray(math.pi * np.arange(1, 2 * MODES, 2) / height_mm, dtype=np.float64)
    (near, slope), (far, _) = scaled_bessel_k(wave * radius_mm), scaled_bessel_k(wave * apart_mm)
    far = far * np.exp(-wave * (apart_mm - radius_mm))
    share = 8 / (wave * height_mm) ** 2 * wave * radius_mm * slope
    return float((share * (1 / (near + sign * far) - 1 / near)).sum())
