"""How far the currents of two layers flow alike, one above the other."""

from __future__ import annotations

import numpy as np

from stackup_lib.power.rail_drop.mesh import Reals, areas_mm2
from stackup_lib.power.rail_drop.rail_models import LayerFlow

MOST_SAMPLES = 100_000
"""Points at which two layers are compared; every triangle has one at least, in its middle."""

FINEST = 8
"""Most parts into which each side of a triangle is divided, where few triangles leave room for it."""


def likeness(one: LayerFlow, other: LayerFlow) -> float:
    """Return the integral of K1.K2 over the square root of those of K1.K1 and K2.K2, K being current per width.

    It is 1 where both layers carry the same current in the same places, 0 where no current lies over other current, and
    -1 where it flows back. Compared at points inside the triangles of the one that has more: within 2 % of the exact
    integral for strips that overlap in part.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    fine, coarse = (one, other) if len(one.corners_mm) >= len(other.corners_mm) else (other, one)
    places, weights, of = _samples(fine.corners_mm)
    tree = shapely.STRtree(shapely.polygons(coarse.corners_mm))
    point, triangle = tree.query(shapely.points(places), predicate="intersects")
    point, first = np.unique(point, return_index=True)
    mine, its = fine.a_per_mm[of[point]], coarse.a_per_mm[triangle[first]]
    both = float((weights[point] * (mine * its).sum(axis=1)).sum())
    alone = float(np.sqrt(_squared(one) * _squared(other)))
    return max(-1.0, min(1.0, both / alone)) if alone else 0.0


def _squared(flow: LayerFlow) -> float:
    return float((areas_mm2(flow.corners_mm) * (flow.a_per_mm**2).sum(axis=1)).sum())


def _samples(corners_mm: Reals) -> tuple[Reals, Reals, np.ndarray]:
    """Points inside of triangles, the area that each stands for, and its triangle."""
    count = len(corners_mm)
    parts = max(1, min(FINEST, int(np.sqrt(MOST_SAMPLES / max(count, 1)))))
    share = _middles(parts)
    places = np.einsum("sc,tcx->tsx", share, corners_mm).reshape(-1, 2)
    weights = np.repeat(areas_mm2(corners_mm) / len(share), len(share))
    return places, weights, np.repeat(np.arange(count), len(share))


def _middles(parts: int) -> Reals:
    """Barycentric coordinates of the middles of the equal triangles into which one is divided, shape (parts^2, 3)."""
    found = []
    for i in range(parts):
        for j in range(parts - i):
            found.append((i + 1 / 3, j + 1 / 3))
            if i + j < parts - 1:
                found.append((i + 2 / 3, j + 2 / 3))
    first = np.array(found) / parts
    return np.column_stack([first, 1 - first.sum(axis=1)])
