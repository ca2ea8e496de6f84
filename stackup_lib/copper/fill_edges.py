"""The edges of the filled copper of one layer, indexed in short runs so that a box finds those near it quickly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from shapely import Polygon, STRtree

Complexes = NDArray[np.complex128]

RUN = 8
"""Consecutive edges of a fill that share a box: a plane has tens of thousands, most of them chords of antipads."""

PEN_DRAWN = 20_200_000
"""Boards older than this format hold fills without the pen that draws their edge: the copper is larger than stored."""

_AROUND_MM = ((3e-6, 0.0), (-3e-6, 0.0), (0.0, 3e-6), (0.0, -3e-6))
"""A point lies on an edge to 2 nm: coordinates of both are whole nanometres, whichever way the board is turned."""


@entity
class FillEdges:
    """The edges of all fills of one layer, turned so that copper is on the left (x + iy, y pointing up); mm.

    Attributes:
        net: of each edge's zone.
        run_start: first edge of each run, and the number of edges at the end.
        tree: of the boxes around the runs.
    """

    start: Complexes
    end: Complexes
    net: Ints
    run_start: Ints
    tree: STRtree

    def __len__(self) -> int:
        return len(self.net)

    def near(self, left_mm: Floats, low_mm: Floats, right_mm: Floats, high_mm: Floats) -> tuple[Ints, Ints]:
        """Return (box, edge) for every edge that meets a box, and for some that only come near one."""
        return self.within(diagonals((left_mm, low_mm, right_mm, high_mm)))

    def within(self, shapes: NDArray[np.object_]) -> tuple[Ints, Ints]:
        """Return (shape, edge) for every edge that meets the box around a shape, and for some that only come near."""
        box, run = self.tree.query(shapes)
        size = self.run_start[run + 1] - self.run_start[run]
        before = np.cumsum(size) - size
        return np.repeat(box, size), np.arange(int(size.sum())) + np.repeat(self.run_start[run] - before, size)


def xy_of(points: Complexes) -> Floats:
    """Return the coordinates of points x + iy, as shapely takes them: one more axis, of two."""
    return np.stack([points.real, points.imag], axis=-1)


def diagonals(boxes: tuple[Floats, Floats, Floats, Floats]) -> NDArray[np.object_]:
    """Return lines across boxes (left, low, right, high): a tree needs only envelopes, and lines are small."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with copper needs it

    return np.asarray(shapely.linestrings(np.column_stack(boxes).reshape(-1, 2, 2)))


def rows_inside(fill: Polygon, x_mm: Floats, y_mm: Floats, *, with_edge: bool = False) -> Ints:
    """Return which points lie in a prepared fill, ascending; see `rows_in_fills`."""
    left, low, right, high = fill.bounds
    near = np.flatnonzero((x_mm >= left) & (x_mm <= right) & (y_mm >= low) & (y_mm <= high))
    if not len(near):
        return near
    return _inside(fill, near, x_mm, y_mm, with_edge=with_edge)


def rows_in_fills(
    fills: Sequence[tuple[int, Polygon]],
    x_mm: Floats,
    y_mm: Floats,
    own_net: Ints | None = None,
    *,
    with_edge: bool = False,
) -> Iterator[tuple[int, Ints]]:
    """Yield the row of each prepared fill that points may lie in, and which points do, ascending.

    With `own_net` points are not looked for in fills of their own net. A point on an edge is in no fill, though that
    may be a slit with copper all around: with `with_edge` it is in it, and so is one 2 nm away. KiCad draws slits level
    from the sides of holes, where tracks to the middle of a via run.
    """
    import shapely  # noqa: PLC0415

    left, low, right, high = shapely.bounds([fill for _, fill in fills]).reshape(-1, 4).T
    order = np.argsort(x_mm)
    first = np.searchsorted(x_mm, left, sorter=order)
    last = np.searchsorted(x_mm, right, side="right", sorter=order)
    for k in np.flatnonzero(first < last).tolist():
        net, fill = fills[k]
        near = order[first[k] : last[k]]
        near = near[(y_mm[near] >= low[k]) & (y_mm[near] <= high[k])]
        if own_net is not None:
            near = near[own_net[near] != net]
        if len(near):
            yield k, _inside(fill, near, x_mm, y_mm, with_edge=with_edge)


def _inside(fill: Polygon, near: Ints, x_mm: Floats, y_mm: Floats, *, with_edge: bool) -> Ints:
    import shapely  # noqa: PLC0415

    near = near[np.argsort(y_mm[near])]  # those of one height after another meet the same edges: twice as fast
    if not with_edge:
        return np.sort(near[shapely.contains_xy(fill, x_mm[near], y_mm[near])])
    found = shapely.intersects_xy(fill, x_mm[near], y_mm[near])
    for dx, dy in _AROUND_MM:
        rest = near[~found]
        found[~found] = shapely.intersects_xy(fill, x_mm[rest] + dx, y_mm[rest] + dy)
    return np.sort(near[found])


def fill_edges(board: Board, layer: int) -> FillEdges:
    """Return the edges of the fills stored on a layer; edges without length are left out."""
    import shapely  # noqa: PLC0415

    zones = board.zones
    fills = [k for k in np.flatnonzero(zones.fill_layer == layer).tolist() if _points(board, k) > 2]
    rings = [_ring(board, k) for k in fills]
    sizes = np.array([len(start) for start, _ in rings], dtype=np.int64)
    none = np.zeros(0, dtype=np.complex128)
    start, end = (np.concatenate([none, *(ring[side] for ring in rings)]) for side in (0, 1))
    first = np.cumsum(sizes) - sizes
    runs = [np.arange(at, at + size, RUN) for at, size in zip(first.tolist(), sizes.tolist(), strict=True)]
    run_start = np.concatenate([np.zeros(0, dtype=np.intp), *runs])
    low_left = np.minimum(start.real, end.real), np.minimum(start.imag, end.imag)
    high_right = np.maximum(start.real, end.real), np.maximum(start.imag, end.imag)
    left, low, right, high = (
        way.reduceat(values, run_start) if len(run_start) else values
        for way, both in ((np.minimum, low_left), (np.maximum, high_right))
        for values in both
    )
    net = np.repeat(zones.net[zones.fill_zone[fills]], sizes)
    tree = shapely.STRtree(diagonals((left, low, right, high)))
    return FillEdges(start, end, net, np.append(run_start, len(start)), tree)


def _points(board: Board, fill: int) -> int:
    return int(board.zones.fill_start[fill + 1] - board.zones.fill_start[fill])


def _ring(board: Board, fill: int) -> tuple[Complexes, Complexes]:
    """Starts and ends of the edges of one fill."""
    zones = board.zones
    here = slice(int(zones.fill_start[fill]), int(zones.fill_start[fill + 1]))
    ring = zones.fill_x_mm[here] + 1j * zones.fill_y_mm[here]
    following = np.roll(ring, -1)
    is_left = np.sum((ring.conj() * following).imag) > 0
    moves = ring != following
    one, other = (ring, following) if is_left else (following, ring)
    return one[moves], other[moves]
