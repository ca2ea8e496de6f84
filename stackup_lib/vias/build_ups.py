"""Sequential build-up read off the vias: HDI class, stacked microvias, lamination cycles; and the pitch of BGAs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from stackup_lib.board.board import Board, Flags, Floats, Ints, PadKind
from stackup_lib.core.arrays import distinct, median
from stackup_lib.core.record import record
from stackup_lib.vias.via_spans import lasered, min_lamination_cycles

SAME_SPOT_MM = 0.02
"""Microvias whose centres are no further apart lie on one another."""

ROWS_AT_ONCE = 256
"""Points whose distances to all others are held in memory together."""

LEAST_BALLS = 36
LEAST_ROWS = 5
LEAST_SHARE = 0.4
"""A footprint is a BGA with at least this many balls, rows and columns, filling this share of the grid; a staggered one
fills half."""


@record
class Stack:
    """Microvias on one another, of one net."""

    levels: int
    net: int
    x_mm: float
    y_mm: float
    top: int
    bottom: int


@record
class BuildUps:
    """How a board is built up outward from its core.

    Attributes:
        top, bottom: layers of microvias on either side, counted from the outside.
        is_any_layer: microvias join every pair of neighbouring layers.
        stacks: microvias on one another, two levels and more, highest first.
        lamination_cycles: minimum number of lamination cycles in sequence; None where the spans of the vias cross, so
            that no sequence makes them.
    """

    layer_count: int
    top: int
    bottom: int
    is_any_layer: bool
    stacks: tuple[Stack, ...]
    lamination_cycles: int | None

    @property
    def per_side(self) -> int:
        """Build-ups on the side that has more of them; an any-layer board has all but its innermost pair."""
        return self.layer_count // 2 - 1 if self.is_any_layer else max(self.top, self.bottom)

    @property
    def name(self) -> str:
        """`through vias`, `2-N-2` or `any-layer`; sides that differ are built as the higher of them."""
        if self.is_any_layer:
            return "any-layer"
        return f"{self.per_side}-N-{self.per_side}" if self.per_side else "through vias"


def microvias(board: Board) -> Ints:
    """Return the rows of the vias that are lasered: KiCad's microvias, and fine blind vias to the next layer."""
    return np.flatnonzero(lasered(board)).astype(np.int64)


def build_ups(board: Board) -> BuildUps:
    """Return how a board is built up."""
    rows, count = microvias(board), board.layer_count
    starts, ends = board.vias.start_layer[rows].astype(np.int64), board.vias.end_layer[rows].astype(np.int64)
    spans = set(zip(starts.tolist(), ends.tolist(), strict=True))
    top = max((b for a, b in spans if a + b < count - 1), default=0)
    bottom = max((count - 1 - a for a, b in spans if a + b > count - 1), default=0)
    is_any = count > 2 and all((k, k + 1) in spans for k in range(count - 1))
    stacks = sorted(_stacks(board, rows), key=lambda s: (-s.levels, s.net, s.x_mm, s.y_mm))
    return BuildUps(count, top, bottom, is_any, tuple(stacks), min_lamination_cycles(board))


def _stacks(board: Board, rows: Ints) -> Iterator[Stack]:
    vias = board.vias
    for here in _same_spots(board, rows):
        spans = sorted({(int(vias.start_layer[row]), int(vias.end_layer[row])) for row in here})
        for chain in _chains(spans):
            if len(chain) > 1:
                at = float(vias.x_mm[here[0]]), float(vias.y_mm[here[0]])
                yield Stack(len(chain), int(vias.net[here[0]]), *at, top=chain[0][0], bottom=chain[-1][1])


def rows_under_microvias(board: Board) -> tuple[int, ...]:
    """Return the rows of the microvias on which another one of their net stands, on the side of the nearer surface."""
    vias, found = board.vias, []
    for here in _same_spots(board, microvias(board)):
        starts, ends = {int(vias.start_layer[row]) for row in here}, {int(vias.end_layer[row]) for row in here}
        for row in here:
            start, end = int(vias.start_layer[row]), int(vias.end_layer[row])
            above, below = start in ends, end in starts
            middle = start + end - (board.layer_count - 1)
            if (above and middle <= 0) or (below and middle >= 0):
                found.append(row)
    return tuple(sorted(found))


def _same_spots(board: Board, rows: Ints) -> Iterable[list[int]]:
    """Return the rows of vias of a net that lie on one another; a grid finds them, whatever side of its lines."""
    vias = board.vias
    x, y = vias.x_mm[rows], vias.y_mm[rows]
    columns, lines = (np.rint(at / SAME_SPOT_MM).astype(np.int64).tolist() for at in (x, y))
    spots: dict[tuple[int, int, int], list[int]] = {}
    for row, net, column, line in zip(rows.tolist(), vias.net[rows].tolist(), columns, lines, strict=True):
        own = (net, column, line)
        around = ((net, column + i, line + j) for i in (0, -1, 1) for j in (0, -1, 1))
        known = (cell for cell in around if cell in spots and (cell == own or _are_near(board, row, spots[cell][0])))
        spots.setdefault(next(known, own), []).append(row)
    return spots.values()


def _are_near(board: Board, row: int, other: int) -> bool:
    x, y = board.vias.x_mm, board.vias.y_mm
    return float(np.hypot(x[row] - x[other], y[row] - y[other])) <= SAME_SPOT_MM


def _chains(spans: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Runs of spans of which each begins where the one before ends."""
    chain: list[tuple[int, int]] = []
    for span in spans:
        if chain and span[0] != chain[-1][1]:
            yield chain
            chain = []
        chain.append(span)
    if chain:
        yield chain


@record
class Bga:
    """A footprint with balls in a grid; `box_mm` is (left, top, right, bottom) of their centres."""

    footprint: int
    balls: int
    pitch_mm: float
    box_mm: tuple[float, float, float, float]


def bgas(board: Board) -> tuple[Bga, ...]:
    """Return the ball grid arrays: round surface pads in a well-filled grid, whatever the part is called.

    Round apertures of the paste alone, as over a large thermal pad, are no balls.
    """
    pads = board.pads
    is_ball = (pads.kind == PadKind.SMD) & (pads.shape == "circle") & (pads.layers != 0)
    balls = np.flatnonzero(is_ball & (pads.footprint >= 0))
    if not len(balls):
        return ()
    counts = np.bincount(pads.footprint[balls])
    found = []
    for footprint in np.flatnonzero(counts >= LEAST_BALLS).tolist():
        rows = balls[pads.footprint[balls] == footprint]
        pitch = _pitch_mm(pads.x_mm[rows], pads.y_mm[rows], float(board.footprints.rotation_deg[footprint]))
        if pitch is not None:
            x, y = pads.x_mm[rows], pads.y_mm[rows]
            box = float(x.min()), float(y.min()), float(x.max()), float(y.max())
            found.append(Bga(footprint, len(rows), pitch, box))
    return tuple(found)


def _pitch_mm(x_mm: Floats, y_mm: Floats, rotation_deg: float) -> float | None:
    """Distance of nearest neighbours in a grid, which may be staggered; None where the points lie in none."""
    for sign in (1, -1):
        angle = np.radians(sign * rotation_deg)
        x = distinct(np.round(x_mm * np.cos(angle) - y_mm * np.sin(angle), 2))
        y = distinct(np.round(x_mm * np.sin(angle) + y_mm * np.cos(angle), 2))
        if min(len(x), len(y)) < LEAST_ROWS or len(x_mm) < LEAST_SHARE * len(x) * len(y):
            continue
        return round(median(_nearest_mm(x_mm, y_mm)), 3)
    return None


def _nearest_mm(x_mm: Floats, y_mm: Floats) -> Floats:
    """Distance of each point to the nearest other one; a tree would take longer to load than this to run."""
    nearest = np.empty(len(x_mm))
    for first in range(0, len(x_mm), ROWS_AT_ONCE):
        here = slice(first, first + ROWS_AT_ONCE)
        squared = (x_mm[here, None] - x_mm) ** 2 + (y_mm[here, None] - y_mm) ** 2
        own = np.arange(len(squared))
        squared[own, own + first] = np.inf
        nearest[here] = np.sqrt(squared.min(axis=1))
    return nearest


def any_inside(x_mm: Floats, y_mm: Floats, box_mm: tuple[float, float, float, float]) -> bool:
    """Return True when any of the points is in a box."""
    left, top, right, bottom = box_mm
    inside: Flags = ((x_mm >= left) & (x_mm <= right) & (y_mm >= top) & (y_mm <= bottom)).astype(np.int8)
    return bool(np.any(inside))
