"""The geometry in which a pair was really routed: width and gap, piece by piece. Lengths in mm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.columns import Columns
from stackup_lib.board.flat_pairs import CELLS
from stackup_lib.core.record import entity

PIECE_MM = 1.0
"""Tracks are looked at in pieces of at most this length: a track may run next to its complement only in part."""

ROUNDING = 1e-5
"""Of a piece: a track that is longer by less than coordinates in nanometres can tell is not cut once more."""

MOST_PIECES, MOST_PIECES_PER_TRACK = 200_000, 100
"""More of them are made longer: no file of a few tracks fills the memory. Boards of 60 m of tracks are known."""

PARALLEL = 0.985
"""Cosine from which two tracks count as parallel: 10 degrees."""

ARC_PIECES = 8
"""An arc is treated as this many pieces, each as straight as its chord and placed at its middle."""

ALONE = np.nan
"""Gap of a piece without a parallel complement on its layer."""


@entity
class TrackPieces(Columns):
    """Straight pieces of routed tracks, one row each.

    Attributes:
        track: index into `Board.tracks`.
        part: which piece of its track it is, from 0.
    """

    track: Ints
    part: Ints
    net: Ints
    layer: Ints
    x_mm: Floats
    y_mm: Floats
    direction: NDArray[np.complex128]
    width_mm: Floats
    length_mm: Floats


@entity
class PairGeometry:
    """Both traces of a pair, piece by piece; `gap_mm` is `ALONE` (not a number) without a complement next to it."""

    pieces: TrackPieces
    gap_mm: Floats


def piece_counts(board: Board, rows: Ints) -> Ints:
    """Return into how many pieces each of some tracks is cut."""
    is_arc = ~np.isnan(board.tracks.mid_x_mm[rows])
    most = MOST_PIECES + MOST_PIECES_PER_TRACK * len(board.tracks)
    longest_mm = max(PIECE_MM, float(board.tracks.length_mm.sum()) / most)
    pieces = np.maximum(1, np.ceil(board.tracks.length_mm[rows] / longest_mm - ROUNDING))
    return np.where(is_arc, ARC_PIECES, pieces).astype(np.int64)


def pieces_of(board: Board, rows: Ints) -> TrackPieces:
    """Cut tracks and arcs into short straight pieces."""
    tracks = board.tracks
    start = tracks.start_x_mm[rows] + 1j * tracks.start_y_mm[rows]
    middle = tracks.mid_x_mm[rows] + 1j * tracks.mid_y_mm[rows]
    end = tracks.end_x_mm[rows] + 1j * tracks.end_y_mm[rows]
    length = tracks.length_mm[rows]
    count = piece_counts(board, rows)
    owner = np.repeat(np.arange(len(rows)), count)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    from_share, to_share = step / count[owner], (step + 1) / count[owner]
    first = _along(start[owner], middle[owner], end[owner], from_share)
    last = _along(start[owner], middle[owner], end[owner], to_share)
    chord = last - first
    centre = _along(start[owner], middle[owner], end[owner], (from_share + to_share) / 2)
    unit = chord / np.where(np.abs(chord) > 0, np.abs(chord), 1.0)
    return TrackPieces(
        track=rows[owner],
        part=step,
        net=tracks.net[rows][owner],
        layer=tracks.layer[rows][owner].astype(np.int64),
        x_mm=centre.real,
        y_mm=centre.imag,
        direction=unit,
        width_mm=tracks.width_mm[rows][owner],
        length_mm=(length / count)[owner],
    )


def _along(
    start: NDArray[np.complex128], middle: NDArray[np.complex128], end: NDArray[np.complex128], share: Floats
) -> NDArray[np.complex128]:
    """Return points at a share of the way along straight tracks and arcs (those that have a middle)."""
    straight = start + (end - start) * share
    is_arc = ~np.isnan(middle.real)
    if not np.any(is_arc):
        return straight
    a, b, c = start[is_arc], middle[is_arc], end[is_arc]
    centre = _circumcentre(a, b, c)
    finite = np.isfinite(centre.real)
    with np.errstate(divide="ignore", invalid="ignore"):  # of three points in a line, which have no centre
        turn_b = np.angle((b - centre) / (a - centre))
        turn = np.angle((c - centre) / (a - centre))
    # the arc passes its middle: when the short way round does not, it goes the other way
    wrong = (np.sign(turn_b) != np.sign(turn)) | (np.abs(turn_b) > np.abs(turn))
    turn = np.where(wrong, turn - 2 * np.pi * np.sign(turn), turn)
    with np.errstate(invalid="ignore"):
        on_arc = centre + (a - centre) * np.exp(1j * turn * share[is_arc])
    out = straight.copy()
    out[is_arc] = np.where(finite, on_arc, straight[is_arc])
    return out


def _circumcentre(
    a: NDArray[np.complex128], b: NDArray[np.complex128], c: NDArray[np.complex128]
) -> NDArray[np.complex128]:
    """Return the centre of the circle through three points; not finite where they lie in a line."""
    u, v = b - a, c - a
    cross = (u.conj() * v).imag
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a + 1j * (u * np.abs(v) ** 2 - v * np.abs(u) ** 2) / (2 * cross))


def pair_geometry(board: Board, first: int, second: int) -> PairGeometry:
    """Return both nets of a pair in pieces, each with the gap to the nearest parallel track of the other.

    The gap is from edge to edge, at the middle of the piece.
    """
    rows = np.concatenate([np.nonzero(board.tracks.net == net)[0] for net in (first, second)])
    pieces = pieces_of(board, rows)
    return PairGeometry(pieces, pair_gaps(pieces, np.zeros(len(pieces), dtype=np.int64)))


def pair_gaps(pieces: TrackPieces, pair: Ints) -> Floats:
    """Return the gap of each piece to the nearest parallel track of the other net of its pair, `ALONE` without one.

    Args:
        pieces: of one or two nets a pair, those of a pair and of a net each in one run.
        pair: number of the pair of each piece.
    """
    return pair_sides(pieces, pair)[0]


def pair_sides(pieces: TrackPieces, pair: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the gaps of `pair_gaps`, the widths of those tracks, `ALONE` without one, and whether they are right.

    Right is seen along the piece, with x to the right and y down as in the board file.
    """
    gap, width = np.full(len(pieces), ALONE), np.full(len(pieces), ALONE)
    is_right = np.zeros(len(pieces), dtype=np.bool_)
    starts = np.flatnonzero(np.diff(pair, prepend=-1)).tolist()
    for first, last in zip(starts, [*starts[1:], len(pieces)][: len(starts)], strict=True):
        second = first + int(np.count_nonzero(pieces.net[first:last] == pieces.net[first]))
        if second < last:
            one, other = slice(first, second), slice(second, last)
            gap[one], width[one], is_right[one] = _sides(pieces, one, other)
            gap[other], width[other], is_right[other] = _sides(pieces, other, one)
    return gap, width, is_right


_Sides = tuple[Floats, Floats, NDArray[np.bool_]]


def _sides(pieces: TrackPieces, mine: slice, others: slice) -> _Sides:
    """Edge to edge distance from the middle of each piece, along its normal, to the nearest parallel other; its width.

    Third is whether that one is on the right.

    Of several that are as near it is the narrowest's.
    """
    count = others.stop - others.start
    few = max(1, CELLS // count)
    blocks = (slice(first, min(first + few, mine.stop)) for first in range(mine.start, mine.stop, few))
    gaps, widths, rights = zip(*(_sides_of_some(pieces, block, others) for block in blocks), strict=True)
    return np.concatenate(gaps), np.concatenate(widths), np.concatenate(rights)


def _sides_of_some(pieces: TrackPieces, some: slice, others: slice) -> _Sides:
    x, y, direction = pieces.x_mm[others], pieces.y_mm[others], pieces.direction[others]
    ux, uy = direction.real, direction.imag
    # how far along the other's line each piece lies from its middle: one product tells which are next to each other
    places = np.column_stack([pieces.x_mm[some], pieces.y_mm[some], np.full(some.stop - some.start, -1.0)])
    along = np.abs(places @ np.stack([ux, uy, x * ux + y * uy]))
    adjacent = along - pieces.length_mm[others] / 2 <= pieces.length_mm[some, None] / 4
    adjacent &= pieces.layer[some, None] == pieces.layer[others]
    mine, its = np.divmod(np.flatnonzero(adjacent), len(x))
    at, there = mine + some.start, its + others.start
    mine_x, mine_y = pieces.direction.real[at], pieces.direction.imag[at]
    parallel = np.abs(mine_x * ux[its] + mine_y * uy[its]) >= PARALLEL
    mine, its, at, there = mine[parallel], its[parallel], at[parallel], there[parallel]
    dx, dy = pieces.x_mm[there] - pieces.x_mm[at], pieces.y_mm[there] - pieces.y_mm[at]
    edge = np.abs(dy * ux[its] - dx * uy[its]) - (pieces.width_mm[there] + pieces.width_mm[at]) / 2
    nearest, width = np.full((2, some.stop - some.start), np.inf)
    np.minimum.at(nearest, mine, np.where(edge > 0, edge, np.inf))
    at_it = edge == nearest[mine]
    np.minimum.at(width, mine[at_it], pieces.width_mm[there[at_it]])
    is_right = np.zeros(some.stop - some.start, dtype=np.bool_)
    is_right[mine[at_it]] = (mine_x[parallel] * dy - mine_y[parallel] * dx)[at_it] > 0
    return np.where(np.isfinite(nearest), nearest, ALONE), np.where(np.isfinite(width), width, ALONE), is_right
