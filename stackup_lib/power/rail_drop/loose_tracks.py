"""Tracks of a rail that run outside its fills: what flows in each, and what is lost along them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.net_copper import layer_fills
from stackup_lib.power.rail_drop.sheets import SheetSolution

if TYPE_CHECKING:
    from scipy.spatial import cKDTree
    from shapely import Geometry

NEAR = 0.4
"""Current is averaged over the triangles within this share of the track's width from a place on its middle line."""

NEAREST = 16
"""Triangles among which the one that holds a place is looked for."""

PLACES = 9
"""Places along a straight track, at most: another track may leave it anywhere. None is within a width of its ends."""


@record
class LooseTrack:
    """A track outside the fills.

    Attributes:
        row: of `Board.tracks`.
        current_a: the largest along it; where currents meet, an upper estimate.
        volts: largest difference within the loose tracks that touch it on its layer.
    """

    row: int
    current_a: float
    volts: float


def loose_tracks(board: Board, net: int, layers: Sequence[int], solution: SheetSolution) -> tuple[LooseTrack, ...]:
    """Return the tracks that lie in no fill of the net, largest current first; those that carry none left out.

    Args:
        board: the board.
        net: of the rail.
        layers: copper layer of each sheet of the solution.
        solution: of `solve_sheets`.
    """
    found: list[LooseTrack] = []
    for sheet, layer in enumerate(layers):
        fills = layer_fills(board, net, layer)
        rows = _outside(board, net, layer, fills)
        if len(rows):
            found += _of_sheet(board, rows, sheet, fills, solution)
    return tuple(sorted(found, key=lambda track: (-track.current_a, track.row)))


def _middles(board: Board, rows: Ints) -> tuple[Floats, Floats]:
    tracks = board.tracks
    x, y = tracks.mid_x_mm[rows], tracks.mid_y_mm[rows]
    straight = np.isnan(x)
    return (
        np.where(straight, (tracks.start_x_mm[rows] + tracks.end_x_mm[rows]) / 2, x),
        np.where(straight, (tracks.start_y_mm[rows] + tracks.end_y_mm[rows]) / 2, y),
    )


def _outside(board: Board, net: int, layer: int, fills: Sequence[Geometry]) -> Ints:
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    tracks = board.tracks
    long = tracks.length_mm > tracks.width_mm  # a stub inside a pad or a corner says nothing of a cross section
    rows = np.flatnonzero((tracks.net == net) & (tracks.layer == layer) & long)
    if not len(rows):
        return rows
    x, y = _middles(board, rows)
    inside = np.zeros(len(rows), dtype=bool)
    for fill in fills:
        shapely.prepare(fill)
        inside |= shapely.contains_xy(fill, x, y)
    return rows[~inside]


def _places(board: Board, rows: Ints, fills: Sequence[Geometry]) -> Iterator[Floats]:
    """Yield the middle of each track, and of a straight one more places on it that lie in no fill."""
    import shapely  # noqa: PLC0415

    tracks = board.tracks
    x, y = _middles(board, rows)
    for row, middle in zip(rows.tolist(), np.column_stack([x, y]), strict=True):
        length, width = float(tracks.length_mm[row]), float(tracks.width_mm[row])
        count = min(PLACES, int((length - 2 * width) / width))
        if count < 1 or not np.isnan(tracks.mid_x_mm[row]):
            yield middle[None]
            continue
        share = np.linspace(width / length, 1 - width / length, count)[:, None]
        start = np.array([tracks.start_x_mm[row], tracks.start_y_mm[row]])
        end = np.array([tracks.end_x_mm[row], tracks.end_y_mm[row]])
        more = start + (end - start) * share
        outside = ~np.any([shapely.contains_xy(fill, more[:, 0], more[:, 1]) for fill in fills], axis=0)
        yield np.vstack([middle, more[outside] if len(fills) else more])


def _of_sheet(
    board: Board, rows: Ints, sheet: int, sheet_fills: Sequence[Geometry], solution: SheetSolution
) -> list[LooseTrack]:
    """Average the current density around places along each track; group the tracks that touch."""
    from scipy.spatial import cKDTree  # noqa: PLC0415

    assembly = solution.assembly
    mine = np.flatnonzero(assembly.sheet_of == sheet)
    if not len(mine):
        return []
    corners = assembly.corners_mm[mine]
    tree = cKDTree(corners.mean(axis=1))
    amperes_per_mm = np.hypot(*solution.density_a_per_mm[mine].T)
    size = solution.size_mm2[mine]
    width = board.tracks.width_mm[rows]
    currents: list[float] = []
    for places, wide in zip(_places(board, rows, sheet_fills), width.tolist(), strict=True):
        around = tree.query_ball_point(places, NEAR * wide)
        found = [near or _holding(place, tree, corners) for near, place in zip(around, places, strict=True)]
        found = [near for near in found if near] or [[int(tree.query(places[0])[1])]]
        means = [float((amperes_per_mm[near] * size[near]).sum() / size[near].sum()) for near in found]
        currents.append(max(means) * wide)
    volts = _volts(board, rows, corners, solution.volts[assembly.continuous.unknowns[mine]])
    least = 1e-6 * max(currents)
    return [
        LooseTrack(int(row), current, lost)
        for row, current, lost in zip(rows.tolist(), currents, volts, strict=True)
        if current > least
    ]


def _holding(place: Floats, tree: cKDTree, corners: Floats) -> list[int]:
    """Return the triangle that holds a place, among those whose centres are nearest; none for a place on a contact."""
    near = np.atleast_1d(tree.query(place, k=min(NEAREST, len(corners)))[1])
    to = corners[near] - place
    turns = to[:, :, 0] * np.roll(to[:, :, 1], -1, axis=1) - to[:, :, 1] * np.roll(to[:, :, 0], -1, axis=1)
    inside = (turns >= 0).all(axis=1) | (turns <= 0).all(axis=1)
    return [int(one) for one in near[inside][:1]]


def _volts(board: Board, rows: Ints, corners: Floats, drops: Floats) -> list[float]:
    """Largest difference of the drop within each group of touching tracks, one per row."""
    import shapely  # noqa: PLC0415

    tracks = board.tracks
    x, y = _middles(board, rows)
    ends = np.stack(
        [
            np.column_stack([tracks.start_x_mm[rows], tracks.start_y_mm[rows]]),
            np.column_stack([x, y]),
            np.column_stack([tracks.end_x_mm[rows], tracks.end_y_mm[rows]]),
        ],
        axis=1,
    )
    strips = shapely.buffer(shapely.linestrings(ends), tracks.width_mm[rows] / 2, quad_segs=2)
    groups = shapely.get_parts(shapely.union_all(strips))
    group_of = shapely.STRtree(groups).nearest(strips)
    points, values = corners.reshape(-1, 2), drops.reshape(-1)
    span = np.zeros(len(groups))
    at, of = shapely.STRtree(shapely.points(points)).query(groups, predicate="intersects")
    for k in distinct(at).tolist():
        span[k] = np.ptp(values[of[at == k]])
    return [float(span[k]) for k in np.asarray(group_of).tolist()]
