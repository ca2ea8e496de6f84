"""Vias, pads and tracks as integers in units of 10 um, each position as its step from the one before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.kicad.read.items.shapes import arc

UNITS_PER_MM = 100
FRONT, BACK, BOTH = 0, 1, 2
MOST_CHORDS = 8
"""Of one arc in a drawing."""

Steps = tuple[int, ...]
"""x and y of the first point, then the step in x and y to each further one."""


@record
class ViewShapes:
    """What is drawn alike, together.

    Attributes:
        discs: diameter and centres.
        boxes: width, height, radius of the corners, turn in tenths of a degree, side and centres.
        lines: copper layer, width, and the two ends of each line.
    """

    discs: tuple[tuple[int, Steps], ...] = ()
    boxes: tuple[tuple[int, int, int, int, int, Steps], ...] = ()
    lines: tuple[tuple[int, int, Steps], ...] = ()

    @property
    def size(self) -> int:
        """How many numbers say where all of it is."""
        positions = [discs[-1] for discs in self.discs] + [boxes[-1] for boxes in self.boxes]
        return sum(len(one) for one in positions) + sum(len(lines[-1]) for lines in self.lines)


def units(mm: Floats) -> Ints:
    """Return lengths in units; 0 for what is not known."""
    return np.rint(np.nan_to_num(mm) * UNITS_PER_MM).astype(np.int64)


def steps(x: Ints, y: Ints) -> Steps:
    """Return points as steps."""
    points = np.column_stack([x, y])
    return tuple(np.diff(points, axis=0, prepend=np.zeros((1, 2), dtype=np.int64)).ravel().tolist())


def discs(board: Board, rows: Ints) -> Iterator[tuple[int, Steps]]:
    """Yield vias by their diameter."""
    vias = board.vias
    size = np.maximum(units(vias.size_mm[rows]), 1)
    for one, here in _alike(size[:, None], rows):
        yield one[0], steps(units(vias.x_mm[here]), units(vias.y_mm[here]))


def boxes(board: Board, rows: Ints) -> Iterator[tuple[int, int, int, int, int, Steps]]:
    """Yield pads by size, corners, turn and side."""
    pads = board.pads
    last = np.uint64(1) << np.uint64(max(board.layer_count - 1, 0))
    layers = pads.layers[rows]
    side = np.where(layers == 1, FRONT, np.where((layers == last) & (last > 1), BACK, BOTH))
    turn = np.rint(np.mod(pads.rotation_deg[rows], 360.0) * 10).astype(np.int64)
    size = units(pads.size_x_mm[rows]), units(pads.size_y_mm[rows])
    columns = np.column_stack([*size, units(pads.corner_mm[rows]), turn, side])
    angle = np.deg2rad(pads.rotation_deg)
    x = pads.x_mm + pads.shift_x_mm * np.cos(angle) + pads.shift_y_mm * np.sin(angle)
    y = pads.y_mm - pads.shift_x_mm * np.sin(angle) + pads.shift_y_mm * np.cos(angle)
    for (width, height, corner, tenths, where), here in _alike(columns, rows):
        yield width, height, corner, tenths, where, steps(units(x[here]), units(y[here]))


def lines(board: Board, rows: Ints) -> Iterator[tuple[int, int, Steps]]:
    """Yield tracks by layer and width; an arc as chords."""
    tracks = board.tracks
    columns = np.column_stack([tracks.layer[rows].astype(np.int64), np.maximum(units(tracks.width_mm[rows]), 1)])
    for (layer, width), here in _alike(columns, rows):
        straight = here[np.isnan(tracks.mid_x_mm[here])]
        start = np.column_stack([tracks.start_x_mm[straight], tracks.start_y_mm[straight]])
        end = np.column_stack([tracks.end_x_mm[straight], tracks.end_y_mm[straight]])
        ends = [np.stack([start, end], axis=1).reshape(-1, 2)]
        ends += [_chords(board, row) for row in here[~np.isnan(tracks.mid_x_mm[here])].tolist()]
        points = np.concatenate(ends)
        yield layer, width, steps(units(points[:, 0]), units(points[:, 1]))


def _chords(board: Board, row: int) -> Floats:
    """Both ends of each chord of an arc."""
    tracks = board.tracks
    x, y = arc(
        (float(tracks.start_x_mm[row]), float(tracks.start_y_mm[row])),
        (float(tracks.mid_x_mm[row]), float(tracks.mid_y_mm[row])),
        (float(tracks.end_x_mm[row]), float(tracks.end_y_mm[row])),
    )
    chosen = distinct(np.linspace(0, len(x) - 1, min(len(x), MOST_CHORDS + 1)).astype(np.int64))
    points = np.column_stack([x, y])[chosen]
    return np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 2)


def _alike(columns: Ints, rows: Ints) -> Iterator[tuple[list[int], Ints]]:
    """Yield rows whose columns agree."""
    if not len(rows):
        return
    unique, inverse = np.unique(columns, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    order = np.argsort(inverse, kind="stable")
    cuts = np.searchsorted(inverse[order], np.arange(1, len(unique)))
    yield from zip(unique.tolist(), np.split(rows[order], cuts), strict=True)
