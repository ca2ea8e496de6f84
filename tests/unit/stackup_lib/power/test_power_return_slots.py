"""Ground return around slots: no current crosses one, however coarse the grid is there; second source: finite elements.

Those are the supply side's: triangles along every edge in place of a grid. Materials and the sparse solver are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.power.ground_return.leaf_parts import leaf_nodes
from stackup_lib.power.ground_return.leaves import Leaves
from stackup_lib.power.ground_return.link_grid import Grid, GridLevel
from stackup_lib.power.ground_return.return_grid import GridSize
from tests.support.small_boards.ground_return import board_of, elements_v, fill, pin, solved

Rect = Sequence[float]
PAD_MM = (2.0, 2.0)


def plane(layer: str, clearance_mm: float = 0.0) -> Mapping[str, object]:
    return {**fill(layer, 2, 2, 58, 38), "clearance_mm": clearance_mm}


def slots(*rects: Rect) -> list[Mapping[str, object]]:
    """Copper of another net on F.Cu, around which the plane has no gap."""
    return [{"net": "X", "layer": "F.Cu", "rect_mm": list(rect), "clearance_mm": 0.0} for rect in rects]


def laid_out(cut: Sequence[Rect], entry: Rect, leave: Rect, *, joined_at: Sequence[Rect] = ()) -> Mapping[str, object]:
    """A plane of 56 by 36 mm on F.Cu, slots in it, and a pad at either end; on B.Cu one more, which vias join to it."""
    vias = [{"net": "GND", "at_mm": list(at), "size_mm": 0.6, "drill_mm": 0.3} for at in joined_at]
    zones = [plane("F.Cu"), *slots(*cut), *([plane("B.Cu")] if vias else [])]
    return {
        "zones": zones,
        "parts": [pin("U1", entry[0], entry[1], PAD_MM), pin("J1", leave[0], leave[1], PAD_MM)],
        "vias": vias,
    }


BRIDGE = ((28, 1, 28.2, 19), (28, 20, 28.2, 39))
"""A wall of 0.2 mm with one bridge of 1 mm."""

LAYOUTS = {
    "one narrow bridge": laid_out(BRIDGE, (8, 15), (30.5, 15)),
    "comb": laid_out(
        [(43.6, 17.5, 44.6, 39), (29.6, 23.2, 29.8, 34.3), (23.6, 17.5, 23.8, 39), (46.2, 5, 59, 5.2)],
        (35.2, 28.9),
        (21, 22.9),
    ),
    "around two corners": laid_out(
        [
            (4.4, 16, 35.8, 17),
            (38.4, 13.5, 59, 13.8),
            (28.6, 5.6, 29.6, 34.2),
            (7.4, 11.1, 7.5, 22.8),
            (11.5, 6.8, 36.8, 7.1),
        ],
        (48.7, 11),
        (16.3, 4.4),
    ),
    "two bridges, slots on the way": laid_out(
        [
            (16.6, 26.8, 43.5, 27.1),
            (24, 33.1, 44.3, 33.4),
            (38.2, 16.2, 46.8, 16.4),
            (37.8, 1, 38, 18.9),
            (37.8, 19.9, 38, 24.2),
            (37.8, 25.2, 38, 39),
        ],
        (34.8, 30.8),
        (50.5, 6.5),
    ),
    "a plane below, joined by three vias": laid_out(BRIDGE, (8, 15), (50, 30), joined_at=[(20, 30), (24, 8), (45, 12)]),
}

SIZES = {
    "as by default": GridSize(),
    "a quarter of the leaves": GridSize(most_leaves=6000),
    "an eighth": GridSize(most_leaves=3000),
    "a sixteenth": GridSize(most_leaves=1500),
    "cells of 0.4 mm": GridSize(least_mm=0.4, most_leaves=6000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_drop_is_that_of_finite_elements_on_every_grid(name: str, tmp_path: Path) -> None:
    """Within the stated error, and never further off than 2 % by default, 5 % at worst."""
    board = board_of(tmp_path, **LAYOUTS[name])
    exact = elements_v(board, 0.02)

    for size, within in zip(SIZES.values(), (0.02, 0.05, 0.05, 0.05, 0.05), strict=True):
        drops = solved(board, size=size)
        assert drops.joined == (True,)
        assert drops.drop_v[0][0] == pytest.approx(exact, rel=min(within, drops.error[0]))
        assert drops.error[0] < 0.1


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_wall_with_one_bridge_is_not_leaked_through(size: GridSize, tmp_path: Path) -> None:
    """1.60 mV at 1 A by finite elements."""
    drops = solved(board_of(tmp_path, **LAYOUTS["one narrow bridge"]), size=size)

    assert 1000 * drops.drop_v[0][0] == pytest.approx(1.60, rel=0.03)


@pytest.mark.parametrize("most", [60, 200, 600])
def test_a_grid_that_must_stay_coarse_states_so(most: int, tmp_path: Path) -> None:
    """As on a board of many layers and many rails: 1.60 mV lie within what is stated, however few leaves fit."""
    drops = solved(board_of(tmp_path, **LAYOUTS["one narrow bridge"]), size=GridSize(most_leaves=most))

    assert 1000 * drops.drop_v[0][0] == pytest.approx(1.60, rel=drops.error[0])


def test_a_pad_whose_edge_runs_through_the_middles_of_cells(tmp_path: Path) -> None:
    """Their distance is 1e-15 mm or so: that is none, and no conductance to divide by. 1.88 mV by finite elements."""
    holes = [
        {"net": "SIG", "at_mm": [37.33, 27.96], "grid": [14, 3], "pitch_mm": 1.0, "size_mm": 0.7, "drill_mm": 0.35},
        *({"net": "GND", "at_mm": at, "size_mm": 0.6, "drill_mm": 0.3} for at in ([4.87, 30.13], [53.92, 17.68])),
        {"net": "GND", "at_mm": [37.88, 32.94], "size_mm": 0.6, "drill_mm": 0.3},
    ]
    cut = slots(
        (11.473, 10.869, 11.973, 26.655),
        (4.546, 6.517, 4.746, 14.369),
        (28.023, 25.03, 28.323, 35.866),
        (18.977, 1, 19.977, 26.155),
        (18.977, 27.155, 19.977, 39),
    )
    zones = [plane("F.Cu", 0.1), *cut, plane("B.Cu", 0.2)]
    parts = [pin("U1", 7.3, 22.69, PAD_MM), pin("J1", 40.55, 15.67, PAD_MM)]
    drops = solved(board_of(tmp_path, zones=zones, vias=holes, parts=parts), size=GridSize(most_leaves=60_000))

    assert 1000 * drops.drop_v[0][0] == pytest.approx(1.88, rel=0.02)


# --- the parts of leaves ---------------------------------------------------------------------------------------------


def leaves_of(label: Sequence[Sequence[int]], levels: Sequence[int]) -> Leaves:
    """Leaves of a grid of cells of 1 mm whose corner is at 0, 0."""
    numbers = np.array(label)
    grid = Grid(0.0, 0.0, 1.0, numbers.shape[1], numbers.shape[0])
    middles = [np.argwhere(numbers == leaf).mean(axis=0) + 0.5 for leaf in range(len(levels))]
    level = np.array(levels)
    y, x = np.array(middles).T
    return Leaves(grid, numbers, level, np.exp2(level), x, y)


def full(rows: int, columns: int) -> GridLevel:
    """Copper everywhere."""
    along, down = np.ones((1, rows, columns), np.float32), np.ones((1, rows, columns), np.float32)
    along[:, :, -1] = down[:, -1] = 0
    return level_of(along, down)


def level_of(along: NDArray[np.float32], down: NDArray[np.float32]) -> GridLevel:
    filled = (along > 0) | (down > 0)
    filled[:, :, 1:] |= along[:, :, :-1] > 0
    filled[:, 1:] |= down[:, :-1] > 0
    return GridLevel(np.broadcast_to(along, (3, *along.shape)), np.broadcast_to(down, (3, *down.shape)), filled)


def test_leaves_of_whole_copper_are_one_node_each() -> None:
    nodes = leaf_nodes(leaves_of([[0, 0, 1], [0, 0, 2]], [1, 0, 0]), full(2, 3))

    assert nodes.of_cell.tolist() == [[[0, 0, 1], [0, 0, 2]]]
    assert not nodes.divided.any()


def test_a_slot_through_a_leaf_makes_two_nodes_of_it() -> None:
    """Four cells by four, a slot after the first column: the larger part keeps the leaf's number, at its own middle."""
    copper = full(4, 4)
    along = copper.along[0].copy()
    along[:, :, 0] = 0
    nodes = leaf_nodes(leaves_of([[0] * 4] * 4, [2]), level_of(along, copper.down[0]))

    assert nodes.of_cell.tolist() == [[[1, 0, 0, 0]] * 4]
    assert nodes.leaf.tolist() == [0, 0]
    assert (nodes.x_cells.tolist(), nodes.y_cells.tolist()) == ([2.0, 0.0], [1.5, 1.5])
    assert nodes.divided.tolist() == [[True]]


def test_a_slot_that_ends_in_a_leaf_leaves_it_whole() -> None:
    copper = full(4, 4)
    along = copper.along[0].copy()
    along[:, :3, 1] = 0

    assert not leaf_nodes(leaves_of([[0] * 4] * 4, [2]), level_of(along, copper.down[0])).divided.any()
