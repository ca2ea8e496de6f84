"""Edges of fills of different nets that lie near one another, found with few queries of a tree."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Ints
from stackup_lib.copper.fill_edges import FillEdges, diagonals
from stackup_lib.copper.shapes import edge_pieces

Pairs = tuple[Ints, Ints]


def facing_edges(edges: FillEdges, reach_mm: float) -> Pairs:
    """Return pairs of edges of fills of different nets whose boxes are within reach of one another."""
    import shapely  # noqa: PLC0415

    net = edges.net[edges.run_start[:-1]]
    nets, count = np.unique(net, return_counts=True)
    if len(nets) < 2:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    widest = nets[np.argmax(count)]  # the edges of the largest are found, never queried
    runs = np.flatnonzero(net != widest)
    left, low, right, high = shapely.bounds(edges.tree.geometries[runs]).T
    wide = left - reach_mm, low - reach_mm, right + reach_mm, high + reach_mm
    asked, found = edges.tree.query(diagonals(wide))
    asked = runs[asked]
    kept = np.flatnonzero((net[asked] != net[found]) & ((net[found] == widest) | (asked < found)))
    one, other = _every_edge(edges.run_start, asked[kept], found[kept])
    left, low, right, high = edge_pieces(edges, one).boxes(reach_mm)
    left_2, low_2, right_2, high_2 = edge_pieces(edges, other).boxes()
    near = np.flatnonzero((left <= right_2) & (right >= left_2) & (low <= high_2) & (high >= low_2))
    return one[near], other[near]


def _every_edge(run_start: Ints, one: Ints, other: Ints) -> Pairs:
    """Every edge of a run with every edge of another."""
    size, size_2 = np.diff(run_start)[one], np.diff(run_start)[other]
    pairs = size * size_2
    pair = np.repeat(np.arange(len(one)), pairs)
    nth = np.arange(int(pairs.sum())) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    return run_start[one[pair]] + nth // size_2[pair], run_start[other[pair]] + nth % size_2[pair]
