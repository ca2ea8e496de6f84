"""Ground return of declared currents: one net of a board as resistors between leaves, barrels, tracks and terminals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import NO_LAYER, Board, Drilling, Flags, Floats, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity, record
from stackup_lib.power.copper import barrel_resistance_ohm, sheet_resistance_ohm
from stackup_lib.power.ground_return.leaf_parts import LeafNodes
from stackup_lib.power.ground_return.leaves import LeafLinks, Leaves
from stackup_lib.power.ground_return.link_grid import GridLevel
from stackup_lib.power.rail_drop.net_copper import pad_centres_mm, stacked_layers
from stackup_lib.power.rail_drop.rail_models import BoardCopper

POINT_RADIUS = 0.19856
"""exp(-gamma)/sqrt(8): a grid point stands for a round contact of this share of the grid's width.

Asymptote of the square lattice's Green function (F. Spitzer, Principles of Random Walk, section 15); D. W. Peaceman,
SPE Journal 18 (1978) 183-194, found 0.198 for wells in a grid.
"""

RECTANGLE_RADIUS = 0.295
"""A rectangular contact spreads current as a round one of about this times the sum of its sides: 0.59017 of a square's
(G. Polya, G. Szego, Isoperimetric Inequalities, 1951)."""

ROUND = ("circle", "oval")
"""Shapes of pads with round ends; others count as rectangles."""

LEAST_RADIUS_MM = 1e-3
"""Of a pad without a size; what is no further from a pad's edge lies on it."""

TIED_OHM = 1e-7
"""Between what is one piece of metal."""

LINKS_SQUARES = 0.25
"""The four links around a point, side by side."""

LEAST_SQUARES = 1e-3
"""A contact as large as its leaf has no spreading resistance."""


@record
class ReturnSite:
    """A net of a board, what its copper is, and the layers on which it has fills."""

    board: Board
    net: int
    copper: BoardCopper
    layers: Sequence[int]


class ReturnKind:
    """What a resistor stands for."""

    SHEET, BARREL, CONTACT, TRACK = range(4)


@entity
class Resistors:
    """Resistors between numbered nodes; conductances: minimum, nominal and maximum, shape (3, resistors).

    Attributes:
        kind: of `ReturnKind`.
        layer: of sheets, tracks and contacts; the upper one of a barrel.
        row: of `Holes` for a barrel, of `Board.tracks` for a track, -1 for others.
    """

    first: Ints
    second: Ints
    siemens: Floats
    kind: Ints
    layer: Ints
    row: Ints


@entity
class Holes:
    """Plated holes of a net, vias first.

    Attributes:
        radius_mm: of drill and plating together.
        on: shape (holes, copper layers), 1 where the barrel still passes a layer.
        pad_mm: width of the copper around the hole.
        pad: row of `Board.pads`, -1 for a via; `via`: row of `Board.vias`, -1 for a pad.
    """

    x_mm: Floats
    y_mm: Floats
    drill_mm: Floats
    radius_mm: Floats
    on: NDArray[np.bool_]
    pad_mm: Floats
    pad: Ints
    via: Ints

    def __len__(self) -> int:
        return len(self.x_mm)


def holes_of(board: Board, net: int, plating_mm: float) -> Holes:
    """Return the vias and plated pads of a net; a slot counts as the round hole of its width."""
    vias, pads = board.vias, board.pads
    v = np.flatnonzero(vias.net == net)
    p = np.flatnonzero(
        (pads.net == net) & (pads.kind == PadKind.THROUGH) & (np.fmin(pads.drill_x_mm, pads.drill_y_mm) > 0)
    )
    layers = np.arange(board.layer_count)
    spans = (layers >= vias.start_layer[v, None]) & (layers <= vias.end_layer[v, None])
    on = np.concatenate([spans & ~_cut(vias.drilling, v, layers), ~_cut(pads.drilling, p, layers)])
    drill = np.concatenate([vias.drill_mm[v], np.fmin(pads.drill_x_mm[p], pads.drill_y_mm[p])])
    return Holes(
        x_mm=np.concatenate([vias.x_mm[v], pads.x_mm[p]]),
        y_mm=np.concatenate([vias.y_mm[v], pads.y_mm[p]]),
        drill_mm=drill,
        radius_mm=drill / 2 + plating_mm,
        on=on,
        pad_mm=np.concatenate([vias.size_mm[v], np.fmin(pads.size_x_mm[p], pads.size_y_mm[p])]),
        pad=np.concatenate([np.full(len(v), -1), p]),
        via=np.concatenate([v, np.full(len(p), -1)]),
    )


def _cut(drilling: Drilling, rows: Ints, layers: Ints) -> Flags:
    """Layers at which a backdrill has taken the barrel."""
    gone = np.zeros((len(rows), len(layers)), dtype=bool)
    for start, must_cut in (
        (drilling.backdrill_start[rows], drilling.backdrill_must_cut[rows]),
        (drilling.tertiary_start[rows], drilling.tertiary_must_cut[rows]),
    ):
        low, high = np.minimum(start, must_cut), np.maximum(start, must_cut)
        drilled = (start != NO_LAYER) & (must_cut != NO_LAYER)
        gone |= drilled[:, None] & (layers >= low[:, None]) & (layers <= high[:, None])
    return gone


class NetBuilder:
    """Numbers the nodes of a net and collects its resistors."""

    def __init__(self, site: ReturnSite, leaves: Leaves, finest: GridLevel, leaf_nodes: LeafNodes) -> None:
        """Take the net, the grid of its filled layers, and the nodes of the leaves on it."""
        board, copper, layers = site.board, site.copper, site.layers
        self.board, self.net, self.copper, self.leaves = board, site.net, copper, leaves
        self.layers = np.asarray(layers, dtype=np.int64)
        self.sheet_of = np.full(board.layer_count, -1, dtype=np.int64)
        self.sheet_of[self.layers] = np.arange(len(layers))
        self.sheet_ohm = np.array([sheet_resistance_ohm(t, copper.temperature_c) for t in copper.thickness_mm])
        self.has_copper = finest.filled
        self.leaf_nodes = leaf_nodes
        self.count = len(leaf_nodes.leaf)
        self.wider = np.ones(self.count)
        self._links = np.zeros(self.count, dtype=np.int64)
        self._parts: list[Resistors] = []

    def nodes(self, number: int) -> Ints:
        """Return new nodes, by number."""
        self.count += number
        return np.arange(self.count - number, self.count)

    def add(self, kind: int, ends: tuple[Ints, Ints], siemens: Floats, layer: Ints, row: Ints | None = None) -> None:
        """Add resistors between nodes; conductances of shape (3, n), or (n) where they are sure."""
        first, second = ends
        count = len(first)
        self._parts.append(
            Resistors(
                first,
                second,
                np.broadcast_to(siemens, (3, count)),
                np.full(count, kind),
                np.broadcast_to(layer, count),
                np.full(count, -1) if row is None else row,
            )
        )

    def resistors(self) -> Resistors:
        """Return all that were added."""
        parts = self._parts
        first, second = (np.concatenate([getattr(one, end) for one in parts]) for end in ("first", "second"))
        siemens = np.concatenate([one.siemens for one in parts], axis=1)
        kind = np.concatenate([one.kind for one in parts])
        sheet = np.flatnonzero(kind == ReturnKind.SHEET)
        siemens[:, sheet] *= self.wider[first[sheet]] * self.wider[second[sheet]]
        layer, row = (np.concatenate([getattr(one, column) for one in parts]) for column in ("layer", "row"))
        return Resistors(first, second, siemens, kind, layer, row)

    def node_at(self, layer: Ints, x_mm: Floats, y_mm: Floats) -> Ints:
        """Return the node of the leaf, or of its part, at each place of a filled layer."""
        return np.asarray(self.leaf_nodes.of_cell[self.sheet_of[layer], *self.leaves.grid.cell_of(x_mm, y_mm)])

    def filled_at(self, layer: Ints, x_mm: Floats, y_mm: Floats) -> NDArray[np.bool_]:
        """Tell whether a fill of the net lies at each place of a layer, as the finest grid has it."""
        sheet = self.sheet_of[layer]
        if not len(self.layers):
            return np.zeros(len(sheet), dtype=bool)
        row, column = self.leaves.grid.cell_of(x_mm, y_mm)
        return np.asarray((sheet >= 0) & self.has_copper[np.maximum(sheet, 0), row, column])

    def add_sheets(self, links: LeafLinks) -> None:
        """Add the links between nodes of leaves."""
        layer = self.layers[links.layer]
        first, second = links.first, links.second
        self._links = np.bincount(np.concatenate([first, second]), minlength=self.count)
        self.add(
            ReturnKind.SHEET,
            (first, second),
            links.squares / self.sheet_ohm[layer],
            layer,
        )

    def links_at(self, layer: Ints, x_mm: Floats, y_mm: Floats) -> Ints:
        """Return how many links the leaf at each place has; 0 where no fill of the net is."""
        found = np.zeros(len(layer), dtype=np.int64)
        lies = self.filled_at(layer, x_mm, y_mm)
        found[lies] = self._links[self.node_at(layer[lies], x_mm[lies], y_mm[lies])]
        return found

    def touch(self, node: Ints, layer: Ints, x_mm: Floats, y_mm: Floats, radius_mm: Floats) -> NDArray[np.bool_]:
        """Join round contacts to the leaves in which they lie, with what spreading takes; tell which lie in copper.

        Several in one leaf share it: each spreads over its part, and all together over less than one alone would.
        """
        lies = self.filled_at(layer, x_mm, y_mm)
        k = np.flatnonzero(lies)
        leaf = self.leaves.at(x_mm[k], y_mm[k])
        target = self.node_at(layer[k], x_mm[k], y_mm[k])
        _, group, number = np.unique(target, return_inverse=True, return_counts=True)
        together = number[group]
        size = self.leaves.size_mm[leaf]
        # mean of the leaf, and what its point stands for: both are exact for one contact and for many in a square
        own = np.log(0.447 * size / (np.sqrt(together) * radius_mm[k]))
        squares = (own - together * np.log(0.447 / POINT_RADIUS)) / (2 * np.pi)
        ohm = np.maximum(squares, LEAST_SQUARES) * self.sheet_ohm[layer[k]]
        self.add(ReturnKind.CONTACT, (node[k], target), 1 / ohm, layer[k])
        self._widen(target, np.where(together == 1, -squares, 0.0))
        for large in np.flatnonzero(radius_mm[k] > size).tolist():
            one = int(k[large])
            near = _in_box(self.leaves, float(x_mm[one]), float(y_mm[one]), float(radius_mm[one]))
            apart = np.hypot(self.leaves.x_mm[near] - x_mm[one], self.leaves.y_mm[near] - y_mm[one])
            self._tie(int(node[one]), int(layer[one]), near[apart <= radius_mm[one]])
        return lies

    def _widen(self, target: Ints, squares: Floats) -> None:
        """Shorten the links of a leaf by what its point spreads more than the contact on it, which is wider."""
        wide = squares > 0
        shorter = LINKS_SQUARES / (LINKS_SQUARES - np.minimum(squares[wide], 0.96 * LINKS_SQUARES))
        np.maximum.at(self.wider, target[wide], shorter)

    def _tie(self, node: int, layer: int, leaf: Ints) -> None:
        """Make leaves that lie in copper one with a node."""
        self._join(node, layer, leaf, np.full(len(leaf), 1 / TIED_OHM))

    def _join(self, node: int, layer: int, leaf: Ints, siemens: Floats) -> None:
        """Join leaves whose middle is in copper to a node."""
        x, y = self.leaves.x_mm[leaf], self.leaves.y_mm[leaf]
        lies = self.filled_at(np.full(len(leaf), layer), x, y)
        on = np.full(int(lies.sum()), layer)
        inside = self.node_at(on, x[lies], y[lies])
        self.add(ReturnKind.CONTACT, (np.full(len(on), node), inside), siemens[lies], on)

    def tie_holes(self, pad_node: Ints, pad: Ints, holes: Holes, hole_node: Ints) -> None:
        """Make surface pads one with the holes that they reach, on the layers of the pads."""
        from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

        pads = self.board.pads
        if not len(holes) or not len(pad):
            return
        middle = np.column_stack(pad_centres_mm(self.board, pad))
        reach = np.hypot(pads.size_x_mm[pad], pads.size_y_mm[pad]) / 2 + holes.radius_mm.max()
        found = cKDTree(np.column_stack([holes.x_mm, holes.y_mm])).query_ball_point(middle, reach)
        which = np.repeat(np.arange(len(pad)), [len(some) for some in found])
        hole = np.array([k for some in found for k in some], dtype=np.int64)
        u, v = in_pad(board=self.board, pad=pad[which], x_mm=holes.x_mm[hole], y_mm=holes.y_mm[hole])
        on = (np.abs(u) <= pads.size_x_mm[pad[which]] / 2 + holes.radius_mm[hole]) & (
            np.abs(v) <= pads.size_y_mm[pad[which]] / 2 + holes.radius_mm[hole]
        )
        which, hole = which[on], hole[on]
        for layer in range(self.board.layer_count):
            has = holds_layer(pads.layers[pad[which]], layer)
            has &= (hole_node[hole, layer] >= 0) & (hole_node[hole, layer] != pad_node[which])
            count = int(has.sum())
            tied = np.full(count, 1 / TIED_OHM)
            ends = pad_node[which[has]], hole_node[hole[has], layer]
            self.add(ReturnKind.CONTACT, ends, tied, np.full(count, layer))

    def tie_pads(self, node: Ints, pad: Ints) -> None:
        """Join pads to the fills that they lie on: to all leaves whose middle they cover, or to the one around them."""
        pads = self.board.pads
        side = np.fmin(pads.size_x_mm[pad], pads.size_y_mm[pad])
        leaf = self.leaves.at(*pad_centres_mm(self.board, pad))
        small = side < self.leaves.size_mm[leaf]
        for layer in self.layers.tolist():
            on = holds_layer(pads.layers[pad], layer)
            k = np.flatnonzero(on & small)
            x, y = self._spots(pad[k], layer)
            radius = contact_radius_mm(self.board, pad[k])
            self.touch(node[k], np.full(len(k), layer), x, y, radius)
            for large in np.flatnonzero(on & ~small).tolist():
                self._cover(int(node[large]), int(pad[large]), layer)

    def _spots(self, pad: Ints, layer: int) -> tuple[Floats, Floats]:
        """The middle of each pad where that is in a fill, else a place of its outline that does: a thermal spoke."""
        pads = self.board.pads
        turn = np.arange(16) * np.pi / 8
        reach = np.append(0.0, np.full(16, 1.0))
        u = np.append(0.0, np.clip(1.5 * np.cos(turn), -1, 1)) * reach * pads.size_x_mm[pad][:, None] / 2
        v = np.append(0.0, np.clip(1.5 * np.sin(turn), -1, 1)) * reach * pads.size_y_mm[pad][:, None] / 2
        angle = np.deg2rad(pads.rotation_deg[pad])[:, None]
        middle_x, middle_y = pad_centres_mm(self.board, pad)
        x = middle_x[:, None] + u * np.cos(angle) + v * np.sin(angle)
        y = middle_y[:, None] - u * np.sin(angle) + v * np.cos(angle)
        lies = self.filled_at(np.full(x.size, layer), x.ravel(), y.ravel()).reshape(x.shape)
        first = np.argmax(lies, axis=1)
        rows = np.arange(len(pad))
        return x[rows, first], y[rows, first]

    def _cover(self, node: int, pad: int, layer: int) -> None:
        """Make the leaves under a pad one with it; the path to a leaf next to it begins at the pad's edge."""
        pads, leaves = self.board.pads, self.leaves
        half = pads.size_x_mm[pad] / 2, pads.size_y_mm[pad] / 2
        reach = float(np.hypot(*half)) + leaves.grid.pitch_mm
        middle_x, middle_y = pad_centres_mm(self.board, np.array([pad]))
        near = _in_box(leaves, float(middle_x[0]), float(middle_y[0]), reach)
        u, v = in_pad(self.board, np.full(len(near), pad), leaves.x_mm[near], leaves.y_mm[near])
        if pads.shape[pad] in ROUND:
            small = min(half)
            beyond = np.maximum(np.abs(u) - half[0] + small, 0.0), np.maximum(np.abs(v) - half[1] + small, 0.0)
            apart = np.maximum(np.hypot(*beyond) - small, 0.0)
        else:
            beyond = np.maximum(np.abs(u) - half[0], 0.0), np.maximum(np.abs(v) - half[1], 0.0)
            apart = np.where(np.minimum(*beyond) > 0, np.inf, np.maximum(*beyond))
        width = leaves.size_mm[near]
        covered = apart < LEAST_RADIUS_MM
        adjacent = ~covered & (apart < width)
        self._tie(node, layer, near[covered])
        self._join(node, layer, near[adjacent], (width[adjacent] / apart[adjacent] - 1) / self.sheet_ohm[layer])

    def add_holes(self, holes: Holes, node_of_pad: dict[int, int]) -> Ints:
        """Add barrels; return the node of each hole on each copper layer, -1 where it touches nothing there.

        A plated pad of a terminal is that terminal on all of its layers.
        """
        count, layer_count = holes.on.shape
        node = np.full((count, layer_count), -1, dtype=np.int64)
        stacked = sorted(stacked_layers(self.board, self.net))
        tracks = self.board.tracks
        routed = distinct(tracks.layer[tracks.net == self.net]).tolist()
        joins = np.isin(np.arange(layer_count), (0, *routed, *stacked, layer_count - 1))
        hole, layer = np.nonzero(holes.on & ((self.sheet_of >= 0) | joins))
        node[hole, layer] = self.nodes(len(hole))
        for k in np.flatnonzero(holes.pad >= 0).tolist():
            terminal = node_of_pad.get(int(holes.pad[k]))
            if terminal is not None:
                node[k, node[k] >= 0] = terminal
        hole, layer = np.nonzero(node >= 0)
        self.touch(node[hole, layer], layer, holes.x_mm[hole], holes.y_mm[hole], holes.radius_mm[hole])
        pair = (hole[1:] == hole[:-1]) & (node[hole[1:], layer[1:]] != node[hole[:-1], layer[:-1]])
        one, two = np.flatnonzero(pair), np.flatnonzero(pair) + 1
        height = np.asarray(self.copper.height_mm)
        length = height[layer[two]] - height[layer[one]]
        drill = holes.drill_mm[hole[one]]
        # the closed form for 1 mm of a hole of each size
        sizes, which = np.unique(drill, return_inverse=True)
        per_mm = np.array(
            [barrel_resistance_ohm(d, self.copper.plating_mm, 1.0, self.copper.temperature_c) for d in sizes.tolist()]
        )
        ohm = per_mm[which] * length if len(sizes) else length
        self.add(
            ReturnKind.BARREL,
            (node[hole[one], layer[one]], node[hole[two], layer[two]]),
            1 / ohm,
            layer[one],
            row=hole[one],
        )
        for on in stacked:
            self._tie_stacked(holes, node[:, on], on)
        return node

    def _tie_stacked(self, holes: Holes, node: Ints, layer: int) -> None:
        """Make vias whose pads overlap on a layer one there; `node` is that of each hole on it."""
        from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

        k = np.flatnonzero((holes.via >= 0) & (node >= 0))
        if not len(k):
            return
        places = cKDTree(np.column_stack([holes.x_mm[k], holes.y_mm[k]]))
        one, two = k[places.query_pairs(float(holes.pad_mm[k].max()), output_type="ndarray")].T
        apart = np.hypot(holes.x_mm[one] - holes.x_mm[two], holes.y_mm[one] - holes.y_mm[two])
        hit = apart <= (holes.pad_mm[one] + holes.pad_mm[two]) / 2
        count = int(hit.sum())
        ends = node[one[hit]], node[two[hit]]
        self.add(ReturnKind.CONTACT, ends, np.full(count, 1 / TIED_OHM), np.full(count, layer))


def contact_radius_mm(board: Board, pad: Ints) -> Floats:
    """Return the radius of the round contact that spreads current as a pad does."""
    sides = board.pads.size_x_mm[pad] + board.pads.size_y_mm[pad]
    share = np.where(np.isin(board.pads.shape[pad], ROUND), 0.25, RECTANGLE_RADIUS)
    return np.asarray(np.maximum(share * sides, LEAST_RADIUS_MM))


def in_pad(board: Board, pad: Ints, x_mm: Floats, y_mm: Floats) -> tuple[Floats, Floats]:
    """Places from the middles of pads, along their axes; KiCad's angles turn counter-clockwise while y points down."""
    turn = np.deg2rad(board.pads.rotation_deg[pad])
    middle_x, middle_y = pad_centres_mm(board, pad)
    dx, dy = x_mm - middle_x, y_mm - middle_y
    return dx * np.cos(turn) - dy * np.sin(turn), dx * np.sin(turn) + dy * np.cos(turn)


def _in_box(leaves: Leaves, x: float, y: float, reach: float) -> Ints:
    """Leaves around a place: those of the cells of a window."""
    grid = leaves.grid
    (low, high), (left, right) = grid.cell_of(np.array([x - reach, x + reach]), np.array([y - reach, y + reach]))
    return distinct(leaves.label[low : high + 1, left : right + 1])
