"""Rings of the holes of pads in all the copper of their net, which is more than the pad in a larger pad or a fill.

Around such a hole, as those below an exposed pad, the copper of a layer is one area, whatever it is drawn as. Fabs take
away inner pads that nothing joins, so these do not count where another layer joins the hole; outer ones stay. A via
keeps the ring of its own pads, as fabs and KiCad's DRC measure it; on a layer on which it has none, that of what joins.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import FINE_QUARTER, NO_RING_MM, HoleSet
from drc_rules.facts.context import Context
from stackup_lib.board.board import Ints
from stackup_lib.board.layer_masks import holds_layer, layers_of
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.distances import cores
from stackup_lib.copper.shapes import (
    CopperShapes,
    copper_pads,
    drawn_pieces,
    hole_walls,
    pad_pieces,
    pad_rows,
    track_pieces,
)
from stackup_lib.copper.shorts import piece_areas
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.record import workpiece

if TYPE_CHECKING:
    from shapely import Geometry, STRtree

REACH_MM = 0.5
"""Copper around the wall of a hole is looked at as far as this: no fab requires a wider ring."""


NO_PAD = -2
"""Stands for the pad of a via: it is none."""

AREA = 2
"""Dimensions of a shape that has an area."""


@workpiece
class JoinedRings:
    """The rings of the holes of pads in all copper of their net; what was found is kept, by pad."""

    copper: CopperMap
    _pieces: dict[int, tuple[CopperShapes, STRtree]] = field(default_factory=dict)
    _fills: dict[int, list[tuple[int, Geometry]]] = field(default_factory=dict)
    _found: dict[int, float] = field(default_factory=dict)

    def of(self, holes: HoleSet, chosen: Ints) -> HoleSet:
        """Return holes with the rings of some of them (positions) that are of pads, as the copper of their net is."""
        ring, walls = holes.ring_mm.copy(), hole_walls(self.copper.board, holes.vias, holes.pads)
        of_pads = chosen[(chosen >= len(holes.vias)) & (walls.net[chosen] > 0) & (walls.radius_mm[chosen] > 0)]
        for at in of_pads.tolist():
            pad = int(holes.pads[at - len(holes.vias)])
            if pad not in self._found:
                self._found[pad] = self._ring_mm(pad, walls.where(np.array([at])), float(ring[at]))
            ring[at] = self._found[pad]
        return replace(holes, ring_mm=ring)

    def of_padless_vias(self, holes: HoleSet) -> HoleSet:
        """Return holes with the rings of vias that copper joins where they have no pad around the hole."""
        board, ring, rows = self.copper.board, holes.ring_mm.copy(), holes.vias
        table, layers = board.vias, np.arange(board.layer_count)
        spans = (table.start_layer[rows, None] <= layers) & (table.end_layer[rows, None] >= layers)
        pads = np.nan_to_num(table.pad_size_mm[rows])
        lacks = spans & ((pads - table.drill_mm[rows, None]) / 2 < NO_RING_MM)
        walls = hole_walls(board, rows, np.zeros(0, dtype=np.int64))
        for at in np.flatnonzero(lacks.any(axis=1) & (walls.net > 0) & (walls.radius_mm > 0)).tolist():
            wall = walls.where(np.array([at]))
            joined = [self._joined_mm(layer, NO_PAD, wall, 0.0) for layer in np.flatnonzero(lacks[at]).tolist()]
            least = min((found for found in joined if found is not None), default=None)
            if least is not None:
                kept = ring[at] if ring[at] >= NO_RING_MM else np.inf
                ring[at] = min(kept, round(max(least, NO_RING_MM), 5))
        return replace(holes, ring_mm=ring)

    def _ring_mm(self, pad: int, wall: CopperShapes, own_mm: float) -> float:
        """The least ring over the layers; that of the pad itself where no other copper joins it."""
        layers = layers_of(int(self.copper.board.pads.layers[pad]))
        ends = {min(layers, default=0), max(layers, default=0)}
        is_bare, joined = own_mm < NO_RING_MM, dict[int, float]()
        for layer in sorted(layers, key=lambda layer: (layer not in ends, layer)):
            found = self._joined_mm(layer, pad, wall, own_mm)
            if found is not None:
                joined[layer] = max(own_mm, found)
            if not is_bare and joined.get(layer, own_mm if layer in ends else np.inf) <= own_mm:
                return own_mm
        if not joined:
            return own_mm
        least = min(joined.get(layer, own_mm) for layer in joined.keys() | ends)
        return round(max(least, NO_RING_MM), 5)

    def _joined_mm(self, layer: int, pad: int, wall: CopperShapes, ring_mm: float) -> float | None:
        """The ring in the pad and other copper that touches it, 0 where it breaks out; None without that."""
        import shapely  # noqa: PLC0415 - heavy, and only boards with narrow rings need it

        board, net = self.copper.board, int(wall.net[0])
        core, radius = cores(board, wall)[0], float(wall.radius_mm[0])
        pad_mm = radius + max(ring_mm, 0.0)
        window = np.concatenate(wall.boxes(REACH_MM)).tolist()
        pieces, tree = self._near(layer)
        near = pieces.where(np.sort(tree.query(shapely.box(*window))))
        near = near.where(near.net == net)
        is_own = pad_rows(board, near) == pad
        areas = piece_areas(board, near, FINE_QUARTER)
        fills = [shapely.clip_by_rect(fill, *window) for of, fill in self._filled(layer) if of == net]
        parts = shapely.get_parts(np.array([*areas[~is_own], *fills], dtype=object))
        others = shapely.union_all(parts[shapely.get_dimensions(parts) == AREA])  # a spur of a fill is a line
        if others.is_empty or others.distance(core) > pad_mm + TOUCH_MM:
            return None
        around = shapely.union_all([others, *areas[is_own], core.buffer(pad_mm, quad_segs=FINE_QUARTER)])
        return float(around.boundary.distance(core)) - radius if around.covers(core) else 0.0

    def _near(self, layer: int) -> tuple[CopperShapes, STRtree]:
        """The tracks, pads and drawn shapes of a layer; no inner pads that KiCad may take away."""
        import shapely  # noqa: PLC0415

        if layer not in self._pieces:
            board = self.copper.board
            stays = (board.pads.remove_unused == 0) | (layer in (0, board.layer_count - 1))
            pads = np.flatnonzero(copper_pads(board) & stays & holds_layer(board.pads.layers, layer))
            parts = [track_pieces(board, layer), pad_pieces(board, pads), drawn_pieces(board, layer)]
            pieces = CopperShapes.joined(parts)
            self._pieces[layer] = pieces, shapely.STRtree(shapely.box(*pieces.boxes()))
        return self._pieces[layer]

    def _filled(self, layer: int) -> list[tuple[int, Geometry]]:
        """The fills of a layer without their slits."""
        import shapely  # noqa: PLC0415

        if layer not in self._fills:
            self._fills[layer] = [(net, shapely.make_valid(fill)) for net, fill in self.copper.fills(layer)]
        return self._fills[layer]


def joined_rings(ctx: Context) -> JoinedRings:
    """Return what finds the rings of the holes of pads in all copper of their net."""
    return JoinedRings(ctx.copper)
