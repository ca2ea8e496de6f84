"""What touches what on a net: its pads, vias, tracks and arcs, joined to a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.flat_pairs import Runs, pairs, runs
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.nets.route_graph import Edge, Graph, Node, NodeKind
from stackup_lib.nets.track_crossings import crossings
from stackup_lib.nets.track_points import TOUCH_MM, Bools, Points, along_tracks, in_boxes, in_range, nearest_places

HALVINGS = 16
"""The edge of a pad is found on a track to a 65536th of the track's length."""

ARC_CHORDS = 16
"""An arc is tried for contact as this many chords; its radius must be off by less than the width."""

_AROUND = ((0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


def graph_of(board: Board, net: int) -> Graph:
    """Return the graph of a net's tracks, arcs, vias and pads; fills are left out."""
    return graphs_of(board, [net])[0]


def graphs_of(board: Board, nets: Sequence[int]) -> list[Graph]:
    """Return the graphs of some nets, each of them once; many at a time take a third of the time."""
    return _Builder(board, nets).build()


class _Builder:
    """Finds out what touches what. Points are complex numbers x + iy in mm; hubs are pads, then vias.

    Pads, vias, hubs, tracks and ends of all nets stand in flat columns, those of a net in one run; nodes are numbered
    net by net: hubs first.
    """

    def __init__(self, board: Board, nets: Sequence[int]) -> None:
        self.board, self.count = board, len(nets)
        tracks, vias, pads = board.tracks, board.vias, board.pads
        rank = np.full(len(board.nets) + 1, -1)  # the last one stands for items without a net
        rank[list(nets)] = np.arange(len(nets))
        self.rows, self.of_track = _of_nets(rank, tracks.net, tracks.layer >= 0)
        self.vias, of_via = _of_nets(rank, vias.net, np.ones(len(vias.net), dtype=np.bool_))
        self.pads, of_pad = _of_nets(rank, pads.net, pads.kind != PadKind.NON_PLATED)
        self.tracks_of, self.vias_of, self.pads_of = (runs(of, self.count) for of in (self.of_track, of_via, of_pad))
        self.start = tracks.start_x_mm[self.rows] + 1j * tracks.start_y_mm[self.rows]
        self.end = tracks.end_x_mm[self.rows] + 1j * tracks.end_y_mm[self.rows]
        self.middle = tracks.mid_x_mm[self.rows] + 1j * tracks.mid_y_mm[self.rows]
        self.layer = tracks.layer[self.rows].astype(np.int64)
        self.width = tracks.width_mm[self.rows]
        self.via_at = vias.x_mm[self.vias] + 1j * vias.y_mm[self.vias]
        self.pad_at = pads.x_mm[self.pads] + 1j * pads.y_mm[self.pads]
        self.top = vias.start_layer[self.vias].astype(np.int64)
        self.bottom = vias.end_layer[self.vias].astype(np.int64)
        of_hub = np.concatenate([of_pad, of_via])
        order = np.argsort(of_hub, kind="stable")
        self.hubs_of = runs(of_hub[order], self.count)
        self.hub_at = np.concatenate([self.pad_at, self.via_at])[order]
        self.hub = order  # below the number of pads a pad, else a via
        self.of_hub = of_hub[order]
        self.entries: list[tuple[int, float, int, complex, float]] = []  # track, share, hub, place, way to its middle
        self.outside: dict[int, tuple[float, float]] = {}  # track -> shares between which it is off such pads and vias
        lengths = np.bincount(tracks.net + 1, weights=tracks.length_mm, minlength=len(board.nets) + 1)[1:]
        self.graphs = [Graph(nodes=[], length_mm=float(lengths[net])) for net in nets]
        hubs = zip(self.of_hub.tolist(), self.hub.tolist(), self.hub_at.tolist(), strict=True)
        rows = [*self.pads.tolist(), *self.vias.tolist()]
        for net, hub, at in hubs:
            kind = NodeKind.PAD if hub < len(self.pads) else NodeKind.VIA
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
        lengths, nothing = self.board.tracks.length_mm[self.rows].tolist(), set[int]()
        columns = zip(self.of_track.tolist(), self.rows.tolist(), self.layer.tolist(), self.width.tolist(), strict=True)
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
        points, layers = np.concatenate([self.start, self.end]), np.concatenate([self.layer, self.layer])
        of, widths = np.concatenate([self.of_track, self.of_track]), np.concatenate([self.width, self.width])
        at = self._places(points, of * self.board.layer_count + layers, of)
        keys, nodes = self._keys(of, at), at.tolist()
        _, place, met = np.unique(keys, return_inverse=True, return_counts=True)
        alone = met[place] == 1
        hits = self._ends_on_hubs(points, layers, of, np.zeros(len(points)), np.arange(len(points)))
        # an end that meets nothing still touches what its round cap reaches
        loose = np.flatnonzero(alone & (np.bincount([end for end, _ in hits], minlength=len(points)) == 0))
        hits += self._ends_on_hubs(points, layers, of, widths / 2, loose)
        hubs_at: dict[tuple[int, int], set[int]] = {}
        joins: dict[tuple[int, int, int], tuple[int, float]] = {}
        hits = sorted(hits)
        for (k, hub), length in zip(hits, self._ways_to_hubs(points, layers, hits), strict=True):
            net, own = int(of[k]), hub - int(self.hubs_of.first[of[k]])
            hubs_at.setdefault((net, nodes[k]), set()).add(own)
            first, shortest = joins.get((net, nodes[k], own), (k, length))
            joins[net, nodes[k], own] = first, min(shortest, length)
        for (net, node, own), (k, length) in joins.items():
            self.graphs[net].join(Edge(own, node, int(layers[k]), float(widths[k]), length, None))
        return nodes[: len(self.rows)], nodes[len(self.rows) :], hubs_at

    def _ways_to_hubs(self, points: Points, layers: Ints, hits: list[tuple[int, int]]) -> list[float]:
        """Return how much longer the way to the middle of a hub is than the track that ends on it, for each hit.

        Current goes straight from where the track comes onto the hub's copper, not first along the track to its end.
        """
        if not hits:
            return []
        end, hub = np.array(hits, dtype=np.int64).T
        middle = self.hub_at[hub]
        way = np.abs(points[end] - middle)
        far = np.concatenate([self.end, self.start])[end]  # the other end of the same track
        is_arc = np.tile(~np.isnan(self.middle.real), 2)[end]
        some = np.flatnonzero((way > TOUCH_MM) & ~is_arc & self._on_hubs(points[end], layers[end], hub))
        some = some[~self._on_hubs(far[some], layers[end[some]], hub[some])]
        inside, outside = points[end[some]].copy(), far[some].copy()
        for _ in range(HALVINGS):
            between = (inside + outside) / 2
            on = self._on_hubs(between, layers[end[some]], hub[some])
            inside, outside = np.where(on, between, inside), np.where(on, outside, between)
        over_hub, straight = np.abs(inside - points[end[some]]), np.abs(inside - middle[some])
        passes = over_hub > straight + TOUCH_MM
        self._enter_before_ends(end[some[passes]], hub[some[passes]], inside[passes], straight[passes])
        way[some] = np.where(passes, way[some], np.minimum(np.maximum(straight - over_hub, 0.0), way[some]))
        return [float(length) for length in way]

    def _enter_before_ends(self, end: Ints, hub: Ints, at: Points, way: Floats) -> None:
        """Keep where tracks come onto pads and vias whose middle they run past; from there current goes to it."""
        count = len(self.rows)
        track = end % count
        share = np.abs(at - self.start[track]) / np.abs(self.end[track] - self.start[track])
        own = hub - self.hubs_of.first[self.of_hub[hub]]
        columns = (end, track, own, share, at, way)
        for which, k, node, part, place, length in zip(*(column.tolist() for column in columns), strict=True):
            self.entries.append((k, part, node, place, length))
            begin, stop = self.outside.get(k, (0.0, 1.0))
            self.outside[k] = (max(begin, part), stop) if which < count else (begin, min(stop, part))

    def _enter_hubs(self, cuts: dict[int, list[tuple[float, int]]]) -> None:
        """Cut tracks where they come onto a pad or via that they run past the middle of, and join it there."""
        for k, share, hub, at, way in self.entries:
            graph = self.graphs[int(self.of_track[k])]
            graph.nodes.append(Node(NodeKind.END, -1, at.real, at.imag))
            node = len(graph.nodes) - 1
            graph.join(Edge(hub, node, int(self.layer[k]), float(self.width[k]), way, None))
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

    def _ends_on_hubs(
        self, points: Points, layers: Ints, of: Ints, grown_mm: Floats, some: Ints
    ) -> list[tuple[int, int]]:
        """Return (end, hub) of some ends that lie on hubs, grown by so much."""
        hits: list[tuple[int, int]] = []
        for k, hub in pairs(of[some], self.hubs_of):
            end = some[k]
            on = np.flatnonzero(self._on_hubs(points[end], layers[end], hub, grown_mm[end]))
            hits += zip(end[on].tolist(), hub[on].tolist(), strict=True)
        return hits

    def _on_hubs(self, points: Points, layers: Ints, hub: Ints, grown_mm: Floats | float = 0.0) -> Bools:
        """Tell which points, each on a layer, lie on the hub in the same row, grown by `grown_mm`."""
        vias, grown = self.board.vias, np.broadcast_to(np.asarray(grown_mm, dtype=np.float64), points.shape)
        which, found = self.hub[hub], np.zeros(len(points), dtype=np.bool_)
        masks = self.board.pads.layers[self.pads]
        at_pad = np.flatnonzero(which < len(self.pads))
        at_pad = at_pad[holds_layer(masks[which[at_pad]], layers[at_pad])]
        found[at_pad] = self._in_pads(points[at_pad], which[at_pad], grown[at_pad])
        at_via = np.flatnonzero(which >= len(self.pads))
        via = which[at_via] - len(self.pads)
        spans = (self.top[via] <= layers[at_via]) & (layers[at_via] <= self.bottom[via])
        reach = vias.size_mm[self.vias[via]] / 2 + TOUCH_MM + grown[at_via]
        found[at_via] = spans & (np.abs(self.via_at[via] - points[at_via]) <= reach)
        return found

    def _in_pads(self, points: Points, pad: Ints, grown_mm: Floats | float = 0.0) -> Bools:
        """Tell which points lie in the pad in the same row; a custom shape counts as its anchor."""
        pads, rows = self.board.pads, self.pads[pad]
        # KiCad's angles turn counter-clockwise while y points down
        own = (points - self.pad_at[pad]) * np.exp(1j * np.radians(pads.rotation_deg[rows]))
        own -= pads.shift_x_mm[rows] + 1j * pads.shift_y_mm[rows]
        half_x, half_y, shapes = pads.size_x_mm[rows] / 2, pads.size_y_mm[rows] / 2, pads.shape[rows]
        is_round = (shapes == "circle") | (shapes == "oval")
        radius = np.where(is_round, np.minimum(half_x, half_y), 0.0)
        over_x = np.maximum(np.abs(own.real) - half_x + radius, 0)
        over_y = np.maximum(np.abs(own.imag) - half_y + radius, 0)
        return np.asarray(np.hypot(over_x, over_y) <= radius + grown_mm + TOUCH_MM)

    def _join_hubs(self) -> None:
        """Join vias on pads and vias upon vias from middle to middle, the copper pads of one number without length."""
        of_via, of_pad, sizes = self.vias_of.owner, self.pads_of.owner, self.board.vias.size_mm[self.vias]
        masks, narrow = self.board.pads.layers[self.pads].tolist(), self._narrow_pads()

        def overlap(via: Ints, pad: Ints) -> Bools:
            return self._in_pads(self.via_at[via], pad, sizes[via] / 2)

        for via, pad in self._hits(of_via, self.pads_of, overlap):
            shared = [layer for layer in range(self.top[via], self.bottom[via] + 1) if masks[pad] >> layer & 1]
            if shared:
                self._touch(int(of_via[via]), self._pad_node(pad), self._via_node(via), shared[0], float(narrow[pad]))
        for one, other in self._hits(of_pad, self.pads_of, self._are_split):
            shared = [layer for layer in range(64) if masks[one] >> layer & masks[other] >> layer & 1]
            self._touch(int(of_pad[one]), self._pad_node(one), self._pad_node(other), shared[0] if shared else 0)

        def stacked(one: Ints, other: Ints) -> Bools:
            near = np.abs(self.via_at[one] - self.via_at[other]) <= np.minimum(sizes[one], sizes[other]) / 2
            meet = np.maximum(self.top[one], self.top[other]) <= np.minimum(self.bottom[one], self.bottom[other])
            return np.asarray((one < other) & near & meet)

        for one, other in self._hits(of_via, self.vias_of, stacked):
            layer = int(max(self.top[one], self.top[other]))
            self._touch(int(of_via[one]), self._via_node(one), self._via_node(other), layer, float(sizes[one]))

    def _touch(self, net: int, one: int, other: int, layer: int, width_mm: float = 0.0) -> None:
        """Join two nodes: straight through copper of some width, or without length where none is given."""
        graph = self.graphs[net]
        first, second = graph.nodes[one], graph.nodes[other]
        way = math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm) if width_mm else 0.0
        graph.join(Edge(one, other, layer, width_mm, way, None))

    def _narrow_pads(self) -> Floats:
        """Return the shorter side of each pad."""
        pads = self.board.pads
        return np.asarray(np.fmin(pads.size_x_mm, pads.size_y_mm)[self.pads], dtype=np.float64)

    def _pad_node(self, pad: int) -> int:
        return pad - int(self.pads_of.first[self.pads_of.owner[pad]])

    def _via_node(self, via: int) -> int:
        net = self.vias_of.owner[via]
        return via - int(self.vias_of.first[net]) + int(self.pads_of.first[net + 1] - self.pads_of.first[net])

    @staticmethod
    def _hits(of: Ints, others: Runs, test: Callable[[Ints, Ints], Bools]) -> Iterator[tuple[int, int]]:
        for one, other in pairs(of, others):
            on = np.flatnonzero(test(one, other))
            yield from zip(one[on].tolist(), other[on].tolist(), strict=True)

    def _are_split(self, one: Ints, other: Ints) -> Bools:
        """Tell which two pads are of one part and number and near enough to overlap, as parts of one pad do."""
        pads, first, second = self.board.pads, self.pads[one], self.pads[other]
        found = (one < other) & (pads.footprint[first] == pads.footprint[second])
        some = np.flatnonzero(found)
        first, second = first[some], second[some]
        reach = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2
        near = np.abs(self.pad_at[one[some]] - self.pad_at[other[some]]) <= reach[first] + reach[second]
        found[some] = (pads.number[first] == pads.number[second]) & near
        return np.asarray(found)

    def _cuts(
        self, first: list[int], last: list[int], hubs_at: dict[tuple[int, int], set[int]]
    ) -> dict[int, list[tuple[float, int]]]:
        """Return where ends, pads and vias sit on the run of a track: track -> (share of its length, node)."""
        begins, stops = np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)
        keys = self._keys(np.tile(self.of_track, 2), np.concatenate([begins, stops]))
        places, earliest, place, met = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        of_place, node = np.divmod(places, self._most_nodes)
        point, on = np.concatenate([self.start, self.end])[earliest], np.tile(self.layer, 2)[earliest]
        # where tracks meet already, the copper of a short neighbour is near without being a junction
        at_hub = np.array(list(hubs_at), dtype=np.int64).reshape(-1, 2)
        loose = (met == 1) & ~np.isin(places, self._keys(at_hub[:, 0], at_hub[:, 1]))
        caps = np.empty(len(places))
        caps[place] = np.tile(self.width / 2, 2)
        cuts: dict[int, list[tuple[float, int]]] = {}
        boxes, reach = self._boxes(), self._hub_reach()
        by_layer, layers = self._tracks_by_layer()
        most = np.where(loose, self.width.max(initial=0.0) / 2 + caps, TOUCH_MM)
        for anywhere, others in pairs(of_place * self.board.layer_count + on, layers):
            across = in_range(point.real[anywhere], most[anywhere], boxes[by_layer[others], :2])
            some, track = anywhere[across], by_layer[others[across]]
            limit = np.where(loose[some], self.width[track] / 2 + caps[some], TOUCH_MM)
            near = in_boxes(point[some], limit, boxes[track])
            near &= (node[some] != begins[track]) & (node[some] != stops[track])
            some, track, limit = some[near], track[near], limit[near]
            share, nearest = self._nearest(point[some], track)
            for k in np.flatnonzero(np.abs(nearest - point[some]) <= limit).tolist():
                cuts.setdefault(int(track[k]), []).append((float(share[k]), int(node[some[k]])))
        for anywhere, others in pairs(self.of_hub, self.tracks_of):
            near = in_boxes(self.hub_at[anywhere], reach[anywhere], boxes[others])
            hub, track = anywhere[near], others[near]
            share, nearest = self._nearest(self.hub_at[hub], track)
            for k in np.flatnonzero(self._on_hubs(nearest, self.layer[track], hub)).tolist():
                own = int(hub[k] - self.hubs_of.first[self.of_hub[hub[k]]])
                cuts.setdefault(int(track[k]), []).append((float(share[k]), own))
        return cuts

    def _cut_where_tracks_cross(
        self, first: list[int], last: list[int], cuts: dict[int, list[tuple[float, int]]]
    ) -> None:
        """Add the places where tracks cross in mid-run; where a pad or via is, that joins them."""
        begins, stops, boxes = np.array(first, dtype=np.int64), np.array(last, dtype=np.int64), self._boxes()
        is_arc, (by_layer, layers) = ~np.isnan(self.middle.real), self._tracks_by_layer()
        for tracks, others in pairs(self.of_track * self.board.layer_count + self.layer, layers):
            meet = np.flatnonzero(tracks < by_layer[others])
            one, other = tracks[meet], by_layer[others[meet]]
            near = np.all(boxes[one][:, [0, 2]] <= boxes[other][:, [1, 3]], axis=1)
            near &= np.all(boxes[other][:, [0, 2]] <= boxes[one][:, [1, 3]], axis=1)
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
        met = crossings(self._corners(one, chords), self._corners(other, chords))
        of, layer, every = self.of_track[one][met.row], self.layer[one][met.row], np.arange(len(met.row))
        joined = {k for k, _ in self._ends_on_hubs(met.place, layer, of, np.zeros(len(every)), every)}
        for k in every.tolist():
            if k in joined:
                continue
            nodes, place = self.graphs[int(of[k])].nodes, complex(met.place[k])
            nodes.append(Node(NodeKind.END, -1, place.real, place.imag))
            for track, share in ((one, met.first_share), (other, met.second_share)):
                cuts.setdefault(int(track[met.row[k]]), []).append((float(share[k]), len(nodes) - 1))

    def _tracks_by_layer(self) -> tuple[Ints, Runs]:
        """Return the tracks in order of net and layer, and their runs: layer k of net n is n * layers + k."""
        of, layers = self.of_track * self.board.layer_count + self.layer, self.board.layer_count
        order = np.argsort(of, kind="stable")
        return order, runs(of[order], self.count * layers)

    def _boxes(self) -> Floats:
        """Left, right, lower and upper edge of the middle line of each track, shape (tracks, 4)."""
        is_arc = ~np.isnan(self.middle.real)
        found = np.empty((len(self.rows), 4))
        for chords, some in ((1, np.flatnonzero(~is_arc)), (ARC_CHORDS, np.flatnonzero(is_arc))):
            corner = self._corners(some, chords)
            x, y = corner.real, corner.imag
            found[some] = np.column_stack([x.min(axis=1), x.max(axis=1), y.min(axis=1), y.max(axis=1)])
        return found

    def _hub_reach(self) -> Floats:
        """How far the copper of a pad or via reaches from its middle, at most."""
        pads = self.board.pads
        reach = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2 + np.hypot(pads.shift_x_mm, pads.shift_y_mm)
        both = np.concatenate([reach[self.pads], self.board.vias.size_mm[self.vias] / 2])
        return np.asarray(both[self.hub] + 2 * TOUCH_MM)

    def _corners(self, track: Ints, chords: int) -> Points:
        shares = np.linspace(0, 1, chords + 1)
        return along_tracks(self.start[track], self.middle[track], self.end[track], shares)

    def _nearest(self, points: Points, track: Ints) -> tuple[Floats, Points]:
        """Return the place nearest to each point on the track in the same row: share of its length, and where."""
        share, where = np.empty(len(points)), np.empty(len(points), dtype=np.complex128)
        is_arc = ~np.isnan(self.middle[track].real)
        for chords, some in ((1, np.flatnonzero(~is_arc)), (ARC_CHORDS, np.flatnonzero(is_arc))):
            if len(some):
                own, back = np.unique(track[some], return_inverse=True)
                share[some], where[some] = nearest_places(points[some], self._corners(own, chords)[back])
        return share, where


def _of_nets(rank: Ints, net: Ints, keep: Bools) -> tuple[Ints, Ints]:
    """Return the rows of the nets that have a rank, net by net, and the rank of each."""
    rows = np.flatnonzero((rank[net] >= 0) & keep)
    rows = rows[np.argsort(rank[net[rows]], kind="stable")]
    return rows, rank[net[rows]]


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
