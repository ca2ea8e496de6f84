"""How near the pads, vias, graphics and tracks of other nets come to a backdrill."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.via.drilled_holes import DrilledHole
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.copper.distances import gaps, via_lands
from stackup_lib.copper.shapes import CopperShapes, disc_pieces, drawn_pieces, track_pieces

Near = tuple[float, int, int]
"""Gap in mm, layer, net."""


def pads_near(board: Board, drilled: DrilledHole, reach_mm: float) -> Iterator[Near]:
    """Yield pads of other nets whose copper comes nearer to the drill than `reach_mm`.

    A plated hole has its pad on every copper layer that the pad names; a hole without plating has none. Of a custom pad
    it is a disc about its anchor; what else it has, and pads of which size and corners do not tell the shape, are
    `tracks_and_drawings_near`.
    """
    pads, hole, passed = board.pads, drilled.hole, drilled.passed
    radius = (drilled.drill.size_mm or 0.0) / 2
    mask = np.uint64(sum(1 << layer for layer in passed))
    shared = pads.layers & mask
    diagonal = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2 + np.hypot(pads.shift_x_mm, pads.shift_y_mm)
    away = np.hypot(pads.x_mm - hole.x_mm, pads.y_mm - hole.y_mm)
    near = (shared != 0) & (pads.net != hole.net) & (pads.kind != PadKind.NON_PLATED)
    near &= np.isfinite(pads.corner_mm) | (pads.shape == "custom")
    rows = np.flatnonzero(near & (away - diagonal < radius + reach_mm))
    distances = to_copper_mm(board, rows, hole.x_mm, hole.y_mm) - radius
    for row, gap in zip(rows.tolist(), distances.tolist(), strict=True):
        if gap < reach_mm:
            layer = next(layer for layer in passed if int(shared[row]) >> layer & 1)
            yield gap, layer, int(pads.net[row])


def to_copper_mm(board: Board, rows: Ints, x_mm: float, y_mm: float) -> Floats:
    """Distance from a point to each pad's edge, below zero inside: rectangles with corners of the pad's radius."""
    pads = board.pads
    turn = np.exp(1j * np.radians(pads.rotation_deg[rows]))
    across = ((x_mm - pads.x_mm[rows]) + 1j * (y_mm - pads.y_mm[rows])) * turn
    across -= pads.shift_x_mm[rows] + 1j * pads.shift_y_mm[rows]
    half_x, half_y = pads.size_x_mm[rows] / 2, pads.size_y_mm[rows] / 2
    is_custom = pads.shape[rows] == "custom"
    corner = np.where(is_custom, np.minimum(half_x, half_y), pads.corner_mm[rows])
    half_x, half_y = np.where(is_custom, corner, half_x), np.where(is_custom, corner, half_y)
    beyond_x, beyond_y = np.abs(across.real) - (half_x - corner), np.abs(across.imag) - (half_y - corner)
    outside = np.hypot(np.maximum(beyond_x, 0.0), np.maximum(beyond_y, 0.0))
    distance: Floats = outside + np.minimum(np.maximum(beyond_x, beyond_y), 0.0) - corner
    return distance


def tracks_and_drawings_near(ctx: Context, drilled: DrilledHole, reach_mm: float) -> Iterator[Near]:
    """Yield tracks, arcs and drawn shapes of other nets that come nearer to the drill than `reach_mm`."""
    hole, radius = drilled.hole, (drilled.drill.size_mm or 0.0) / 2
    x, y, out = hole.x_mm, hole.y_mm, radius + reach_mm
    for layer in drilled.passed:
        pieces = ctx.get(_flat, layer)
        left, low, right, high = pieces.boxes(out)
        near = (left <= x) & (x <= right) & (low <= y) & (y <= high) & (pieces.net != hole.net)
        one = pieces.where(near)
        here = np.full(len(one), complex(x, y))
        drill = disc_pieces(np.zeros(len(one), dtype=np.int64), one.net, here, np.full(len(one), radius))
        found = gaps(ctx.board, one, drill, reach_mm)
        for row in np.flatnonzero(np.isfinite(found)).tolist():
            yield float(found[row]), layer, int(one.net[row])


def vias_near(ctx: Context, drilled: DrilledHole, reach_mm: float) -> Iterator[Near]:
    """Yield vias of other nets that come nearer to the drill; a pad that joins nothing may be left out."""
    board, hole, radius = ctx.board, drilled.hole, (drilled.drill.size_mm or 0.0) / 2
    vias = board.vias
    away = np.hypot(vias.x_mm - hole.x_mm, vias.y_mm - hole.y_mm)
    largest = np.fmax.reduce(vias.pad_size_mm, axis=1, initial=0.0) / 2
    rows = np.flatnonzero((away - largest - radius < reach_mm) & (vias.net != hole.net))
    for layer in drilled.passed if len(rows) else ():
        lands = via_lands(board, layer, rows, ctx.get(_flat, layer))
        found = away[lands.row] - lands.radius_mm - radius
        for row in np.flatnonzero(found < reach_mm).tolist():
            yield float(found[row]), layer, int(lands.net[row])


def _flat(ctx: Context, layer: int) -> CopperShapes:
    return CopperShapes.joined([track_pieces(ctx.board, layer), drawn_pieces(ctx.board, layer)])
