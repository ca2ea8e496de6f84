"""Small boards whose ground carries a current from U1 to J1, and its drop by two solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fixtures.miniboard import build
from stackup_lib.board.board import Board
from stackup_lib.kicad.read.reader import read_board
from stackup_lib.power.ground_return.ground_return import ReturnDrops, solve_return
from stackup_lib.power.ground_return.return_grid import GridSize
from stackup_lib.power.ground_return.solved_return import ReturnFlow
from stackup_lib.power.rail_drop.rail import Load, Terminal, copper_of, solve_rail
from stackup_lib.power.rail_drop.sheets import Precision

STACKUP = 'F.Cu 0.035\ncore 1.5 "FR4" dk=4.2 df=0.02\nB.Cu 0.035'


def pin(reference: str, x: float, y: float, size: Sequence[float] = (1.0, 1.0), **more: object) -> Mapping[str, object]:
    pad = {"number": "1", "net": "GND", "size_mm": list(size), "shape": "rect"}
    side = {"side": more.pop("side")} if "side" in more else {}
    return {"reference": reference, "at_mm": [x, y], "pads": [pad | more], **side}


def fill(layer: str, *rect: float) -> Mapping[str, object]:
    return {"net": "GND", "layer": layer, "rect_mm": list(rect)}


def board_of(folder: Path, **keys: object) -> Board:
    return read_board(build({"size_mm": [60, 40], "stackup": STACKUP, **keys}, folder, "ground"))


def terminals_of(board: Board, names: Sequence[str], net: str = "GND") -> list[Terminal]:
    on = board.pads.net == board.net_index[net]
    reference = board.footprints.reference[board.pads.footprint]
    return [Terminal(name=name, pads=tuple(np.flatnonzero(on & (reference == name)).tolist())) for name in names]


def solved(board: Board, amperes: float = 1.0, size: GridSize | None = None) -> ReturnDrops:
    """From U1's pads to J1's."""
    flow = ReturnFlow(entry=0, exit=1, current_a=amperes)
    return solve_return(
        board, "GND", copper_of(board, 0.02), terminals_of(board, ("U1", "J1")), flows=[flow], pairs=[(0, 1)], size=size
    )


def elements_v(board: Board, gap: float = 0.01) -> float:
    """The same by finite elements, between bounds."""
    entry, leave = terminals_of(board, ("U1", "J1"))
    load = Load(name="U1", pads=entry.pads, current_a=1.0)
    precision = Precision(step_mm=1.0, gap=gap)
    return solve_rail(board, "GND", copper_of(board, 0.02), leave, [load], precision=precision).worst.drop_v.nominal
