"""Parts of leaves that a slot divides: each is a node of its own, so that no current crosses a slot within a leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Flags, Floats, Ints
from stackup_lib.core.record import entity
from stackup_lib.power.ground_return.leaves import LeafLinks, Leaves
from stackup_lib.power.ground_return.link_grid import GridLevel

LEAST_CELLS = 1.0
"""Between the middles of two parts that touch."""

PART_RATIO = 1.5
"""By which a link from or to a part may conduct more or less: its shape within the leaf is not followed."""


@entity
class LeafNodes:
    """Node of each cell of the finest grid on each filled layer: its leaf's, or that of its part of a divided leaf.

    Attributes:
        of_cell: shape (layers, rows, columns).
        leaf: of each node.
        x_cells, y_cells: middle of each node, in cells.
        divided: whether a leaf has several parts on a layer, shape (layers, leaves).
    """

    of_cell: Ints
    leaf: Ints
    x_cells: Floats
    y_cells: Floats
    divided: Flags


def leaf_nodes(leaves: Leaves, finest: GridLevel) -> LeafNodes:
    """Number the nodes: leaves layer by layer, then all but the largest part of each divided leaf."""
    layers, count = finest.filled.shape[0], len(leaves)
    label = leaves.label
    of_cell = (
        np.stack([label + sheet * count for sheet in range(layers)]) if layers else np.zeros((0, *label.shape), int)
    )
    leaf = [np.tile(np.arange(count), layers)]
    grid = leaves.grid
    xs = [np.tile((leaves.x_mm - grid.left_mm) / grid.pitch_mm - 0.5, layers)]
    ys = [np.tile((leaves.y_mm - grid.low_mm) / grid.pitch_mm - 0.5, layers)]
    divided = np.zeros((layers, count), dtype=bool)
    total = layers * count
    for sheet in range(layers):
        row, column, part = _parts(leaves, finest, sheet)
        if not len(row):
            continue
        owner = label[row, column]
        size = np.bincount(part)
        owner_of = np.zeros(len(size), dtype=np.int64)
        owner_of[part] = owner
        parts_of_leaf = np.bincount(owner_of, minlength=count)
        divided[sheet] = parts_of_leaf > 1
        # the largest part of a leaf keeps the leaf's own node
        order = np.lexsort((-size, owner_of))
        first = np.ones(len(order), dtype=bool)
        first[1:] = owner_of[order][1:] != owner_of[order][:-1]
        node = np.empty(len(size), dtype=np.int64)
        node[order[first]] = sheet * count + owner_of[order[first]]
        fresh = order[~first]
        node[fresh] = total + np.arange(len(fresh))
        total += len(fresh)
        of_cell[sheet, row, column] = node[part]
        leaf.append(owner_of[fresh])
        middle_x, middle_y = np.bincount(part, column) / size, np.bincount(part, row) / size
        xs.append(middle_x[fresh])
        ys.append(middle_y[fresh])
        own = order[first & divided[sheet][owner_of[order]]]
        xs[0][node[own]], ys[0][node[own]] = middle_x[own], middle_y[own]
    return LeafNodes(of_cell, np.concatenate(leaf), np.concatenate(xs), np.concatenate(ys), divided)


def _parts(leaves: Leaves, finest: GridLevel, sheet: int) -> tuple[Ints, Ints, Ints]:
    """Rows and columns of the copper in leaves that are not all copper, and the number of the part of each."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - heavy, and only a board with declared rails needs it
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    label, filled = leaves.label, finest.filled[sheet]
    gaps = np.zeros(len(leaves), dtype=bool)
    joins: list[tuple[NDArray[np.bool_], tuple[slice, slice], tuple[slice, slice]]] = []
    for links, one, two in (
        (finest.along[0, sheet], np.s_[:, :-1], np.s_[:, 1:]),
        (finest.down[0, sheet], np.s_[:-1, :], np.s_[1:, :]),
    ):
        inside = label[one] == label[two]
        is_open = links[one] > 0
        gaps[label[one][inside & ~is_open]] = True
        joins.append((inside & is_open, one, two))
    row, column = np.nonzero(gaps[label] & filled)
    number = np.full(label.shape, -1, dtype=np.int64)
    number[row, column] = np.arange(len(row))
    ends = [(number[one][joined], number[two][joined]) for joined, one, two in joins]
    first, second = (np.concatenate([pair[side] for pair in ends]) for side in (0, 1))
    known = first >= 0
    first, second = first[known], second[known]
    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(len(row), len(row)))
    _, part = connected_components(graph, directed=False)
    return row, column, part.astype(np.int64)


def with_parts(links: LeafLinks, leaves: Leaves, nodes: LeafNodes, finest: GridLevel) -> LeafLinks:
    """Return links between nodes: those between whole leaves as they are, those of parts from the finest grid.

    A link of parts is as wide as the copper that crosses the border of their leaves, and as long as their middles are
    apart.
    """
    count = len(leaves)
    touched = nodes.divided[links.layer, links.first] | nodes.divided[links.layer, links.second]
    whole = LeafLinks(
        links.layer[~touched],
        links.layer[~touched] * count + links.first[~touched],
        links.layer[~touched] * count + links.second[~touched],
        links.squares[:, ~touched],
    )
    found = [whole]
    for grid_links, one, two, middle in (
        (finest.along[0], np.s_[:, :-1], np.s_[:, 1:], nodes.x_cells),
        (finest.down[0], np.s_[:-1, :], np.s_[1:, :], nodes.y_cells),
    ):
        a, b = leaves.label[one], leaves.label[two]
        apart = a != b
        for sheet in np.flatnonzero(nodes.divided.any(axis=1)).tolist():
            cut = nodes.divided[sheet]
            wanted = apart & (cut[a] | cut[b]) & (grid_links[sheet][one] > 0)
            if not wanted.any():
                continue
            first, second = nodes.of_cell[sheet][one][wanted], nodes.of_cell[sheet][two][wanted]
            key, group = np.unique(first * len(nodes.leaf) + second, return_inverse=True)
            width = np.bincount(group.reshape(-1), grid_links[sheet][one][wanted])
            first, second = key // len(nodes.leaf), key % len(nodes.leaf)
            squares = width / np.maximum(np.abs(middle[second] - middle[first]), LEAST_CELLS)
            bounds = np.array([[1 / PART_RATIO], [1.0], [PART_RATIO]])
            found.append(LeafLinks(np.full(len(key), sheet), first, second, bounds * squares))
    return LeafLinks(
        np.concatenate([one.layer for one in found]),
        np.concatenate([one.first for one in found]),
        np.concatenate([one.second for one in found]),
        np.concatenate([one.squares for one in found], axis=1),
    )
