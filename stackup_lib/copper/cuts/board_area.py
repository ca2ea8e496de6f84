"""The area that a board's outline encloses, its cut-outs taken out; where the outline is closed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Ints, Outline
from stackup_lib.copper.fill_edges import Complexes, xy_of
from stackup_lib.copper.shapes import Mask
from stackup_lib.core.arrays import distinct

if TYPE_CHECKING:
    from shapely import Geometry

CHAINED_MM = 0.01
"""Ends of lines on Edge.Cuts this near to one another are one corner."""

EXACT_MM = 1e-6
"""KiCad stores whole nanometres."""

SLIT_MM = 0.002
"""Half the width that a slot drawn as one line has at least: copper on its two sides does not touch."""

OUTSIDE_MM = 0.01
"""A point this near to the area may lie on its edge: arcs are chords, and ends of lines need not meet exactly."""

CIRCLE_MM = 1e-4
"""The largest circle in a cut-out is found to this much."""

SAME_SHARE = 0.02
"""Two rings that differ by less than this share of their area are one outline, drawn twice."""


@lru_cache(maxsize=4)
def board_area(outline: Outline) -> Geometry | None:
    """Return what the closed chains of an outline enclose: rings in a ring are cut out, rings in those are board again.

    None where there is no ring, or where a line that belongs to none leaves it open what is board: one beyond the
    rings, or a corner at which more than two lines meet. An open line within a ring is a slot, and takes nothing out.
    """
    return _enclosed_area(outline)


def cut_outs_of(outline: Outline, footprint: int) -> Geometry | None:
    """Return what the lines that a footprint draws on Edge.Cuts enclose by themselves; None where that is nothing."""
    return _enclosed_area(outline.of(footprint))


def cut_outs_at(area: Geometry, points: Complexes) -> list[tuple[Geometry, Ints]]:
    """Return the cut-outs that some points lie in or on the edge of, each with the positions of these."""
    import shapely  # noqa: PLC0415

    rings = [shapely.Polygon(ring) for part in shapely.get_parts(area) for ring in part.interiors]
    cut_outs = shapely.get_parts(shapely.difference(shapely.union_all(rings), area))
    places = shapely.points(points.real, points.imag)
    within, which = shapely.STRtree(cut_outs).query(places, predicate="dwithin", distance=OUTSIDE_MM)
    return [(cut_outs[one], within[which == one]) for one in distinct(which).tolist()]


def inner_radius_mm(cut_out: Geometry) -> float:
    """Return the radius of the largest circle in a cut-out: nothing in it is further from its edge."""
    import shapely  # noqa: PLC0415

    return float(shapely.length(shapely.maximum_inscribed_circle(cut_out, tolerance=CIRCLE_MM)))


def _enclosed_area(outline: Outline) -> Geometry | None:
    import shapely  # noqa: PLC0415 - heavy, and only the fab clauses need it

    rings, is_open = _chains(outline)
    found: list[Geometry] = []
    for ring in sorted(map(_enclosed, rings), key=_size, reverse=True):
        if ring.area > 0 and not any(_is_same(ring, other) for other in found):
            found.append(ring)
    if not found:
        return None
    whole, area = shapely.union_all(found), found[0]
    for ring in found[1:]:
        area = shapely.symmetric_difference(area, ring)
    reach = shapely.buffer(whole, CHAINED_MM)
    if not all(shapely.covers(reach, shapely.linestrings(xy_of(points))) for points in is_open):
        return None
    shapely.prepare(area)
    return area


def slits(outline: Outline) -> Geometry:
    """Return the lines of an outline that enclose nothing: slots, where they lie within its rings; with hardly a width.

    How wide the router makes them is not drawn.
    """
    import shapely  # noqa: PLC0415

    rings, is_open = _chains(outline)
    flat = [ring for ring in rings if _enclosed(ring).area == 0]
    lines = [shapely.linestrings(xy_of(points)) for points in (*flat, *is_open)]
    return shapely.union_all([shapely.buffer(line, SLIT_MM) for line in lines])


def board_area_mm2(board: Board) -> float | None:
    """Return how much the outline encloses; where it is open that of its bounding box, or of that of all copper.

    None for an empty board.
    """
    if (area := board_area(board.outline)) is not None:
        return float(area.area)
    size = board.outline.size_mm
    if size is not None and size[0] > 0 and size[1] > 0:
        return size[0] * size[1]
    xs = np.concatenate([board.tracks.start_x_mm, board.tracks.end_x_mm, board.zones.fill_x_mm])
    ys = np.concatenate([board.tracks.start_y_mm, board.tracks.end_y_mm, board.zones.fill_y_mm])
    return (float(np.ptp(xs) * np.ptp(ys)) or None) if len(xs) else None


def are_outside(area: Geometry, points: Complexes) -> Mask:
    """Tell which points lie outside an area, and not only on its edge."""
    import shapely  # noqa: PLC0415

    found = np.asarray(~shapely.contains_xy(area, points.real, points.imag))
    rows = np.flatnonzero(found)
    found[rows] = how_far_outside(area, points[rows]) > OUTSIDE_MM
    return found


def how_far_outside(area: Geometry, points: Complexes) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the distance of points from an area, 0 within it."""
    import shapely  # noqa: PLC0415

    return np.asarray(shapely.distance(area, shapely.points(points.real, points.imag)), dtype=np.float64)


def _chains(outline: Outline) -> tuple[list[Complexes], list[Complexes]]:
    """The polylines joined at their ends: those that close, and those that do not.

    Ends that meet exactly are joined first: a curve drawn as lines shorter than a gap that counts as none has more than
    two ends within that gap of each corner.
    """
    points = outline.x_mm + 1j * outline.y_mm
    lines = [points[a:b] for a, b in zip(outline.start[:-1].tolist(), outline.start[1:].tolist(), strict=True)]
    exact, lines = _joined(lines, EXACT_MM)
    near, is_open = _joined(lines, CHAINED_MM)
    return exact + near, is_open


def _joined(lines: list[Complexes], reach_mm: float) -> tuple[list[Complexes], list[Complexes]]:
    """The rings and the open chains of lines that are longer than a reach and whose ends meet within it."""
    lines = [line for line in lines if len(line) > 1 and np.ptp(line.real) + np.ptp(line.imag) > reach_mm]
    closed = [line for line in lines if abs(line[0] - line[-1]) <= reach_mm]
    lines = [line for line in lines if abs(line[0] - line[-1]) > reach_mm]
    corner = _corners(np.array([end for line in lines for end in (line[0], line[-1])], dtype=np.complex128), reach_mm)
    meets: dict[int, list[int]] = {}
    for k, at in enumerate(corner):
        meets.setdefault(at, []).append(k)
    rest, is_open = set(range(len(lines))), list[Complexes]()
    while rest:
        chain, is_ring = _chain(2 * min(rest), corner, meets)
        if not is_ring:
            chain, _ = _chain(chain[-1] ^ 1, corner, meets)  # back from where it ends, to have all of it
        rest.difference_update(end // 2 for end in chain)
        joined = np.concatenate([lines[end // 2][:: -1 if end % 2 else 1] for end in chain])
        (closed if is_ring else is_open).append(joined)
    return closed, is_open


def _chain(first: int, corner: list[int], meets: dict[int, list[int]]) -> tuple[list[int], bool]:
    """The lines that follow on one, each by the end that it is entered at, and whether they lead back to its start."""
    chain, seen = [first], {first // 2}
    while True:
        leaves = chain[-1] ^ 1
        others = [end for end in meets[corner[leaves]] if end != leaves]
        if len(others) != 1:
            return chain, False
        if others[0] == chain[0]:
            return chain, True
        if others[0] // 2 in seen:
            return chain, False
        chain.append(others[0])
        seen.add(others[0] // 2)


def _corners(ends: Complexes, reach_mm: float) -> list[int]:
    """A number for each end, the same for those that meet."""
    import shapely  # noqa: PLC0415

    ends, which = np.unique(ends, return_inverse=True)
    places = shapely.points(ends.real, ends.imag)
    one, other = shapely.STRtree(places).query(places, predicate="dwithin", distance=reach_mm)
    number = np.arange(len(ends))
    while np.any(number[one] != number[other]):
        np.minimum.at(number, one, number[other])
    return [int(number[k]) for k in which.tolist()]


def _enclosed(points: Complexes) -> Geometry:
    """What a ring encloses; of one that crosses itself all its parts."""
    import shapely  # noqa: PLC0415

    parts = shapely.get_parts(shapely.make_valid(shapely.Polygon(xy_of(points))))
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])


def _size(ring: Geometry) -> float:
    return float(ring.area)


def _is_same(ring: Geometry, other: Geometry) -> bool:
    import shapely  # noqa: PLC0415

    return float(shapely.symmetric_difference(ring, other).area) < SAME_SHARE * _size(other)
