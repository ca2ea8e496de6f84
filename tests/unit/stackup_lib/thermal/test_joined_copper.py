"""What the copper around a pad conducts at most, against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import coo_matrix, diags
from scipy.sparse.linalg import spsolve

from stackup_lib.thermal.joined_copper import Surroundings, most_w_per_k

PAD_MM, SHEET_MM, CELL_MM = 6.0, 30.0, 0.2
RING = [(4.0, 0.0), (-4.0, 0.0), (0.0, 4.0), (0.0, -4.0), (6.0, 6.0), (-6.0, 6.0), (9.0, 0.0), (0.0, -11.0)]


def solved_on_grid(
    square_k_per_w: float, laminate: float, vias: list[tuple[float, float]], via_w_per_k: float
) -> float:
    """Conductance from a square pad of one temperature into a square sheet around it and down, in W/K."""
    count = round(SHEET_MM / CELL_MM)
    at = (np.arange(count) + 0.5) * CELL_MM - SHEET_MM / 2
    x, y = (part.ravel() for part in np.meshgrid(at, at, indexing="ij"))
    number = np.arange(count * count).reshape(count, count)
    first = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    second = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    ends, others = np.concatenate([first, second]), np.concatenate([second, first])
    links = coo_matrix((np.full(len(ends), 1 / square_k_per_w), (ends, others)), shape=(count**2, count**2)).tocsr()
    down = np.full(count**2, laminate * CELL_MM**2)
    for along, across in vias:
        down[np.argmin(np.hypot(x - along, y - across))] += via_w_per_k
    matrix = (diags(np.asarray(links.sum(axis=1)).ravel() + down) - links).tocsr()
    is_pad = (np.abs(x) < PAD_MM / 2) & (np.abs(y) < PAD_MM / 2)
    free = np.flatnonzero(~is_pad)
    out = np.asarray(links[free][:, is_pad].sum(axis=1)).ravel()
    rise = spsolve(matrix[free][:, free].tocsc(), out)
    return float((out * (1 - rise)).sum())


@pytest.mark.parametrize("vias", [[], RING], ids=["laminate alone", "with vias"])
@pytest.mark.parametrize("depth_mm", [0.2, 1.5])
@pytest.mark.parametrize("copper_mm", [0.035, 0.105])
def test_no_copper_around_conducts_more_than_the_bound(
    vias: list[tuple[float, float]], depth_mm: float, copper_mm: float
) -> None:
    """A pad of 6 mm in a pour of 30 mm over 0.2 or 1.5 mm of laminate: above what the grid finds, below 1.4 of it."""
    square, laminate, via = 1 / (0.39 * copper_mm), 0.0003 / depth_mm, 1 / 80
    away = [math.hypot(max(abs(x) - PAD_MM / 2, 0), max(abs(y) - PAD_MM / 2, 0)) for x, y in vias]
    around = Surroundings(
        edge_mm=4 * PAD_MM,
        pieces=1,
        square_k_per_w=square,
        laminate_w_per_mm2_k=laminate,
        vias=[(distance, via) for distance in away],
        reach_mm=math.hypot(12, 12),
    )

    assert 1 <= most_w_per_k(around) / solved_on_grid(square, laminate, vias, via) <= 1.4


def test_copper_without_anything_below_it_conducts_nothing() -> None:
    """And vias at the very edge of a pad conduct as if they were in it."""
    bare = Surroundings(10.0, 1, 70.0, 0.0, [], 20.0)
    at_edge = Surroundings(10.0, 1, 70.0, 0.0, [(0.0, 0.01), (0.0, 0.02)], 20.0)
    adjacent = Surroundings(10.0, 1, 70.0, 0.0, [(0.0, 0.01), (0.0, 0.02)], 0.0)

    assert most_w_per_k(bare) == 0
    assert most_w_per_k(at_edge) == pytest.approx(0.03)
    assert most_w_per_k(adjacent) == pytest.approx(0.03)
