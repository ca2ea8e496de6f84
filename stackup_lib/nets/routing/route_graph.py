"""The copper of a net as a graph: nodes are pads, vias and ends of tracks, edges the tracks between them."""

from __future__ import annotations

import heapq
from dataclasses import field
from enum import IntEnum

from stackup_lib.core.record import record, workpiece


class NodeKind(IntEnum):
    """What a node stands for."""

    PAD = 0
    VIA = 1
    END = 2


@record
class Node:
    """A pad, a via, or ends of tracks in one place; `row` is an index into that table, -1 for ends."""

    kind: NodeKind
    row: int
    x_mm: float
    y_mm: float


@record
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


@workpiece
class Graph:
    """Nodes, edges, the nodes that are pads (in the order of the file), and the length of all tracks of the net."""

    nodes: list[Node]
    length_mm: float = 0.0
    edges: list[Edge] = field(default_factory=list)
    pads: list[int] = field(default_factory=list)
    _at: dict[int, list[Edge]] = field(default_factory=dict)
    _searched: dict[int, tuple[dict[int, float], dict[int, Edge]]] = field(default_factory=dict)

    def join(self, edge: Edge) -> None:
        """Add an edge."""
        self.edges.append(edge)
        self._searched.clear()
        self._at.setdefault(edge.first, []).append(edge)
        if edge.second != edge.first:
            self._at.setdefault(edge.second, []).append(edge)

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
        """Dijkstra's shortest paths, kept; of equal ways the one with fewer contacts wins."""
        if start not in self._searched:
            self._searched[start] = self._searched_from(start)
        return self._searched[start]

    def _searched_from(self, start: int) -> tuple[dict[int, float], dict[int, Edge]]:
        best, came, at = {start: (0.0, 0)}, dict[int, Edge](), self._at
        queue = [(0.0, 0, start)]
        while queue:
            length, hops, node = heapq.heappop(queue)
            if (length, hops) > best[node]:
                continue
            for edge in at.get(node, ()):
                to, offer = edge.second if edge.first == node else edge.first, (length + edge.length_mm, hops + 1)
                if to not in best or offer < best[to]:
                    best[to], came[to] = offer, edge
                    heapq.heappush(queue, (*offer, to))
        return {node: length for node, (length, _) in best.items()}, came
