"""What touches what on a net: its pads, vias, tracks and arcs, joined to a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.flat_pairs import Runs, pairs
from stackup_lib.nets.routing.net_items import ARC_CHORDS, NetItems
from stackup_lib.nets.routing.route_graph import Edge, Graph, Node, NodeKind
from stackup_lib.nets.routing.track_crossings import crossings
from stackup_lib.nets.routing.track_points import TOUCH_MM, Bools, Points, in_boxes

HALVINGS = 16
"""The edge of a pad is found on a track to a 65536th of the track's length."""

_AROUND = ((0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


def graph_of(board: Board, net: int) -> Graph:
    """Return the graph of a net's tracks, arcs, vias and pads; fills are left out."""
    return graphs_of(board, [net])[0]


def graphs_of(board: Board, nets: Sequence[int]) -> list[Graph]:
    """Return the graphs of some nets, each of them once; many at a time take a third of the time."""
    return _Builder(board, nets).build()


class _Builder:
    """Finds out what touches what. Nodes are numbered net by net: hubs first."""

    def __init__(self, board: Board, nets: Sequence[int]) -> None:
        self.items = items = NetItems(board, nets)
        self.entries: list[tuple[int, float, int, complex, float]] = []  # track, share, hub, place, way to its middle
        self.outside: dict[int, tuple[float, float]] = {}  # track -> shares between which it is off such pads and vias
        lengths = np.bincount(board.tracks.net + 1, weights=board.tracks.length_mm, minlength=len(board.nets) + 1)[1:]
        self.graphs = [Graph(nodes=[], length_mm=float(lengths[net])) for net in nets]
        hubs = zip(items.of_hub.tolist(), items.hub.tolist(), items.hub_at.tolist(), strict=True)
        rows = [*items.pads.tolist(), *items.vias.tolist()]
        for net, hub, at in hubs:
            kind = NodeKind.PAD if hub < len(items.pads) else NodeKind.VIA
            self.graphs[net].nodes.append(Node(kind, rows[hub], at.real, at.imag))
        for graph in self.graphs:
            graph.pads = [k for k, node in enumerate(graph.nodes) if node.kind is NodeKind.PAD]

    def build(self) -> list[Graph]:
        """Join hubs that touch, then every track from node to node, cut where something sits on it."""
        self._join_hubs()
        first, last, hubs_at = self._end_nodes()
        cuts = self._cuts(first, last, hubs_at)
        self._cut_where_tracks_cross(first, last, cuts)
        self._enter_hubs(cuts)
        lengths, nothing = self.items.board.tracks.length_mm[self.items.rows].tolist(), set[int]()
        columns = zip(
            self.items.of_track.tolist(),
            self.items.rows.tolist(),
            self.items.layer.tolist(),
            self.items.width.tolist(),
            strict=True,
        )
        for k, (net, row, layer, width) in enumerate(columns):
            graph, start, end = self.graphs[net], first[k], last[k]
            one, other = hubs_at.get((net, start), nothing), hubs_at.get((net, end), nothing)
            inside = not one.isdisjoint(other)
            if k not in cuts:
                if start != end:
                    graph.join(Edge(start, end, layer, width, lengths[k], row, inside))
                continue
            on_way = sorted(cut for cut in cuts[k] if cut[1] not in one and cut[1] not in other)
            begin, stop = self.outside.get(k, (0.0, 1.0))
            for (share, node), (next_share, next_node) in pairwise(((0.0, start), *on_way, (1.0, end))):
                if node != next_node:
                    length, within = (next_share - share) * lengths[k], next_share <= begin or share >= stop
                    graph.join(Edge(node, next_node, layer, width, length, row, inside or within))
        return self.graphs

    def _end_nodes(self) -> tuple[list[int], list[int], dict[tuple[int, int], set[int]]]:
        """Return the node of every start and of every end; and (net, node) -> the hubs it is on and is joined to."""
        points, layers = (
            np.concatenate([self.items.start, self.items.end]),
            np.concatenate([self.items.layer, self.items.layer]),
        )
        of, widths = (
            np.concatenate([self.items.of_track, self.items.of_track]),
            np.concatenate([self.items.width, self.items.width]),
        )
        at = self._places(points, of * self.items.board.layer_count + layers, of)
        keys, nodes = self._keys(of, at), at.tolist()
        _, place, met = np.unique(keys, return_inverse=True, return_counts=True)
        alone = met[place] == 1
        hits = self.items.ends_on_hubs(points, layers, of, np.zeros(len(points)), np.arange(len(points)))
        # an end that meets nothing still touches what its round cap reaches
        loose = np.flatnonzero(alone & (np.bincount([end for end, _ in hits], minlength=len(points)) == 0))
        hits += self.items.ends_on_hubs(points, layers, of, widths / 2, loose)
        hubs_at: dict[tuple[int, int], set[int]] = {}
        joins: dict[tuple[int, int, int], tuple[int, float]] = {}
        hits = sorted(hits)
        for (k, hub), length in zip(hits, self._ways_to_hubs(points, layers, hits), strict=True):
            net, own = int(of[k]), hub - int(self.items.hubs_of.first[of[k]])
            hubs_at.setdefault((net, nodes[k]), set()).add(own)
            first, shortest = joins.get((net, nodes[k], own), (k, length))
            joins[net, nodes[k], own] = first, min(shortest, length)
        for (net, node, own), (k, length) in joins.items():
            self.graphs[net].join(Edge(own, node, int(layers[k]), float(widths[k]), length, None))
        return nodes[: len(self.items.rows)], nodes[len(self.items.rows) :], hubs_at

    def _ways_to_hubs(self, points: Points, layers: Ints, hits: list[tuple[int, int]]) -> list[float]:
        """Return how much longer the way to the middle of a hub is than the track that ends on it, for each hit.

        Current goes straight from where the track comes onto the hub's copper, not first along the track to its end.
        """
        if not hits:
            return []
        end, hub = np.array(hits, dtype=np.int64).T
        middle = self.items.hub_at[hub]
        way = np.abs(points[end] - middle)
        far = np.concatenate([self.items.end, self.items.start])[end]  # the other end of the same track
        is_arc = np.tile(~np.isnan(self.items.middle.real), 2)[end]
        some = np.flatnonzero((way > TOUCH_MM) & ~is_arc & self.items.on_hubs(points[end], layers[end], hub))
        some = some[~self.items.on_hubs(far[some], layers[end[some]], hub[some])]
        inside, outside = points[end[some]].copy(), far[some].copy()
        for _ in range(HALVINGS):
            between = (inside + outside) / 2
            on = self.items.on_hubs(between, layers[end[some]], hub[some])
            inside, outside = np.where(on, between, inside), np.where(on, outside, between)
        over_hub, straight = np.abs(inside - points[end[some]]), np.abs(inside - middle[some])
        passes = over_hub > straight + TOUCH_MM
        self._enter_before_ends(end[some[passes]], hub[some[passes]], inside[passes], straight[passes])
        way[some] = np.where(passes, way[some], np.minimum(np.maximum(straight - over_hub, 0.0), way[some]))
        return [float(length) for length in way]

    def _enter_before_ends(self, end: Ints, hub: Ints, at: Points, way: Floats) -> None:
        """Keep where tracks come onto pads and vias whose middle they run past; from there current goes to it."""
        count = len(self.items.rows)
        track = end % count
        share = np.abs(at - self.items.start[track]) / np.abs(self.items.end[track] - self.items.start[track])
        own = hub - self.items.hubs_of.first[self.items.of_hub[hub]]
        columns = (end, track, own, share, at, way)
        for which, k, node, part, place, length in zip(*(column.tolist() for column in columns), strict=True):
            self.entries.append((k, part, node, place, length))
            begin, stop = self.outside.get(k, (0.0, 1.0))
            self.outside[k] = (max(begin, part), stop) if which < count else (begin, min(stop, part))

    def _enter_hubs(self, cuts: dict[int, list[tuple[float, int]]]) -> None:
        """Cut tracks where they come onto a pad or via that they run past the middle of, and join it there."""
        for k, share, hub, at, way in self.entries:
            graph = self.graphs[int(self.items.of_track[k])]
            graph.nodes.append(Node(NodeKind.END, -1, at.real, at.imag))
            node = len(graph.nodes) - 1
            graph.join(Edge(hub, node, int(self.items.layer[k]), float(self.items.width[k]), way, None))
            cuts.setdefault(k, []).append((share, node))

    @property
    def _most_nodes(self) -> int:
        return max(len(graph.nodes) for graph in self.graphs) if self.graphs else 1

    def _keys(self, net: Ints, node: Ints) -> Ints:
        """Return one number for each node of each net."""
        return net * self._most_nodes + node

    def _places(self, points: Points, layer: Ints, of: Ints) -> Ints:
        """Return the node of each end: ends in one cell or in cells next to each other on a layer of a net are one.

        Args:
            points: of the ends.
            layer: of each, counted through the layers of all nets.
            of: the net of each.
        """
        x, y = (np.rint(values / TOUCH_MM).astype(np.int64) for values in (points.real, points.imag))
        first, cell, crowded = _cells(layer, x, y)
        node_of = np.empty(len(first), dtype=np.int64)
        placed: dict[tuple[int, int, int], int] = {}
        order = np.argsort(first)
        rows = first[order]
        ends = zip(order.tolist(), of[rows].tolist(), points[rows].tolist(), crowded[order].tolist(), strict=True)
        for own, net, point, is_crowded in ends:
            nodes = self.graphs[net].nodes
            if is_crowded:
                on, i, j = (int(values[first[own]]) for values in (layer, x, y))
                near = ((on, i + di, j + dj) for di, dj in _AROUND)
                node = next((placed[other] for other in near if other in placed), len(nodes))
                if node < len(nodes):
                    node_of[own] = node
                    continue
                placed[on, i, j] = node
            node_of[own] = len(nodes)
            nodes.append(Node(NodeKind.END, -1, point.real, point.imag))
        return node_of[cell]

    def _join_hubs(self) -> None:
        """Join vias on pads and vias upon vias from middle to middle, the copper pads of one number without length."""
        of_via, of_pad, sizes = (
            self.items.vias_of.owner,
            self.items.pads_of.owner,
            self.items.board.vias.size_mm[self.items.vias],
        )
        masks, narrow = self.items.board.pads.layers[self.items.pads].tolist(), self.items.narrow_pads()

        def overlap(via: Ints, pad: Ints) -> Bools:
            return self.items.in_pads(self.items.via_at[via], pad, sizes[via] / 2)

        for via, pad in self._hits(of_via, self.items.pads_of, overlap):
            shared = [
                layer for layer in range(self.items.top[via], self.items.bottom[via] + 1) if masks[pad] >> layer & 1
            ]
            if shared:
                self._touch(
                    int(of_via[via]), self.items.pad_node(pad), self.items.via_node(via), shared[0], float(narrow[pad])
                )
        for one, other in self._hits(of_pad, self.items.pads_of, self.items.are_split):
            shared = [layer for layer in range(64) if masks[one] >> layer & masks[other] >> layer & 1]
            self._touch(
                int(of_pad[one]), self.items.pad_node(one), self.items.pad_node(other), shared[0] if shared else 0
            )

        def stacked(one: Ints, other: Ints) -> Bools:
            near = np.abs(self.items.via_at[one] - self.items.via_at[other]) <= np.minimum(sizes[one], sizes[other]) / 2
            meet = np.maximum(self.items.top[one], self.items.top[other]) <= np.minimum(
                self.items.bottom[one], self.items.bottom[other]
            )
            return np.asarray((one < other) & near & meet)

        for one, other in self._hits(of_via, self.items.vias_of, stacked):
            layer = int(max(self.items.top[one], self.items.top[other]))
            self._touch(
                int(of_via[one]), self.items.via_node(one), self.items.via_node(other), layer, float(sizes[one])
            )

    def _touch(self, net: int, one: int, other: int, layer: int, width_mm: float = 0.0) -> None:
        """Join two nodes: straight through copper of some width, or without length where none is given."""
        graph = self.graphs[net]
        first, second = graph.nodes[one], graph.nodes[other]
        way = math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm) if width_mm else 0.0
        graph.join(Edge(one, other, layer, width_mm, way, None))

    @staticmethod
    def _hits(of: Ints, others: Runs, test: Callable[[Ints, Ints], Bools]) -> Iterator[tuple[int, int]]:
        for one, other in pairs(of, others):
            on = np.flatnonzero(test(one, other))
            yield from zip(one[on].tolist(), other[on].tolist(), strict=True)

    def _cuts(
        self, first: list[int], last: list[int], hubs_at: dict[tuple[int, int], set[int]]
    ) -> dict[int, list[tuple[float, int]]]:
        """Return where ends, pads and vias sit on the run of a track: track -> (share of its length, node)."""
        begins, stops = np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)
        keys = self._keys(np.tile(self.items.of_track, 2), np.concatenate([begins, stops]))
        places, earliest, place, met = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        of_place, node = np.divmod(places, self._most_nodes)
        point, on = np.concatenate([self.items.start, self.items.end])[earliest], np.tile(self.items.layer, 2)[earliest]
        # where tracks meet already, the copper of a short neighbour is near without being a junction
        at_hub = np.array(list(hubs_at), dtype=np.int64).reshape(-1, 2)
        loose = (met == 1) & ~np.isin(places, self._keys(at_hub[:, 0], at_hub[:, 1]))
        caps = np.empty(len(places))
        caps[place] = np.tile(self.items.width / 2, 2)
        cuts: dict[int, list[tuple[float, int]]] = {}
        boxes, reach = self.items.boxes(), self.items.hub_reach()
        left, right, x = boxes[:, 0].copy(), boxes[:, 1].copy(), point.real.copy()
        by_layer, layers = self.items.tracks_by_layer()
        most = np.where(loose, self.items.width.max(initial=0.0) / 2 + caps, TOUCH_MM)
        for anywhere, others in pairs(of_place * self.items.board.layer_count + on, layers):
            track, far = by_layer[others], most[anywhere]
            across = (x[anywhere] >= left[track] - far) & (x[anywhere] <= right[track] + far)
            some, track = anywhere[across], track[across]
            limit = np.where(loose[some], self.items.width[track] / 2 + caps[some], TOUCH_MM)
            near = in_boxes(point[some], limit, boxes[track])
            near &= (node[some] != begins[track]) & (node[some] != stops[track])
            some, track, limit = some[near], track[near], limit[near]
            share, nearest = self.items.nearest(point[some], track)
            for k in np.flatnonzero(np.abs(nearest - point[some]) <= limit).tolist():
                cuts.setdefault(int(track[k]), []).append((float(share[k]), int(node[some[k]])))
        for anywhere, others in pairs(self.items.of_hub, self.items.tracks_of):
            near = in_boxes(self.items.hub_at[anywhere], reach[anywhere], boxes[others])
            hub, track = anywhere[near], others[near]
            share, nearest = self.items.nearest(self.items.hub_at[hub], track)
            for k in np.flatnonzero(self.items.on_hubs(nearest, self.items.layer[track], hub)).tolist():
                own = int(hub[k] - self.items.hubs_of.first[self.items.of_hub[hub[k]]])
                cuts.setdefault(int(track[k]), []).append((float(share[k]), own))
        return cuts

    def _cut_where_tracks_cross(
        self, first: list[int], last: list[int], cuts: dict[int, list[tuple[float, int]]]
    ) -> None:
        """Add the places where tracks cross in mid-run; where a pad or via is, that joins them."""
        begins, stops = np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)
        left, right, low, high = self.items.boxes().T.copy()
        is_arc, (by_layer, layers) = ~np.isnan(self.items.middle.real), self.items.tracks_by_layer()
        for tracks, others in pairs(self.items.of_track * self.items.board.layer_count + self.items.layer, layers):
            meet = np.flatnonzero(tracks < by_layer[others])
            one, other = tracks[meet], by_layer[others[meet]]
            near = (left[one] <= right[other]) & (left[other] <= right[one])
            one, other = one[near], other[near]
            near = (low[one] <= high[other]) & (low[other] <= high[one])
            for node, other_node in ((begins, begins), (begins, stops), (stops, begins), (stops, stops)):
                near &= node[one] != other_node[other]
            one, other = one[near], other[near]
            curved = is_arc[one] | is_arc[other]
            for chords, some in ((1, np.flatnonzero(~curved)), (ARC_CHORDS, np.flatnonzero(curved))):
                self._cut_crossing(one[some], other[some], chords, cuts)

    def _cut_crossing(self, one: Ints, other: Ints, chords: int, cuts: dict[int, list[tuple[float, int]]]) -> None:
        """Cut the two tracks of each row where they cross, as that many chords."""
        if not len(one):
            return
        met = crossings(self.items.corners(one, chords), self.items.corners(other, chords))
        of, layer, every = self.items.of_track[one][met.row], self.items.layer[one][met.row], np.arange(len(met.row))
        joined = {k for k, _ in self.items.ends_on_hubs(met.place, layer, of, np.zeros(len(every)), every)}
        for k in every.tolist():
            if k in joined:
                continue
            nodes, place = self.graphs[int(of[k])].nodes, complex(met.place[k])
            nodes.append(Node(NodeKind.END, -1, place.real, place.imag))
            for track, share in ((one, met.first_share), (other, met.second_share)):
                cuts.setdefault(int(track[met.row[k]]), []).append((float(share[k]), len(nodes) - 1))


def _cells(layer: Ints, x: Ints, y: Ints) -> tuple[Ints, Ints, Bools]:
    """Return for each cell, on a layer, its first end and whether another is next to it; and the cell of each end."""
    if not len(x):
        return layer, layer, np.zeros(0, dtype=np.bool_)
    wide, high = int(np.ptp(x)) + 3, int(np.ptp(y)) + 3
    if (int(layer.max()) + 1) * wide * high > np.iinfo(np.int64).max:  # too far apart for numbers of cells
        return np.arange(len(x)), np.arange(len(x)), np.ones(len(x), dtype=np.bool_)
    code = (layer * wide + x - x.min() + 1) * high + y - y.min() + 1
    known, first, cell = np.unique(code, return_index=True, return_inverse=True)
    after = np.append(known, np.iinfo(np.int64).max)
    crowded = np.zeros(len(known), dtype=np.bool_)
    for column in (-high, high):
        crowded |= after[np.searchsorted(known, known + column - 1)] <= known + column + 1
    touching = np.diff(known) == 1
    crowded[1:] |= touching
    crowded[:-1] |= touching
    return first, cell, crowded
