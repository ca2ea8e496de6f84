"""Tracks of a rail that run outside its fills: what flows in each, and what is lost along them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.record import entity, record
from stackup_lib.power.rail_drop.cool_ends import TrackEnds, TrackGroups, TrackHole, TrackPad, track_ends
from stackup_lib.power.rail_drop.net_copper import layer_fills
from stackup_lib.power.rail_drop.sheets import SheetSolution

if TYPE_CHECKING:
    from scipy.spatial import cKDTree
    from shapely import Geometry

NEAR = 0.4
"""Current is averaged over the triangles whose centres lie on the track, along it within this share of its width."""

NEAREST = 64
"""Triangles among which the one that holds a place is looked for."""

PLACES = 9
"""Places along a straight track, at most: another track may leave it anywhere. None is within a width of its ends."""

LEAST_SHARE = 1e-6
"""Of the largest current on a layer: a track with less carries none."""


@record
class LooseTrack:
    """A track outside the fills.

    Attributes:
        row: of `Board.tracks`.
        current_a: the largest along it, through a cross-section of it.
        volts, divisor: as of `TrackEnds`.
    """

    row: int
    current_a: float
    volts: float
    divisor: int


@entity
class _OnSheet:
    """Loose tracks of one layer.

    Attributes:
        rows, current_a: of each track; `group`: of those that touch.
        areas: of each group; `low`, `high`: least and largest drop in it, see `_ends`.
    """

    layer: int
    rows: Ints
    current_a: Floats
    group: Ints
    areas: NDArray[np.object_]
    low: Floats
    high: Floats


def loose_tracks(  # noqa: PLR0917 - the copper of the net, and what was solved of it
    board: Board,
    net: int,
    layers: Sequence[int],
    holes: Sequence[TrackHole],
    pads: Sequence[TrackPad],
    solution: SheetSolution,
) -> tuple[LooseTrack, ...]:
    """Return the tracks that lie in no fill of the net, largest current first; those that carry none left out.

    Args:
        board: the board.
        net: of the rail.
        layers: copper layer of each sheet of the solution.
        holes: those of the net that join layers.
        pads: all of the net; tracks that lie on those where current enters or leaves are left out.
        solution: of `solve_sheets`.
    """
    sheets: list[_OnSheet] = []
    fills_of = {layer: layer_fills(board, net, layer) for layer in layers}
    for sheet, layer in enumerate(layers):
        ends = [pad.area for pad in pads if (pad.feeds or pad.draws) and layer in pad.layers]
        rows = _outside(board, net, layer, [*fills_of[layer], *ends])
        one = _of_sheet(board, rows, sheet, fills_of[layer], solution) if len(rows) else None
        if one is not None:
            sheets.append(one)
    if not sheets:
        return ()
    ends_of = track_ends(_groups(board, sheets), holes, pads, fills_of)
    first = np.cumsum([0, *(len(sheet.areas) for sheet in sheets)]).tolist()
    found = [
        track
        for sheet, start in zip(sheets, first, strict=False)
        for track in _tracks(sheet, ends_of, sheet.group + start)
    ]
    return tuple(sorted(found, key=lambda track: (-track.current_a, track.row)))


def _tracks(sheet: _OnSheet, ends: TrackEnds, group: Ints) -> Iterator[LooseTrack]:
    """Yield those of one layer that carry current; `group` by the numbers of all layers."""
    least = LEAST_SHARE * sheet.current_a.max()
    volts, divisor = ends.volts[group].tolist(), ends.divisor[group].tolist()
    for row, current, lost, bound in zip(sheet.rows.tolist(), sheet.current_a.tolist(), volts, divisor, strict=True):
        if current > least:
            yield LooseTrack(row, current, lost, bound)


def _groups(board: Board, sheets: Sequence[_OnSheet]) -> TrackGroups:
    """Number the groups of all layers through."""
    widths = []
    for sheet in sheets:
        widest = np.zeros(len(sheet.areas))
        np.maximum.at(widest, sheet.group, board.tracks.width_mm[sheet.rows])
        widths.append(widest)
    return TrackGroups(
        layer=np.concatenate([np.full(len(sheet.areas), sheet.layer) for sheet in sheets]),
        areas=np.concatenate([sheet.areas for sheet in sheets]),
        width_mm=np.concatenate(widths),
        low_v=np.concatenate([sheet.low for sheet in sheets]),
        high_v=np.concatenate([sheet.high for sheet in sheets]),
    )


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
    board: Board, rows: Ints, sheet: int, fills: Sequence[Geometry], solution: SheetSolution
) -> _OnSheet | None:
    """Average the current density around places along each track; group the tracks that touch."""
    from scipy.spatial import cKDTree  # noqa: PLC0415

    assembly = solution.assembly
    mine = np.flatnonzero(assembly.sheet_of == sheet)
    if not len(mine):
        return None
    corners = assembly.corners_mm[mine]
    tree = cKDTree(corners.mean(axis=1))
    centres, density, size = corners.mean(axis=1), solution.density_a_per_mm[mine], solution.size_mm2[mine]
    width, ways = board.tracks.width_mm[rows].tolist(), _directions(board, rows)
    currents: list[float] = []
    for places, wide, way in zip(_places(board, rows, fills), width, ways, strict=True):
        around = tree.query_ball_point(places, wide * np.hypot(NEAR, 0.5))
        found = [
            _on_strip(near, centres, place, way, wide) or _holding(place, tree, corners)
            for near, place in zip(around, places, strict=True)
        ]
        found = [near for near in found if near]
        means = [abs(float(size[near] @ (density[near] @ way)) / float(size[near].sum())) for near in found]
        currents.append(max(means, default=0.0) * wide)  # none on a dead end, or within a contact
    areas, group = _touching(board, rows)
    low, high = _ends(areas, corners, solution.volts[assembly.continuous.unknowns[mine]])
    layer = int(board.tracks.layer[rows[0]])
    return _OnSheet(layer, rows, np.array(currents), group, areas, low, high)


def _directions(board: Board, rows: Ints) -> Floats:
    """Return the direction of each track, of an arc that in its middle; shape (tracks, 2)."""
    tracks = board.tracks
    x, y = tracks.end_x_mm[rows] - tracks.start_x_mm[rows], tracks.end_y_mm[rows] - tracks.start_y_mm[rows]
    way = np.column_stack([x, y])
    return np.asarray(way / np.maximum(np.hypot(x, y), 1e-9)[:, None])


def _on_strip(near: list[int], centres: Floats, place: Floats, way: Floats, width_mm: float) -> list[int]:
    """Return the triangles that lie on the track, near a cross-section of it."""
    if not near:
        return []
    off = centres[near] - place
    along, across = off @ way, off @ np.array([-way[1], way[0]])
    on = (np.abs(along) <= NEAR * width_mm) & (np.abs(across) <= width_mm / 2)
    return [near[k] for k in np.flatnonzero(on).tolist()]


def _holding(place: Floats, tree: cKDTree, corners: Floats) -> list[int]:
    """Return the triangle that holds a place, among those whose centres are nearest; none for a place on a contact."""
    near = np.atleast_1d(tree.query(place, k=min(NEAREST, len(corners)))[1])
    to = corners[near] - place
    turns = to[:, :, 0] * np.roll(to[:, :, 1], -1, axis=1) - to[:, :, 1] * np.roll(to[:, :, 0], -1, axis=1)
    inside = (turns >= 0).all(axis=1) | (turns <= 0).all(axis=1)
    return [int(one) for one in near[inside][:1]]


def _touching(board: Board, rows: Ints) -> tuple[NDArray[np.object_], Ints]:
    """Return the areas of tracks that touch one another, and the number of each track's."""
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
    areas = shapely.get_parts(shapely.union_all(strips))
    return areas, np.asarray(shapely.STRtree(areas).nearest(strips), dtype=np.int64)


def _ends(areas: NDArray[np.object_], corners: Floats, drops: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest drop within each area; endless and reversed where no corner lies in one."""
    import shapely  # noqa: PLC0415

    low, high = np.full(len(areas), np.inf), np.full(len(areas), -np.inf)
    at, of = shapely.STRtree(shapely.points(corners.reshape(-1, 2))).query(areas, predicate="intersects")
    np.minimum.at(low, at, drops.reshape(-1)[of])
    np.maximum.at(high, at, drops.reshape(-1)[of])
    return low, high
