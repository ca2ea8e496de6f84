"""Tracks of a net that lie outside its fills, as resistors between what their ends touch."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Flags, Floats, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.core.arrays import distinct
from stackup_lib.power.ground_return.return_net import (
    RECTANGLE_RADIUS,
    Holes,
    NetBuilder,
    ReturnKind,
    contact_radius_mm,
    in_pad,
)
from stackup_lib.power.ground_return.track_pieces import ReturnTracks, covered_mm, own_share, pieces_outside
from stackup_lib.power.rail_drop.net_copper import pad_centres_mm

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


def add_tracks(net: NetBuilder, holes: Holes, hole_node: Ints, node_of_pad: dict[int, int]) -> None:
    """Add tracks that do not lie in a fill, each from what its ends touch."""
    tracks = net.board.tracks
    rows = np.flatnonzero((tracks.net == net.net) & (tracks.length_mm > 0) & (tracks.width_mm > 0))
    if not len(rows):
        return
    pieces = pieces_outside(net, rows)
    if not len(pieces):
        return
    layer, ends, width = pieces.layer, pieces.ends, pieces.width_mm
    joints = _Joints(net, holes, hole_node, node_of_pad)
    one, less_one = joints.of(ends[0], ends[1], layer, width)
    two, less_two = joints.of(ends[1], ends[0], layer, width)
    joints.finish()
    less = np.stack([less_one, less_two]) + pieces.sunk_mm
    nodes = np.stack([one, two])
    cuts = _cuts(nodes, ends, layer, width)
    for track, places in joints.on_the_way(nodes, ends, layer, width).items():
        cuts.setdefault(track, []).extend(places)
    of, first, second, start, share, end = _split(nodes, cuts)
    parts = pieces.part(of, start, share)
    length = _drawn_mm(net, pieces)[of] * share
    length -= np.where(end, less[:, of], 0.0).sum(axis=0)
    width, sheet = width[of], net.sheet_ohm[parts.layer]
    # where a fill begins is known to a cell
    doubt = np.where(end & (pieces.sunk_mm[:, of] != 0), net.leaves.grid.pitch_mm / 2, 0.0).sum(axis=0)
    lengths = np.maximum(length + np.array([[1.0], [0.0], [-1.0]]) * doubt, 0.05 * width)
    siemens = width * own_share(parts) / (lengths * sheet)
    apart = first != second
    ends_of = first[apart], second[apart]
    net.add(ReturnKind.TRACK, ends_of, siemens[:, apart], parts.layer[apart], row=parts.row[apart])


def _drawn_mm(net: NetBuilder, pieces: ReturnTracks) -> Floats:
    """Length of pieces along what is drawn: an arc is longer than the way between its ends."""
    tracks, row = net.board.tracks, pieces.row
    straight = np.hypot(tracks.end_x_mm[row] - tracks.start_x_mm[row], tracks.end_y_mm[row] - tracks.start_y_mm[row])
    return np.asarray(pieces.length_mm * tracks.length_mm[row] / np.maximum(straight, 1e-9))


def _split(nodes: Ints, cuts: Mapping[int, list[tuple[float, int]]]) -> tuple[Ints, Ints, Ints, Floats, Floats, Flags]:
    """Cut tracks in places along them: track, nodes, where it begins, share of its length, and which ends it has.

    `nodes` are those of the tracks' ends, shape (2, tracks).
    """
    rows: list[tuple[int, int, int, float, float, bool, bool]] = []
    for host, places in cuts.items():
        way = [(0.0, int(nodes[0, host])), *sorted(places), (1.0, int(nodes[1, host]))]
        last = len(way) - 2
        rows += [
            (host, a, b, here, there - here, k == 0, k == last)
            for k, ((here, a), (there, b)) in enumerate(pairwise(way))
        ]
    rows += [
        (k, int(nodes[0, k]), int(nodes[1, k]), 0.0, 1.0, True, True) for k in range(nodes.shape[1]) if k not in cuts
    ]
    of, first, second, start, share, starts, stops = (np.array(column) for column in zip(*rows, strict=True))
    return of, first, second, start, share, np.stack([starts, stops])


def _cuts(nodes: Ints, ends: Floats, layer: Ints, width: Floats) -> dict[int, list[tuple[float, int]]]:
    """Where along each track another one ends on it that ends on nothing else: (share of the length, node).

    `nodes` and `ends` are those of the tracks' ends, shapes (2, tracks) and (2, tracks, 2).
    """
    alone = np.bincount(nodes.ravel()) == 1
    found: dict[int, list[tuple[float, int]]] = {}
    (x, y), (x_way, y_way) = ends[0].T, (ends[1] - ends[0]).T
    square = np.maximum(x_way**2 + y_way**2, 1e-12)
    for side, on in product((0, 1), distinct(layer).tolist()):
        hosts = np.flatnonzero(layer == on)
        loose = hosts[alone[nodes[side, hosts]]]
        for chunk in np.array_split(loose, 1 + len(loose) * len(hosts) // 1_000_000):
            dx = ends[side, chunk, 0][:, None] - x[hosts]
            dy = ends[side, chunk, 1][:, None] - y[hosts]
            at = np.clip((dx * x_way[hosts] + dy * y_way[hosts]) / square[hosts], 0.0, 1.0)
            off = (dx - at * x_way[hosts]) ** 2 + (dy - at * y_way[hosts]) ** 2
            off[chunk[:, None] == hosts] = np.inf
            row, nearest = np.arange(len(chunk)), np.argmin(off, axis=1)
            hit = off[row, nearest] <= (width[hosts[nearest]] / 2) ** 2
            for k, host in zip(row[hit].tolist(), hosts[nearest[hit]].tolist(), strict=True):
                found.setdefault(host, []).append((float(at[k, nearest[k]]), int(nodes[side, chunk[k]])))
    return found


class _Joints:
    """What the ends of tracks touch: a hole, a pad, a fill, or each other."""

    def __init__(self, net: NetBuilder, holes: Holes, hole_node: Ints, node_of_pad: dict[int, int]) -> None:
        from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

        self.net, self.holes, self.hole_node = net, holes, hole_node
        self.holes_near: cKDTree | None = cKDTree(np.column_stack([holes.x_mm, holes.y_mm])) if len(holes) else None
        pads = net.board.pads
        self.pads = np.flatnonzero((pads.net == net.net) & (pads.kind != PadKind.THROUGH))
        places = np.column_stack(pad_centres_mm(net.board, self.pads))
        self.pads_near: cKDTree | None = cKDTree(places) if len(self.pads) else None
        self.pad_node = np.array([node_of_pad.get(pad, -1) for pad in self.pads.tolist()], dtype=np.int64)
        self.free: dict[tuple[int, int, int], int] = {}

    def of(self, end: Floats, other: Floats, layer: Ints, width: Floats) -> tuple[Ints, Floats]:
        """Return the node of each end, and how much of the track is on what it touches."""
        node = np.full(len(end), -1, dtype=np.int64)
        less = np.zeros(len(end))
        way = other - end
        way = way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None]
        if self.holes_near is not None:
            apart, k = self.holes_near.query(end)
            hit = (apart <= self.holes.pad_mm[k] / 2) & (self.hole_node[k, layer] >= 0)
            node[hit] = self.hole_node[k[hit], layer[hit]]
            radius = self.holes.radius_mm[k[hit]]
            less[hit] = covered_mm(width[hit], 2 * radius, radius, radius)
        if self.pads_near is not None:
            _, near = self.pads_near.query(end, k=min(2, len(self.pads)))
            for k in np.atleast_2d(near.T):
                self._pad(end, way, layer, width, (node, less), k)
        loose = np.flatnonzero(node < 0)
        filled = self.net.filled_at(layer[loose], *end[loose].T)
        for k, lies in zip(loose.tolist(), filled.tolist(), strict=True):
            key = int(layer[k]), round(float(end[k, 0]) * 1e4), round(float(end[k, 1]) * 1e4)
            if key not in self.free:
                self.free[key] = int(self.net.nodes(1)[0])
                if lies:
                    spot = np.array([self.free[key]]), layer[k : k + 1], end[k : k + 1, 0], end[k : k + 1, 1]
                    self.net.touch(*spot, width[k : k + 1] * RECTANGLE_RADIUS * 2)
            node[k] = self.free[key]
        return node, less

    def on_the_way(self, nodes: Ints, ends: Floats, layer: Ints, width: Floats) -> dict[int, list[tuple[float, int]]]:
        """Where along each track a hole's middle is in its copper, that its ends do not touch: (share, node)."""
        import shapely  # noqa: PLC0415

        found: dict[int, list[tuple[float, int]]] = {}
        lines = shapely.linestrings(np.swapaxes(ends, 0, 1))
        places = shapely.points(self.holes.x_mm, self.holes.y_mm)
        track, hole = shapely.STRtree(places).query(lines, predicate="dwithin", distance=width / 2)
        node = self.hole_node[hole, layer[track]]
        fresh = (node >= 0) & (node != nodes[0, track]) & (node != nodes[1, track])
        share = shapely.line_locate_point(lines[track], places[hole], normalized=True)
        for k, at, joint in zip(track[fresh].tolist(), share[fresh].tolist(), node[fresh].tolist(), strict=True):
            found.setdefault(k, []).append((at, joint))
        return found

    def finish(self) -> None:
        """Join the pads that tracks end on, and are no terminals, to the holes in them."""
        fresh = np.flatnonzero(self.pad_node >= 0)
        self.net.tie_holes(self.pad_node[fresh], self.pads[fresh], self.holes, self.hole_node)

    def _pad(  # noqa: PLR0917 - ends of tracks, and what is known of them
        self, end: Floats, way: Floats, layer: Ints, width: Floats, found: tuple[Ints, Floats], k: Ints
    ) -> None:
        """Ends that lie on a surface pad near them; the track counts from the pad's edge."""
        node, less = found
        pads = self.net.board.pads
        pad = self.pads[k]
        u, v = in_pad(self.net.board, pad, end[:, 0], end[:, 1])
        half_x, half_y = pads.size_x_mm[pad] / 2, pads.size_y_mm[pad] / 2
        on = holds_layer(pads.layers[pad], layer)
        hit = (node < 0) & on & (np.abs(u) <= half_x) & (np.abs(v) <= half_y)
        fresh = distinct(k[hit])
        fresh = fresh[self.pad_node[fresh] < 0]
        self.pad_node[fresh] = self.net.nodes(len(fresh))
        self.net.tie_pads(self.pad_node[fresh], self.pads[fresh])
        node[hit] = self.pad_node[k[hit]]
        middle_x, middle_y = pad_centres_mm(self.net.board, pad)
        along, over = in_pad(self.net.board, pad, middle_x + way[:, 0], middle_y + way[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            out_x = np.where(along != 0, (half_x - np.sign(along) * u) / np.abs(along), np.inf)
            out_y = np.where(over != 0, (half_y - np.sign(over) * v) / np.abs(over), np.inf)
        across = 2 * (half_x * np.abs(over) + half_y * np.abs(along))
        covered = covered_mm(width, across, np.fmin(out_x, out_y), contact_radius_mm(self.net.board, pad))
        less[hit] = covered[hit]
