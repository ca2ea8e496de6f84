"""Tracks as straight lines, and where those of one net meet. Lengths in mm."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity
from stackup_lib.kicad.read.items.shapes import arc
from stackup_lib.return_path.joints import joined_in_copper
from stackup_lib.return_path.plane_copper import PlaneLines
from stackup_lib.return_path.runs import Corners


@entity
class TrackLines:
    """Tracks as straight lines, arcs in chords; what has no length is left out.

    Attributes:
        track: row of `Board.tracks` of each line.
        net, width_mm: of that track.
    """

    track: Ints
    net: Ints
    lines: PlaneLines
    width_mm: Floats

    @cached_property
    def corners(self) -> Corners:
        """Where they meet."""
        return Corners(self.lines, self.net)

    def joined(self) -> TrackLines:
        """Return the same lines, cut where another one of the net ends in their copper."""
        part, lines = joined_in_copper(self.lines, self.net, self.width_mm)
        return TrackLines(self.track[part], self.net[part], lines, self.width_mm[part])


def track_lines(board: Board, rows: Ints) -> TrackLines:
    """Return some rows of `Board.tracks` as straight lines."""
    tracks = board.tracks
    is_straight = np.isnan(tracks.mid_x_mm[rows])
    straight = rows[is_straight]
    owner, starts, ends = [straight], [_at(tracks.start_x_mm, tracks.start_y_mm, straight)], []
    ends.append(_at(tracks.end_x_mm, tracks.end_y_mm, straight))
    for k in distinct(rows[~is_straight]).tolist():
        points = ((float(x[k]), float(y[k])) for x, y in _corners(board))
        x, y = arc(*points)
        corners = np.array(x) + 1j * np.array(y)
        owner.append(np.full(len(corners) - 1, k, dtype=np.int64))
        starts.append(corners[:-1])
        ends.append(corners[1:])
    track, start, end = np.concatenate(owner), np.concatenate(starts), np.concatenate(ends)
    length = np.abs(end - start)
    kept = length > 1e-6
    track, start, end, length = track[kept], start[kept], end[kept], length[kept]
    lines = PlaneLines(start, (end - start) / length, length)
    return TrackLines(track, tracks.net[track], lines, tracks.width_mm[track])


def _at(x_mm: Floats, y_mm: Floats, rows: Ints) -> Complexes:
    return np.asarray(x_mm[rows] + 1j * y_mm[rows], dtype=np.complex128)


def _corners(board: Board) -> Iterable[tuple[Floats, Floats]]:
    t = board.tracks
    return (t.start_x_mm, t.start_y_mm), (t.mid_x_mm, t.mid_y_mm), (t.end_x_mm, t.end_y_mm)
