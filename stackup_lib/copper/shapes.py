"""Copper as pieces with a net each: tracks, vias and pads of one layer, as a core with a radius around it.

The core of a straight track, a via, a round or an oval pad is a straight line or a point; that of other pads is a
rectangle, that of an arc a curve, that of a drawn shape its line or area. Lengths are mm, points x + iy with y downward
as in the board.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Flags, Floats, Ints, PadKind
from stackup_lib.board.columns import Columns
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.fill_edges import Complexes, FillEdges
from stackup_lib.core.record import entity

Mask = NDArray[np.bool_]

NANOMETRE = 1e-6


class CopperShape(IntEnum):
    """What a piece of copper is."""

    TRACK = 0
    VIA = 1
    PAD = 2
    FILL = 3
    DRAWN = 6
    """A shape of `Board.drawings`: also of a pad of which size and corners do not tell the shape."""


@entity
class CopperShapes(Columns):
    """Pieces of copper, one row each.

    Attributes:
        kind, row: what it is (`CopperShape`), and its row in that table of the board.
        start, end: of a straight core; of others two points of it.
        radius_mm: how far the copper reaches around its core.
        is_straight: False where the core is an arc or a rectangle.
        margin_mm: how far a core that is not straight reaches beyond the box around start and end.
    """

    kind: Flags
    row: Ints
    net: Ints
    start: Complexes
    end: Complexes
    radius_mm: Floats
    is_straight: Mask
    margin_mm: Floats

    def boxes(self, reach_mm: float = 0.0) -> tuple[Floats, Floats, Floats, Floats]:
        """Return left, low, right and high of what lies within reach of each piece."""
        out = self.radius_mm + self.margin_mm + reach_mm
        return (
            np.minimum(self.start.real, self.end.real) - out,
            np.minimum(self.start.imag, self.end.imag) - out,
            np.maximum(self.start.real, self.end.real) + out,
            np.maximum(self.start.imag, self.end.imag) + out,
        )


def track_pieces(board: Board, layer: int) -> CopperShapes:
    """Return the tracks and arcs of a layer that have a width."""
    tracks = board.tracks
    rows = np.flatnonzero((tracks.layer == layer) & (tracks.width_mm > 0))
    start = tracks.start_x_mm[rows] + 1j * tracks.start_y_mm[rows]
    end = tracks.end_x_mm[rows] + 1j * tracks.end_y_mm[rows]
    middle = tracks.mid_x_mm[rows] + 1j * tracks.mid_y_mm[rows]
    is_straight = np.isnan(middle.real)
    # an arc lies within the circle around its middle that goes through its ends
    margin = np.where(is_straight, 0.0, np.maximum(np.abs(middle - start), np.abs(middle - end)))
    one = np.where(is_straight, start, middle)
    other = np.where(is_straight, end, middle)
    kind = np.full(len(rows), CopperShape.TRACK, dtype=np.int8)
    return CopperShapes(kind, rows, tracks.net[rows], one, other, tracks.width_mm[rows] / 2, is_straight, margin)


def via_pieces(board: Board) -> CopperShapes:
    """Return the vias with the largest of their pads; those without one are left out."""
    vias = board.vias
    radius = np.max(np.nan_to_num(vias.pad_size_mm), axis=1, initial=0.0) / 2
    rows = np.flatnonzero(radius > 0)
    return disc_pieces(rows, vias.net[rows], vias.x_mm[rows] + 1j * vias.y_mm[rows], radius[rows])


def disc_pieces(rows: Ints, net: Ints, centre: Complexes, radius_mm: Floats) -> CopperShapes:
    """Return discs as vias have them; `rows` says of which."""
    kind = np.full(len(rows), CopperShape.VIA, dtype=np.int8)
    none = np.zeros(len(rows))
    return CopperShapes(kind, rows, net, centre, centre, radius_mm, none == 0, none)


def drawn_pieces(board: Board, layer: int) -> CopperShapes:
    """Return the drawn shapes of a layer that are pads, or graphics with a net.

    What is drawn without a net is part of a logo, an antenna or a net tie: it joins what it touches.
    """
    drawn = board.drawings
    is_copper = np.append(copper_pads(board), False)[drawn.pad] | ((drawn.pad < 0) & (drawn.net > 0))
    has_area = (drawn.width_mm > 0) | (drawn.is_filled == 1)
    rows = np.flatnonzero(is_copper & has_area & holds_layer(drawn.layers, layer) & (np.diff(drawn.start) > 0))
    ends, margin = np.zeros((2, len(rows)), dtype=np.complex128), np.zeros(len(rows))
    corners = drawn.x_mm + 1j * drawn.y_mm
    for k, row in enumerate(rows.tolist()):
        own = corners[drawn.start[row] : drawn.start[row + 1]]
        ends[:, k] = own[0], own[np.argmax(np.abs(own - own[0]))]
        margin[k] = np.max(np.abs(own - ends[:, k].mean()))
    kind = np.full(len(rows), CopperShape.DRAWN, dtype=np.int8)
    radius, none = drawn.width_mm[rows] / 2, np.zeros(len(rows), dtype=np.bool_)
    return CopperShapes(kind, rows, drawn.net[rows], ends[0], ends[1], radius, none, margin)


def pad_rows(board: Board, pieces: CopperShapes) -> Ints:
    """Return of which pad each piece is, -1 for none."""
    drawn = pieces.kind == CopperShape.DRAWN
    found = np.where(pieces.kind == CopperShape.PAD, pieces.row, -1)
    found[drawn] = board.drawings.pad[pieces.row[drawn]]
    return np.asarray(found)


def pad_pieces(board: Board, rows: Ints) -> CopperShapes:
    """Return some pads as far as size and corners tell their shape: of a custom one a disc about its anchor.

    Where a pad has other shapes on some layers, its anchor is one of what is drawn there.
    """
    pads = board.pads
    half_x, half_y = pads.size_x_mm[rows] / 2, pads.size_y_mm[rows] / 2
    half_y = np.where(pads.shape[rows] == "circle", half_x, half_y)
    narrow = np.minimum(half_x, half_y)
    is_custom = (pads.shape[rows] == "custom") & (pads.has_stack[rows] == 0)
    half_x, half_y = np.where(is_custom, narrow, half_x), np.where(is_custom, narrow, half_y)
    radius = np.where(is_custom, narrow, pads.corner_mm[rows])
    turn = np.exp(-1j * np.deg2rad(pads.rotation_deg[rows]))
    shift = pads.shift_x_mm[rows] + 1j * pads.shift_y_mm[rows]
    centre = pads.x_mm[rows] + 1j * pads.y_mm[rows] + shift * turn
    along, across = half_x - radius, half_y - radius
    is_straight = np.minimum(along, across) < NANOMETRE
    reach = np.where(along >= across, np.maximum(along, 0.0) + 0j, 1j * np.maximum(across, 0.0)) * turn
    margin = np.where(is_straight, 0.0, np.hypot(along, across))
    reach = np.where(is_straight, reach, 0.0)
    kind = np.full(len(rows), CopperShape.PAD, dtype=np.int8)
    found = CopperShapes(kind, rows, pads.net[rows], centre - reach, centre + reach, radius, is_straight, margin)
    return found.where(~np.isnan(radius) & (narrow > 0))


def slot_pieces(board: Board, rows: Ints) -> CopperShapes:
    """Return the holes of some pads, round ones and slots, as pieces of the net of their pad."""
    pads = board.pads
    x, y = pads.drill_x_mm[rows], pads.drill_y_mm[rows]
    turn = np.exp(-1j * np.deg2rad(pads.rotation_deg[rows]))
    reach = np.where(x >= y, (x - y) / 2 + 0j, 1j * (y - x) / 2) * turn
    centre = pads.x_mm[rows] + 1j * pads.y_mm[rows]
    found = disc_pieces(rows, pads.net[rows], centre, np.minimum(x, y) / 2)
    return replace(found, start=centre - reach, end=centre + reach)


def hole_walls(board: Board, vias: Ints, pads: Ints) -> CopperShapes:
    """Return the plated walls of the holes of some vias and pads, finished; of what has none the radius is 0."""
    table = board.vias
    middle, radius_mm = table.x_mm[vias] + 1j * table.y_mm[vias], np.nan_to_num(table.drill_mm[vias]) / 2
    drilled = disc_pieces(vias, table.net[vias], middle, radius_mm)
    slots = slot_pieces(board, pads)
    radius = np.where(board.pads.kind[pads] == PadKind.THROUGH, np.nan_to_num(slots.radius_mm), 0.0)
    slots = replace(slots, kind=np.full(len(pads), CopperShape.PAD, dtype=np.int8), radius_mm=radius)
    return CopperShapes.joined([drilled, slots])


def is_wall(board: Board, pieces: CopperShapes, row: int) -> bool:
    """Tell whether a piece is the wall of a hole, or a pad that is no larger."""
    kind, item = pieces.kind[row], pieces.row[row : row + 1]
    if kind not in (CopperShape.VIA, CopperShape.PAD):
        return False
    wall = hole_walls(board, *((item, item[:0]) if kind == CopperShape.VIA else (item[:0], item)))
    is_alike = np.abs(pieces.start[row] - wall.start[0]) + np.abs(pieces.end[row] - wall.end[0]) < NANOMETRE
    return bool(is_alike and np.abs(pieces.radius_mm[row] - wall.radius_mm[0]) < NANOMETRE)


def with_rows(pieces: CopperShapes, others: CopperShapes, rows: Mask) -> CopperShapes:
    """Return pieces with some rows taken from others."""
    place = np.arange(len(pieces))
    return CopperShapes.joined([pieces, others]).where(np.where(rows, place + len(pieces), place))


def copper_pads(board: Board) -> Mask:
    """Tell which pads have copper: a hole that is not plated has some only where the pad is larger than it."""
    pads = board.pads
    bare = (pads.kind == PadKind.NON_PLATED) & ~(
        (pads.size_x_mm > pads.drill_x_mm + NANOMETRE) & (pads.size_y_mm > pads.drill_y_mm + NANOMETRE)
    )
    return np.asarray((pads.layers != 0) & ~bare)


def edge_pieces(edges: FillEdges, rows: Ints) -> CopperShapes:
    """Return edges of the fills of a layer as pieces."""
    none = np.zeros(len(rows))
    kind: Flags = np.full(len(rows), CopperShape.FILL, dtype=np.int8)
    return CopperShapes(kind, rows, edges.net[rows], edges.start[rows], edges.end[rows], none, none == 0, none)
