"""How far tracks run on without a break in one geometry: what is too short reflects little, however often it occurs."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.copper.coupling import TrackPieces
from stackup_lib.nets.routing.track_points import TOUCH_MM, Bools


def longest_runs_mm(board: Board, pieces: TrackPieces, kind: Ints, count: int) -> Floats:
    """Return the longest run of each kind of piece: along tracks, and from one to another where their ends meet.

    Where a run begins or ends within a track, the place is known to half a piece: the run counts as that much shorter.

    Args:
        board: whose tracks these are.
        pieces: of tracks, those of each in order.
        kind: of each piece, from 0; those of one kind are of one net and layer. -1 counts as none.
        count: number of kinds.
    """
    breaks = (np.diff(pieces.track, prepend=-1) != 0) | (np.diff(kind, prepend=-2) != 0)
    first = np.flatnonzero(breaks)
    if not len(first):
        return np.zeros(count)
    last = np.append(first[1:], len(pieces)) - 1
    track, of_kind = pieces.track[first], kind[first]
    at_start = pieces.part[first] == 0
    at_end = np.append(pieces.track[last[:-1] + 1] != pieces.track[last[:-1]], True)
    unsure = 0.5 * (2 - at_start.astype(np.int64) - at_end.astype(np.int64))
    length = np.add.reduceat(pieces.length_mm, first) - unsure * pieces.length_mm[first]
    run = _joined(board, track, of_kind, at_start, at_end)
    total = np.bincount(run, length, len(first))
    longest = np.zeros(count)
    np.maximum.at(longest, of_kind[of_kind >= 0], total[run[of_kind >= 0]])
    return longest


def _joined(board: Board, track: Ints, kind: Ints, at_start: Bools, at_end: Bools) -> Ints:
    """Return the lowest number of the spans that each is joined to, where the ends of tracks of one kind meet."""
    tracks = board.tracks
    span = np.concatenate([np.flatnonzero(at_start), np.flatnonzero(at_end)])
    x = np.concatenate([tracks.start_x_mm[track[at_start]], tracks.end_x_mm[track[at_end]]])
    y = np.concatenate([tracks.start_y_mm[track[at_start]], tracks.end_y_mm[track[at_end]]])
    places = np.column_stack([kind[span], np.round(x / TOUCH_MM), np.round(y / TOUCH_MM)])
    order = np.lexsort(places.T)
    differs = np.any(places[order][1:] != places[order][:-1], axis=1)
    place = np.empty(len(span), dtype=np.int64)
    place[order] = np.concatenate([[0], np.cumsum(differs)])
    run = np.arange(len(track))
    while True:
        lowest = np.full(len(span), len(track))
        np.minimum.at(lowest, place, run[span])
        nearer = run.copy()
        np.minimum.at(nearer, span, lowest[place])
        nearer = nearer[nearer]
        if np.array_equal(nearer, run):
            return run
        run = nearer
