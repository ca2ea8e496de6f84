"""Tracks of a rail that run outside its fills: what flows in each, and what is lost along them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.net_copper import layer_fills
from stackup_lib.power.rail_drop.sheets import SheetSolution

NEAR = 0.4
"""Current is averaged over the triangles within this share of the track's width from its middle."""


@record
class LooseTrack:
    """A track outside the fills.

    Attributes:
        row: of `Board.tracks`.
        current_a: through its middle; where currents meet there, an upper estimate.
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
        rows = _outside(board, net, layer)
        if len(rows):
            found += _of_sheet(board, rows, sheet, solution)
    return tuple(sorted(found, key=lambda track: (-track.current_a, track.row)))


def _middles(board: Board, rows: Ints) -> tuple[Floats, Floats]:
    tracks = board.tracks
    x, y = tracks.mid_x_mm[rows], tracks.mid_y_mm[rows]
    straight = np.isnan(x)
    return (
        np.where(straight, (tracks.start_x_mm[rows] + tracks.end_x_mm[rows]) / 2, x),
        np.where(straight, (tracks.start_y_mm[rows] + tracks.end_y_mm[rows]) / 2, y),
    )


def _outside(board: Board, net: int, layer: int) -> Ints:
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    tracks = board.tracks
    long = tracks.length_mm > tracks.width_mm  # a stub inside a pad or a corner says nothing of a cross section
    rows = np.flatnonzero((tracks.net == net) & (tracks.layer == layer) & long)
    if not len(rows):
        return rows
    x, y = _middles(board, rows)
    inside = np.zeros(len(rows), dtype=bool)
    for fill in layer_fills(board, net, layer):
        shapely.prepare(fill)
        inside |= shapely.contains_xy(fill, x, y)
    return rows[~inside]


def _of_sheet(board: Board, rows: Ints, sheet: int, solution: SheetSolution) -> list[LooseTrack]:
    """Average the current density around the middle of each track; group the tracks that touch."""
    from scipy.spatial import cKDTree  # noqa: PLC0415

    assembly = solution.assembly
    mine = np.flatnonzero(assembly.sheet_of == sheet)
    if not len(mine):
        return []
    corners = assembly.corners_mm[mine]
    tree = cKDTree(corners.mean(axis=1))
    amperes_per_mm = np.hypot(*solution.density_a_per_mm[mine].T)
    size = solution.size_mm2[mine]
    x, y = _middles(board, rows)
    width = board.tracks.width_mm[rows]
    currents: list[float] = []
    for at, wide in zip(np.column_stack([x, y]), width.tolist(), strict=True):
        near = tree.query_ball_point(at, NEAR * wide) or [int(tree.query(at)[1])]
        currents.append(float((amperes_per_mm[near] * size[near]).sum() / size[near].sum()) * wide)
    volts = _volts(board, rows, corners, solution.volts[assembly.continuous.unknowns[mine]])
    least = 1e-6 * max(currents)
    return [
        LooseTrack(int(row), current, lost)
        for row, current, lost in zip(rows.tolist(), currents, volts, strict=True)
        if current > least
    ]


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
