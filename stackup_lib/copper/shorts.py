"""Copper of different nets that overlaps, and where net ties allow it.

KiCad's net ties join the nets of their pads, within their own copper, and pads of one number are one pin; whatever else
overlaps is a short.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.copper.distances import cores
from stackup_lib.copper.shapes import CopperShape, CopperShapes, Mask, copper_pads, pad_pieces, pad_rows
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from shapely import Geometry

QUARTER = 32
"""Chords of a quarter circle: a radius is short by a thousandth at most."""


CHORD_SHARE = 1e-3
"""More than the share of a radius that lies between a circle and its chords."""

EXACT_MM = 1e-7
"""A tenth of KiCad's grid: what a gap between straight pieces may err by."""


JoinedAreas = dict[int, list["Geometry"]]
"""Areas in which two nets are joined, by the number that `net_pairs` gives these."""


@entity
class NetTie:
    """A group of pads that may join their nets.

    Attributes:
        nets: those of its pads.
        layers: bit mask of the copper layers that the pads lie on.
        area: convex hull of the pads: the copper that joins them lies within.
    """

    nets: Ints
    layers: int
    area: Geometry

    def joins(self, one: CopperShapes, other: CopperShapes) -> Ints:
        """Return the rows of pairs of pieces whose nets it ties."""
        is_tied = (np.any(pieces.net[:, None] == self.nets, axis=1) for pieces in (one, other))
        return np.flatnonzero(np.logical_and(*is_tied))


def net_ties(board: Board) -> tuple[NetTie, ...]:
    """Return the net ties of a board that join different nets."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with copper needs it

    pads, found = board.pads, []
    tied = np.flatnonzero((pads.tie >= 0) & copper_pads(board))
    pieces = pad_pieces(board, tied)
    shapes, middles = piece_areas(board, pieces), shapely.points(pads.x_mm[tied], pads.y_mm[tied])
    for tie in distinct(pads.tie[tied]).tolist():
        is_own = pads.tie[tied] == tie
        nets = distinct(pads.net[tied[is_own]])
        if len(nets) < 2:
            continue
        parts = np.concatenate([shapes[pads.tie[pieces.row] == tie], middles[is_own]])
        layers = int(np.bitwise_or.reduce(pads.layers[tied[is_own]]))
        found.append(NetTie(nets, layers, shapely.convex_hull(shapely.union_all(parts))))
    return tuple(found)


def is_near_tie(board: Board, nets: tuple[int, int], layer: int, at_mm: tuple[float, float], reach_mm: float) -> bool:
    """Tell whether a place on a layer is within reach of a net tie that joins two nets."""
    import shapely  # noqa: PLC0415

    pads = board.pads
    groups = [set(pads.tie[(pads.net == net) & (pads.tie >= 0)].tolist()) for net in nets]
    if groups[0].isdisjoint(groups[1]):
        return False
    ties = (tie for tie in net_ties(board) if tie.layers >> layer & 1 and set(nets) <= set(tie.nets.tolist()))
    return any(shapely.dwithin(tie.area, shapely.Point(at_mm), reach_mm) for tie in ties)


def overlaps(board: Board, gap_mm: Floats, one: CopperShapes, other: CopperShapes) -> Mask:
    """Tell which pairs overlap by more than `TOUCH_MM`, given their gaps of 0 or less where they touch.

    The gap between outlines without a radius, of rectangles and of fills, is 0 however far they overlap.
    """
    import shapely  # noqa: PLC0415

    found = np.asarray(gap_mm < -TOUCH_MM)
    is_fill = (one.kind == CopperShape.FILL) & (other.kind == CopperShape.FILL)
    sharp = np.flatnonzero(~found & (gap_mm <= 0) & (is_fill | ~(one.is_straight & other.is_straight)))
    if len(sharp):
        a, b = one.where(sharp), other.where(sharp)
        cross = shapely.crosses(cores(board, a), cores(board, b))
        # of a rectangle what lies deeper inside than a touch, and so has one that another touches so far
        inner = [shapely.buffer(piece_areas(board, side), -TOUCH_MM, join_style="mitre") for side in (a, b)]
        deep = shapely.intersects(inner[0], piece_areas(board, b)) | shapely.intersects(piece_areas(board, a), inner[1])
        found[sharp] = np.where(is_fill[sharp], cross, deep)
    return found


def touches(gap_mm: Floats, one: CopperShapes, other: CopperShapes) -> Mask:
    """Tell which pairs of straight tracks, vias, round and oval pads touch: their gaps are as exact as the drawing."""
    is_fill = (one.kind == CopperShape.FILL) | (other.kind == CopperShape.FILL)
    return np.asarray((gap_mm < EXACT_MM) & one.is_straight & other.is_straight & ~is_fill)


def overlap_mm(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    """Return by how much pieces that overlap do so: the narrow side of what they have in common."""
    return np.array([narrow_side_mm(area) for area in _shared(board, one, other).tolist()], dtype=np.float64)


def overlap_middles(board: Board, one: CopperShapes, other: CopperShapes) -> Floats:
    """Return the middle of what pieces that overlap have in common, shape (pairs, 2)."""
    import shapely  # noqa: PLC0415

    return np.asarray(shapely.get_coordinates(shapely.centroid(_shared(board, one, other))))


def at_tie(board: Board, ties: Sequence[NetTie], layer: int, one: CopperShapes, other: CopperShapes) -> Mask:
    """Tell which overlaps of pairs lie within a net tie that joins their nets."""
    import shapely  # noqa: PLC0415

    found = np.zeros(len(one), dtype=np.bool_)
    for tie in ties:
        rows = tie.joins(one, other) if tie.layers >> layer & 1 else np.zeros(0, dtype=np.int64)
        if len(rows):
            shared = _shared(board, one.where(rows), other.where(rows))
            found[rows] |= shapely.dwithin(tie.area, shapely.centroid(shared), TOUCH_MM)
    return found


def same_pin(board: Board, one: CopperShapes, other: CopperShapes) -> Mask:
    """Tell which pairs are pads of one part with one number: KiCad takes them for one pad, whatever their nets say."""
    pads, first, second = board.pads, pad_rows(board, one), pad_rows(board, other)
    found = np.asarray((first >= 0) & (second >= 0))
    a, b = first[found], second[found]
    found[found] = (
        (pads.footprint[a] == pads.footprint[b]) & (pads.number[a] == pads.number[b]) & (pads.number[a] != "")
    )
    return found


def net_pairs(one: CopperShapes, other: CopperShapes) -> Ints:
    """Return a number for the two nets of each pair, the same whichever comes first."""
    return np.minimum(one.net, other.net) << 32 | np.maximum(one.net, other.net)


def joined_areas(
    board: Board, ties: Sequence[NetTie], layer: int, one: CopperShapes, other: CopperShapes
) -> JoinedAreas:
    """Return where nets are joined on a layer: within net ties, and where pieces (pairs of one and other) overlap."""
    found: JoinedAreas = {}
    for tie in ties:
        if tie.layers >> layer & 1:
            for low, high in combinations(sorted(tie.nets.tolist()), 2):
                found.setdefault(low << 32 | high, []).append(tie.area)
    for pair, area in zip(net_pairs(one, other).tolist(), _shared(board, one, other).tolist(), strict=True):
        found.setdefault(pair, []).append(area)
    return found


def gaps_beyond(  # noqa: PLR0917 - pairs, their gaps, and what is left out
    board: Board, joined: JoinedAreas, gap_mm: Floats, one: CopperShapes, other: CopperShapes, reach_mm: float
) -> Floats:
    """Return the gaps of pairs outside the reach of the areas that join their nets; infinite where they have none.

    Args:
        board: the board.
        joined: where nets are joined.
        gap_mm: the least gap of each pair, wherever it is.
        one: the first piece of each pair.
        other: the second one.
        reach_mm: around each area.
    """
    import shapely  # noqa: PLC0415

    found, pairs = gap_mm.copy(), net_pairs(one, other)
    for pair, areas in joined.items():
        rows = np.flatnonzero(pairs == pair)
        if not len(rows):
            continue
        around = shapely.buffer(shapely.union_all(areas), reach_mm)
        shapely.prepare(around)
        for side in (one, other):
            rows = rows[shapely.intersects(around, shapely.box(*side.where(rows).boxes()))]
        sides = [side.where(rows) for side in (one, other)]
        left = [shapely.difference(_outlines(board, side), around) for side in sides]
        apart = np.nan_to_num(shapely.distance(*left), nan=np.inf)
        is_same = apart <= gap_mm[rows] + CHORD_SHARE * (sides[0].radius_mm + sides[1].radius_mm) + EXACT_MM
        found[rows] = np.where(is_same, gap_mm[rows], apart)
    return found


def _outlines(board: Board, pieces: CopperShapes) -> NDArray[np.object_]:
    """The outlines of pieces; of what has no radius the core."""
    found, is_core = cores(board, pieces), pieces.radius_mm == 0
    found[~is_core] = piece_areas(board, pieces.where(~is_core))
    return found


def _shared(board: Board, one: CopperShapes, other: CopperShapes) -> NDArray[np.object_]:
    """What the outlines of each pair have in common, or the way between them where they only touch."""
    import shapely  # noqa: PLC0415

    a, b = piece_areas(board, one), piece_areas(board, other)
    found = np.asarray(shapely.intersection(a, b), dtype=np.object_)
    apart = np.flatnonzero(shapely.is_empty(found))  # what only touches, by the chords of round ends
    found[apart] = shapely.shortest_line(a[apart], b[apart])
    return found


def piece_areas(board: Board, pieces: CopperShapes, quarter: int = QUARTER) -> NDArray[np.object_]:
    """The outlines of pieces, round ends as that many chords of a quarter circle."""
    import shapely  # noqa: PLC0415

    return np.asarray(shapely.buffer(cores(board, pieces), pieces.radius_mm, quad_segs=quarter), dtype=np.object_)


def narrow_side_mm(area: Geometry) -> float:
    """The shorter side of the narrowest rectangle around an area, 0 where it has none."""
    import shapely  # noqa: PLC0415

    around = shapely.oriented_envelope(area)
    if around.geom_type != "Polygon":
        return 0.0
    corners = shapely.get_coordinates(around)[:3]
    return float(np.min(np.hypot(*(corners[1:] - corners[:-1]).T)))
