"""The chains of a via over frequency: of the barrel between two lines, and of what is left of it as an open stub.

Ply by ply the barrel is a short uniform line with the inductance and capacitance of `via_circuit` and `via_field`; at
each copper layer the capacitance of its pad lies across it. Copper is lossless, the laminate causal. Frequencies in
GHz.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import record
from stackup_lib.transmission_lines.two_port import (
    Complex,
    in_a_row,
    relative_permittivity,
    short_line_chain,
    shunt_chain,
)
from stackup_lib.vias.via_circuit import ModelledVia, inductance_nh, line_ps_per_mm
from stackup_lib.vias.via_field import ViaStack, via_capacitance

Real = NDArray[np.float64]


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
    found = via_capacitance(stack, body)
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
    first, side = stub
    step = 1 if side > first else -1
    series, across = _units(frequency_ghz, via.stack, laminate)
    found, seen = via_capacitance(via.stack, via.body), np.zeros(len(frequency_ghz), dtype=np.complex128)
    low, high = sorted(stub)
    inductance = inductance_nh(via, (low, high))
    for layer in range(side, first, -step):
        ply = min(layer, layer - step)
        line = short_line_chain(series * inductance[ply - low], across * found.in_plies_pf[ply])
        seen = seen + across * found.at_layers_pf[layer]
        seen = (line[:, 1, 0] + line[:, 1, 1] * seen) / (line[:, 0, 0] + line[:, 0, 1] * seen)
    return shunt_chain(seen)


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
