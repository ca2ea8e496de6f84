"""How near copper comes to what is cut without plating: the board's edge, slots, and holes that are not plated."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stackup_lib.board.board import Board, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.cuts.board_area import (
    are_outside,
    board_area,
    cut_outs_at,
    cut_outs_of,
    how_far_outside,
    inner_radius_mm,
    slits,
)
from stackup_lib.copper.cuts.exempt import without_exempt
from stackup_lib.copper.cuts.gap_rows import ALIKE_DECIMALS, DELIBERATE_MM, EDGE, OUTSIDE, REACH_MM, CutGaps
from stackup_lib.copper.distances import gaps, straight_distances, via_lands
from stackup_lib.copper.fill_edges import Complexes, FillEdges, diagonals
from stackup_lib.copper.shapes import (
    NANOMETRE,
    CopperShape,
    CopperShapes,
    Mask,
    copper_pads,
    drawn_pieces,
    edge_pieces,
    pad_pieces,
    pad_rows,
    slot_pieces,
    track_pieces,
    via_pieces,
)
from stackup_lib.copper.shorts import piece_areas
from stackup_lib.core.arrays import distinct

if TYPE_CHECKING:
    from shapely import Geometry

MOST_IN_CUT_OUTS = 0.5
"""Where more than this share of the copper is in cut-outs, these are none: the ring around them is a frame."""


def cut_gaps(copper: CopperMap, reach_mm: float = REACH_MM) -> CutGaps:
    """Return the copper of all layers that comes within reach of a cut, or lies outside a closed outline.

    Left out is what is meant: the copper of an unplated hole's own pad, pads of its part that go around it with the
    tracks of these, and at the edge connectors' fingers, plated holes that it cuts open, a row of pads that reach over
    it, the pads of a part with surface-mount pads there on both sides, and what joins those.
    """
    import shapely  # noqa: PLC0415 - heavy, and only the fab clauses need it

    board = copper.board
    cuts, of, drawn_by = _cuts(board)
    tree = shapely.STRtree(diagonals(cuts.boxes(reach_mm)))

    def near(pieces: CopperShapes) -> tuple[Ints, Ints]:
        one, cut = tree.query(diagonals(pieces.boxes()))
        return one, cut

    largest, pads, area = _posts_and_area(board)
    vias = largest.row[distinct(np.concatenate((near(largest)[0], _beyond(area, largest))))]
    pads = pads.where(distinct(np.concatenate((near(pads)[0], _beyond(area, pads)))))
    none = np.zeros(0, dtype=np.int64)
    found = [CutGaps(np.zeros(0), none, none, none, none, none, np.zeros(0, dtype=np.complex128), none)]
    for layer in range(board.layer_count if len(cuts) else 0):
        on_layer = holds_layer(board.pads.layers[pads.row], layer)
        pieces = CopperShapes.joined([track_pieces(board, layer), drawn_pieces(board, layer), pads.where(on_layer)])
        pieces = CopperShapes.joined([pieces, via_lands(board, layer, vias, pieces)])
        one, cut = near(pieces)
        found.append(
            _pairs(board, layer, pieces.where(one), (cuts.where(cut), of[cut], drawn_by[cut]), reach_mm, area=area)
        )
        edges = copper.edges(layer)
        box, edge = edges.near(*cuts.boxes(reach_mm))
        in_file_order = np.lexsort((box, edge))
        box, edge = box[in_file_order], edge[in_file_order]
        fills = edge_pieces(edges, edge)
        found.append(_pairs(board, layer, fills, (cuts.where(box), of[box], drawn_by[box]), reach_mm, area=area))
        found.append(_inside(copper, layer, cuts, of))
        outer = edge_pieces(edges, _may_be_outside(area, edges, edge))
        found += [_outside(board, area, layer, some) for some in (pieces, outer)]
    return without_exempt(board, CutGaps.joined(found))


Cuts: TypeAlias = "tuple[CopperShapes, Ints, Ints]"
"""Pieces that are cut away, the rows of the pads of those that are holes, and the footprints that draw the others."""


def _cuts(board: Board) -> Cuts:
    """The segments of the outline, and the unplated holes as wide as they are drilled."""
    outline = board.outline
    points = outline.x_mm + 1j * outline.y_mm
    ends = np.arange(1, len(points))
    ends = ends[~np.isin(ends, outline.start)]  # a polyline's first point ends no segment
    rows = unplated_holes(board)
    holes = slot_pieces(board, rows)
    start = np.concatenate([points[ends - 1], holes.start])
    end = np.concatenate([points[ends], holes.end])
    radius = np.concatenate([np.zeros(len(ends)), holes.radius_mm])
    none = np.zeros(len(start))
    of = np.concatenate([np.full(len(ends), EDGE), rows])
    kind = np.full(len(start), CopperShape.FILL, dtype=np.int8)
    line = np.searchsorted(outline.start, ends, side="right") - 1
    drawn_by = np.concatenate([outline.footprint[line], np.full(len(rows), -1)])
    return CopperShapes(kind, of, np.full(len(start), -1), start, end, radius, none == 0, none), of, drawn_by


def unplated_holes(board: Board) -> Ints:
    """Return the pads whose hole is not plated, or has neither a net nor copper around it for plating to hold on to."""
    pads = board.pads
    is_wide = (pads.size_x_mm > pads.drill_x_mm + NANOMETRE) & (pads.size_y_mm > pads.drill_y_mm + NANOMETRE)
    is_peg = (pads.kind == PadKind.THROUGH) & (pads.net == 0) & (~is_wide | (pads.layers == 0)) & ~_has_shape(board)
    has_hole = np.fmin(pads.drill_x_mm, pads.drill_y_mm) > 0
    return np.flatnonzero(has_hole & ((pads.kind == PadKind.NON_PLATED) | is_peg))


def _has_shape(board: Board) -> Mask:
    """Tell which pads have shapes of their own: size and corners do not tell their copper."""
    found = np.zeros(len(board.pads) + 1, dtype=np.bool_)
    found[board.drawings.pad] = True  # -1, of what is no pad's, is the place after the last
    return found[:-1]


def made_area(board: Board) -> Geometry | None:
    """Return what is board, without slots that are drawn as one line; None if it is open.

    Where most vias and pads lie in cut-outs, these count as board.
    """
    import shapely  # noqa: PLC0415 - heavy, and only the fab clauses need it

    area = _posts_and_area(board)[2]
    return None if area is None else shapely.difference(area, slits(board.outline))


def _posts_and_area(board: Board) -> tuple[CopperShapes, CopperShapes, Geometry | None]:
    vias, pads = via_pieces(board), pad_pieces(board, np.flatnonzero(copper_pads(board)))
    return vias, pads, _area(board, (vias, pads))


def _area(board: Board, posts: tuple[CopperShapes, CopperShapes]) -> Geometry | None:
    """The area of the board; its cut-outs count as board where most of its vias and pads, or else tracks, lie there."""
    import shapely  # noqa: PLC0415

    area = board_area(board.outline)
    if area is None:
        return None
    middle = np.concatenate([(some.start + some.end) / 2 for some in posts])
    if not len(middle):
        middle = board.tracks.start_x_mm + 1j * board.tracks.start_y_mm
    whole = shapely.union_all([shapely.Polygon(ring.exterior) for ring in shapely.get_parts(area)])
    in_cut_outs = are_outside(area, middle) & ~are_outside(whole, middle)
    if np.sum(in_cut_outs) <= MOST_IN_CUT_OUTS * len(middle):
        return area
    shapely.prepare(whole)
    return whole


def _may_be_outside(area: Geometry | None, edges: FillEdges, near: Ints) -> Ints:
    """The edges of fills near a cut, and those of runs that begin outside: a run away from all cuts is on one side."""
    if area is None:
        return near[:0]
    first = edges.run_start[:-1]
    may_be = np.repeat(are_outside(area, edges.start[first]), np.diff(edges.run_start))
    may_be[near] = True
    return np.flatnonzero(may_be)


def _beyond(area: Geometry | None, pieces: CopperShapes) -> Ints:
    """The rows of the pieces with both ends outside the board."""
    if area is None:
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(are_outside(area, pieces.start))
    return rows[are_outside(area, pieces.end[rows])]


def _outside(board: Board, area: Geometry | None, layer: int, pieces: CopperShapes) -> CutGaps:
    """Pieces outside the board; their gap is less than 0 by what is between the edge and their far side.

    No place of a cut-out is further from its edge than its middle. Copper around one is at the edge, not outside; so is
    a pad in one that its own footprint draws: the part is where it belongs.
    """
    import shapely  # noqa: PLC0415

    one = pieces.where(_beyond(area, pieces))
    none = np.zeros(len(one), dtype=np.int64)
    away, most, is_around = np.zeros((2, 0)), np.full(len(one), np.inf), none > 0
    if area is not None and len(one):
        away = np.stack([how_far_outside(area, p) for p in (one.start, one.end)])
        for cut_out, rows in cut_outs_at(area, one.start):
            most[rows] = inner_radius_mm(cut_out)
            copper = piece_areas(board, one.where(rows))
            is_around[rows] = shapely.covers(copper, shapely.buffer(cut_out, -DELIBERATE_MM))
    (kind, row), at = _names(board, one), np.where(away[0] <= away[1], one.start, one.end)
    gap = -np.minimum(away.min(axis=0) + one.radius_mm, most)
    drawn_by = _own_cut_out(board, np.where(kind == CopperShape.PAD, row, -1), at)
    cut = np.where((drawn_by >= 0) | is_around, EDGE, OUTSIDE)
    return CutGaps(gap, cut, none + layer, kind, row, one.net, at, drawn_by)


def _own_cut_out(board: Board, pad: Ints, at: Complexes) -> Ints:
    """The footprints of the pads, where these draw the cut-out that a point lies in; -1 elsewhere."""
    import shapely  # noqa: PLC0415

    found = np.full(len(pad), -1)
    part = np.append(board.pads.footprint, -1)[pad]
    for one in distinct(part[(part >= 0) & np.isin(part, board.outline.footprint)]).tolist():
        area = cut_outs_of(board.outline, one)
        rows = np.flatnonzero(part == one)
        if area is not None:
            found[rows[shapely.contains_xy(area, at[rows].real, at[rows].imag)]] = one
    return found


def _pairs(
    board: Board, layer: int, one: CopperShapes, cut: Cuts, reach_mm: float, *, area: Geometry | None
) -> CutGaps:
    """Pieces within reach of a cut: over the edge of a cut-out no further than its middle is from its edge."""
    cuts, of, drawn_by = cut
    gap = gaps(board, one, cuts, reach_mm) if len(one) else np.zeros(0)
    kept = np.flatnonzero(gap < reach_mm)
    one, cuts, gap, of = one.where(kept), cuts.where(kept), gap[kept], of[kept]
    deep = np.flatnonzero((gap < 0) & (of == EDGE))
    for cut_out, rows in cut_outs_at(area, (cuts.start[deep] + cuts.end[deep]) / 2) if area is not None else ():
        gap[deep[rows]] = np.maximum(gap[deep[rows]], -inner_radius_mm(cut_out))
    kind, row = _names(board, one)
    at, layers = _nearest(one, cuts), np.full(len(kept), layer)
    return CutGaps(gap, of, layers, kind, row, one.net, at, drawn_by[kept])


def _names(board: Board, pieces: CopperShapes) -> tuple[Ints, Ints]:
    """What the pieces are and their rows; a shape of a pad is the pad."""
    pad = pad_rows(board, pieces)
    return np.where(pad >= 0, int(CopperShape.PAD), pieces.kind), np.where(pad >= 0, pad, pieces.row)


def _inside(copper: CopperMap, layer: int, cuts: CopperShapes, of: Ints) -> CutGaps:
    """Unplated holes whose middle is in a fill: no edge of it need be near."""
    holes = np.flatnonzero(of != EDGE)
    middle = (cuts.start[holes] + cuts.end[holes]) / 2
    none = np.zeros(0, dtype=np.int64)
    net = copper.net_at(layer, middle.real, middle.imag) if len(holes) and copper.is_filled(layer) else none
    inside = np.flatnonzero(net >= 0)
    inside = inside[_is_within(copper, layer, middle[inside], net[inside])]
    rows = holes[inside]
    kind = np.full(len(rows), int(CopperShape.FILL))
    layers = np.full(len(rows), layer)
    none, whose = np.zeros(len(rows), dtype=np.int64), net[inside]
    return CutGaps(-cuts.radius_mm[rows], of[rows], layers, kind, none - 1, whose, middle[inside], none - 1)


def _is_within(copper: CopperMap, layer: int, points: Complexes, net: Ints) -> Mask:
    """Tell which points lie in copper of a net by counting edges to their right: slits of fills count twice.

    A fill whose holes touch is no valid polygon, and a look-up in it may err.
    """
    edges = copper.edges(layer)
    found = np.zeros(len(points), dtype=np.bool_)
    for k, (point, whose) in enumerate(zip(points.tolist(), net.tolist(), strict=True)):
        rows = edges.net == whose
        start, end = edges.start[rows] - point, edges.end[rows] - point
        crosses = (start.imag > 0) != (end.imag > 0)
        start, end = start[crosses], end[crosses]
        at = start.real - start.imag * (end.real - start.real) / (end.imag - start.imag)
        found[k] = np.sum(at > 0) % 2 == 1
    return found


def _nearest(one: CopperShapes, cuts: CopperShapes) -> Complexes:
    """The point of each copper's core nearest to its cut: an end, or the foot of an end of the cut."""
    way = one.end - one.start
    long = np.maximum(np.abs(way) ** 2, 1e-12)
    feet = [
        one.start + np.clip(((p - one.start) * way.conj()).real / long, 0.0, 1.0) * way for p in (cuts.start, cuts.end)
    ]
    points = np.stack([one.start, one.end, *feet])
    apart = np.stack([straight_distances(p, p, cuts.start, cuts.end) for p in points])
    nearest = np.argmin(np.round(apart, ALIKE_DECIMALS), axis=0)
    return np.asarray(points[nearest, np.arange(len(way))])
