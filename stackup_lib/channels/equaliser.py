"""Equalisers of IEEE 802.3, Annex 93A: filters of the receiver, taps of the transmitter, decision feedback."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.channels.reference import ReferenceEqualiser

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]
Neighbours = tuple[Real, Real, Real]


def receiver_filter(frequency_ghz: Real, bandwidth_ghz: float) -> Complex:
    """Return a Butterworth filter of fourth order (93A-20)."""
    x = frequency_ghz / bandwidth_ghz
    return np.asarray(1 / (1 - 3.414214 * x**2 + x**4 + 2.613126j * (x - x**3)), dtype=np.complex128)


def ctle(frequency_ghz: Real, equaliser: ReferenceEqualiser, gain_db: float) -> Complex:
    """Return the continuous-time filter of one zero and two poles, its gain at DC `gain_db` (93A-22)."""
    first, second = equaliser.poles_ghz
    zero = 10 ** (gain_db / 20) + 1j * frequency_ghz / equaliser.zero_ghz
    poles = (1 + 1j * frequency_ghz / first) * (1 + 1j * frequency_ghz / second)
    return np.asarray(zero / poles, dtype=np.complex128)


def with_taps(value: Real, pre: float, post: float) -> Real:
    """Return a pulse response behind the transmitter's taps pre, 1 - |pre| - |post| and post, the cursor in place.

    Args:
        value: (symbols, samples per UI); taps are whole symbols apart.
        pre: c(-1).
        post: c(1).
    """
    return weighted(neighbours(value), pre, post)


def neighbours(value: Real) -> Neighbours:
    """Return a pulse response a symbol earlier, as it is, and a symbol later: what `weighted` is to add."""
    return np.roll(value, -1, axis=0), value, np.roll(value, 1, axis=0)


def weighted(parts: Neighbours, pre: float, post: float) -> Real:
    """Return what `with_taps` does of the response that the neighbours are of; for many settings of one response."""
    early, here, late = parts
    return np.asarray(pre * early + (1 - abs(pre) - abs(post)) * here + post * late)


def feedback_taps(behind: Real, cursor: float, most: float) -> Real:
    """Return the taps of the decision feedback, of the cursor: what follows it, clamped (93A-26)."""
    return np.clip(behind / cursor, -most, most)
