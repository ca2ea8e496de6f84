"""What tracks of a net touch on a layer: places along them, joined to pads, vias and the ends of other tracks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.nets.routing.track_points import along_tracks
from stackup_lib.power.rail_drop.net_copper import pad_centres_mm

Link = tuple[int, float, float]
"""The node at the other end, length and width in mm."""

ARC_CHORDS = 16
"""An arc counts as this many chords."""

QUARTER = 4
"""Chords per quarter of a round pad."""


@dataclass(frozen=True)
class TrackPaths:
    """Middle lines of tracks, as shapely lines, with both ends (first all starts, then all others) and widths in mm."""

    lines: NDArray[np.object_]
    ends: Complexes
    width_mm: Floats


def pad_middles(board: Board, rows: Ints) -> Complexes:
    """Return the middles of the copper of pads in mm, x + iy."""
    x, y = pad_centres_mm(board, rows)
    return np.asarray(x + 1j * y)


def pad_polygons(board: Board, rows: Ints) -> NDArray[np.object_]:
    """Return the areas of pads in mm; a rounded rectangle counts as the rectangle."""
    import shapely  # noqa: PLC0415 - heavy, and only a rail with capacitors needs it

    pads, middle = board.pads, pad_middles(board, rows)
    turn = np.exp(-1j * np.deg2rad(pads.rotation_deg[rows]))  # counter-clockwise while y points down
    half = np.column_stack([pads.size_x_mm[rows], pads.size_y_mm[rows]]) / 2
    corners = half @ np.array([[1, 1, -1, -1], [1j, -1j, -1j, 1j]])
    corners = middle[:, None] + corners * turn[:, None]
    areas = np.asarray(shapely.polygons(np.stack([corners.real, corners.imag], axis=-1)), dtype=object)
    is_round = np.isin(pads.shape[rows], ("circle", "oval"))
    if is_round.any():
        small = half[is_round].min(axis=1)
        core = (half[is_round] - small[:, None]) @ np.array([[1, -1], [1j, -1j]])
        core = middle[is_round, None] + core * turn[is_round, None]
        lines = shapely.linestrings(np.stack([core.real, core.imag], axis=-1))
        areas[is_round] = shapely.buffer(lines, small, quad_segs=QUARTER)
    return areas


def track_paths(board: Board, net: int, layer: int) -> TrackPaths:
    """Return the tracks and arcs of a net on a layer; those without length are left out."""
    import shapely  # noqa: PLC0415

    tracks = board.tracks
    rows = np.flatnonzero((tracks.net == net) & (tracks.layer == layer) & (tracks.length_mm > 0))
    start = tracks.start_x_mm[rows] + 1j * tracks.start_y_mm[rows]
    end = tracks.end_x_mm[rows] + 1j * tracks.end_y_mm[rows]
    middle = tracks.mid_x_mm[rows] + 1j * tracks.mid_y_mm[rows]
    lines = np.empty(len(rows), dtype=object)
    is_arc = ~np.isnan(middle.real)
    for chords, some in ((1, np.flatnonzero(~is_arc)), (ARC_CHORDS, np.flatnonzero(is_arc))):
        corners = along_tracks(start[some], middle[some], end[some], np.linspace(0, 1, chords + 1))
        lines[some] = shapely.linestrings(np.stack([corners.real, corners.imag], axis=-1))
    return TrackPaths(lines, np.concatenate([start, end]), tracks.width_mm[rows])


def track_links(
    paths: TrackPaths, shapes: NDArray[np.object_], middles: Complexes, grown_mm: Floats
) -> tuple[dict[int, list[Link]], Complexes, Floats]:
    """Return links by node, the places that are nodes of tracks, and how far copper reaches around each of these.

    Args:
        paths: tracks; their ends are the first nodes after the shapes.
        shapes: areas of pads and middles of vias: the first nodes.
        middles: of the shapes.
        grown_mm: how far the copper of each shape reaches beyond it.
    """
    import shapely  # noqa: PLC0415

    links: dict[int, list[Link]] = {}
    count, hubs = len(paths.lines), len(shapes)
    half = np.tile(paths.width_mm / 2, 2)
    if not count:
        return links, paths.ends, half
    ends = shapely.points(paths.ends.real, paths.ends.imag)
    items, at = np.concatenate([shapes, ends]), np.concatenate([middles, paths.ends])
    reach = np.concatenate([grown_mm, half])
    far = reach + float(half.max())
    item, track = shapely.STRtree(paths.lines).query(items, predicate="dwithin", distance=far)
    own = (item >= hubs) & ((item - hubs) % count == track)
    touch = shapely.distance(items[item], paths.lines[track]) <= reach[item] + half[track]
    item, track = item[touch & ~own], track[touch & ~own]
    spot = shapely.line_locate_point(paths.lines[track], shapely.points(at[item].real, at[item].imag))
    place = shapely.line_interpolate_point(paths.lines[track], spot)
    places = shapely.get_x(place) + 1j * shapely.get_y(place)
    on_track: dict[int, list[tuple[float, int]]] = {}
    for k, (of, where, width) in enumerate(zip(track.tolist(), spot.tolist(), paths.width_mm[track], strict=True)):
        node = hubs + 2 * count + k
        on_track.setdefault(of, []).append((where, node))
        _join(links, int(item[k]), node, float(abs(at[item[k]] - places[k])), float(width))
    lengths = shapely.length(paths.lines).tolist()
    for of, (long, width) in enumerate(zip(lengths, paths.width_mm.tolist(), strict=True)):
        spots = sorted([(0.0, hubs + of), (long, hubs + count + of), *on_track.get(of, ())])
        for (begin, one), (end, other) in pairwise(spots):
            _join(links, one, other, end - begin, width)
    return links, np.concatenate([paths.ends, places]), np.concatenate([half, half[track]])


def _join(links: dict[int, list[Link]], one: int, other: int, length_mm: float, width_mm: float) -> None:
    links.setdefault(one, []).append((other, length_mm, width_mm))
    links.setdefault(other, []).append((one, length_mm, width_mm))
