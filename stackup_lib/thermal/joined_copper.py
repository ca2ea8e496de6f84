"""What copper that goes on around a pad, and the vias in it, conduct at most: bounds, no estimates.

Lengths in mm, conductances in W/K, resistances in K/W.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stackup_lib.core.record import record

NEAREST_MM = 0.05
STEPS = 80


@record
class Surroundings:
    """What lies around the pads of one net.

    Attributes:
        edge_mm: length of the edges of the pads.
        pieces: how many pads lie apart.
        square_k_per_w: of a square of the copper around.
        laminate_w_per_mm2_k: through a square millimetre of the laminate under it.
        vias: distance from the pads, and conductance, of each via around.
        reach_mm: how far the copper around goes.
    """

    edge_mm: float
    pieces: int
    square_k_per_w: float
    laminate_w_per_mm2_k: float
    vias: Sequence[tuple[float, float]]
    reach_mm: float


def most_w_per_k(around: Surroundings) -> float:
    """Return the highest conductance from the edge of pads into the copper around, and down from there.

    Lines at a distance from the pads are taken as of one temperature, what lies between two of them as on the inner
    one, and copper as whole between them: each raises the conductance (Rayleigh's monotonicity law; P. G. Doyle,
    J. L. Snell, "Random Walks and Electric Networks", part II).
    """
    if around.reach_mm <= 0:
        return sum(w_per_k for _, w_per_k in around.vias)
    lines = [0.0, *np.geomspace(min(NEAREST_MM, around.reach_mm / 2), around.reach_mm, STEPS).tolist()]
    at_mm, w_per_k = np.array(around.vias, dtype=np.float64).reshape(-1, 2).T
    of_line = np.clip(np.searchsorted(lines, at_mm, side="right") - 1, 0, len(lines) - 1)
    down = np.bincount(of_line, weights=w_per_k, minlength=len(lines))
    beyond = float(down[-1])
    for k in range(len(lines) - 2, -1, -1):
        near, far = lines[k], lines[k + 1]
        ring_mm2 = (far - near) * (around.edge_mm + math.pi * around.pieces * (far + near))
        out_w_per_k = (around.edge_mm + 2 * math.pi * around.pieces * far) / (around.square_k_per_w * (far - near))
        on = 1 / (1 / out_w_per_k + 1 / beyond) if beyond > 0 else 0.0
        beyond = float(down[k]) + around.laminate_w_per_mm2_k * ring_mm2 + on
    return beyond
