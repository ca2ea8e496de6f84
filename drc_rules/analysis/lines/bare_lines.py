"""Tracks on outer layers over which the layout opens the solder mask: the stackup's mask is not what lies on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.facts.context import Context
from stackup_lib.board.board import Board, MaskOpening

if TYPE_CHECKING:
    from shapely import Geometry

MANY_POINTS = 3
"""A line has two points, an area at least three."""


def bare_mm(ctx: Context) -> Mapping[tuple[int, int], float]:
    """Return outer layer, net -> length of tracks without solder mask, where the stackup has one."""
    found = defaultdict[tuple[int, int], float](float)
    for layer in (0, ctx.board.layer_count - 1):
        openings = [one for one in ctx.board.mask_openings if one.layer == layer]
        if openings and ctx.process.mask(top=layer == 0) is not None:
            for net, mm in _bare(ctx.board, layer, openings):
                found[layer, net] += mm
    return found


def _bare(board: Board, layer: int, openings: Iterable[MaskOpening]) -> Iterator[tuple[int, float]]:
    """Yield net and length of what each track of a layer has below openings, where it has any."""
    import shapely  # noqa: PLC0415 - heavy, and few boards open the mask

    yield from lengths_within(board, layer, shapely.union_all([_area(one) for one in openings]))


def lengths_within(board: Board, layer: int, area: Geometry) -> Iterator[tuple[int, float]]:
    """Yield net and length of what each track of a layer has within an area, where it has any."""
    import shapely  # noqa: PLC0415

    tracks, rows = board.tracks, np.flatnonzero(board.tracks.layer == layer)
    x = np.stack([tracks.start_x_mm[rows], tracks.mid_x_mm[rows], tracks.end_x_mm[rows]], axis=1)
    y = np.stack([tracks.start_y_mm[rows], tracks.mid_y_mm[rows], tracks.end_y_mm[rows]], axis=1)
    x[:, 1] = np.where(np.isnan(x[:, 1]), (x[:, 0] + x[:, 2]) / 2, x[:, 1])
    y[:, 1] = np.where(np.isnan(y[:, 1]), (y[:, 0] + y[:, 2]) / 2, y[:, 1])
    lines = shapely.linestrings(np.stack([x, y], axis=2))
    within = shapely.length(shapely.intersection(lines, area))
    yield from ((net, mm) for net, mm in zip(tracks.net[rows].tolist(), within.tolist(), strict=True) if mm > 0)


def _area(one: MaskOpening) -> Geometry:
    import shapely  # noqa: PLC0415

    points = np.column_stack([one.x_mm, one.y_mm])
    if one.is_filled and len(points) >= MANY_POINTS:
        return shapely.buffer(shapely.make_valid(shapely.polygons(points)), one.width_mm / 2)
    return shapely.buffer(shapely.linestrings(points), one.width_mm / 2)
