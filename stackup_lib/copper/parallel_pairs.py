"""Which pairs run next to which others on a layer, how near and how far. Lengths in mm, gaps from edge to edge."""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.coupling import PARALLEL, PIECE_MM, TrackPieces
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

ALONG = 3 / 4
"""How far apart, along the track, the middles of pieces next to each other are at most: times the longest piece."""

PIECES_AT_ONCE = 4000
"""Each has dozens of others near it: those of all pieces of a layer would take 16 MB."""


@entity
class ParallelPairs:
    """Two groups of nets, such as the two traces of a pair, that run side by side.

    Attributes:
        first, second: numbers of the groups, the smaller first.
        gap_mm: of each section, ascending.
        length_mm: of each section.
        net: of the first group's trace at each section: of a pair either trace may be next to the other pair, or both.
    """

    first: int
    second: int
    gap_mm: Floats
    length_mm: Floats
    net: Ints

    def gap_over_mm(self, length_mm: float) -> float | None:
        """Return the gap within which one trace runs next to the others for a given length; None where none does."""
        gaps = []
        for net in distinct(self.net):
            mine = self.net == net
            enough = np.flatnonzero(np.cumsum(self.length_mm[mine]) >= length_mm)
            gaps += [float(self.gap_mm[mine][enough[0]])] if len(enough) else []
        return min(gaps, default=None)

    def length_within_mm(self, gap_mm: float) -> float:
        """Return for how long one trace runs within a gap."""
        near = self.gap_mm <= gap_mm
        return max((float(self.length_mm[near & (self.net == net)].sum()) for net in distinct(self.net)), default=0.0)


def side_by_side(pieces: TrackPieces, group: Ints, reach_mm: float) -> tuple[ParallelPairs, ...]:
    """Return the groups that run in parallel within reach of one another, all pieces being of one layer.

    Each piece of the lower group counts once, with the nearest parallel piece of the other group.

    Args:
        pieces: of one layer.
        group: number of each piece's group.
        reach_mm: largest gap that counts.
    """
    one, other, gap = next_to(pieces, group, reach_mm)
    if not len(one):
        return ()
    order = np.lexsort((gap, one, group[other], group[one]))
    one, other, gap = one[order], other[order], gap[order]
    keys = np.column_stack([group[one], group[other], one])
    nearest = np.ones(len(one), dtype=np.bool_)
    nearest[1:] = np.any(keys[1:] != keys[:-1], axis=1)
    one, gap, keys = one[nearest], gap[nearest], keys[nearest]
    begins = np.flatnonzero(np.any(np.diff(keys[:, :2], axis=0, prepend=-1), axis=1))
    found = []
    for begin, gaps in zip(begins.tolist(), np.split(gap, begins[1:]), strict=True):
        rows = begin + np.argsort(gaps, kind="stable")
        first, second = keys[begin, :2].tolist()
        found.append(ParallelPairs(first, second, gap[rows], pieces.length_mm[one[rows]], pieces.net[one[rows]]))
    return tuple(found)


def next_to(pieces: TrackPieces, group: Ints, reach_mm: float) -> tuple[Ints, Ints, Floats]:
    """Return (row, row, gap) of parallel pieces next to each other; the first is of the lower group.

    Args:
        pieces: of one layer.
        group: number of each piece's group; pieces of one group are not next to each other.
        reach_mm: largest gap that counts.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with high-speed pairs needs it

    widest, longest = (float(column.max(initial=0.0)) for column in (pieces.width_mm, pieces.length_mm))
    across = reach_mm + widest
    farthest = min(math.hypot(ALONG * longest, across), across + PIECE_MM)
    x, y = pieces.x_mm, pieces.y_mm
    tree = shapely.STRtree(shapely.points(x, y))
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    for begin in range(0, len(pieces), PIECES_AT_ONCE):
        some = slice(begin, begin + PIECES_AT_ONCE)
        # boxes find a few more than are within reach, and find them sooner than distances do
        boxes = x[some] - farthest, y[some] - farthest, x[some] + farthest, y[some] + farthest
        one, other = tree.query(diagonals(boxes))
        found.append(_adjacent(pieces, group, one + begin, other, reach_mm))
    one, other, gap = (np.concatenate(column) for column in zip(*found, strict=True))
    return one, other, gap


def _adjacent(pieces: TrackPieces, group: Ints, one: Ints, other: Ints, reach_mm: float) -> tuple[Ints, Ints, Floats]:
    """Return those of some pairs of pieces that are next to each other, with their gap."""
    apart = group[one] < group[other]
    one, other = one[apart], other[apart]
    away = (pieces.x_mm[other] - pieces.x_mm[one]) + 1j * (pieces.y_mm[other] - pieces.y_mm[one])
    turned = away * pieces.direction[other].conj()
    adjacent = np.abs(turned.real) <= pieces.length_mm[other] / 2 + pieces.length_mm[one] / 4  # at most `ALONG`
    parallel = np.abs((pieces.direction[one] * pieces.direction[other].conj()).real) >= PARALLEL
    # to the piece itself, not to the line it is on: at a bend that line comes nearer than any copper
    past_end = np.maximum(np.abs(turned.real) - pieces.length_mm[other] / 2, 0.0)
    gap = np.hypot(turned.imag, past_end) - (pieces.width_mm[one] + pieces.width_mm[other]) / 2
    kept = adjacent & parallel & (gap > 0) & (gap <= reach_mm)
    return one[kept], other[kept], gap[kept]
