"""The eye that the worst pattern of symbols leaves of a pulse response, without noise and jitter.

Peak distortion: at each sampling time every other symbol takes away what it can (Casper, Haycock, Mooney, An accurate
and efficient analysis method for multi-Gb/s chip-to-chip signaling schemes, VLSI Circuits Symposium 2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.channels.pulse import PulseResponse
from stackup_lib.core.record import record

Real = NDArray[np.float64]


@record
class Eye:
    """The opening between neighbouring levels.

    Attributes:
        height: at the best sampling time, of that without any channel; 0 or less is closed.
        width_ui: time over which it is open, in UI.
    """

    height: float
    width_ui: float


def worst_eye(pulse: PulseResponse, levels: int = 2) -> Eye:
    """Return the eye of the worst pattern.

    Args:
        pulse: of a symbol of height 1; of an inverted one the eye is the same.
        levels: 2 for NRZ, 4 for PAM4, evenly spaced.
    """
    opening = openings(pulse, levels)
    at = int(np.argmax(opening))
    return Eye(height=float(opening[at]), width_ui=float(_width(opening, at)) / pulse.samples_per_ui)


def openings(pulse: PulseResponse, levels: int) -> Real:
    """Return the opening at each sample as the time of the cursor, of that without any channel: p - (L - 1) ISI."""
    value = pulse.value * np.sign(pulse.samples[int(np.argmax(np.abs(pulse.samples)))])
    others = np.abs(value).sum(axis=0) - np.abs(value)
    return np.asarray(value - (levels - 1) * others, dtype=np.float64).reshape(-1)


def _width(opening: Real, at: int) -> float:
    """Samples around `at` over which it is open, straight between samples."""
    if opening[at] <= 0:
        return 0.0
    around = np.roll(opening, len(opening) // 2 - at)
    middle = len(around) // 2
    found = 0.0
    for side in (around[middle:], around[middle::-1]):
        closed = int(np.argmax(side <= 0))
        found += closed - 1 + side[closed - 1] / (side[closed - 1] - side[closed])
    return found
