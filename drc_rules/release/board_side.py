"""The board's side of the comparison: what its files state about everything that a fab is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.impedance.board_targets import ordered_targets
from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.stackup import LayerKind, Ply, Stackup, StackupLayer
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import copper_faces_mm

HoleKey = tuple[int, int, bool, bool]
"""First and last copper layer, plated, slot."""
BackdrillKey = tuple[int, int]
"""Outer layer where it starts, deepest layer that it cuts."""


@record
class SheetOfBoard:
    """One copper layer, dielectric ply or mask; `gap` counts the copper layers above it."""

    label: str
    kind: LayerKind
    ply: Ply
    gap: int


@record
class OrderedLine:
    """A routed geometry with a target impedance; `tolerance_pct` is None where none is declared."""

    layer: int
    ohm: float
    tolerance_pct: float | None
    width_mm: float
    gap_mm: float | None
    planes: tuple[int, ...]


@record
class BoardSide:
    """What a board states; lengths in mm. `stackup` is None where it states none of its own."""

    board: Board
    stackup: Stackup | None
    sheets: tuple[SheetOfBoard, ...]
    holes: dict[HoleKey, Counter[float]]
    backdrills: dict[BackdrillKey, Counter[float]]
    filled: int
    capped: int
    targets: tuple[str, ...]
    target_ohms: tuple[float, ...]
    lines: tuple[OrderedLine, ...]

    @property
    def can_be_written(self) -> bool:
        """Whether `release --fix` can write a file of the board: its rows are those of the board's own stackup."""
        return self.stackup is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Copper layers from the top."""
        return tuple(layer.name for layer in self.board.copper_layers)

    def name(self, index: int | None) -> str:
        """Return a copper layer's name."""
        return self.names[index] if index is not None and 0 <= index < len(self.names) else "no layer of the board"

    def depth_mm(self, key: BackdrillKey) -> tuple[float, float] | None:
        """Return the depth that cuts the last layer of a backdrill, and the depth that reaches the next one."""
        faces = copper_faces_mm(self.stackup) if self.stackup else ()
        start, cut = key
        if len(faces) != len(self.names):
            return None
        if start:
            next_mm = faces[cut - 1][1] if cut else 0.0
            return faces[-1][1] - faces[cut][0], faces[-1][1] - next_mm
        next_mm = faces[cut + 1][0] if cut + 1 < len(faces) else faces[-1][1]
        return faces[cut][1] - faces[0][0], next_mm - faces[0][0]


def board_side(ctx: Context) -> BoardSide:
    """Return what the board states."""
    board = ctx.board
    stackup = None if ctx.is_default_stackup else board.stackup
    targets = ordered_targets(ctx)
    return BoardSide(
        board,
        stackup,
        tuple(_sheets(stackup)) if stackup else (),
        _holes(board),
        _backdrills(board),
        _protected(board, "filling", board.vias.filled),
        _protected(board, "capping", board.vias.capped),
        tuple(f"{t.target.ohm:g} ohm {t.target.kind} ({t.title})" for t in targets),
        tuple(t.target.ohm for t in targets),
        tuple(line for target in targets for line in _ordered(ctx, target)),
    )


def _ordered(ctx: Context, target: LineTarget) -> Iterator[OrderedLine]:
    tolerance_pct = declared_tolerance_pct(ctx, target)
    for line in target.routed:
        planes = tuple(sorted(k for k in line.references if k is not None))
        yield OrderedLine(line.layer, target.target.ohm, tolerance_pct, line.width_mm, line.gap_mm, planes)


def declared_tolerance_pct(ctx: Context, target: LineTarget) -> float | None:
    """Return the declared tolerance of a target: its own, else the board's."""
    for one in ctx.declarations.config.impedance:
        if (one.ohm, one.kind) == (target.target.ohm, target.target.kind) and one.tolerance_pct is not None:
            return one.tolerance_pct
    general = ctx.declarations.impedance_tolerance_pct
    return general.value if general.known else None


def _sheets(stackup: Stackup) -> list[SheetOfBoard]:
    found: list[SheetOfBoard] = []
    gap = 0
    for row in stackup.layers:
        if row.kind is LayerKind.COPPER:
            gap += 1
        if row.kind in (LayerKind.COPPER, LayerKind.MASK) or row.is_dielectric:
            found += [SheetOfBoard(_label(row, k), row.kind, ply, gap) for k, ply in enumerate(row.plies)]
    return found


def _label(row: StackupLayer, k: int) -> str:
    return f"{row.name}, ply {k + 1}" if len(row.plies) > 1 else row.name


def _holes(board: Board) -> dict[HoleKey, Counter[float]]:
    vias, pads, last = board.vias, board.pads, board.layer_count - 1
    found: dict[HoleKey, Counter[float]] = {}
    for first, end, drill in zip(
        vias.start_layer.tolist(), vias.end_layer.tolist(), vias.drill_mm.tolist(), strict=True
    ):
        found.setdefault((first, end, True, False), Counter())[round(drill, 6)] += 1
    for k in np.flatnonzero(np.isfinite(pads.drill_x_mm)).tolist():
        x, y = float(pads.drill_x_mm[k]), float(pads.drill_y_mm[k])
        key = 0, last, bool(pads.kind[k] != PadKind.NON_PLATED), abs(x - y) > 1e-6
        found.setdefault(key, Counter())[round(min(x, y), 6)] += 1
    return found


def _backdrills(board: Board) -> dict[BackdrillKey, Counter[float]]:
    found: dict[BackdrillKey, Counter[float]] = {}
    for drilling in (board.vias.drilling, board.pads.drilling):
        for sizes, starts, cuts in (
            (drilling.backdrill_size_mm, drilling.backdrill_start, drilling.backdrill_must_cut),
            (drilling.tertiary_size_mm, drilling.tertiary_start, drilling.tertiary_must_cut),
        ):
            for size, start, cut in zip(sizes.tolist(), starts.tolist(), cuts.tolist(), strict=True):
                if np.isfinite(size) and start >= 0 and cut >= 0:
                    found.setdefault((start, cut), Counter())[round(size, 6)] += 1
    return found


def _protected(board: Board, setting: str, column: np.ndarray[tuple[int], np.dtype[np.int8]]) -> int:
    by_default = board.ipc4761.get(setting, False)
    return int(np.count_nonzero((column == 1) | ((column == -1) & by_default)))
