"""The chains of a via over frequency: of the barrel between two lines, and of what is left of it as an open stub.

Ply by ply the barrel is a short uniform line with the inductance and capacitance of `via_circuit` and `via_field`; at
each copper layer the capacitance of its pad lies across it. Copper is lossless, the laminate causal. Frequencies in
GHz.
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
from stackup_lib.transmission_lines.two_port import (
    Complex,
    in_a_row,
    relative_permittivity,
    short_line_chain,
    shunt_chain,
)
from stackup_lib.vias.via_circuit import ModelledVia, inductance_nh, line_ps_per_mm, mutual_nh
from stackup_lib.vias.via_field import ViaStack
from stackup_lib.vias.via_pair import ODD, PairPlace, mode_of_pair, slowed_log

Real = NDArray[np.float64]

LONGEST_WAVE = 0.3
"""Of a wave between the vias of a pair: further apart they are two vias, not a two-wire line."""


@record
class LaminateLoss:
    """Loss tangent of a board, and the frequency in GHz at which it and the Dk hold."""

    loss_tangent: float
    at_ghz: float


def passage_chain(
    frequency_ghz: Real, via: ModelledVia, joined: tuple[int, int], laminate: LaminateLoss, line_ohm: float
) -> Complex:
    """Return the chain of a barrel between two lines of an impedance, the upper one first, that meet at its centre.

    Of the first and last step the line that barrel and pad take the place of is subtracted, to nothing at least.
    """
    stack, body, layers = via.stack, via.body, range(joined[0], joined[1] + 1)
    inductance = np.array(inductance_nh(via, joined))
    found = via.capacitance
    at_layers = np.array([found.at_layers_pf[layer] for layer in layers])
    for end, layer in zip((0, -1), joined, strict=True):
        line = line_ps_per_mm(stack, layer)
        inductance = _less(inductance, end, line * body.barrel_mm / 2 * line_ohm / 1000)
        at_layers[end] = max(0.0, at_layers[end] - line * max(body.pad_mm, body.barrel_mm) / 2 / line_ohm)
    series, across = _units(frequency_ghz, stack, laminate)
    parts = [shunt_chain(across * float(at_layers[0]))]
    for step, (upper, lower) in enumerate(pairwise(layers)):
        parts.append(short_line_chain(series * float(inductance[step]), across * found.in_plies_pf[upper]))
        parts.append(shunt_chain(across * float(at_layers[lower - joined[0]])))
    return in_a_row(parts, len(frequency_ghz))


def open_end_chain(frequency_ghz: Real, via: ModelledVia, stub: tuple[int, int], laminate: LaminateLoss) -> Complex:
    """Return the chain of what a barrel goes on past the last layer used, an open line across the path.

    Args:
        frequency_ghz: of the chain.
        via: its barrel ends where the stub ends.
        stub: layer that it begins at, and outer layer towards which it goes.
        laminate: the board's.
    """
    series, across = _units(frequency_ghz, via.stack, laminate)
    seen = np.zeros(len(frequency_ghz), dtype=np.complex128)
    for nh, ply_pf, layer_pf in _from_open_end(via, stub):
        line = short_line_chain(series * nh, across * ply_pf)
        seen = seen + across * layer_pf
        seen = (line[:, 1, 0] + line[:, 1, 1] * seen) / (line[:, 0, 0] + line[:, 0, 1] * seen)
    return shunt_chain(seen)


def null_ghz(via: ModelledVia, stub: tuple[int, int]) -> float:
    """Return the first frequency at which a lossless open stub shorts the path; infinite for a stub without length.

    The same ladder as `open_end_chain`. The voltage where it begins, at 1 V on its open end, falls from 1 to 0 there.
    """
    ladder = _from_open_end(via, stub)
    total = math.sqrt(1e-3 * sum(nh for nh, _, _ in ladder) * sum(a + b for _, a, b in ladder))
    if total <= 0:
        return math.inf
    low, high = 0.0, 1 / (8 * total)  # half of what a uniform line would have; with all of its capacitance at its end
    while _volt(ladder, high) > 0:  # it would resonate at 2/pi of that
        low, high = high, high * 1.2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _volt(ladder, middle) > 0 else (low, middle)
    return low


def _volt(ladder: list[tuple[float, float, float]], frequency_ghz: float) -> float:
    """Voltage where an open ladder of lossless lines begins, at 1 V on its end; currents are imaginary, in A."""
    omega, volt, ampere = 2 * math.pi * frequency_ghz, 1.0, 0.0
    for nh, ply_pf, layer_pf in ladder:
        ampere += 1e-3 * omega * layer_pf * volt
        angle, ohm = omega * math.sqrt(1e-3 * nh * ply_pf), math.sqrt(1e3 * max(nh, 1e-9) / max(ply_pf, 1e-9))
        cosine, sine = math.cos(angle), math.sin(angle)
        volt, ampere = cosine * volt - ohm * sine * ampere, sine / ohm * volt + cosine * ampere
    return volt


@lru_cache(maxsize=1024)
def null_of_pair_ghz(via: ModelledVia, place: PairPlace, stub: tuple[int, int]) -> float:
    """Return `null_ghz` in the odd mode of a pair, with the inductance that it has at that frequency.

    Args:
        via: one of both, alone; its barrel ends where the stub ends.
        place: of both.
        stub: as of `open_end_chain`.
    """
    mode = mode_of_pair(via, place, ODD)
    dk, slow, found = sum(via.stack.dk) / len(via.stack.dk), mode, math.inf
    for _ in range(4):  # the inductance rises by a tenth at most: the second round is within 1 % of the last
        found = null_ghz(slow, stub)
        if math.isinf(found) or found > LONGEST_WAVE * LIGHT_MM_GHZ / place.apart_mm / math.sqrt(dk):
            return found
        gained = slowed_log(place.apart_mm, via.body.barrel_mm, dk, found)
        slow = replace(mode, return_log=mode.return_log + gained)
    return found


def _from_open_end(via: ModelledVia, stub: tuple[int, int]) -> list[tuple[float, float, float]]:
    """Inductance and capacitance of each ply, and capacitance at the layer on its far side, from the open end on.

    The stub's current induces in the barrel that it hangs on, and the other way round: three coils that meet in a
    point, of which the stub's has the mutual inductance, too.
    """
    first, side = stub
    step, found = (1 if side > first else -1), via.capacitance
    low, high = sorted(stub)
    inductance = inductance_nh(via, (low, high))
    rows = []
    for layer in range(side, first, -step):
        ply = min(layer, layer - step)
        more = mutual_nh(via, first) if layer - step == first else 0.0
        rows.append((max(inductance[ply - low] + more, 0.0), found.in_plies_pf[ply], found.at_layers_pf[layer]))
    return rows


def _units(frequency_ghz: Real, stack: ViaStack, laminate: LaminateLoss) -> tuple[Complex, Complex]:
    """Impedance of 1 nH and admittance of 1 pF in the laminate."""
    omega = 2e9 * math.pi * frequency_ghz
    dk = sum(stack.dk) / len(stack.dk)
    relative = relative_permittivity(frequency_ghz, dk, laminate.loss_tangent, laminate.at_ghz)
    return np.asarray(1j * omega * 1e-9), np.asarray(1j * omega * 1e-12 * relative)


def _less(steps: Real, end: int, taken: float) -> Real:
    """Take an amount from the steps next to one end, from none more than it has."""
    left = steps.copy()
    for step in range(len(left)) if end == 0 else range(len(left) - 1, -1, -1):
        part = min(taken, float(left[step]))
        left[step] -= part
        taken -= part
    return left
