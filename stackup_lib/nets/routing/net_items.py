"""The pads, vias, tracks and arcs of some nets in flat columns, and which of their copper lies where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.flat_pairs import Runs, pairs, runs
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.nets.routing.track_points import TOUCH_MM, Bools, Points, along_tracks, nearest_places

ARC_CHORDS = 16
"""An arc is tried for contact as this many chords; its radius must be off by less than the width."""


class NetItems:
    """The items of some nets, those of a net in one run. Points are complex numbers x + iy in mm.

    Hubs are pads and vias, net by net: pads, then vias. A node is the number of a hub in its own net.
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

    def on_hubs(self, points: Points, layers: Ints, hub: Ints, grown_mm: Floats | float = 0.0) -> Bools:
        """Tell which points, each on a layer, lie on the hub in the same row, grown by `grown_mm`."""
        vias, grown = self.board.vias, np.broadcast_to(np.asarray(grown_mm, dtype=np.float64), points.shape)
        which, found = self.hub[hub], np.zeros(len(points), dtype=np.bool_)
        masks = self.board.pads.layers[self.pads]
        at_pad = np.flatnonzero(which < len(self.pads))
        at_pad = at_pad[holds_layer(masks[which[at_pad]], layers[at_pad])]
        found[at_pad] = self.in_pads(points[at_pad], which[at_pad], grown[at_pad])
        at_via = np.flatnonzero(which >= len(self.pads))
        via = which[at_via] - len(self.pads)
        spans = (self.top[via] <= layers[at_via]) & (layers[at_via] <= self.bottom[via])
        reach = vias.size_mm[self.vias[via]] / 2 + TOUCH_MM + grown[at_via]
        found[at_via] = spans & (np.abs(self.via_at[via] - points[at_via]) <= reach)
        return found

    def ends_on_hubs(
        self, points: Points, layers: Ints, of: Ints, grown_mm: Floats, some: Ints
    ) -> list[tuple[int, int]]:
        """Return (end, hub) of some ends that lie on hubs, grown by so much."""
        hits: list[tuple[int, int]] = []
        for k, hub in pairs(of[some], self.hubs_of):
            end = some[k]
            on = np.flatnonzero(self.on_hubs(points[end], layers[end], hub, grown_mm[end]))
            hits += zip(end[on].tolist(), hub[on].tolist(), strict=True)
        return hits

    def in_pads(self, points: Points, pad: Ints, grown_mm: Floats | float = 0.0) -> Bools:
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

    def are_split(self, one: Ints, other: Ints) -> Bools:
        """Tell which two pads are of one part and number and near enough to overlap, as parts of one pad do."""
        pads, first, second = self.board.pads, self.pads[one], self.pads[other]
        found = (one < other) & (pads.footprint[first] == pads.footprint[second])
        some = np.flatnonzero(found)
        first, second = first[some], second[some]
        reach = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2
        near = np.abs(self.pad_at[one[some]] - self.pad_at[other[some]]) <= reach[first] + reach[second]
        found[some] = (pads.number[first] == pads.number[second]) & near
        return np.asarray(found)

    def narrow_pads(self) -> Floats:
        """Return the shorter side of each pad."""
        pads = self.board.pads
        return np.asarray(np.fmin(pads.size_x_mm, pads.size_y_mm)[self.pads], dtype=np.float64)

    def pad_node(self, pad: int) -> int:
        """Return the node of a pad."""
        return pad - int(self.pads_of.first[self.pads_of.owner[pad]])

    def via_node(self, via: int) -> int:
        """Return the node of a via."""
        net = self.vias_of.owner[via]
        return via - int(self.vias_of.first[net]) + int(self.pads_of.first[net + 1] - self.pads_of.first[net])

    def tracks_by_layer(self) -> tuple[Ints, Runs]:
        """Return the tracks in order of net and layer, and their runs: layer k of net n is n * layers + k."""
        of, layers = self.of_track * self.board.layer_count + self.layer, self.board.layer_count
        order = np.argsort(of, kind="stable")
        return order, runs(of[order], self.count * layers)

    def boxes(self) -> Floats:
        """Left, right, lower and upper edge of the middle line of each track, shape (tracks, 4)."""
        is_arc = ~np.isnan(self.middle.real)
        found = np.empty((len(self.rows), 4))
        for chords, some in ((1, np.flatnonzero(~is_arc)), (ARC_CHORDS, np.flatnonzero(is_arc))):
            corner = self.corners(some, chords)
            x, y = corner.real, corner.imag
            found[some] = np.column_stack([x.min(axis=1), x.max(axis=1), y.min(axis=1), y.max(axis=1)])
        return found

    def hub_reach(self) -> Floats:
        """How far the copper of a pad or via reaches from its middle, at most."""
        pads = self.board.pads
        reach = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2 + np.hypot(pads.shift_x_mm, pads.shift_y_mm)
        both = np.concatenate([reach[self.pads], self.board.vias.size_mm[self.vias] / 2])
        return np.asarray(both[self.hub] + 2 * TOUCH_MM)

    def corners(self, track: Ints, chords: int) -> Points:
        """Return the corners of tracks as chords, shape (tracks, chords + 1)."""
        shares = np.linspace(0, 1, chords + 1)
        return along_tracks(self.start[track], self.middle[track], self.end[track], shares)

    def nearest(self, points: Points, track: Ints) -> tuple[Floats, Points]:
        """Return the place nearest to each point on the track in the same row: share of its length, and where."""
        share, where = np.empty(len(points)), np.empty(len(points), dtype=np.complex128)
        is_arc = ~np.isnan(self.middle[track].real)
        for chords, some in ((1, np.flatnonzero(~is_arc)), (ARC_CHORDS, np.flatnonzero(is_arc))):
            if len(some):
                own, back = np.unique(track[some], return_inverse=True)
                share[some], where[some] = nearest_places(points[some], self.corners(own, chords)[back])
        return share, where


def _of_nets(rank: Ints, net: Ints, keep: Bools) -> tuple[Ints, Ints]:
    """Return the rows of the nets that have a rank, net by net, and the rank of each."""
    rows = np.flatnonzero((rank[net] >= 0) & keep)
    rows = rows[np.argsort(rank[net[rows]], kind="stable")]
    return rows, rank[net[rows]]
