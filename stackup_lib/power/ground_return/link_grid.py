"""The fills of one net as links between the points of a square grid: how much of each link's width is copper.

A link joins two neighbouring grid points; its conductance is in squares: 1 where a strip as wide as the grid's pitch is
copper from point to point, 0 where a gap of whatever width cuts every line that samples it. Coarser grids are made two
to one from finer ones, between two bounds: with cuts along the current, which conducts less, and with bars across it,
which conducts more (Lord Rayleigh, Phil. Trans. 161 (1871) 77).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record

Links = NDArray[np.float32]
Mask = NDArray[np.bool_]

LINES = 2
"""Lines that sample the width of each link."""

SAME_MM = 2e-6
"""Crossings no further apart than KiCad's grid are one place: both sides of a slit, or two fills that touch."""


PLACE = 0.25
"""Weight of the place in an interval, added to the interval's number as its fraction; it is below 1.5."""


@record
class Grid:
    """Points at (left + (column + 1/2) pitch, low + (row + 1/2) pitch)."""

    left_mm: float
    low_mm: float
    pitch_mm: float
    columns: int
    rows: int

    def cell_of(self, x_mm: Floats, y_mm: Floats) -> tuple[Ints, Ints]:
        """Return (row, column) of the cells that hold some places, those outside moved to the border."""
        column = np.clip(np.floor((x_mm - self.left_mm) / self.pitch_mm), 0, self.columns - 1)
        row = np.clip(np.floor((y_mm - self.low_mm) / self.pitch_mm), 0, self.rows - 1)
        return row.astype(np.int64), column.astype(np.int64)


class GridLevel(NamedTuple):
    """Links of one grid on all layers, least, middle and most: shapes (3, layers, rows, columns).

    `along[..., r, c]` leads from point (r, c) to (r, c + 1), `down[..., r, c]` to (r + 1, c); those that would leave
    the grid are 0. `filled`, shape (layers, rows, columns), tells the points from which any link leads.
    """

    along: Links
    down: Links
    filled: Mask


class _Edges(NamedTuple):
    """Edges of fills, copper to the left of each where y is treated as upward."""

    x1: Floats
    y1: Floats
    x2: Floats
    y2: Floats

    @property
    def turned(self) -> _Edges:
        """With the axes exchanged, and the ends as well, so that copper stays to the left."""
        return _Edges(self.y2, self.x2, self.y1, self.x1)


def layers_filled(board: Board, net: int) -> list[int]:
    """Return the copper layers with a stored fill of a net, top to bottom."""
    zones = board.zones
    return [int(layer) for layer in distinct(zones.fill_layer[zones.net[zones.fill_zone] == net])]


def finest_level(board: Board, net: int, layers: list[int], grid: Grid) -> GridLevel:
    """Return the links of a net's fills on a grid."""
    shape = len(layers), grid.rows, grid.columns
    along, down = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for number, layer in enumerate(layers):
        edges = _edges(board, net, layer)
        along[number, :, :-1] = _open(edges, grid)
        other = Grid(grid.low_mm, grid.left_mm, grid.pitch_mm, grid.rows, grid.columns)
        down[number, :-1, :] = _open(edges.turned, other).T
    filled = (along > 0) | (down > 0)
    filled[:, :, 1:] |= along[:, :, :-1] > 0
    filled[:, 1:] |= down[:, :-1] > 0
    return GridLevel(np.broadcast_to(along, (3, *shape)), np.broadcast_to(down, (3, *shape)), filled)


def coarser(level: GridLevel) -> GridLevel:
    """Return the links of a grid of twice the pitch; its points lie in the middle of four of the old ones.

    Where half of such a square is empty, its point stands for the other half.
    """
    filled = _even(level.filled[None])[0]
    wide = _coarse(_even(level.along), filled)
    deep = _coarse(_even(level.down).swapaxes(2, 3), filled.swapaxes(1, 2)).swapaxes(2, 3)
    half = filled[:, :, 0::2] | filled[:, :, 1::2]
    return GridLevel(np.ascontiguousarray(wide), np.ascontiguousarray(deep), half[:, 0::2] | half[:, 1::2])


def _even(cells: NDArray[Any]) -> NDArray[Any]:
    """With a row and a column of nothing where their number is odd."""
    rows, columns = cells.shape[2] % 2, cells.shape[3] % 2
    if not rows and not columns:
        return cells
    width = (0, 0), (0, 0), (0, rows), (0, columns)
    if cells.strides[0]:
        return np.pad(cells, width)
    once = np.pad(cells[:1], width)
    return np.broadcast_to(once, (len(cells), *once.shape[1:]))


def _coarse(links: Links, filled: Mask) -> Links:
    """Half of the link before, the one between, half of the one after: in two rows side by side, or joined by bars."""
    if not links.strides[0]:  # the finest grid: least, middle and most are one
        links = links[:1]
    with np.errstate(divide="ignore"):
        ohm = np.asarray(1 / links, dtype=np.float32)
    inside, between = np.float32(0.5) * ohm[..., 0::2], links[..., 1::2]
    before, before_all = _half(inside, filled[..., 0::2])
    after, after_all = (_next(half) for half in _half(inside, filled[..., 1::2]))
    found = np.empty((3, links.shape[1], links.shape[2] // 2, links.shape[3] // 2), np.float32)
    with np.errstate(divide="ignore"):
        row = 1 / (before + ohm[..., 1::2] + after)
        apart = row[:, :, 0::2] + row[:, :, 1::2]
        bars = 1 / (before_all + 1 / (between[:, :, 0::2] + between[:, :, 1::2]) + after_all)
    middle = len(links) // 2
    found[0], found[2] = apart[0], np.maximum(bars[-1], apart[-1])
    found[1] = (apart[middle] + np.maximum(bars[middle], apart[middle])) / 2
    return found


def _half(inside: Links, filled: Mask) -> tuple[Links, Links]:
    """Resistance from the middle of a square to that of its half: by rows, and with both rows joined by a bar."""
    nothing, endless = np.float32(0), np.float32(np.inf)
    either = filled[:, 0::2] | filled[:, 1::2]
    in_row = np.where(np.repeat(either, 2, axis=1), np.where(filled, inside, endless), nothing)
    with np.errstate(divide="ignore"):
        joined = 1 / (1 / in_row[:, :, 0::2] + 1 / in_row[:, :, 1::2])
    return np.where(filled, inside, nothing), np.asarray(joined, dtype=np.float32)


def _next(half: Links) -> Links:
    """Of the square that follows; nothing follows the last."""
    found = np.full_like(half, np.inf)
    found[..., :-1] = half[..., 1:]
    return found


def _edges(board: Board, net: int, layer: int) -> _Edges:
    zones = board.zones
    chosen = np.flatnonzero((zones.net[zones.fill_zone] == net) & (zones.fill_layer == layer))
    starts, ends = zones.fill_start[chosen], zones.fill_start[chosen + 1]
    sizes = ends - starts
    chosen, starts, sizes = chosen[sizes > 2], starts[sizes > 2], sizes[sizes > 2]
    if not len(chosen):
        none = np.zeros(0)
        return _Edges(none, none, none, none)
    first = (np.cumsum(sizes) - sizes).astype(np.intp)
    at = np.arange(int(sizes.sum())) + np.repeat(starts - first, sizes)
    following = at + 1
    following[first + sizes - 1] = starts
    x1, y1, x2, y2 = zones.fill_x_mm[at], zones.fill_y_mm[at], zones.fill_x_mm[following], zones.fill_y_mm[following]
    is_left = np.add.reduceat(x1 * y2 - x2 * y1, first) > 0
    swap = np.repeat(~is_left, sizes)
    return _Edges(np.where(swap, x2, x1), np.where(swap, y2, y1), np.where(swap, x1, x2), np.where(swap, y1, y2))


def _open(edges: _Edges, grid: Grid) -> Links:
    """Share of each link along x whose sampling lines meet no edge and lie in copper; (rows, columns - 1)."""
    step = grid.pitch_mm / LINES
    first = np.ceil((np.minimum(edges.y1, edges.y2) - grid.low_mm) / step - 0.5).astype(np.int64)
    last = np.ceil((np.maximum(edges.y1, edges.y2) - grid.low_mm) / step - 0.5).astype(np.int64)
    lines = grid.rows * LINES
    first, last = np.clip(first, 0, lines), np.clip(last, 0, lines)
    count = last - first
    crossing = np.flatnonzero(count)
    times = count[crossing]
    edge = np.repeat(crossing, times)
    line = np.arange(len(edge)) - np.repeat(np.cumsum(times) - times - first[crossing], times)
    slope = np.zeros(len(count))
    slope[crossing] = (edges.x2 - edges.x1)[crossing] / (edges.y2 - edges.y1)[crossing]
    x = edges.x1[edge] + (grid.low_mm + (line + 0.5) * step - edges.y1[edge]) * slope[edge]
    sign = np.where(edges.y2[edge] > edges.y1[edge], -1, 1)
    # interval k lies between the points k - 1 and k
    interval = np.clip(np.ceil((x - grid.left_mm) / grid.pitch_mm - 0.5), 0, grid.columns).astype(np.int64)
    width = grid.columns + 1
    key = line * width + interval
    met = np.bincount(key, minlength=lines * width)
    turns = np.bincount(key, sign, minlength=lines * width).reshape(lines, width)
    _forgive(met, key, (x - grid.left_mm) / grid.pitch_mm - interval, sign, SAME_MM / grid.pitch_mm)
    inside = np.cumsum(turns, axis=1) > 0.5
    whole = inside[:, :-2] & (met.reshape(lines, width)[:, 1:-1] == 0)
    return np.asarray(whole.reshape(grid.rows, LINES, -1).mean(axis=1), dtype=np.float32)


def _forgive(met: Ints, key: Ints, place: Floats, sign: Ints, same_place: float) -> None:
    """Take out of the count those crossings of an interval that a second one at the same place undoes."""
    several = np.flatnonzero(met[key] > 1)
    order = several[np.argsort(key[several] + PLACE * place[several])]
    one, two = order[:-1], order[1:]
    same = (key[one] == key[two]) & (place[two] - place[one] < same_place) & (sign[one] != sign[two])
    # in a run of crossings at one place each second pair starts anew
    run = np.arange(len(same)) - np.maximum.accumulate(np.where(same, -1, np.arange(len(same))))
    np.subtract.at(met, key[one][same & (run % 2 == 1)], 2)
