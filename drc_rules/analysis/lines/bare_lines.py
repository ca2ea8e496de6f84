"""Tracks on outer layers over which the layout opens the solder mask: the stackup's mask is not what lies on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import shapely

from drc_rules.facts.context import Context
from stackup_lib.board.board import MaskOpening

MANY_POINTS = 3
"""A line has two points, an area at least three."""


def bare_mm(ctx: Context) -> Mapping[tuple[int, int], float]:
    """Return outer layer, net -> length of tracks without solder mask, where the stackup has one."""
    board, found = ctx.board, defaultdict[tuple[int, int], float](float)
    for layer in (0, board.layer_count - 1):
        openings = [one for one in board.mask_openings if one.layer == layer]
        if not openings or ctx.process.mask(top=layer == 0) is None:
            continue
        tracks, rows = board.tracks, np.flatnonzero(board.tracks.layer == layer)
        x = np.stack([tracks.start_x_mm[rows], tracks.mid_x_mm[rows], tracks.end_x_mm[rows]], axis=1)
        y = np.stack([tracks.start_y_mm[rows], tracks.mid_y_mm[rows], tracks.end_y_mm[rows]], axis=1)
        x[:, 1] = np.where(np.isnan(x[:, 1]), (x[:, 0] + x[:, 2]) / 2, x[:, 1])
        y[:, 1] = np.where(np.isnan(y[:, 1]), (y[:, 0] + y[:, 2]) / 2, y[:, 1])
        lines = shapely.linestrings(np.stack([x, y], axis=2))
        area = shapely.union_all([_area(one) for one in openings])
        bare = shapely.length(shapely.intersection(lines, area))
        for net, mm in zip(tracks.net[rows].tolist(), bare.tolist(), strict=True):
            if mm > 0:
                found[layer, net] += mm
    return found


def _area(one: MaskOpening) -> shapely.Geometry:
    points = np.column_stack([one.x_mm, one.y_mm])
    if one.is_filled and len(points) >= MANY_POINTS:
        return shapely.buffer(shapely.make_valid(shapely.polygons(points)), one.width_mm / 2)
    return shapely.buffer(shapely.linestrings(points), one.width_mm / 2)
