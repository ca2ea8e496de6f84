"""Copper that is exempt near what is cut: rings of holes, fingers, castellations, contacts at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.cuts.board_area import cut_outs_of
from stackup_lib.copper.cuts.gap_rows import DELIBERATE_MM, EDGE, REACH_MM, CutGaps
from stackup_lib.copper.distances import cores
from stackup_lib.copper.shapes import (
    CopperShape,
    CopperShapes,
    Mask,
    copper_pads,
    drawn_pieces,
    pad_pieces,
    pad_rows,
    slot_pieces,
)
from stackup_lib.copper.shorts import piece_areas
from stackup_lib.core.arrays import distinct

if TYPE_CHECKING:
    from shapely import Geometry

FLUSH_MM = 0.02
"""A pad that reaches over the edge by no more ends at it."""

LEAST_CONTACTS = 3
"""From this many on, pads over the edge are the contacts of a plug; a misplaced resistor has two."""

CASTELLATED_MM = 0.6
"""The least hole of a castellation. A finer via on the edge is a slip.

JLCPCB, Castellated holes: "PTH holes or via that are cut through", "0.6 mm at least"; Transtek states the same.
"""

FINGER_MM = 1.0
"""As near to the edge as this end the fingers of both sides: those of M.2 end 0.8 mm apart. Engineering judgement."""

JOINED_MM = 0.5
"""Copper of a pad's net this near to its rim belongs to it: a zone around a castellated hole keeps to its edge."""


def without_exempt(board: Board, found: CutGaps) -> CutGaps:
    """Return the rows without copper that is meant to be there; see `cut_gaps`."""
    pads = board.pads
    is_pad, is_edge = found.kind == CopperShape.PAD, found.cut < 0
    row = np.where(is_pad, found.row, 0)
    hole = np.where(is_edge, 0, found.cut)
    is_meant = _of_castellated_vias(board, found)
    if len(pads):
        same_part = pads.footprint[row] == pads.footprint[hole]
        drilled = is_pad & ~is_edge & same_part & (row != hole) & (found.gap_mm <= DELIBERATE_MM)
        is_own = (is_pad & ~is_edge & (row == hole)) | _surround(board, found, drilled)
        is_meant |= is_own | _leads_to(found, is_own)
        nears_edge = is_pad & (found.cut == EDGE)
        is_finger = (pads.kind[row] == PadKind.CONNECTOR) | _of_both_sides(board, found, row, nears_edge)
        over_edge = nears_edge & (found.gap_mm <= DELIBERATE_MM)
        at_edge = is_finger & nears_edge
        at_edge |= over_edge & (_are_cut_open(board, row, over_edge) | _of_a_row(board, row, nears_edge, over_edge))
        is_meant |= is_pad & is_edge & np.isin(row, row[at_edge])
        fingers = distinct(row[at_edge])
        is_meant |= is_edge & (~is_pad | _of_one_pin(board, row, fingers)) & _joins(board, found, fingers)
        around = _around_cut_outs(board, found, is_pad & is_edge & (found.gap_mm <= DELIBERATE_MM))
        is_meant |= around
        for part in distinct(pads.footprint[row[around]]).tolist():
            rings, is_its = distinct(row[around & (found.drawn_by == part)]), is_edge & (found.drawn_by == part)
            is_meant |= is_its & np.where(is_pad, np.isin(row, rings), _joins(board, found, rings))
    return found.where(~is_meant)


def _surround(board: Board, found: CutGaps, drilled: Mask) -> Mask:
    """Tell which pads that a hole of their part is drilled into go around it, or lie within it; others are torn.

    Pads of one net count together, as the arcs of a ring do.
    """
    import shapely  # noqa: PLC0415

    rows = np.flatnonzero(drilled)
    surrounds = np.zeros(len(drilled), dtype=np.bool_)
    key = np.stack([found.cut[rows], found.layer[rows], found.net[rows]])
    for cut, layer, net in sorted({tuple(one) for one in key.T.tolist()}):
        own = rows[np.all((cut, layer, net) == key.T, axis=1)]
        hole = piece_areas(board, slot_pieces(board, np.array([cut])))[0]
        copper = _copper_of(board, layer, distinct(found.row[own]))
        around = shapely.covers(copper, shapely.buffer(hole, -DELIBERATE_MM))
        surrounds[own] = around or shapely.covers(shapely.buffer(hole, DELIBERATE_MM), copper)
    return surrounds


def _around_cut_outs(board: Board, found: CutGaps, over_edge: Mask) -> Mask:
    """Tell which pads go around a cut-out that their footprint draws, as the ring of a milled mounting hole does.

    Pads of one net count together. What another cut-out of the part tears, or nears, is not meant.
    """
    import shapely  # noqa: PLC0415

    part = np.where(over_edge, board.pads.footprint[np.where(over_edge, found.row, 0)], -1)
    is_own = over_edge & (part >= 0) & (found.drawn_by == part)
    goes_around = np.zeros(len(part), dtype=np.bool_)
    key = np.stack([part, found.layer, found.net])
    for owner, layer, net in sorted({tuple(one) for one in key[:, is_own].T.tolist()}):
        own = is_own & np.all(key == np.array([[owner], [layer], [net]]), axis=0)
        area = cut_outs_of(board.outline, owner)
        if area is None:
            continue
        copper = _copper_of(board, layer, distinct(found.row[own]))
        holes = shapely.buffer(shapely.get_parts(area), -DELIBERATE_MM)
        goes_around[own] = np.all(shapely.covers(copper, holes) | ~shapely.dwithin(copper, holes, REACH_MM))
    return goes_around


def _copper_of(board: Board, layer: int, pads: Ints) -> Geometry:
    """Return the copper of some pads on a layer, with what their footprints draw as part of them."""
    import shapely  # noqa: PLC0415

    shapes = drawn_pieces(board, layer)
    shapes = shapes.where(np.isin(pad_rows(board, shapes), pads))
    return shapely.union_all(piece_areas(board, CopperShapes.joined([pad_pieces(board, pads), shapes])))


def _are_cut_open(board: Board, row: Ints, over_edge: Mask) -> Mask:
    """Tell which pads have a plated hole that the board's edge cuts open: it is castellated."""
    import shapely  # noqa: PLC0415

    pads = board.pads
    has_hole = np.fmin(pads.drill_x_mm[row], pads.drill_y_mm[row]) > 0
    rows = np.flatnonzero(over_edge & (pads.kind[row] == PadKind.THROUGH) & has_hole)
    found = np.zeros(len(row), dtype=np.bool_)
    if len(rows):
        holes = slot_pieces(board, row[rows])
        found[rows] = shapely.dwithin(cores(board, holes), _edge(board), holes.radius_mm)
    return found


def _of_castellated_vias(board: Board, found: CutGaps) -> Mask:
    """Tell which rows are vias that the edge cuts open, wide enough for a castellation, and copper that joins them."""
    import shapely  # noqa: PLC0415

    vias = board.vias
    over_edge = (found.kind == CopperShape.VIA) & (found.cut == EDGE) & (found.gap_mm <= DELIBERATE_MM)
    rows = distinct(found.row[over_edge])
    rows = rows[vias.drill_mm[rows] >= CASTELLATED_MM]
    if not len(rows):
        return np.zeros(len(over_edge), dtype=np.bool_)
    middles = shapely.points(vias.x_mm[rows], vias.y_mm[rows])
    rows = rows[shapely.dwithin(middles, _edge(board), vias.drill_mm[rows] / 2)]
    is_its = (found.kind == CopperShape.VIA) & np.isin(found.row, rows)
    joins = np.zeros(len(over_edge), dtype=np.bool_)
    for via in rows.tolist():
        joins |= _lies_at(found, vias.x_mm[via], vias.y_mm[via], vias.size_mm[via] / 2) & (found.net == vias.net[via])
    leads = (found.kind == CopperShape.TRACK) | (found.kind == CopperShape.FILL)
    return np.asarray((found.cut < 0) & (is_its | (joins & leads)))


def _of_a_row(board: Board, row: Ints, nears_edge: Mask, over_edge: Mask) -> Mask:
    """Tell which pads reach over the edge as contacts do: no other pin of their part is elsewhere.

    They are three or more, or end flush with the edge. Plated holes of their pins may lie anywhere: those of an
    edge-launch connector join its ground pads. Plated pads of other pins count as contacts where they are at the edge.
    """
    pads = board.pads
    found = np.zeros(len(row), dtype=np.bool_)
    is_flat = pads.kind == PadKind.SMD
    for part in distinct(pads.footprint[row[over_edge & is_flat[row]]]).tolist():
        own = np.flatnonzero((pads.footprint == part) & copper_pads(board))
        flat = own[is_flat[own] & np.isin(own, row[nears_edge])]
        own = own[(pads.kind[own] != PadKind.THROUGH) | ~_of_one_pin(board, own, flat)]
        if np.all(np.isin(own, row[nears_edge])) and (len(own) >= LEAST_CONTACTS or _are_flush(board, own)):
            found |= np.isin(row, own)
    return found


def _are_flush(board: Board, pads: Ints) -> bool:
    """Tell whether pads end at the edge, and not beyond it."""
    import shapely  # noqa: PLC0415

    inner = shapely.buffer(piece_areas(board, pad_pieces(board, pads)), -FLUSH_MM, join_style="mitre")
    return len(inner) == len(pads) and not np.any(shapely.intersects(inner, _edge(board)))


def _edge(board: Board) -> Geometry:
    """The lines of the board's outline."""
    import shapely  # noqa: PLC0415

    outline = board.outline
    points, cuts = np.column_stack([outline.x_mm, outline.y_mm]), outline.start[1:-1]
    return shapely.union_all([shapely.linestrings(line) for line in np.split(points, cuts) if len(line) > 1])


def _of_both_sides(board: Board, found: CutGaps, row: Ints, nears_edge: Mask) -> Mask:
    """Tell which surface-mount pads are of a part that has such pads at the edge on both sides: it takes the edge."""
    is_flat = nears_edge & (board.pads.kind[row] == PadKind.SMD)
    part = board.pads.footprint[row]
    last = board.layer_count - 1
    on_top, below = (set(part[is_flat & (found.layer == side)].tolist()) for side in (0, last))
    takes = on_top & below
    takes |= {one for one in on_top - below if _has_fingers(board, one, last)}
    takes |= {one for one in below - on_top if _has_fingers(board, one, 0)}
    return np.asarray(is_flat & np.isin(part, np.array(sorted(takes), dtype=np.int64)))


def _has_fingers(board: Board, part: int, layer: int) -> bool:
    """Tell whether a part has contacts on a side that end further from the edge than those of the other side."""
    import shapely  # noqa: PLC0415

    pads = board.pads
    own = np.flatnonzero((pads.footprint == part) & (pads.kind == PadKind.SMD) & holds_layer(pads.layers, layer))
    if len(own) < LEAST_CONTACTS:
        return False
    near = shapely.dwithin(piece_areas(board, pad_pieces(board, own)), _edge(board), FINGER_MM)
    return bool(np.all(near))


def _leads_to(found: CutGaps, is_own: Mask) -> Mask:
    """Tell which tracks end on pads that their hole is drilled through: what is drilled away of them is the pad's."""
    rows = np.stack([found.cut, found.layer, found.net], axis=1)
    is_track = (found.kind == CopperShape.TRACK) & (found.net > 0) & (found.cut >= 0)
    own = {tuple(row) for row in rows[is_own].tolist()}
    return np.asarray(is_track & np.array([tuple(row) in own for row in rows.tolist()], dtype=np.bool_))


def _of_one_pin(board: Board, rows: Ints, pads: Ints) -> Mask:
    """Tell which pads have part and number of one of some pads: a castellated pin has pads inside the edge as well."""
    table = board.pads
    pins = {(int(table.footprint[pad]), str(table.number[pad])) for pad in pads.tolist()}
    return np.array([(int(table.footprint[k]), str(table.number[k])) in pins for k in rows.tolist()], dtype=np.bool_)


def _joins(board: Board, found: CutGaps, pads: Ints) -> Mask:
    """Tell which copper lies at one of some pads of its net: what leads to a finger ends at the edge as it does."""
    joins = np.zeros(len(found.net), dtype=np.bool_)
    table = board.pads
    reach = np.hypot(table.size_x_mm[pads], table.size_y_mm[pads]) / 2
    for pad, radius in zip(pads.tolist(), reach.tolist(), strict=True):
        joins |= _lies_at(found, table.x_mm[pad], table.y_mm[pad], radius) & (found.net == table.net[pad])
    return joins


def _lies_at(found: CutGaps, x_mm: float, y_mm: float, radius_mm: float) -> Mask:
    """Tell which copper is at the rim of a pad."""
    return np.asarray(np.abs(found.at - complex(x_mm, y_mm)) <= radius_mm + JOINED_MM)
