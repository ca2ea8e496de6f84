"""How near the pads of other nets come to a backdrill."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.via.drilled_holes import DrilledHole
from stackup_lib.board.board import Board, Floats, Ints, PadKind

ROUND = ("circle", "oval", "custom", "trapezoid")
"""Shapes whose ends count as round; of a custom or slanted pad it is what surely is copper."""

CORNER = 0.25
"""Corner radius of a rounded rectangle over its shorter side, KiCad's default."""


def pads_near(board: Board, drilled: DrilledHole, reach_mm: float) -> Iterator[tuple[float, int, int]]:
    """Yield (gap in mm, layer, net) of pads of other nets whose copper comes nearer to the drill than `reach_mm`.

    A plated hole has its pad on every copper layer that the pad names; a hole without plating has none.
    """
    pads, hole, passed = board.pads, drilled.hole, drilled.passed
    radius = (drilled.drill.size_mm or 0.0) / 2
    mask = np.uint64(sum(1 << layer for layer in passed))
    shared = pads.layers & mask
    diagonal = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2
    away = np.hypot(pads.x_mm - hole.x_mm, pads.y_mm - hole.y_mm)
    near = (shared != 0) & (pads.net != hole.net) & (pads.kind != PadKind.NON_PLATED)
    rows = np.flatnonzero(near & (away - diagonal < radius + reach_mm))
    gaps = to_copper_mm(board, rows, hole.x_mm, hole.y_mm) - radius
    for row, gap in zip(rows.tolist(), gaps.tolist(), strict=True):
        if gap < reach_mm:
            layer = next(layer for layer in passed if int(shared[row]) >> layer & 1)
            yield gap, layer, int(pads.net[row])


def to_copper_mm(board: Board, rows: Ints, x_mm: float, y_mm: float) -> Floats:
    """Distance from a point to each pad's edge, below zero inside: rectangles with corners rounded by shape."""
    pads = board.pads
    turn = np.exp(1j * np.radians(pads.rotation_deg[rows]))
    across = ((x_mm - pads.x_mm[rows]) + 1j * (y_mm - pads.y_mm[rows])) * turn
    half_x, half_y = pads.size_x_mm[rows] / 2, pads.size_y_mm[rows] / 2
    shorter = np.minimum(half_x, half_y)
    shape = pads.shape[rows]
    corner = np.where(np.isin(shape, ROUND), shorter, np.where(shape == "roundrect", 2 * CORNER * shorter, 0.0))
    beyond_x, beyond_y = np.abs(across.real) - (half_x - corner), np.abs(across.imag) - (half_y - corner)
    outside = np.hypot(np.maximum(beyond_x, 0.0), np.maximum(beyond_y, 0.0))
    distance: Floats = outside + np.minimum(np.maximum(beyond_x, beyond_y), 0.0) - corner
    return distance
