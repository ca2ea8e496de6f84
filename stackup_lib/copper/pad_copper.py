"""How much copper the pads and graphics of a layer add to its tracks and fills."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Floats, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.board.layer_roles import polygon_areas_mm2
from stackup_lib.copper.copper_map import CopperMap

CORNER = 0.25
"""Corner radius of a rounded rectangle over its shorter side, KiCad's default."""


def pads_outside_fills_mm2(copper: CopperMap, layer: int) -> float:
    """Return the area of the pads and via lands of a layer whose middle is in no fill of their own net.

    Free shapes count as their anchors; copper that pads share with tracks, or with one another, counts twice.
    """
    board = copper.board
    pads, vias = board.pads, board.vias
    on_layer = holds_layer(pads.layers, layer)
    lands = np.flatnonzero(on_layer & (pads.kind != PadKind.NON_PLATED))
    spans = np.flatnonzero((vias.start_layer <= layer) & (vias.end_layer >= layer))
    x = np.concatenate([pads.x_mm[lands], vias.x_mm[spans]])
    y = np.concatenate([pads.y_mm[lands], vias.y_mm[spans]])
    net = np.concatenate([pads.net[lands], vias.net[spans]])
    round_mm2 = np.pi / 4 * np.nan_to_num(vias.pad_size_mm[spans, layer]) ** 2
    areas = np.concatenate([_pad_areas_mm2(copper, lands), round_mm2])
    return float(areas[copper.net_at(layer, x, y) != net].sum())


def graphics_outside_fills_mm2(copper: CopperMap, layer: int) -> float:
    """Return the area of the copper graphics of a layer whose middle is in no fill of their own net.

    Copper that graphics share with tracks, pads, or with one another, counts twice.
    """
    drawn = copper.board.drawings
    rows = np.flatnonzero((drawn.pad < 0) & holds_layer(drawn.layers, layer) & (np.diff(drawn.start) > 1))
    if not len(rows):
        return 0.0
    starts, ends = drawn.start[rows], drawn.start[rows + 1]
    x, y = (np.array([c[a:b].mean() for a, b in zip(starts, ends, strict=True)]) for c in (drawn.x_mm, drawn.y_mm))
    areas = _drawn_areas_mm2(copper, rows)
    return float(areas[copper.net_at(layer, x, y) != drawn.net[rows]].sum())


def _drawn_areas_mm2(copper: CopperMap, rows: np.ndarray) -> Floats:
    """The areas with half of the pen on their edge, and lines with all of it."""
    drawn = copper.board.drawings
    inside = polygon_areas_mm2(drawn.x_mm, drawn.y_mm, drawn.start)[rows]
    steps = np.append(np.hypot(np.diff(drawn.x_mm), np.diff(drawn.y_mm)), 0.0)
    length = np.array([steps[a : b - 1].sum() for a, b in zip(drawn.start[rows], drawn.start[rows + 1], strict=True)])
    filled = drawn.is_filled[rows] == 1
    areas: Floats = np.where(filled, inside + length * drawn.width_mm[rows] / 2, length * drawn.width_mm[rows])
    return areas


def _pad_areas_mm2(copper: CopperMap, rows: np.ndarray) -> Floats:
    pads = copper.board.pads
    long, shape = np.fmax(pads.size_x_mm[rows], pads.size_y_mm[rows]), pads.shape[rows]
    short = np.fmin(pads.size_x_mm[rows], pads.size_y_mm[rows])
    radius = np.where(
        np.isin(shape, ("circle", "oval")), short / 2, np.where(shape == "roundrect", CORNER * short, 0.0)
    )
    areas: Floats = long * short - (4 - np.pi) * radius**2
    return areas
