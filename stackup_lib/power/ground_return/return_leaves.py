"""The grid of a ground return: fine around the terminals, and where a rougher one has its loss."""

from collections.abc import Sequence

import numpy as np

from stackup_lib.board.board import Board, Floats
from stackup_lib.power.ground_return.leaves import Leaves, grow_leaves, wanted_levels
from stackup_lib.power.ground_return.link_grid import Grid
from stackup_lib.power.rail_drop.net_copper import pad_centres_mm

GRADINGS = ((0, 0.3), (0, 0.5), (1, 0.5), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0))
"""Finest level and width over distance from the terminals; the first that is not too many leaves is taken."""

PARTS = (6, 12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Parts of the loss; a leaf of the finer grid holds no more than one."""

ENOUGH_PARTS = 100
"""With fewer, what is fine around the terminals would better be fine where the loss is."""

COARSEST = 2.0
"""Width over distance from the terminals, of leaves with little loss."""

MOST_BOXES = 36
"""Places around which the grid is fine; more pads than that are put together by tiles."""


def first_leaves(grid: Grid, boxes: Floats, most: int) -> Leaves:
    """Return the finest leaves around the terminals of which there are no more than `most`, or the coarsest."""
    for least, slope in GRADINGS:
        leaves = grow_leaves(grid, boxes, least, slope)
        if len(leaves) <= most:
            break
    return leaves


def finer_leaves(first: Leaves, loss: Floats, boxes: Floats, most: int) -> Leaves:
    """Return leaves none of which holds more than a part of the loss, the smallest for which there are not too many.

    They are also fine around all terminals, unless that leaves too few for the loss elsewhere.
    """
    best, reached = first, 0
    for places, enough in ((boxes, ENOUGH_PARTS), (boxes[:0], 0)):
        for parts in PARTS:
            wanted = wanted_levels(first, loss, 1 / parts)
            leaves = grow_leaves(first.grid, places, 0, COARSEST, wanted)
            if len(leaves) > most:
                break
            best, reached = leaves, parts
        if reached >= enough:
            break
    return best


def terminal_boxes(board: Board, net: int, pads: Sequence[int]) -> Floats:
    """Return boxes around pads and around the vias of a net that has few: left, low, right, high in rows, in mm."""
    return np.vstack([_pad_boxes(board, pads), _few_holes(board, net)])


def _few_holes(board: Board, net: int) -> Floats:
    """Boxes around the vias of a net that has few of them: each then carries much."""
    vias = board.vias
    rows = np.flatnonzero(vias.net == net)
    if len(rows) > MOST_BOXES:
        return np.zeros((0, 4))
    x, y, half = vias.x_mm[rows], vias.y_mm[rows], vias.drill_mm[rows] / 2
    return np.column_stack([x - half, y - half, x + half, y + half])


def _pad_boxes(board: Board, pads: Sequence[int]) -> Floats:
    """Boxes around pads, large enough whichever way they are turned."""
    rows = np.asarray(sorted(set(pads)), dtype=np.int64)
    x, y = pad_centres_mm(board, rows)
    turn = np.deg2rad(board.pads.rotation_deg[rows])
    wide, high = board.pads.size_x_mm[rows] / 2, board.pads.size_y_mm[rows] / 2
    reach_x = wide * np.abs(np.cos(turn)) + high * np.abs(np.sin(turn))
    reach_y = wide * np.abs(np.sin(turn)) + high * np.abs(np.cos(turn))
    boxes = np.column_stack([x - reach_x, y - reach_y, x + reach_x, y + reach_y])
    if len(boxes) <= MOST_BOXES:
        return boxes
    # pads of one tile count as one place
    tile = max(float(np.ptp(x)), float(np.ptp(y))) / np.sqrt(MOST_BOXES)
    _, group = np.unique(np.floor(np.column_stack([x, y]) / tile), axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.diff(group.reshape(-1)[order], prepend=-1))
    low = np.minimum.reduceat(boxes[order, :2], starts)
    return np.hstack([low, np.maximum.reduceat(boxes[order, 2:], starts)])
