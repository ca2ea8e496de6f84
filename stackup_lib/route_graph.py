"""The copper of one net as a graph: nodes are pads, vias and ends of tracks, edges the tracks between them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board import Board, Floats, PadKind

TOUCH_MM = 1e-3
"""Ends closer than this are one: a thousand times KiCad's resolution, a hundredth of a narrow track."""

ARC_CHORDS = 16
"""An arc is tried for contact as this many chords; its radius must be off by less than the width."""


CELLS = 1_000_000
"""Distances that are worked out at once, to bound memory on nets with thousands of tracks and vias."""

Points = NDArray[np.complex128]
ZERO = np.zeros((1, 1))
_AROUND = ((0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class NodeKind(IntEnum):
    """What a node stands for."""

    PAD = 0
    VIA = 1
    END = 2


@dataclass(frozen=True, slots=True)
class Node:
    """A pad, a via, or ends of tracks in one place; `row` is an index into that table, -1 for ends."""

    kind: NodeKind
    row: int
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A track or a part of it between two nodes, or a contact: `track` None, the way from a track's end to a centre.

    `inside` is 1 for a track that lies within one pad or via, where the copper of that is the way.
    """

    first: int
    second: int
    layer: int
    width_mm: float
    length_mm: float
    track: int | None
    inside: bool = False

    def other(self, node: int) -> int:
        """Return the node at the other end."""
        return self.second if node == self.first else self.first


@dataclass
class Graph:
    """Nodes, edges, and the nodes that are pads (in the order of the file)."""

    nodes: list[Node]
    edges: list[Edge] = field(default_factory=list)
    pads: list[int] = field(default_factory=list)
    _at: dict[int, list[Edge]] = field(default_factory=dict)

    def join(self, edge: Edge) -> None:
        """Add an edge."""
        self.edges.append(edge)
        for node in {edge.first, edge.second}:
            self._at.setdefault(node, []).append(edge)

    def edges_at(self, node: int) -> list[Edge]:
        """Return the edges at a node."""
        return self._at.get(node, [])

    def distances(self, start: int) -> dict[int, float]:
        """Return the shortest length of track to every node that can be reached, in mm."""
        return self._search(start)[0]

    def way(self, start: int, end: int) -> list[tuple[Edge, int]]:
        """Return the edges of the shortest way, each with the node that it leads to."""
        came = self._search(start)[1]
        steps = []
        while end != start:
            edge = came[end]
            steps.append((edge, end))
            end = edge.other(end)
        return steps[::-1]

    def _search(self, start: int) -> tuple[dict[int, float], dict[int, Edge]]:
        """Dijkstra's shortest paths; of equal ways the one with fewer contacts wins."""
        best, came = {start: (0.0, 0)}, dict[int, Edge]()
        queue = [(0.0, 0, start)]
        while queue:
            length, hops, node = heapq.heappop(queue)
            if (length, hops) > best[node]:
                continue
            for edge in self.edges_at(node):
                to, offer = edge.other(node), (length + edge.length_mm, hops + 1)
                if to not in best or offer < best[to]:
                    best[to], came[to] = offer, edge
                    heapq.heappush(queue, (*offer, to))
        return {node: length for node, (length, _) in best.items()}, came


def graph_of(board: Board, net: int) -> Graph:
    """Return the graph of a net's tracks, arcs, vias and pads; fills are left out."""
    return _Builder(board, net).build()


class _Builder:
    """Finds out what touches what. Points are complex numbers x + iy in mm; hubs are pads, then vias."""

    def __init__(self, board: Board, net: int) -> None:
        self.board = board
        tracks, vias, pads = board.tracks, board.vias, board.pads
        self.rows = np.nonzero((tracks.net == net) & (tracks.layer >= 0))[0]
        self.vias = np.nonzero(vias.net == net)[0]
        self.pads = np.nonzero((pads.net == net) & (pads.kind != PadKind.NON_PLATED))[0]
        self.start = tracks.start_x_mm[self.rows] + 1j * tracks.start_y_mm[self.rows]
        self.end = tracks.end_x_mm[self.rows] + 1j * tracks.end_y_mm[self.rows]
        self.middle = tracks.mid_x_mm[self.rows] + 1j * tracks.mid_y_mm[self.rows]
        self.layer = tracks.layer[self.rows].astype(np.int64)
        self.width = tracks.width_mm[self.rows]
        via_at = vias.x_mm[self.vias] + 1j * vias.y_mm[self.vias]
        pad_at = pads.x_mm[self.pads] + 1j * pads.y_mm[self.pads]
        self.pad_at, self.via_at, self.hub_at = pad_at, via_at, np.concatenate([pad_at, via_at])
        self.graph = Graph(nodes=[])
        for kind, found, at in ((NodeKind.PAD, self.pads, pad_at), (NodeKind.VIA, self.vias, via_at)):
            for row, point in zip(found.tolist(), at.tolist(), strict=True):
                self.graph.nodes.append(Node(kind, row, point.real, point.imag))
        self.graph.pads = list(range(len(self.pads)))

    def build(self) -> Graph:
        """Join hubs that touch, then every track from node to node, cut where something sits on it."""
        self._join_hubs()
        if not len(self.rows):
            return self.graph
        ends, hubs_of = self._end_nodes()
        first, last = ends[: len(self.rows)], ends[len(self.rows) :]
        cuts = self._cuts(ends, hubs_of)
        lengths = self.board.tracks.length_mm[self.rows].tolist()
        for k, row in enumerate(self.rows.tolist()):
            here = hubs_of.get(first[k], set()) | hubs_of.get(last[k], set()) | {first[k], last[k]}
            on_way = sorted(cut for cut in cuts.get(k, []) if cut[1] not in here)
            layer, width = int(self.layer[k]), float(self.width[k])
            inside = bool(hubs_of.get(first[k], set()) & hubs_of.get(last[k], set()))
            for (share, node), (next_share, next_node) in pairwise([(0.0, first[k]), *on_way, (1.0, last[k])]):
                if node != next_node:
                    length = (next_share - share) * lengths[k]
                    self.graph.join(Edge(node, next_node, layer, width, length, row, inside))
        return self.graph

    def _end_nodes(self) -> tuple[list[int], dict[int, set[int]]]:
        """Return the node of every start, then of every end; and node -> the hubs it lies on, which it is joined to."""
        points, layers = np.concatenate([self.start, self.end]), np.concatenate([self.layer, self.layer])
        places: dict[tuple[int, int, int], int] = {}
        nodes = [self._place(places, *at) for at in zip(points.tolist(), layers.tolist(), strict=True)]
        hubs_of: dict[int, set[int]] = {}
        if not len(self.hub_at):
            return nodes, hubs_of
        met, widths = np.bincount(nodes)[nodes], np.concatenate([self.width, self.width])
        few = max(1, CELLS // len(self.hub_at))
        for begin in range(0, len(points), few):
            some = slice(begin, begin + few)
            at, on = points[some][:, None], layers[some][:, None]
            on_hub = self._on_hubs(at, on)
            # an end that meets nothing still touches what its round cap reaches
            loose = (met[some] == 1) & ~on_hub.any(axis=1)
            on_hub |= self._on_hubs(at, on, np.where(loose, widths[some] / 2, 0.0)[:, None])
            for k, hub in np.argwhere(on_hub).tolist():
                if hub not in hubs_of.setdefault(nodes[begin + k], set()):
                    hubs_of[nodes[begin + k]].add(hub)
                    length = float(abs(at[k, 0] - self.hub_at[hub]))
                    self.graph.join(Edge(hub, nodes[begin + k], int(on[k, 0]), float(widths[begin + k]), length, None))
        return nodes, hubs_of

    def _place(self, places: dict[tuple[int, int, int], int], point: complex, layer: int) -> int:
        x, y = round(point.real / TOUCH_MM), round(point.imag / TOUCH_MM)
        for i, j in _AROUND:
            if (layer, x + i, y + j) in places:
                return places[layer, x + i, y + j]
        self.graph.nodes.append(Node(NodeKind.END, -1, point.real, point.imag))
        places[layer, x, y] = len(self.graph.nodes) - 1
        return places[layer, x, y]

    def _on_hubs(self, points: Points, layers: NDArray[np.int64], grown_mm: Floats = ZERO) -> NDArray[np.bool_]:
        """Tell on which hubs, grown by so much, points of layers lie; points are (points, 1) or (points, hubs)."""
        pads, vias, count = self.board.pads, self.board.vias, len(self.pads)
        width = points.shape[1]
        pad_points, via_points = (points, points) if width == 1 else (points[:, :count], points[:, count:])
        masks = pads.layers[self.pads]
        on_pad = self._in_pads(pad_points, grown_mm) & (((masks >> layers.astype(np.uint64)) & np.uint64(1)) != 0)
        reach = np.abs(self.via_at - via_points) <= vias.size_mm[self.vias] / 2 + TOUCH_MM + grown_mm
        spans = (vias.start_layer[self.vias] <= layers) & (layers <= vias.end_layer[self.vias])
        return np.concatenate([on_pad, reach & spans], axis=1)

    def _in_pads(self, points: Points, grown_mm: Floats = ZERO) -> NDArray[np.bool_]:
        """Tell in which pads points lie, points by pads; a custom shape counts as its anchor."""
        pads, rows = self.board.pads, self.pads
        # KiCad's angles turn counter-clockwise while y points down
        own = (points - self.pad_at) * np.exp(1j * np.radians(pads.rotation_deg[rows]))
        half_x, half_y = pads.size_x_mm[rows] / 2 + grown_mm, pads.size_y_mm[rows] / 2 + grown_mm
        in_box = (np.abs(own.real) <= half_x + TOUCH_MM) & (np.abs(own.imag) <= half_y + TOUCH_MM)
        radius = np.minimum(half_x, half_y)
        over_x = np.maximum(np.abs(own.real) - half_x + radius, 0)
        over_y = np.maximum(np.abs(own.imag) - half_y + radius, 0)
        shapes = pads.shape[rows]
        is_round = (shapes == "circle") | (shapes == "oval")
        return np.asarray(in_box & (~is_round | (np.hypot(over_x, over_y) <= radius + TOUCH_MM)))

    def _join_hubs(self) -> None:
        """Join vias in pads, vias upon vias, and the copper pads of one number, by contacts without length."""
        vias, count = self.board.vias, len(self.pads)
        top, bottom = vias.start_layer[self.vias].astype(np.int64), vias.end_layer[self.vias].astype(np.int64)
        masks = self.board.pads.layers[self.pads].tolist()
        for k, pad in np.argwhere(self._in_pads(self.via_at[:, None])).tolist():
            shared = [layer for layer in range(top[k], bottom[k] + 1) if masks[pad] >> layer & 1]
            if shared:
                self.graph.join(Edge(pad, count + k, shared[0], 0.0, 0.0, None))
        for one, other in self._split_pads():
            shared = [layer for layer in range(64) if masks[one] >> layer & masks[other] >> layer & 1]
            self.graph.join(Edge(one, other, shared[0] if shared else 0, 0.0, 0.0, None))
        apart = np.abs(self.via_at[:, None] - self.via_at)
        near = apart <= np.minimum.outer(vias.size_mm[self.vias], vias.size_mm[self.vias]) / 2
        near &= np.maximum.outer(top, top) <= np.minimum.outer(bottom, bottom)
        for one, other in np.argwhere(np.triu(near, 1)).tolist():
            self.graph.join(Edge(count + one, count + other, int(max(top[one], top[other])), 0.0, 0.0, None))

    def _split_pads(self) -> Iterator[tuple[int, int]]:
        """Yield copper pads of one part and number that are near enough to overlap, as parts of one pad do."""
        pads, rows = self.board.pads, self.pads
        reach = np.hypot(pads.size_x_mm[rows], pads.size_y_mm[rows]) / 2
        alike = (pads.footprint[rows][:, None] == pads.footprint[rows]) & (
            pads.number[rows][:, None] == pads.number[rows]
        )
        near = np.abs(self.pad_at[:, None] - self.pad_at) <= np.add.outer(reach, reach)
        yield from map(tuple, np.argwhere(np.triu(alike & near, 1)).tolist())

    def _cuts(self, ends: list[int], hubs_of: dict[int, set[int]]) -> dict[int, list[tuple[float, int]]]:
        """Return where ends, pads and vias sit on the run of a track: track -> (share of its length, node)."""
        hubs, met = len(self.hub_at), np.bincount(ends)
        layers = np.concatenate([self.layer, self.layer]).tolist()
        places = dict(sorted(zip(ends, layers, strict=True)))
        here = [self.graph.nodes[node] for node in places]
        at = np.array([complex(node.x_mm, node.y_mm) for node in here], dtype=np.complex128)
        on_layer = np.array(list(places.values()), dtype=np.int64)[:, None] == self.layer
        # where tracks meet already, the copper of a short neighbour is near without being a junction
        loose = np.array([met[node] == 1 and node not in hubs_of for node in places], dtype=bool)[:, None]
        width_at = dict(zip(ends, np.concatenate([self.width, self.width]).tolist(), strict=True))
        caps = np.array([width_at[node] / 2 for node in places])[:, None]
        nodes = [*places, *range(hubs)]
        cuts: dict[int, list[tuple[float, int]]] = {}
        for rows, chords in self._shapes(len(nodes)):
            share, nearest = _nearest(np.concatenate([at, self.hub_at]), chords)
            off = np.abs(nearest[: len(at)] - at[:, None])
            hit = on_layer[:, rows] & (off <= np.where(loose, self.width[rows] / 2 + caps, TOUCH_MM))
            if hubs:
                on_hub = self._on_hubs(nearest[len(at) :].T, self.layer[rows][:, None])
                hit = np.concatenate([hit, on_hub.T])
            for node, k in np.argwhere(hit).tolist():
                cuts.setdefault(int(rows[k]), []).append((float(share[node, k]), nodes[node]))
        return cuts

    def _shapes(self, points: int) -> Iterator[tuple[NDArray[np.int64], Points]]:
        """Yield tracks with their corners, shape (tracks, chords + 1), so many at a time as the points allow."""
        is_arc = ~np.isnan(self.middle.real)
        for some, chords in ((np.nonzero(~is_arc)[0], 1), (np.nonzero(is_arc)[0], ARC_CHORDS)):
            share = np.linspace(0, 1, chords + 1)
            few = max(1, CELLS // (chords * points))
            for first in range(0, len(some), few):
                rows = some[first : first + few]
                yield rows, along_tracks(self.start[rows], self.middle[rows], self.end[rows], share)


def _nearest(points: Points, corner: Points) -> tuple[Floats, Points]:
    """Return the nearest place on each track to each point: share of its length, and where; shape (points, tracks)."""
    step = corner[:, 1:] - corner[:, :-1]
    square = np.maximum(np.abs(step) ** 2, TOUCH_MM**4)
    share = np.clip(((points[:, None, None] - corner[:, :-1]) * step.conj()).real / square, 0.0, 1.0)
    where = corner[:, :-1] + share * step
    chord = np.argmin(np.abs(where - points[:, None, None]), axis=2)[..., None]
    whole = (chord + np.take_along_axis(share, chord, 2)) / step.shape[1]
    return whole[..., 0], np.take_along_axis(where, chord, 2)[..., 0]


def along_tracks(start: Points, middle: Points, end: Points, share: Floats) -> Points:
    """Return points at shares of the way along tracks; arcs are those with a middle. Shape (tracks, shares)."""
    points = start[:, None] + (end - start)[:, None] * share
    arcs = np.nonzero(~np.isnan(middle.real))[0]
    for k in arcs.tolist():
        centre = _centre(complex(start[k]), complex(middle[k]), complex(end[k]))
        if centre is not None:
            half = np.angle((middle[k] - centre) / (start[k] - centre))
            rest = np.angle((end[k] - centre) / (middle[k] - centre))
            points[k] = centre + (start[k] - centre) * np.exp(1j * (half + rest) * share)
    return np.asarray(points, dtype=np.complex128)


def _centre(a: complex, b: complex, c: complex) -> complex | None:
    """Return the centre of the circle through three points; None where they lie in a line."""
    u, v = b - a, c - a
    cross = (u.conjugate() * v).imag
    if abs(cross) < TOUCH_MM**3:
        return None
    return a + 1j * (u * abs(v) ** 2 - v * abs(u) ** 2) / (2 * cross)
