"""Copper and vias around the thermal pads of a part, which conduct heat as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.thermal.hot_parts import NEAR_MM, HotPartOnBoard, NetPads, holes_near
from drc_rules.analysis.thermal.pad_shapes import pad_polygon
from drc_rules.facts.context import Context
from drc_rules.rules.thermal._thermal_path import RELIEF_MM, HeatPath, is_class_3, length_mm
from stackup_lib.board.board import PadKind, ViaKind
from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.spread import OUTER_PLATING_UM
from stackup_lib.thermal.joined_copper import Surroundings, most_w_per_k
from stackup_lib.thermal.via_array import (
    ThermalBarrel,
    barrel_range_k_per_w,
    least_square_k_per_w,
    most_laminate_w_per_mm2_k,
)

if TYPE_CHECKING:
    from shapely import Geometry, Polygon

NANOMETRE = 1e-6


@record
class _Copper:
    """The pads of a part on one net, and the fills around them that they lie in or touch."""

    mine: NetPads
    pads: Geometry
    fills: list[Polygon]


def adjacent_vias(part: HotPartOnBoard) -> int:
    """Count the vias close to a part's thermal pads, of their net, that lie in none of them."""
    return sum(
        holes_near(part.board, mine.pads, NEAR_MM) - holes_near(part.board, mine.pads, 0.0) for mine in part.by_net
    )


def joined_fills(ctx: Context, part: HotPartOnBoard, mine: NetPads) -> list[Polygon]:
    """Return the fills on a part's own layer that thermal pads of their net lie in, or touch."""
    if not mine.net or not ctx.copper.is_filled(part.layer):
        return []
    import shapely  # noqa: PLC0415 - heavy, and only a board with fills needs it

    fills = [fill for net, fill in ctx.copper.fills(part.layer) if net == mine.net]
    is_near = shapely.dwithin(fills, _joined_pads(part, mine), NANOMETRE).tolist()
    return [fill for fill, near in zip(fills, is_near, strict=True) if near]


def _joined_pads(part: HotPartOnBoard, mine: NetPads) -> Geometry:
    import shapely  # noqa: PLC0415

    return shapely.union_all([pad_polygon(part.board, pad.row) for pad in mine.pads])


def least_k_per_w(ctx: Context, part: HotPartOnBoard, path: HeatPath) -> float:
    """Return what the way of the heat is at least, with all that spreads it: planes between, copper around, its vias.

    Layers with copper are taken as cold as the sink: whatever spreads in them is left out, as if it did so without
    loss.
    """
    w_per_k = 1 / path.least_k_per_w
    for mine in part.by_net:
        w_per_k += _around_w_per_k(ctx, part, path, mine)
    return 1 / w_per_k


def _around_w_per_k(ctx: Context, part: HotPartOnBoard, path: HeatPath, mine: NetPads) -> float:
    import shapely  # noqa: PLC0415

    fills, pads = joined_fills(ctx, part, mine), _joined_pads(part, mine)
    corners = [shapely.get_coordinates(fill) for fill in fills]
    reach = max((float(np.max(shapely.distance(pads, shapely.points(xy)))) for xy in corners), default=0.0)
    depth = _length_to_copper_mm(ctx, part, path, 0)
    laminate = most_laminate_w_per_mm2_k(depth)
    copper = ctx.need(ctx.copper_thickness_mm(part.layer)) + OUTER_PLATING_UM / 1000
    around = Surroundings(
        edge_mm=float(pads.length),
        pieces=len(shapely.get_parts(pads)),
        square_k_per_w=least_square_k_per_w(copper),
        laminate_w_per_mm2_k=laminate if fills else 0.0,
        vias=_vias_around(ctx, part, path, _Copper(mine, pads, fills)),
        reach_mm=max(reach, NEAR_MM),
    )
    counted = most_laminate_w_per_mm2_k(length_mm(ctx, part.layer, _last_layer(ctx, path)))
    return (laminate - counted) * mine.area_mm2 + most_w_per_k(around)


def _last_layer(ctx: Context, path: HeatPath) -> int:
    """Return the layer of the path's own lower bound, up to which that counts the laminate below the pad."""
    near = path.to_plane_k_per_w
    is_plane = near is not None and near.low < path.k_per_w.low
    return ctx.board.layer_index[path.plane_name] if is_plane else path.sink


def _length_to_copper_mm(ctx: Context, part: HotPartOnBoard, path: HeatPath, net: int) -> float:
    """Return how far the nearest layer is on the way to the sink that has a fill, of a net or, with 0, of any."""
    step = 1 if path.sink > part.layer else -1
    fills = {k: ctx.uses[k].fill_mm2 for k in range(part.layer + step, path.sink, step)}
    nearest = next((k for k, of_net in fills.items() if (net in of_net if net else of_net)), path.sink)
    return length_mm(ctx, part.layer, nearest)


def _vias_around(ctx: Context, part: HotPartOnBoard, path: HeatPath, copper: _Copper) -> list[tuple[float, float]]:
    """Distance and highest conductance of the holes of the net around pads, and of those in them that are not counted.

    Each ends at the sink, or at the nearest layer with copper of its net.
    """
    import shapely  # noqa: PLC0415

    found = [hole for hole in _holes_of_net(part, path, copper.mine.net) if hole[0] not in path.places_mm]
    if not found:
        return []
    depth = _length_to_copper_mm(ctx, part, path, copper.mine.net)
    points = shapely.points([place for place, *_ in found])
    away = shapely.distance(points, copper.pads)
    near = (away <= NEAR_MM) | shapely.dwithin(points, shapely.union_all(copper.fills), RELIEF_MM)
    around = []
    for k in np.flatnonzero(near).tolist():
        _, drill, end, fill = found[k]
        length = min(depth, length_mm(ctx, part.layer, end))
        barrel = ThermalBarrel(drill, length, fill, part.declared.plating_um, is_class_3(ctx))
        around.append((float(away[k]), 1 / barrel_range_k_per_w(barrel).low))
    return around


def _holes_of_net(
    part: HotPartOnBoard, path: HeatPath, net: int
) -> Iterator[tuple[tuple[float, float], float, int, str]]:
    """Place, drill, last layer and fill of the holes of a net that begin at the part's layer."""
    vias, pads = part.board.vias, part.board.pads
    begins, ends = (vias.start_layer, vias.end_layer)[:: 1 if part.layer == 0 else -1]
    for k in np.flatnonzero((vias.net == net) & (begins == part.layer) & (vias.drill_mm > 0)).tolist():
        fill = "microvia" if vias.kind[k] == ViaKind.MICRO else "unknown"
        yield (float(vias.x_mm[k]), float(vias.y_mm[k])), float(vias.drill_mm[k]), int(ends[k]), fill
    plated = (pads.kind == PadKind.THROUGH) & (pads.net == net) & (pads.drill_x_mm > 0)
    for k in np.flatnonzero(plated).tolist():
        yield (float(pads.x_mm[k]), float(pads.y_mm[k])), float(pads.drill_x_mm[k]), path.sink, "unknown"
