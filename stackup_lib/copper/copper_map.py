"""Which filled copper lies where: the net of a layer's fill at any points, and what a route has above and below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.board.layer_roles import PLANE_MIN_COVERAGE, LayerUse, polygon_areas_mm2
from stackup_lib.copper.coupling import TrackPieces, piece_counts
from stackup_lib.copper.fill_edges import FillEdges, fill_edges, rows_in_fills
from stackup_lib.copper.floating_fills import floating_fills
from stackup_lib.copper.stale_fills import TEARDROP, OtherNetItems, other_net_in_fills
from stackup_lib.core.arrays import are_among, distinct
from stackup_lib.core.record import workpiece

if TYPE_CHECKING:
    from shapely import Point, Polygon

UNASKED = -2
"""Marks what is not looked up yet."""

NO_COPPER = -1
"""Stands in a net column for "no fill here"."""

FLOATING = -3
"""Stands there for a fill that nothing joins to the rest of its net."""


@workpiece
class CopperMap:
    """The fills of a board's zones as they are stored, looked up by point; each layer is indexed on first use."""

    board: Board
    _layers: dict[int, list[tuple[int, Polygon]]] = field(default_factory=dict)
    _edges: dict[int, FillEdges] = field(default_factory=dict)
    _floating: dict[int, list[Polygon]] = field(default_factory=dict)
    _next_to: tuple[Ints, Ints, Ints] | None = None

    @cached_property
    def other_net(self) -> OtherNetItems:
        """What is in fills of other nets, so that these are out of date."""
        return other_net_in_fills(self.board, self.fills)

    @cached_property
    def planes(self) -> CopperMap:
        """The same without teardrops of nets that have no other fill on the layer: they are part of a track."""
        zones = self.board.zones
        drop = np.array([name.startswith(TEARDROP) for name in zones.name.tolist()], dtype=np.bool_)[zones.fill_zone]
        place = zones.net[zones.fill_zone] * self.board.layer_count + zones.fill_layer
        kept = ~drop | are_among(place, place[~drop])
        if np.all(kept):
            return self
        size = np.diff(zones.fill_start)
        corners = np.repeat(kept, size)
        poured = replace(
            zones,
            fill_zone=zones.fill_zone[kept],
            fill_layer=zones.fill_layer[kept],
            fill_start=np.append([0], np.cumsum(size[kept])),
            fill_x_mm=zones.fill_x_mm[corners],
            fill_y_mm=zones.fill_y_mm[corners],
        )
        return CopperMap(replace(self.board, zones=poured))

    def adjacent_planes(self, pieces: TrackPieces) -> tuple[Ints, Ints]:
        """Return the nearest layers with filled copper over and under the middle of each of some pieces of tracks.

        Each piece is looked up once; those requested together are looked up together.

        Returns:
            (above, below), one per piece; -1 where that side is open.
        """
        if self._next_to is None:
            counts = piece_counts(self.board, np.arange(len(self.board.tracks)))
            unasked = np.full(int(counts.sum()), UNASKED)
            self._next_to = np.cumsum(counts) - counts, unasked, unasked.copy()
        first, above, below = self._next_to
        index = first[pieces.track] + pieces.part
        fresh = pieces.where(np.flatnonzero(above[index] == UNASKED))
        for layer in distinct(fresh.layer).tolist():
            here = fresh.where(fresh.layer == layer)
            at = first[here.track] + here.part
            above[at] = _nearest(self.planes, range(layer - 1, -1, -1), here.x_mm, here.y_mm)
            below[at] = _nearest(self.planes, range(layer + 1, self.board.layer_count), here.x_mm, here.y_mm)
        return above[index], below[index]

    def net_at(self, layer: int, x_mm: Floats, y_mm: Floats) -> Ints:
        """Return the net of the filled copper at each point of a layer, `NO_COPPER` where there is none.

        A point on the edge of a fill is on copper: it may be a slit, which has no width.
        """
        found = np.full(len(x_mm), NO_COPPER, dtype=np.int64)
        fills = self.fills(layer)
        for k, rows in rows_in_fills(fills, x_mm, y_mm, with_edge=True):
            found[rows] = fills[k][0]
        return found

    def floating(self, layer: int) -> list[Polygon]:
        """Return the fills of a layer that nothing joins to the rest of their net, prepared for look-ups."""
        if layer not in self._floating:
            fills = self.fills(layer)
            alone = floating_fills(self.board, layer, fills)
            self._floating[layer] = [fill for (_, fill), is_alone in zip(fills, alone, strict=True) if is_alone]
        return self._floating[layer]

    def nets_at(self, layer: int, x_mm: float, y_mm: float, reach_mm: float) -> frozenset[int]:
        """Return the nets of the fills of a layer that come within reach of a point."""
        import shapely  # noqa: PLC0415 - heavy, and only a board with fills needs it

        return frozenset(net for net, _ in self._near(layer, shapely.Point(x_mm, y_mm), reach_mm))

    def _near(self, layer: int, point: Point, reach_mm: float) -> list[tuple[int, Polygon]]:
        import shapely  # noqa: PLC0415

        fills = self.fills(layer)
        is_near = shapely.dwithin([fill for _, fill in fills], point, reach_mm)
        return [one for one, near in zip(fills, is_near.tolist(), strict=True) if near]

    def is_filled(self, layer: int) -> bool:
        """Tell whether any fill is stored on a layer."""
        return bool(np.any(self.board.zones.fill_layer == layer))

    def edges(self, layer: int) -> FillEdges:
        """Return the edges of the fills of a layer."""
        if layer not in self._edges:
            self._edges[layer] = fill_edges(self.board, layer)
        return self._edges[layer]

    def fills(self, layer: int) -> list[tuple[int, Polygon]]:
        """Return the layer's fills with their nets, prepared for look-ups; holes hang on slits, which do no harm."""
        if layer not in self._layers:
            import shapely  # noqa: PLC0415 - heavy, and only a board with high-speed nets needs it

            zones = self.board.zones
            fills = []
            for k in np.nonzero(zones.fill_layer == layer)[0].tolist():
                first, last = int(zones.fill_start[k]), int(zones.fill_start[k + 1])
                if last - first < 3:
                    continue
                ring = np.column_stack([zones.fill_x_mm[first:last], zones.fill_y_mm[first:last]])
                fills.append((int(zones.net[zones.fill_zone[k]]), shapely.Polygon(ring)))
            shapely.prepare([polygon for _, polygon in fills])
            self._layers[layer] = fills
        return self._layers[layer]


def unfilled_zones(board: Board, layers: Iterable[int]) -> Ints:
    """Return the rows of the zones on one of the layers that have no stored fill.

    A zone that says that it is filled, on a board that stores fills, was left empty by others that go before it.
    """
    zones, mask = board.zones, sum(1 << layer for layer in layers)
    stored = np.zeros(len(zones), dtype=np.bool_)
    stored[zones.fill_zone] = True
    is_open = ~stored & (zones.is_rule_area == 0) & ((zones.layers & np.uint64(mask)) != 0)
    if len(zones.fill_zone):
        is_open &= zones.is_filled == 0
    return np.flatnonzero(is_open).astype(np.int64)


def waiting_planes(board: Board, uses: Sequence[LayerUse], area_mm2: float | None) -> frozenset[int]:
    """Return the layers that are no planes as they are, and may be once the zones on them that have no fill do."""
    zones, rows = board.zones, unfilled_zones(board, range(board.layer_count))
    if not area_mm2 or not len(rows):
        return frozenset()
    rows = rows[zones.net[rows] > 0]
    outlines = polygon_areas_mm2(zones.outline_x_mm, zones.outline_y_mm, zones.outline_start)[rows]
    found = set()
    for layer, use in enumerate(uses):
        more = float(np.sum(outlines[holds_layer(zones.layers[rows], layer)])) / area_mm2
        if more and not use.is_plane and use.ground_share + use.power_share + more >= PLANE_MIN_COVERAGE:
            found.add(layer)
    return frozenset(found)


def _nearest(copper: CopperMap, layers: range, x_mm: Floats, y_mm: Floats) -> Ints:
    found = np.full(len(x_mm), -1, dtype=np.int64)
    for layer in layers:
        open_still = np.nonzero(found < 0)[0]
        if not len(open_still):
            break
        here = copper.net_at(layer, x_mm[open_still], y_mm[open_still]) != NO_COPPER
        found[open_still[here]] = layer
    return found
