"""Tracks of a rail that run outside its fills: what flows in each, and what is lost along them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.record import entity, record
from stackup_lib.power.network import joined_parts
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


RELIEF_MM = 0.8
"""Ring of a hole and gap of its thermal relief together are hardly wider: a fill so near is joined to it."""

LEAST_SHARE = 1e-6
"""Of the largest current on a layer: a track with less carries none."""


@record
class LooseTrack:
    """A track outside the fills.

    Attributes:
        row: of `Board.tracks`.
        current_a: the largest along it; where currents meet, an upper estimate.
        volts: largest difference within the loose tracks that it is joined to by touch, or by holes outside fills.
    """

    row: int
    current_a: float
    volts: float


@record
class TrackHole:
    """A hole of the net and the layers that it joins."""

    x_mm: float
    y_mm: float
    radius_mm: float
    layers: tuple[int, ...]


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


def loose_tracks(
    board: Board, net: int, layers: Sequence[int], holes: Sequence[TrackHole], solution: SheetSolution
) -> tuple[LooseTrack, ...]:
    """Return the tracks that lie in no fill of the net, largest current first; those that carry none left out.

    Args:
        board: the board.
        net: of the rail.
        layers: copper layer of each sheet of the solution.
        holes: those of the net that join layers.
        solution: of `solve_sheets`.
    """
    sheets: list[_OnSheet] = []
    fills_of = {layer: layer_fills(board, net, layer) for layer in layers}
    for sheet, layer in enumerate(layers):
        rows = _outside(board, net, layer, fills_of[layer])
        one = _of_sheet(board, rows, sheet, fills_of[layer], solution) if len(rows) else None
        if one is not None:
            sheets.append(one)
    if not sheets:
        return ()
    loose = _outside_fills(holes, fills_of)
    found = [
        LooseTrack(int(row), current, lost)
        for sheet, volts in zip(sheets, _volts(sheets, loose), strict=True)
        for row, current, lost in zip(sheet.rows, sheet.current_a.tolist(), volts[sheet.group].tolist(), strict=True)
        if current > LEAST_SHARE * sheet.current_a.max()
    ]
    return tuple(sorted(found, key=lambda track: (-track.current_a, track.row)))


def _outside_fills(holes: Sequence[TrackHole], fills_of: Mapping[int, Sequence[Geometry]]) -> list[TrackHole]:
    """Leave out holes on whose way there is wide copper: it keeps them cool."""
    import shapely  # noqa: PLC0415

    cool = np.zeros(len(holes), dtype=bool)
    places = shapely.points(np.array([(hole.x_mm, hole.y_mm) for hole in holes]).reshape(-1, 2))
    for layer, fills in fills_of.items():
        on = np.array([layer in hole.layers for hole in holes], dtype=bool)
        for fill in fills if on.any() else ():
            shapely.prepare(fill)
            cool[on] |= shapely.dwithin(fill, places[on], RELIEF_MM)
    return [hole for hole, is_cool in zip(holes, cool.tolist(), strict=True) if not is_cool]


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
    amperes_per_mm = np.hypot(*solution.density_a_per_mm[mine].T)
    size = solution.size_mm2[mine]
    width = board.tracks.width_mm[rows]
    currents: list[float] = []
    for places, wide in zip(_places(board, rows, fills), width.tolist(), strict=True):
        around = tree.query_ball_point(places, NEAR * wide)
        found = [near or _holding(place, tree, corners) for near, place in zip(around, places, strict=True)]
        found = [near for near in found if near] or [[int(tree.query(places[0])[1])]]
        means = [float((amperes_per_mm[near] * size[near]).sum() / size[near].sum()) for near in found]
        currents.append(max(means) * wide)
    areas, group = _touching(board, rows)
    low, high = _ends(areas, corners, solution.volts[assembly.continuous.unknowns[mine]])
    layer = int(board.tracks.layer[rows[0]])
    return _OnSheet(layer, rows, np.array(currents), group, areas, low, high)


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


def _volts(sheets: Sequence[_OnSheet], holes: Sequence[TrackHole]) -> list[Floats]:
    """Return the largest difference within what each group is joined to, by sheet."""
    first = np.cumsum([0, *(len(sheet.areas) for sheet in sheets)])
    hole, group = _met(sheets, holes, first)
    part = joined_parts(group, int(first[-1]) + hole, int(first[-1]) + len(holes))[: first[-1]]
    least, most = np.full(part.max() + 1, np.inf), np.full(part.max() + 1, -np.inf)
    np.minimum.at(least, part, np.concatenate([one.low for one in sheets]))
    np.maximum.at(most, part, np.concatenate([one.high for one in sheets]))
    span = np.maximum(most - least, 0.0)[part]
    return [span[start:end] for start, end in pairwise(first.tolist())]


def _met(sheets: Sequence[_OnSheet], holes: Sequence[TrackHole], first: Ints) -> tuple[Ints, Ints]:
    """Return pairs of a hole and a group that it touches, by their numbers."""
    import shapely  # noqa: PLC0415

    numbers, groups = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start, sheet in zip(first.tolist(), sheets, strict=False):
        mine = [k for k, hole in enumerate(holes) if sheet.layer in hole.layers]
        if mine:
            places = shapely.points([(holes[k].x_mm, holes[k].y_mm) for k in mine])
            radius_mm = [holes[k].radius_mm for k in mine]
            at, group = shapely.STRtree(sheet.areas).query(places, predicate="dwithin", distance=radius_mm)
            numbers.append(np.array(mine)[at])
            groups.append(start + group)
    return np.concatenate(numbers), np.concatenate(groups)
