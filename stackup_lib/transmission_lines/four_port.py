"""Pairs whose traces differ: chains of four ports, their S-parameters, mixed modes.

A chain is an array (frequencies, 4, 4): voltages and currents of P and N at the near end, in the order V_P, V_N, I_P,
I_N, from those at the far end, the currents flowing out there. Elements in a row multiply, as those of two ports do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]

PORTS = [0, 2, 1, 3]
"""From P near, N near, P far, N far to P near, P far, N near, N far."""


def chain_of_modes(odd: Complex, even: Complex) -> Complex:
    """Return the chain of a symmetric element from that of one trace in the odd and in the even mode."""
    same, other = (even + odd) / 2, (even - odd) / 2
    return _from_legs(same, same, other)


def chain_of_legs(positive: Complex, negative: Complex) -> Complex:
    """Return the chain of two elements side by side that do not couple."""
    return _from_legs(positive, negative, np.zeros_like(positive))


def differential_chain(chain: Complex) -> Complex:
    """Return the chain (frequencies, 2, 2) that the differential mode of a pair sees, as one of its traces has it.

    What it hands over to the common mode is left out.
    """
    blocks = chain[:, 0::2, 0::2] + chain[:, 1::2, 1::2] - chain[:, 0::2, 1::2] - chain[:, 1::2, 0::2]
    return np.asarray(blocks / 2)


def nothing(frequencies: int) -> Complex:
    """Return the chain (frequencies, 2, 2) of a leg that goes on without any element."""
    return np.broadcast_to(np.eye(2, dtype=np.complex128), (frequencies, 2, 2))


def _from_legs(positive: Complex, negative: Complex, between: Complex) -> Complex:
    """Put A, B, C and D of both legs, and what couples them, where they belong."""
    chain = np.empty((len(positive), 4, 4), dtype=np.complex128)
    chain[:, 0::2, 0::2] = positive
    chain[:, 1::2, 1::2] = negative
    chain[:, 0::2, 1::2] = chain[:, 1::2, 0::2] = between
    return chain


def chain_of_s(s: Complex, reference_ohm: float) -> Complex:
    """Return the chain of a part from its S-parameters; ports of the near side first, then those of the far side.

    Args:
        s: (frequencies, 2, 2) or (frequencies, 4, 4).
        reference_ohm: of every port.

    Raises:
        ValueError: at some frequency nothing passes.
    """
    half = s.shape[1] // 2
    near, back, forth, far = s[:, :half, :half], s[:, :half, half:], s[:, half:, :half], s[:, half:, half:]
    if np.abs(np.linalg.det(forth)).min() < 1e-24:
        raise ValueError("nothing passes at some frequency")
    one = np.eye(half)
    through = np.linalg.inv(forth)
    p, q = (one + near) @ through, (one - near) @ through
    r, t = back - p @ far, -back - q @ far
    upper = np.concatenate([(p + r) / 2, reference_ohm * (p - r) / 2], axis=2)
    lower = np.concatenate([(q + t) / (2 * reference_ohm), (q - t) / 2], axis=2)
    return np.concatenate([upper, lower], axis=1)


def s_of_pair_chain(chain: Complex, reference_ohm: float) -> Complex:
    """Return S-parameters (frequencies, 4, 4) between equal real ports: P near, P far, N near, N far."""
    a, b = chain[:, :2, :2], chain[:, :2, 2:] / reference_ohm
    c, d = chain[:, 2:, :2] * reference_ohm, chain[:, 2:, 2:]
    inverse = np.linalg.inv(a + b + c + d)
    first, back = a + b - c - d, a - b - c + d
    far = -inverse @ (a - b + c - d)
    upper = np.concatenate([first @ inverse, (first @ far + back) / 2], axis=2)
    s = np.concatenate([upper, np.concatenate([2 * inverse, far], axis=2)], axis=1)
    return np.asarray(s[:, PORTS][:, :, PORTS], dtype=np.complex128)


def mixed_modes(s: Complex) -> Complex:
    """Return the S-parameters of modes: D near, D far, C near, C far, from P near, P far, N near, N far.

    Differential ports have twice the reference of one, common ports half of it (Bockelman and Eisenstadt, IEEE Trans.
    MTT 43 (1995) 1530).
    """
    half = np.sqrt(0.5)
    turn = half * np.array([[1, 0, -1, 0], [0, 1, 0, -1], [1, 0, 1, 0], [0, 1, 0, 1]])
    return np.asarray(turn @ s @ turn.T, dtype=np.complex128)
