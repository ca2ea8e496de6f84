"""How far a void in a plane reaches to both sides of a track that crosses it: so far the return current goes around."""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.copper.copper_map import NO_COPPER, CopperMap
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.return_path.plane_gaps import Gap

STEP_MM = 0.1
"""Void is followed in steps of this length: a web that is narrower may be missed."""

FAN_DEG = np.arange(-89.0, 89.5, 0.5)
"""Directions in which void is followed, from square to the track: a slot may be crossed at any angle. The nearest is
0.25 degrees off the slot at most, 0.05 mm on 12 mm: it stays within a slot of 0.1 mm."""

STEPS_AT_ONCE = 8
"""Steps that are looked up together: most directions end within them."""


def detour_mm(copper: CopperMap, gap: Gap, most_mm: float) -> float:
    """Return how far a gap goes on in a straight line on that side of the track on which it ends sooner, in mm.

    The current goes both ways. Void outside of the board counts: there is no way around on that side.

    Args:
        copper: the board's fills.
        gap: of one of the planes.
        most_mm: void is followed no farther, and this is returned for what reaches as far.
    """
    along = complex(*gap.end_mm) - complex(*gap.start_mm)
    if abs(along) < STEP_MM / 100:
        return 0.0
    fan = np.exp(1j * np.radians(FAN_DEG)) * along / abs(along)
    sides = []
    for square in (1j, -1j):
        free = _free_steps(copper, gap, fan * square, math.ceil(most_mm / STEP_MM))
        sides.append(min(free * STEP_MM, most_mm))
    return min(sides)


def _free_steps(copper: CopperMap, gap: Gap, fan: Complexes, most: int) -> int:
    """Return how many steps the longest way over void has, of the ways from a gap's middle in some directions."""
    for first in range(0, most, STEPS_AT_ONCE):
        steps = np.arange(first, min(first + STEPS_AT_ONCE, most)) + 1
        at = complex(gap.x_mm, gap.y_mm) + fan[:, None] * (STEP_MM * steps)
        void = copper.net_at(gap.plane, at.real.ravel(), at.imag.ravel()).reshape(at.shape) == NO_COPPER
        on = np.all(void, axis=1)
        if not np.any(on):
            return first + int(np.argmin(void, axis=1).max())
        fan = fan[on]
    return most
