"""Sections of tracks over void, joined where one goes on into the next. Lengths in mm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.core.arrays import alike_rows
from stackup_lib.core.record import entity
from stackup_lib.return_path.plane_copper import PlaneLines

TOUCHING_MM = 1e-6
"""Ends that are nearer than this to the end of a track are at it."""

PROBE_MM = 0.01
"""So far beyond the end of a run its neighbourhood is looked at."""

Place = tuple[float, float]


@entity
class Run:
    """Sections over void, one row each: `missing` is the share of the band's current without plane.

    Attributes:
        ends: places where the run ends.
        beyond: places just beyond the ends, on a track, where the plane is back.
        open_ends: how often a track ends in the run.
    """

    piece: Ints
    from_mm: Floats
    to_mm: Floats
    missing: Floats
    ends: tuple[Place, ...] = ()
    beyond: tuple[complex, ...] = ()
    open_ends: int = 0

    @property
    def length_mm(self) -> float:
        """Of all sections together."""
        return float((self.to_mm - self.from_mm).sum())

    @staticmethod
    def merged(piece: Ints, from_mm: Floats, to_mm: Floats, missing: Floats) -> Run:
        """Join rows that touch on one piece; rows come in order of piece and place."""
        if not len(piece):
            return Run(piece, from_mm, to_mm, missing)
        opens = np.ones(len(piece), dtype=np.bool_)
        opens[1:] = (piece[1:] != piece[:-1]) | (from_mm[1:] - to_mm[:-1] > TOUCHING_MM)
        first = np.flatnonzero(opens)
        last = np.append(first[1:], len(piece)) - 1
        lengths = to_mm - from_mm
        mean = np.add.reduceat(missing * lengths, first) / np.add.reduceat(lengths, first)
        return Run(piece[first], from_mm[first], to_mm[last], mean)


class _Sets:
    def __init__(self, count: int) -> None:
        self.parent = list(range(count))

    def find(self, row: int) -> int:
        while self.parent[row] != row:
            self.parent[row] = self.parent[self.parent[row]]
            row = self.parent[row]
        return row

    def join(self, one: int, other: int) -> None:
        self.parent[max(self.find(one), self.find(other))] = min(self.find(one), self.find(other))


def joined_runs(runs: Run, lines: PlaneLines, corners: Corners, web_mm: float) -> Iterator[Run]:
    """Yield what belongs together: sections on one piece, or on pieces that meet, with less than a web between them.

    Args:
        runs: in order of piece and place.
        lines: all pieces, those without void too.
        corners: where they meet.
        web_mm: copper between two sections that is shorter than this joins them.
    """
    if not len(runs.piece):
        return
    sets, inner = _Sets(len(runs.piece)), set[tuple[int, int]]()
    _join_along(runs, web_mm, sets, inner)
    at_corner: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
    for row, piece in enumerate(runs.piece.tolist()):
        for side, away in ((0, float(runs.from_mm[row])), (1, float(lines.length_mm[piece] - runs.to_mm[row]))):
            if away < web_mm and (row, side) not in inner:
                at_corner[int(corners.of[piece, side])].append((away, row, side))
    for here in at_corner.values():
        nearest = min(here)
        for away, row, side in here:
            if (row, side) != nearest[1:] and runs.piece[row] != runs.piece[nearest[1]] and away + nearest[0] < web_mm:
                sets.join(row, nearest[1])
                inner.update(((row, side), nearest[1:]))
    members: dict[int, list[int]] = defaultdict(list)
    for row in range(len(runs.piece)):
        members[sets.find(row)].append(row)
    for rows in members.values():
        yield _with_ends(runs, rows, inner, lines, corners)


def _join_along(runs: Run, web_mm: float, sets: _Sets, inner: set[tuple[int, int]]) -> None:
    near = (runs.piece[1:] == runs.piece[:-1]) & (runs.from_mm[1:] - runs.to_mm[:-1] < web_mm)
    for row in np.flatnonzero(near).tolist():
        sets.join(row, row + 1)
        inner.update(((row, 1), (row + 1, 0)))


def corner_keys(points: Complexes, nets: Ints) -> Ints:
    """Return what is the same for ends of one net that meet, shape (points, 3): net, and place to 0.1 um."""
    return np.column_stack([nets, np.round(points.real * 1e4), np.round(points.imag * 1e4)]).astype(np.int64)


class Corners:
    """Where pieces of one net meet; pieces of different nets never do.

    Attributes:
        of: number of the corner at the start and at the end of each piece, shape (pieces, 2).
    """

    def __init__(self, lines: PlaneLines, nets: Ints) -> None:
        ends = np.stack([lines.start, lines.start + lines.direction * lines.length_mm], axis=1)
        _, corner = alike_rows(corner_keys(ends.ravel(), np.repeat(nets, 2)))
        self.of = corner.reshape(-1, 2)
        self._ends = np.argsort(corner, kind="stable")
        self._first = np.append(0, np.cumsum(np.bincount(corner)))

    def at(self, corner: int) -> list[tuple[int, int]]:
        """Return the (piece, side) that end at a corner."""
        ends = self._ends[self._first[corner] : self._first[corner + 1]]
        return [divmod(end, 2) for end in ends.tolist()]


def _with_ends(runs: Run, rows: list[int], inner: set[tuple[int, int]], lines: PlaneLines, corners: Corners) -> Run:
    ends: list[Place] = []
    beyond: list[complex] = []
    open_ends = 0
    for row, side in ((row, side) for row in rows for side in (0, 1) if (row, side) not in inner):
        piece = int(runs.piece[row])
        place = float((runs.to_mm if side else runs.from_mm)[row])
        start, way = complex(lines.start[piece]), complex(lines.direction[piece])
        at = start + way * place
        ends.append((at.real, at.imag))
        left = float(lines.length_mm[piece]) - place if side else place
        if left > TOUCHING_MM:
            beyond.append(at + way * min(PROBE_MM, left / 2) * (1 if side else -1))
            continue
        others = [other for other in corners.at(int(corners.of[piece, side])) if other != (piece, side)]
        beyond += [_just_inside(lines, other, far) for other, far in others]
        open_ends += not others
    picked = np.array(rows)
    return Run(
        runs.piece[picked],
        runs.from_mm[picked],
        runs.to_mm[picked],
        runs.missing[picked],
        tuple(ends),
        tuple(beyond),
        open_ends,
    )


def _just_inside(lines: PlaneLines, piece: int, side: int) -> complex:
    length = float(lines.length_mm[piece])
    step = min(PROBE_MM, length / 2)
    return complex(lines.start[piece] + lines.direction[piece] * (length - step if side else step))
