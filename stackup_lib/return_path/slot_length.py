"""How far a void in a plane reaches to both sides of a track that crosses it: so far the return current goes around."""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.copper.copper_map import NO_COPPER, CopperMap
from stackup_lib.return_path.plane_gaps import Gap

STEP_MM = 0.1
"""Void is followed in steps of this length: a web that is narrower may be missed."""

FAN_DEG = range(-60, 61, 5)
"""Directions in which void is followed, from square to the track: a slot may be crossed at an angle."""


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
    steps = STEP_MM * (1 + np.arange(math.ceil(most_mm / STEP_MM)))
    fan = np.exp(1j * np.radians(np.array(FAN_DEG))) * along / abs(along)
    sides = []
    for square in (1j, -1j):
        at = complex(gap.x_mm, gap.y_mm) + (fan * square)[:, None] * steps
        void = copper.net_at(gap.plane, at.real.ravel(), at.imag.ravel()).reshape(at.shape) == NO_COPPER
        free = np.where(np.all(void, axis=1), len(steps), np.argmin(void, axis=1))
        sides.append(min(float(free.max()) * STEP_MM, most_mm))
    return min(sides)
