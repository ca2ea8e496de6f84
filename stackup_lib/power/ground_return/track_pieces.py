"""What of a net's tracks conducts by itself: the pieces outside fills, copper drawn twice, and what contacts cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints
from stackup_lib.core.record import entity
from stackup_lib.power.ground_return.return_net import RECTANGLE_RADIUS, NetBuilder

DEPTH = 4
"""Half cells that a piece reaches at least into a fill: cells at its edge may conduct along it only."""

MOST_DEPTH_MM = 2.0
"""Of a contact within a fill for which its edge still counts."""

WELL_LINKED = 3
"""Links of a leaf that does not only conduct along the edge of a fill."""

SAME_WAY = 0.1
"""Sine of the angle up to which tracks count as parallel, 6 degrees."""


@entity
class ReturnTracks:
    """Pieces of tracks outside fills.

    Attributes:
        row: of `Board.tracks`.
        ends: shape (2, pieces, 2), in mm.
        sunk_mm: how far either end reaches into a fill, shape (2, pieces).
    """

    row: Ints
    layer: Ints
    ends: Floats
    width_mm: Floats
    sunk_mm: Floats

    def __len__(self) -> int:
        return len(self.row)

    @property
    def length_mm(self) -> Floats:
        """From end to end."""
        way = self.ends[1] - self.ends[0]
        return np.asarray(np.hypot(way[:, 0], way[:, 1]))

    def where(self, chosen: Ints) -> ReturnTracks:
        """Return some of the pieces."""
        return ReturnTracks(
            self.row[chosen], self.layer[chosen], self.ends[:, chosen], self.width_mm[chosen], self.sunk_mm[:, chosen]
        )

    def part(self, of: Ints, start: Floats, share: Floats) -> ReturnTracks:
        """Return parts of the pieces `of`: each begins at a share of the length, and is a share of it long."""
        first, way = self.ends[0, of], self.ends[1, of] - self.ends[0, of]
        ends = np.stack([first + start[:, None] * way, first + (start + share)[:, None] * way])
        return replace(self.where(of), ends=ends)


def pieces_outside(net: NetBuilder, rows: Ints) -> ReturnTracks:
    """Return the pieces of some tracks that lie in no fill; an end at a fill reaches into it.

    A fill is looked up twice per cell of the finest grid along each track. An arc is one piece, unless both of its ends
    and its middle lie in a fill.
    """
    tracks = net.board.tracks
    bent = ~np.isnan(tracks.mid_x_mm[rows])
    arcs, straight = rows[bent], _drawn(net, rows[~bent])
    whole = _drawn(net, arcs)
    places = (*whole.ends, np.column_stack([tracks.mid_x_mm[arcs], tracks.mid_y_mm[arcs]]))
    in_fill = np.logical_and.reduce([net.filled_at(whole.layer, *place.T) for place in places])
    return _joined(_cut_at_fills(net, straight), whole.where(np.flatnonzero(~in_fill)))


def _drawn(net: NetBuilder, rows: Ints) -> ReturnTracks:
    tracks = net.board.tracks
    first = np.column_stack([tracks.start_x_mm[rows], tracks.start_y_mm[rows]])
    last = np.column_stack([tracks.end_x_mm[rows], tracks.end_y_mm[rows]])
    layer, width = tracks.layer[rows].astype(np.int64), tracks.width_mm[rows]
    return ReturnTracks(rows, layer, np.stack([first, last]), width, np.zeros((2, len(rows))))


def _joined(one: ReturnTracks, other: ReturnTracks) -> ReturnTracks:
    return ReturnTracks(
        np.concatenate([one.row, other.row]),
        np.concatenate([one.layer, other.layer]),
        np.concatenate([one.ends, other.ends], axis=1),
        np.concatenate([one.width_mm, other.width_mm]),
        np.concatenate([one.sunk_mm, other.sunk_mm], axis=1),
    )


def _cut_at_fills(net: NetBuilder, pieces: ReturnTracks) -> ReturnTracks:
    steps = np.maximum(np.ceil(2 * pieces.length_mm / net.leaves.grid.pitch_mm), 2).astype(np.int64)
    track = np.repeat(np.arange(len(pieces)), steps + 1)
    number = np.arange(len(track)) - np.repeat(np.cumsum(steps + 1) - steps - 1, steps + 1)
    at = pieces.ends[0, track] + (number / steps[track])[:, None] * (pieces.ends[1] - pieces.ends[0])[track]
    outside = ~net.filled_at(pieces.layer[track], *at.T)
    begins = np.flatnonzero(outside & ((number == 0) | ~np.roll(outside, 1)))
    stops = np.flatnonzero(outside & ((number == steps[track]) | ~np.roll(outside, -1)))
    of = track[begins]
    # where it goes on in the fill, no further than its next piece
    start = np.searchsorted(track, of)
    before, after = np.append(-1, stops[:-1]), np.append(begins[1:], len(track))
    linked = net.links_at(pieces.layer[track], *at.T) >= WELL_LINKED
    lowest, highest = np.maximum(start, before + 1), np.minimum(start + steps[of], after - 1)
    one = np.array([_landing(linked, *way, -1) for way in zip(begins.tolist(), lowest.tolist(), strict=True)], np.int64)
    two = np.array([_landing(linked, *way, 1) for way in zip(stops.tolist(), highest.tolist(), strict=True)], np.int64)
    ends = np.stack([at[one], at[two]])
    # the fill begins half a step beyond the last place outside; cells count as filled from a quarter of them on
    inside = np.stack([begins - one, two - stops])
    step = pieces.length_mm[of] / steps[of]
    depth = (inside - 0.5) * step - net.leaves.grid.pitch_mm / 4
    width = pieces.width_mm[of]
    sunk = np.where(inside > 0, depth - _entry_mm(width, depth), 0.0)
    return ReturnTracks(pieces.row[of], pieces.layer[of], ends, width, sunk)


def _entry_mm(width_mm: Floats, depth_mm: Floats) -> Floats:
    """Length of a track that spreads as much as its end at the edge of a fill does more than a contact within it.

    A slit of width w at the edge is a contact of radius w/4 and its image in one place; a contact of radius a has its
    image in the edge twice the depth away.
    """
    image_mm = 2 * np.clip(depth_mm, 1e-3, MOST_DEPTH_MM)
    squares = np.log(2 * RECTANGLE_RADIUS * width_mm * image_mm / (width_mm / 4) ** 2) / (2 * np.pi)
    return np.asarray(width_mm * np.maximum(squares, 0.0))


def _landing(linked: NDArray[np.bool_], edge: int, last: int, way: int) -> int:
    """Return the first place behind the edge of a fill from which the fill leads on, at most up to the last one."""
    if (last - edge) * way <= 0:
        return edge
    deep = edge + way * min(DEPTH, abs(last - edge))
    return next((k for k in range(deep, last + way, way) if linked[k]), deep)


def own_share(pieces: ReturnTracks) -> Floats:
    """Return the share of each piece's copper that counts, where parallel ones lie on it: 1/2 of one drawn twice."""
    import shapely  # noqa: PLC0415

    share = np.ones(len(pieces))
    length = np.maximum(pieces.length_mm, 1e-9)
    way = (pieces.ends[1] - pieces.ends[0]) / length[:, None]
    shapes = shapely.buffer(
        shapely.linestrings(np.swapaxes(pieces.ends, 0, 1)), pieces.width_mm / 2, cap_style="flat", quad_segs=1
    )
    one, two = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    cross = way[one, 0] * way[two, 1] - way[one, 1] * way[two, 0]
    parallel = (one != two) & (pieces.layer[one] == pieces.layer[two]) & (np.abs(cross) <= SAME_WAY)
    one, two = one[parallel], two[parallel]
    common = shapely.area(shapely.intersection(shapes[one], shapes[two])) / (length * pieces.width_mm)[one]
    times = np.bincount(one, common, len(pieces))
    return np.asarray(share * np.maximum(1 - times / 2, 1 / (1 + times)))


def covered_mm(width_mm: Floats, across_mm: Floats, edge_mm: Floats, radius_mm: Floats) -> Floats:
    """Return the length of a track that a contact on its end takes away; negative where spreading adds more.

    Up to the contact's edge where that is as wide as the track. A small one of radius a spreads over
    ln(w/(2 pi a))/(2 pi) squares, by its images in both sides of the track. Between, by its width over the track's.

    Args:
        width_mm: of the track.
        across_mm: width of the contact across the track.
        edge_mm: from the track's end to the contact's edge along the track.
        radius_mm: of the round contact that spreads current as this one does.
    """
    full = np.clip(across_mm / width_mm, 0.0, 1.0)
    small = width_mm * np.log(2 * np.pi * radius_mm / width_mm) / (2 * np.pi)
    return np.asarray(full * edge_mm + (1 - full) * np.minimum(small, edge_mm))
