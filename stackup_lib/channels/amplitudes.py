"""How far interference and noise reach at a given probability.

Each sample of interference takes one of evenly spaced levels; noise is Gaussian. The distribution of the sum is the
product of their characteristic functions, transformed back: what IEEE 802.3, 93A.1.7, reaches by convolution of bins.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]

STEPS_PER_SIGMA = 16
"""A tail of 1e-12 is then right to 0.02 % of its amplitude."""

SIGMAS = 12
"""Of noise beyond the largest interference."""

VANISHED = 10
"""Of one over sigma: beyond, the noise leaves less than 2e-22 of the spectrum."""


def reach(samples: Real, sigma: float, levels: int, error_ratio: float) -> float:
    """Return the amplitude that the sum exceeds, in one direction, with a probability of `error_ratio`.

    Args:
        samples: each is a level between -1 and 1 times its value, all independent.
        sigma: of the noise, same unit, above 0.
        levels: 2 or more, evenly spaced.
        error_ratio: below a half and above 1e-15.
    """
    samples = np.abs(samples[np.abs(samples) > 0])
    span = 2 * (float(samples.sum()) + SIGMAS * sigma)
    points = 2 ** math.ceil(math.log2(span / sigma * STEPS_PER_SIGMA))
    step = span / points
    omega = 2 * np.pi * np.arange(points // 2 + 1) / span
    omega = omega[omega * sigma <= VANISHED]
    spectrum = np.exp(-0.5 * (omega * sigma) ** 2)
    upper = np.arange(1, levels, 2) / (levels - 1) if levels % 2 == 0 else np.linspace(-1, 1, levels)  # cos is even
    for part in np.array_split(samples, max(1, len(samples) // 64)):
        turns = np.outer(part, omega)
        each = np.mean([np.cos(level * turns) for level in upper], axis=0)
        spectrum = spectrum * each.prod(axis=0)
    spectrum = np.pad(spectrum, (0, points // 2 + 1 - len(omega)))
    share = np.maximum(np.fft.fftshift(np.fft.irfft(spectrum, points)), 0.0)
    below = np.cumsum(share) - share / 2
    at = int(np.argmax(below > error_ratio))
    low, high = np.log(max(below[at - 1], 1e-300)), np.log(below[at])
    return float((points // 2 - at + (high - math.log(error_ratio)) / (high - low)) * step)
