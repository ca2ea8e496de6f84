"""How much copper the pads of a layer add to its tracks and fills."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Floats, PadKind
from stackup_lib.board.layer_masks import holds_layer
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


def _pad_areas_mm2(copper: CopperMap, rows: np.ndarray) -> Floats:
    pads = copper.board.pads
    long, shape = np.fmax(pads.size_x_mm[rows], pads.size_y_mm[rows]), pads.shape[rows]
    short = np.fmin(pads.size_x_mm[rows], pads.size_y_mm[rows])
    radius = np.where(
        np.isin(shape, ("circle", "oval")), short / 2, np.where(shape == "roundrect", CORNER * short, 0.0)
    )
    areas: Floats = long * short - (4 - np.pi) * radius**2
    return areas
