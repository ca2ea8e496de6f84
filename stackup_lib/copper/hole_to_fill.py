"""How far vias and plated holes are from the fills of other nets: computed once per layer."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

SHORTEST_MM = 1e-6
"""KiCad's resolution: keeps the direction of an edge without length defined."""


def nearest_of_each(owner: Ints, distance: Floats) -> Ints:
    """Return the row of the least distance of every owner; owners are in ascending order."""
    if not len(owner):
        return np.zeros(0, dtype=np.int64)
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    least = np.repeat(np.minimum.reduceat(distance, first), np.diff(np.append(first, len(owner))))
    rows = np.flatnonzero(distance == least)
    return np.asarray(rows[np.append(True, owner[rows[1:]] != owner[rows[:-1]])])


@entity
class NearEdges:
    """The nearest edge of each other net to each post: post, edge of the layer's fills, mm from its middle."""

    post: Ints
    edge: Ints
    distance_mm: Floats


@entity
class PostFills:
    """The vias and the pads with a hole, searched for fills of other nets around their middle.

    A post's number is its row among the vias, or for a pad the number of vias and its row among the pads.

    Attributes:
        hole_reach_mm: search distance beyond the wall of the finished hole.
        pad_reach_mm: how far beyond the pad, by layer.
    """

    copper: CopperMap
    hole_reach_mm: float
    pad_reach_mm: tuple[float, ...]
    _found: dict[int, NearEdges] = field(default_factory=dict)

    def near(self, layer: int) -> NearEdges:
        """Return the edges around the posts that go through a layer, posts in ascending order."""
        if layer not in self._found:
            self._found[layer] = self._look(layer)
        return self._found[layer]

    def _look(self, layer: int) -> NearEdges:
        edges = self.copper.edges(layer)
        x, y, net, reach, spans = self._posts(layer)
        nets = distinct(edges.net)
        if len(nets) == 1:
            spans &= net != nets[0]
        rows = np.flatnonzero(spans)
        x, y, reach, net = x[rows], y[rows], reach[rows], net[rows]
        post, k = edges.within(diagonals((x - reach, y - reach, x + reach, y + reach)))
        other_net = np.flatnonzero(edges.net[k] != net[post])
        post, k = post[other_net], k[other_net]
        start, end = edges.start[k], edges.end[k]
        from_x, from_y = start.real - x[post], start.imag - y[post]
        way_x, way_y = end.real - start.real, end.imag - start.imag
        along = -(from_x * way_x + from_y * way_y) / np.maximum(way_x * way_x + way_y * way_y, SHORTEST_MM**2)
        along = np.minimum(np.maximum(along, 0.0), 1.0)
        squared = (from_x + along * way_x) ** 2 + (from_y + along * way_y) ** 2
        kept = np.flatnonzero(squared < reach[post] ** 2)
        owner = post[kept] * len(self.copper.board.nets) + edges.net[k[kept]]
        if len(nets) > 1:
            order = np.argsort(owner, kind="stable")
            kept, owner = kept[order], owner[order]
        kept = kept[nearest_of_each(owner, squared[kept])]
        return NearEdges(rows[post[kept]], k[kept], np.sqrt(squared[kept]))

    def _posts(self, layer: int) -> tuple[Floats, Floats, Ints, Floats, NDArray[np.bool_]]:
        """Middle, net and reach of every post, and whether it goes through the layer."""
        vias, pads = self.copper.board.vias, self.copper.board.pads
        hole = np.fmin(pads.drill_x_mm, pads.drill_y_mm)
        spans = np.concatenate([(vias.start_layer <= layer) & (vias.end_layer >= layer), hole > 0])
        drill = np.nan_to_num(np.concatenate([vias.drill_mm, hole])) / 2
        size = np.concatenate([vias.pad_size_mm[:, layer], np.maximum(pads.size_x_mm, pads.size_y_mm)])
        pad = np.nan_to_num(size) / 2
        reach = np.maximum(drill + self.hole_reach_mm, pad + self.pad_reach_mm[layer])
        x, y = np.concatenate([vias.x_mm, pads.x_mm]), np.concatenate([vias.y_mm, pads.y_mm])
        return x, y, np.concatenate([vias.net, pads.net]), reach, spans
