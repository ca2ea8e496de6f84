"""A via as a circuit: inductance and capacitance of its barrel ply by ply, and what it delays between two lines.

Between two planes the barrel's current comes back through return vias; the field of the pair of planes puts an
inductance of mu/2pi ln(a'/a) per height in its way, a' from where the return vias stand (Selli, Schuster, Kwark, Ritter
and Drewniak, Developing a "Physical" Model for Vias, part II, DesignCon 2007, 972). A line between two planes divides
its return current among them, so a barrel that leaves at a share k of their distance counts with k^2 of it (mode
conversion: Engin, John, Sommer, Mathis and Reichl, IEEE Trans. Adv. Packag. 29 (2006) 415); the rest of its field are
higher modes of the pair of planes, which end within its height. Across a plane, and between the outermost plane and the
line on the surface, the return current is on the antipad's rim.

Capacitance is the field's, `via_field`. A line counts up to the via's centre; what barrel and pad take the place of is
subtracted. Lengths in mm, inductance in nH, capacitance in pF, delays in ps.
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
from stackup_lib.vias.via_field import ViaBody, ViaCapacitance, ViaStack, via_capacitance

Real = NDArray[np.float64]

NH_PER_MM = 0.2
"""mu/2pi."""

WIDTH_OVER_HEIGHT = 1.8
"""Of a surface trace of 50 ohm on a usual laminate."""

MODES = 40
"""Higher modes between two planes that count; the field of the last reaches a fortieth of their distance / pi."""


def log_of_two_returns(barrel_mm: float, distance_mm: float) -> float:
    """Return ln(a'/a) of a barrel between two return vias of its own size, on either side of it.

    Each takes half of the current: ln(g/a) from the barrel and, with the other return via at 2 g, half of
    ln(g/2a) from the return vias.
    """
    radius = barrel_mm / 2
    return math.log(distance_mm / radius) + math.log(distance_mm / (2 * radius)) / 2


def log_of_radial_line(barrel_mm: float, dk: float, frequency_ghz: float) -> float:
    """Return ln(a'/a) where no return via is near: the displacement current between two planes is the return.

    Small-argument form of the Hankel function of a radial line (Marcuvitz, Waveguide Handbook, 1951, section 1.7).
    """
    wave_number = 2 * math.pi * frequency_ghz * math.sqrt(dk) / LIGHT_MM_GHZ
    return math.log(RADIAL_LINE / (wave_number * barrel_mm / 2))


def line_ps_per_mm(stack: ViaStack, layer: int) -> float:
    """Return what a line of 50 ohm on a layer delays; on the surface with its field half in air (Hammerstad)."""
    if 0 < layer < len(stack.dk):
        return 1000 * math.sqrt((stack.dk[layer - 1] + stack.dk[layer]) / 2) / LIGHT_MM_GHZ
    dk = stack.dk[0 if layer == 0 else -1]
    effective = (dk + 1) / 2 + (dk - 1) / 2 / math.sqrt(1 + 12 / WIDTH_OVER_HEIGHT)
    return 1000 * math.sqrt(effective) / LIGHT_MM_GHZ


@record
class ModelledVia:
    """A via and its surroundings.

    Attributes:
        stack, body: what it goes through, and its copper.
        return_log: ln(a'/a) of the return path between planes.
        other_pf: capacitance that the other via of a pair adds in each dielectric; empty for a lone via.
    """

    stack: ViaStack
    body: ViaBody
    return_log: float
    other_pf: tuple[float, ...] = ()

    @property
    def capacitance(self) -> ViaCapacitance:
        """To all planes, and to the other via of a pair."""
        found = via_capacitance(self.stack, self.body)
        if not self.other_pf:
            return found
        return replace(found, in_plies_pf=tuple(map(sum, zip(found.in_plies_pf, self.other_pf, strict=True))))


def inductance_nh(via: ModelledVia, layers: tuple[int, int]) -> tuple[float, ...]:
    """Return the inductance of the barrel in each step from layer to layer, between two layers, the upper one first.

    A step in which the barrel ends, what a drill has left of it, has that of the rest.
    """
    stack, body = via.stack, via.body
    depths = [stack.middle_mm(layer) for layer in range(layers[0], layers[1] + 1)]
    total = np.zeros(len(depths) - 1)
    for low, high, is_between in _regions(stack):
        begin, end = max(low, depths[0], body.ends_mm[0]), min(high, depths[-1], body.ends_mm[1])
        if end <= begin:
            continue
        log = math.log(body.antipad_mm / body.barrel_mm)
        if is_between:
            height = high - low
            share = (end - begin) / height
            modes = _modes((begin - low) / height, (end - low) / height, math.pi * body.barrel_mm / 2 / height)
            log = (share**2 * via.return_log + modes) / share
        total += [log * max(0.0, min(end, b) - max(begin, a)) for a, b in pairwise(depths)]
    return tuple((NH_PER_MM * total).tolist())


def mutual_nh(via: ModelledVia, layer: int) -> float:
    """Return what the barrel above a layer and that below it induce in each other between the planes round the layer.

    What both together have more than each of them alone is twice that.
    """
    depth, (top, bottom) = via.stack.middle_mm(layer), via.body.ends_mm
    for low, high, is_between in _regions(via.stack):
        if is_between and low < depth < high:
            height = high - low
            begin, middle, end = ((z - low) / height for z in (max(top, low), depth, min(bottom, high)))
            wave = math.pi * via.body.barrel_mm / 2 / height
            modes = _modes(begin, end, wave) - _modes(begin, middle, wave) - _modes(middle, end, wave)
            return NH_PER_MM * height * ((middle - begin) * (end - middle) * via.return_log + modes / 2)
    return 0.0


def _regions(stack: ViaStack) -> list[tuple[float, float, bool]]:
    """Return depths that bound planes and what is between them; True between two planes."""
    faces = [stack.faces_mm[plane] for plane in stack.planes]
    found = [(low, high, False) for low, high in faces]
    found += [(one[1], other[0], True) for one, other in pairwise(faces)]
    return [(-math.inf, faces[0][0], False), *found, (faces[-1][1], math.inf, False)] if faces else []


@lru_cache(maxsize=4096)
def _modes(begin: float, end: float, wave: float) -> float:
    """Return the share of the higher modes in ln(a'/a) times their height, of a current from one height to another.

    A current on a cylinder r = a from z1 to z2 between planes a height h apart: mode n, cos(n pi z/h), has the
    inductance 2 (sin(n pi z2/h) - sin(n pi z1/h))^2/(n pi)^2 K0(x)/(x K1(x)), x = n pi a/h.
    """
    n = np.arange(1, MODES + 1)
    angle, x = math.pi * n, np.asarray(wave * n, dtype=np.float64)
    first, second = scaled_bessel_k(x)
    share = 2 * (np.sin(angle * end) - np.sin(angle * begin)) ** 2 / angle**2
    return float((share * first / second / x).sum())


def scaled_bessel_k(x: Real) -> tuple[Real, Real]:
    """Return exp(x) K0(x) and exp(x) K1(x), x above 0.01: K_v(x) is the integral of exp(-x cosh t) cosh(v t)."""
    turns = np.linspace(0.0, 8.0, 161)
    decay = np.exp(-np.outer(x, np.cosh(turns) - 1)) * (turns[1] - turns[0])
    decay[:, 0] /= 2
    return decay.sum(axis=1), decay @ np.cosh(turns)


def added_delay_ps(via: ModelledVia, layers: tuple[int, int], line_ohm: float) -> float:
    """Return what a via adds to the delay of two lines, on two layers, that meet at its centre.

    A two-port of inductance L and capacitance C between lines of Z delays (L/Z + C Z)/2 while it is short against
    the wavelength; the line that the barrel (for L) and the pad (for C) take the place of is subtracted.
    """
    total_nh, total_pf = sum(inductance_nh(via, layers)), via.capacitance.total_pf
    lines = sum(line_ps_per_mm(via.stack, layer) for layer in layers)
    replaced = lines * (via.body.barrel_mm + max(via.body.pad_mm, via.body.barrel_mm)) / 4
    return (1000 * total_nh / line_ohm + total_pf * line_ohm) / 2 - replaced
