"""A grid that is fine around given places and coarse far from them: the leaf of each cell, and the links of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints
from stackup_lib.core.record import entity
from stackup_lib.power.ground_return.link_grid import Grid, GridLevel

MOST_LEVELS = 5
"""The coarsest leaf is 2^5 cells wide."""


SIDE_CELLS = 0.35
"""By which an edge of copper may lie elsewhere than the two lines that sample a cell tell, as finite
elements show."""


@entity
class Leaves:
    """Squares of the grid, the same on every layer.

    Attributes:
        label: leaf of each cell of the finest grid.
        size_mm: width of each leaf.
        x_mm, y_mm: middle of each.
    """

    grid: Grid
    label: Ints
    level: Ints
    size_mm: Floats
    x_mm: Floats
    y_mm: Floats

    def __len__(self) -> int:
        return len(self.size_mm)

    def at(self, x_mm: Floats, y_mm: Floats) -> Ints:
        """Return the leaf that holds each place."""
        return np.asarray(self.label[self.grid.cell_of(x_mm, y_mm)])


class LeafLinks(NamedTuple):
    """Conductances in squares between leaves of one layer: least, middle, most, shape (3, links)."""

    layer: Ints
    first: Ints
    second: Ints
    squares: NDArray[np.float64]


def grow_leaves(grid: Grid, boxes_mm: Floats, least: int, slope: float, wanted: Ints | None = None) -> Leaves:
    """Return leaves no wider than a share of their distance from the nearest box, nor narrower than 2^least cells.

    Args:
        grid: the finest one.
        boxes_mm: left, low, right, high of each place of interest, shape (boxes, 4).
        least: level of the finest leaves.
        slope: width over distance.
        wanted: highest level of the leaf that holds each cell, of the grid's shape.
    """
    highest = _least_within(wanted, MOST_LEVELS) if wanted is not None else None
    top = MOST_LEVELS
    label = np.full((grid.rows, grid.columns), -1, dtype=np.int64)
    levels: list[Ints] = []
    xs: list[Floats] = []
    ys: list[Floats] = []
    size = grid.pitch_mm * 2**top
    rows, columns = -(-grid.rows // 2**top), -(-grid.columns // 2**top)
    row, column = (part.ravel() for part in np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"))
    count = 0
    for level in range(top, -1, -1):
        x, y = grid.left_mm + (column + 0.5) * size, grid.low_mm + (row + 0.5) * size
        if level == least:
            keeps = np.ones(len(x), dtype=bool)
        else:
            keeps = size <= slope * _distance_mm(x, y, size / 2, boxes_mm)
            if highest is not None:
                keeps &= highest[level][row, column] >= level
        span = 2**level
        fresh = np.arange(count, count + int(keeps.sum()))
        big = np.full((-(-grid.rows // span), -(-grid.columns // span)), -1, dtype=np.int64)
        big[row[keeps], column[keeps]] = fresh
        blown = np.repeat(np.repeat(big, span, axis=0), span, axis=1)[: grid.rows, : grid.columns]
        label = np.where(blown >= 0, blown, label)
        levels.append(np.full(len(fresh), level))
        xs.append(x[keeps])
        ys.append(y[keeps])
        count += len(fresh)
        if level == least:
            break
        row, column = _quarters(row[~keeps], column[~keeps])
        size /= 2
        inside = (row * (span // 2) < grid.rows) & (column * (span // 2) < grid.columns)
        row, column = row[inside], column[inside]
    level_of = np.concatenate(levels)
    sizes = grid.pitch_mm * np.exp2(level_of)
    return Leaves(grid, label, level_of, sizes, np.concatenate(xs), np.concatenate(ys))


def wanted_levels(leaves: Leaves, loss: Floats, most: float) -> Ints:
    """Return how coarse a leaf may be at each cell, so that none holds more than a part of the loss.

    The loss of a leaf goes with its area; leaves of two sizes or more apart are kept from meeting.

    Args:
        leaves: of the solution with that loss.
        loss: share of the loss in each leaf.
        most: share that a leaf may hold.
    """
    from scipy.ndimage import minimum_filter  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    finer = np.ceil(np.log2(np.maximum(loss / most, 1e-6)) / 2).astype(np.int64)
    wanted = np.clip(leaves.level - finer, 0, MOST_LEVELS)[leaves.label]
    for level in range(MOST_LEVELS - 1):
        reach = 2 ** (level + 2) + 1
        near = minimum_filter(wanted, reach, mode="nearest") <= level
        wanted = np.where(near, np.minimum(wanted, level + 1), wanted)
    return np.asarray(wanted)


def _least_within(wanted: Ints, levels: int) -> list[Ints]:
    """The least of the wanted levels within each square of each size."""
    found = [wanted]
    for _ in range(levels):
        last = found[-1]
        last = np.pad(last, ((0, last.shape[0] % 2), (0, last.shape[1] % 2)), mode="edge")
        found.append(
            np.minimum(np.minimum(last[0::2, 0::2], last[1::2, 0::2]), np.minimum(last[0::2, 1::2], last[1::2, 1::2]))
        )
    return found


def leaf_links(leaves: Leaves, levels: Sequence[GridLevel]) -> LeafLinks:
    """Return the links between neighbouring leaves, each from the grid of the finer one.

    Where a leaf meets a coarser one the current has as much further to go as that one is wider.
    """
    found: list[LeafLinks] = []
    for number, level in enumerate(levels):
        span = 2**number
        # the leaf that holds each cell of this grid, and whether it is one of this size
        label = leaves.label[::span, ::span]
        size = leaves.level[label]
        known = size >= number
        for links, across, (one, two) in (
            (level.along, 1, (np.s_[:, :-1], np.s_[:, 1:])),
            (level.down, 2, (np.s_[:-1, :], np.s_[1:, :])),
        ):
            wanted = known[one] & known[two] & ((size[one] == number) | (size[two] == number))
            wanted &= label[one] != label[two]
            cut = links[:, :, : wanted.shape[0], : wanted.shape[1]]
            layer, row, column = np.nonzero(wanted[None] & (cut[2] > 0))
            a, b = label[one][row, column], label[two][row, column]
            section = 2.0**number / ((np.exp2(leaves.level[a]) + np.exp2(leaves.level[b])) / 2)
            doubt = 1 + _open_sides(cut[2] > 0, across)[layer, row, column] * SIDE_CELLS / span
            bounds = np.stack([1 / doubt, np.ones(len(doubt)), doubt])
            found.append(LeafLinks(layer, a, b, cut[:, layer, row, column] * section * bounds))
    return LeafLinks(
        np.concatenate([one.layer for one in found]),
        np.concatenate([one.first for one in found]),
        np.concatenate([one.second for one in found]),
        np.concatenate([one.squares for one in found], axis=1),
    )


def _open_sides(linked: NDArray[np.bool_], across: int) -> Ints:
    """How many of the two links side by side with each there are not: the copper's edge is there."""
    sides = np.full(linked.shape, 2)
    by_row, links = np.moveaxis(sides, across, 0), np.moveaxis(linked, across, 0)
    by_row[1:] -= links[:-1]
    by_row[:-1] -= links[1:]
    return sides


def _quarters(row: Ints, column: Ints) -> tuple[Ints, Ints]:
    rows = np.concatenate([2 * row, 2 * row, 2 * row + 1, 2 * row + 1])
    columns = np.concatenate([2 * column, 2 * column + 1, 2 * column, 2 * column + 1])
    return rows, columns


def _distance_mm(x: Floats, y: Floats, half: float, boxes: Floats) -> Floats:
    """From the edge of each square to the nearest box, 0 where they overlap."""
    nearest = np.full(len(x), np.inf)
    for left, low, right, high in boxes.tolist():
        across = np.maximum(np.maximum(left - x, x - right) - half, 0.0)
        along = np.maximum(np.maximum(low - y, y - high) - half, 0.0)
        np.minimum(nearest, np.hypot(across, along), out=nearest)
    return nearest
