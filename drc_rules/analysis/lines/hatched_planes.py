"""Tracks whose plane is hatched: a mesh has less capacitance than the solid plane that lines are solved with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.lines.bare_lines import lengths_within
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board
from stackup_lib.core.arrays import distinct

if TYPE_CHECKING:
    from shapely import Geometry

FILL_SOLID = "fill the plane solid there (zone properties, Fill type): what a mesh makes of a line is not modelled"

ABOVE, BELOW = -1, 1
"""Steps to the next layer on either side."""

_Areas = dict[int, "Geometry"]


def hatched_mm(ctx: Context) -> Mapping[tuple[int, int], float]:
    """Return layer, net -> length of tracks over or under a hatched fill, with no solid one between."""
    return _hatched_mm(ctx.board, ABOVE, BELOW)


def hatched_above_mm(ctx: Context) -> Mapping[tuple[int, int], float]:
    """Return the same of hatched fills above the tracks alone."""
    return _hatched_mm(ctx.board, ABOVE)


def hatched_below_mm(ctx: Context) -> Mapping[tuple[int, int], float]:
    """Return the same of hatched fills below the tracks alone."""
    return _hatched_mm(ctx.board, BELOW)


def _hatched_mm(board: Board, *steps: int) -> Mapping[tuple[int, int], float]:
    found = defaultdict[tuple[int, int], float](float)
    if not np.any(board.zones.is_hatched[board.zones.fill_zone]):
        return found
    meshes, solids = _areas(board)
    for layer in distinct(board.tracks.layer).tolist():
        area = _next_to(board, layer, steps, (meshes, solids))
        for net, mm in lengths_within(board, layer, area) if not area.is_empty else ():
            found[layer, net] += mm
    return found


def _next_to(board: Board, layer: int, steps: tuple[int, ...], fills: tuple[_Areas, _Areas]) -> Geometry:
    """Where a mesh is the nearest filled copper above or below a layer."""
    import shapely  # noqa: PLC0415 - heavy, and few boards have hatched fills

    found, (meshes, solids) = [], fills
    for way in (range(layer + step, -1 if step == ABOVE else board.layer_count, step) for step in steps):
        hidden = shapely.Polygon()
        for other in way:
            if other in meshes:
                found.append(shapely.difference(meshes[other], hidden))
            hidden = shapely.union_all([hidden, *(areas[other] for areas in (meshes, solids) if other in areas)])
    return shapely.union_all(found)


def _areas(board: Board) -> tuple[_Areas, _Areas]:
    """The hatched zones of each layer within their outline, and around them what is filled solid."""
    import shapely  # noqa: PLC0415

    zones = board.zones
    is_mesh = zones.is_hatched[zones.fill_zone] == 1
    places = {*zip(zones.fill_layer[is_mesh].tolist(), zones.fill_zone[is_mesh].tolist(), strict=True)}
    outlines = {zone: _ring(zones.outline_x_mm, zones.outline_y_mm, zones.outline_start, zone) for _, zone in places}
    if not any(outline.area for outline in outlines.values()):
        return {}, {}
    window = shapely.total_bounds(list(outlines.values())).tolist()
    fills: dict[int, list[Geometry]] = {}
    for fill in np.flatnonzero(~is_mesh).tolist():
        area = _ring(zones.fill_x_mm, zones.fill_y_mm, zones.fill_start, fill)
        fills.setdefault(int(zones.fill_layer[fill]), []).append(shapely.clip_by_rect(area, *window))
    solids = {layer: shapely.union_all(areas) for layer, areas in fills.items()}
    meshes = {}
    for layer in {layer for layer, _ in places}:
        mesh = shapely.union_all([outlines[zone] for on, zone in places if on == layer])
        meshes[layer] = shapely.difference(mesh, solids.get(layer, shapely.Polygon()))
    return meshes, solids


def _ring(x_mm: np.ndarray, y_mm: np.ndarray, start: np.ndarray, row: int) -> Geometry:
    import shapely  # noqa: PLC0415

    points = np.column_stack([column[start[row] : start[row + 1]] for column in (x_mm, y_mm)])
    return shapely.make_valid(shapely.polygons(points)) if len(points) > 2 else shapely.Polygon()
