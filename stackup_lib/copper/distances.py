"""How far pieces of copper are apart, edge to edge; straight cores exactly, arcs to a part of a micrometre."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.fill_edges import Complexes, diagonals, xy_of
from stackup_lib.copper.shapes import NANOMETRE, CopperShape, CopperShapes, disc_pieces
from stackup_lib.core.arrays import distinct

FINE_MM = 0.0002
"""How far the chords of arcs may lie from them."""

FLAT_MM2 = 1e-12
"""Three points that span less than this lie on a line."""

Boxes = tuple[Floats, Floats, Floats, Floats]
"""Left, low, right and high."""

MOST_CHORDS = 2000
"""Of one arc: within a quarter of a micrometre to a radius of 200 mm."""


def gaps(board: Board, one: CopperShapes, other: CopperShapes, reach_mm: float) -> Floats:
    """Return the gap of each pair, in mm; infinite where it is beyond reach, 0 or less where the two touch."""
    found = np.full(len(one), np.inf)
    near = _near(one.boxes(reach_mm), other.boxes())  # of edges of fills, which are found run by run, few
    found[near] = _gaps(board, one.where(near), other.where(near), reach_mm)
    return found


def _near(one: Boxes, other: Boxes) -> Ints:
    """The rows whose two boxes meet."""
    (left, low, right, high), (left_2, low_2, right_2, high_2) = one, other
    return np.flatnonzero((left <= right_2) & (left_2 <= right) & (low <= high_2) & (low_2 <= high))


def _gaps(board: Board, one: CopperShapes, other: CopperShapes, reach_mm: float) -> Floats:
    gap = straight_distances(one.start, one.end, other.start, other.end) - one.radius_mm - other.radius_mm
    curved = np.flatnonzero(~(one.is_straight & other.is_straight))
    if len(curved):
        a, b = one.where(curved), other.where(curved)
        gap[curved] = np.inf
        near = np.flatnonzero(_least_distances(board, a, b) - a.radius_mm - b.radius_mm < reach_mm)
        if len(near):
            gap[curved[near]] = _curved_gaps(board, a.where(near), b.where(near))
    return np.where(gap < reach_mm, gap, np.inf)


def straight_distances(a: Complexes, b: Complexes, c: Complexes, d: Complexes) -> Floats:
    """Return the distances between the straight lines from a to b and those from c to d; 0 where they cross."""
    least = np.minimum(_to_line(a, c, d), _to_line(c, a, b))
    if np.any(a != b) or np.any(c != d):
        least = np.minimum(least, np.minimum(_to_line(b, c, d), _to_line(d, a, b)))
        crosses = (_side(a, b, c) * _side(a, b, d) < 0) & (_side(c, d, a) * _side(c, d, b) < 0)
        least = np.where(crosses, 0.0, least)
    return np.asarray(least)


def _to_line(point: Complexes, start: Complexes, end: Complexes) -> Floats:
    way, seen = end - start, point - start
    squared = way.real**2 + way.imag**2
    along = (seen.real * way.real + seen.imag * way.imag) / np.where(squared > 0, squared, 1.0)
    return np.asarray(np.abs(seen - np.clip(along, 0.0, 1.0) * way))


def _side(start: Complexes, end: Complexes, point: Complexes) -> Floats:
    """Positive on one side of a line, negative on the other."""
    way, seen = end - start, point - start
    return np.asarray(way.real * seen.imag - way.imag * seen.real)


def _least_distances(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    """What the cores of pairs, one of them an arc or a rectangle, are apart at least: by whole circles and boxes."""
    found = np.zeros(len(one))
    for a, b in ((one, other), (other, one)):
        arc, box = _is_arc(a), _is_box(a)
        for rows, least in (
            (np.flatnonzero(arc & _is_arc(b)), _circle_to_circle),
            (np.flatnonzero(arc & b.is_straight), _circle_to_line),
            (np.flatnonzero(box & ~_is_arc(b)), _box_to_box),
        ):
            if len(rows):
                found[rows] = np.maximum(found[rows], least(board, a.where(rows), b.where(rows)))
    return found


def _is_arc(pieces: CopperShapes) -> NDArray[np.bool_]:
    return np.asarray(~pieces.is_straight & (pieces.kind == CopperShape.TRACK))


def _is_box(pieces: CopperShapes) -> NDArray[np.bool_]:
    return np.asarray(~pieces.is_straight & (pieces.kind == CopperShape.PAD))


def _circle_to_circle(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    (at, radius), (at_2, radius_2) = _circles(board, one.row), _circles(board, other.row)
    away = np.abs(at - at_2)
    least = np.maximum(away - radius - radius_2, np.abs(radius - radius_2) - away)
    return np.asarray(np.nan_to_num(np.maximum(least, 0.0)))


def _circle_to_line(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    at, radius = _circles(board, one.row)
    nearest = _to_line(at, other.start, other.end)
    farthest = np.maximum(np.abs(other.start - at), np.abs(other.end - at))
    return np.asarray(np.nan_to_num(np.maximum(np.maximum(nearest - radius, radius - farthest), 0.0)))


def _box_to_box(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    """From the rectangle of a pad to the box around something, both as they lie in the pad's own axes.

    What is drawn has its box around the circle that it lies within: start and end are only two points of it.
    """
    pads = board.pads
    turn = np.exp(1j * np.deg2rad(pads.rotation_deg[one.row]))
    along, across = _half_core(board, one)
    ends = np.stack([(other.start - one.start) * turn, (other.end - one.start) * turn])
    drawn, boxes = np.flatnonzero(other.kind == CopperShape.DRAWN), np.flatnonzero(_is_box(other))
    if len(drawn):
        middle, reach = ends[:, drawn].mean(axis=0), other.margin_mm[drawn] * (1 + 1j)
        ends[:, drawn] = middle - reach, middle + reach
    if len(boxes):
        corners = (_rectangles(board, other.where(boxes)) - one.start[boxes][:, None]) * turn[boxes][:, None]
        ends[0, boxes] = corners.real.min(axis=1) + 1j * corners.imag.min(axis=1)
        ends[1, boxes] = corners.real.max(axis=1) + 1j * corners.imag.max(axis=1)
    adjacent = np.maximum(ends.real.min(axis=0) - along, -along - ends.real.max(axis=0))
    above = np.maximum(ends.imag.min(axis=0) - across, -across - ends.imag.max(axis=0))
    return np.asarray(np.hypot(np.maximum(adjacent, 0.0), np.maximum(above, 0.0)))


def _curved_gaps(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    import shapely  # noqa: PLC0415 - heavy, and only a board with copper needs it

    apart = shapely.distance(cores(board, one), cores(board, other))
    return np.asarray(apart - one.radius_mm - other.radius_mm)


def cores(board: Board, pieces: CopperShapes) -> NDArray[np.object_]:
    """Return the core of each piece as a geometry; an arc as chords between points of it."""
    import shapely  # noqa: PLC0415

    found = np.empty(len(pieces), dtype=np.object_)
    drawn = np.flatnonzero(pieces.kind == CopperShape.DRAWN)
    shapes = distinct(pieces.row[drawn])  # one shape of a logo is in hundreds of pairs
    found[drawn] = drawn_cores(board, shapes)[np.searchsorted(shapes, pieces.row[drawn])]
    straight, arcs, boxes = (np.flatnonzero(of) for of in (pieces.is_straight, _is_arc(pieces), _is_box(pieces)))
    found[straight] = shapely.linestrings(xy_of(np.stack([pieces.start[straight], pieces.end[straight]], axis=1)))
    if len(arcs):
        points, arc = arc_points(board, pieces.row[arcs], FINE_MM)
        found[arcs] = shapely.linestrings(xy_of(points), indices=arc)
    if len(boxes):
        found[boxes] = shapely.polygons(xy_of(_rectangles(board, pieces.where(boxes))))
    return found


def drawn_cores(board: Board, rows: Ints) -> NDArray[np.object_]:
    """Return the line of each drawn shape, or its area without the pen around it; a shape has one point at least."""
    import shapely  # noqa: PLC0415

    drawings, found = board.drawings, np.empty(len(rows), dtype=np.object_)
    count = np.diff(drawings.start)[rows]
    is_area = (drawings.is_filled[rows] == 1) & (count > 3)  # closed: the last corner is the first
    is_line = ~is_area & (count > 1)
    areas, lines, dots = (np.flatnonzero(which) for which in (is_area, is_line, count == 1))
    if len(areas):
        points, of = _points_of(board, rows[areas])
        found[areas] = shapely.make_valid(shapely.polygons(shapely.linearrings(points, indices=of)))
    if len(lines):
        points, of = _points_of(board, rows[lines])
        found[lines] = shapely.linestrings(points, indices=of)
    found[dots] = shapely.points(_points_of(board, rows[dots])[0])
    return found


def _points_of(board: Board, rows: Ints) -> tuple[Floats, Ints]:
    """The points of drawn shapes, x and y, and which shape each is of."""
    drawings = board.drawings
    count = np.diff(drawings.start)[rows]
    of = np.repeat(np.arange(len(rows)), count)
    point = np.arange(len(of)) + (drawings.start[rows] - np.cumsum(count) + count)[of]
    return np.column_stack([drawings.x_mm[point], drawings.y_mm[point]]), of


def arc_points(board: Board, rows: Ints, deviation_mm: float) -> tuple[Complexes, Ints]:
    """Return points along arcs of the tracks whose chords keep within a deviation, and the arc of each point."""
    start, middle, end = _three_points(board, rows)
    centre, radius = _circles(board, rows)
    is_flat = np.isnan(radius)
    first, second = (np.where(is_flat, 1.0, point - centre) for point in (start, middle))
    turn = np.where(is_flat, 0.0, np.angle(second / first) + np.angle((end - centre) / second))
    radius = np.where(is_flat, 1.0, radius)
    step = 2 * np.arccos(np.clip(1 - deviation_mm / radius, -1.0, 1.0))
    chords = np.clip(np.ceil(np.abs(turn) / np.maximum(step, 1e-9)), 2, MOST_CHORDS).astype(np.int64)
    arc = np.repeat(np.arange(len(rows)), chords + 1)
    nth = np.arange(len(arc)) - np.repeat(np.cumsum(chords + 1) - chords - 1, chords + 1)
    points = centre[arc] + first[arc] * np.exp(1j * turn[arc] * nth / chords[arc])
    flat = np.where(nth == 0, start[arc], np.where(nth == 1, middle[arc], end[arc]))
    return np.where(is_flat[arc], flat, points), arc


def _circles(board: Board, rows: Ints) -> tuple[Complexes, Floats]:
    """Centres and radii of arcs of the tracks, NaN where the three points lie on a line."""
    start, middle, end = _three_points(board, rows)
    one, other = middle - start, end - start
    double = 2 * (one.conj() * other).imag
    is_flat = np.abs(double) < FLAT_MM2
    one_2, other_2 = np.abs(one) ** 2, np.abs(other) ** 2
    away = 1j * (one * other_2 - other * one_2) / np.where(is_flat, 1.0, double)
    away = np.where(is_flat, np.nan, away)
    return start + away, np.abs(away)


def _three_points(board: Board, rows: Ints) -> tuple[Complexes, Complexes, Complexes]:
    tracks = board.tracks
    return (
        tracks.start_x_mm[rows] + 1j * tracks.start_y_mm[rows],
        tracks.mid_x_mm[rows] + 1j * tracks.mid_y_mm[rows],
        tracks.end_x_mm[rows] + 1j * tracks.end_y_mm[rows],
    )


def _half_core(board: Board, pieces: CopperShapes) -> tuple[Floats, Floats]:
    """Half the sides of the rectangles that are the cores of pads, along the pad's own axes."""
    pads = board.pads
    along = pads.size_x_mm[pieces.row] / 2 - pieces.radius_mm
    return np.maximum(along, 0.0), np.maximum(pads.size_y_mm[pieces.row] / 2 - pieces.radius_mm, 0.0)


def _rectangles(board: Board, pieces: CopperShapes) -> Complexes:
    """The corners of the rectangles that are the cores of pads, shape (pads, 4)."""
    turn = np.exp(-1j * np.deg2rad(board.pads.rotation_deg[pieces.row]))
    along, across = _half_core(board, pieces)
    corner = along[:, None] * np.array([1, -1, -1, 1]) + 1j * across[:, None] * np.array([1, 1, -1, -1])
    return np.asarray(pieces.start[:, None] + corner * turn[:, None])


def via_lands(board: Board, layer: int, rows: Ints, others: CopperShapes) -> CopperShapes:
    """Return the copper of some vias on a layer: bare barrels where they have no pad, or it is left out unused.

    Args:
        board: the board.
        layer: the copper layer; vias that do not go through it are left out.
        rows: of the vias.
        others: what may join them there.
    """
    vias = board.vias
    rows = rows[(vias.start_layer[rows] <= layer) & (vias.end_layer[rows] >= layer)]
    radius = np.nan_to_num(np.fmax(vias.pad_size_mm[rows, layer], vias.drill_mm[rows])) / 2
    rows, radius = rows[radius > 0], radius[radius > 0]
    lands = disc_pieces(rows, vias.net[rows], vias.x_mm[rows] + 1j * vias.y_mm[rows], radius)
    is_end = (vias.start_layer[rows] == layer) | (vias.end_layer[rows] == layer)
    is_kept = (is_end & (vias.keep_end[rows] == 1)) | holds_layer(vias.fill_layers[rows], layer)
    may_be_bare = (vias.remove_unused[rows] == 1) & ~is_kept
    if not np.any(may_be_bare):
        return lands
    is_bare = may_be_bare & ~_are_joined(board, lands, others)
    return replace(lands, radius_mm=np.where(is_bare, vias.drill_mm[rows] / 2, radius))


def _are_joined(board: Board, lands: CopperShapes, others: CopperShapes) -> NDArray[np.bool_]:
    """Tell which lands other copper of their net touches."""
    import shapely  # noqa: PLC0415

    other, land = shapely.STRtree(diagonals(lands.boxes())).query(diagonals(others.boxes()))
    own = np.flatnonzero(others.net[other] == lands.net[land])
    other, land = other[own], land[own]
    found = np.zeros(len(lands), dtype=np.bool_)
    found[land[np.isfinite(gaps(board, others.where(other), lands.where(land), NANOMETRE))]] = True
    return found
