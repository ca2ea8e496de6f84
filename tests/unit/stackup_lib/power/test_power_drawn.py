"""Rails over drawn copper: graphics, arms of custom pads, and pads of another size inside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from fixtures.miniboard import build
from stackup_lib.board.board import Board
from stackup_lib.kicad.read.reader import read_board
from stackup_lib.power.copper import sheet_resistance_ohm
from stackup_lib.power.rail_drop.net_copper import RailNotJoinedError, RailNotSolvedError, drawn_layers
from stackup_lib.power.rail_drop.rail import Load, RailDrop, Terminal, copper_of, solve_rail
from stackup_lib.power.rail_drop.sheets import Precision

OUTER_OHM = sheet_resistance_ohm(0.035)
STACKUP = """
F.Cu    0.035
prepreg 0.20  "2116" dk=4.2 df=0.02
In1.Cu  0.0175
core    1.00  "FR4" dk=4.2 df=0.02
In2.Cu  0.0175
prepreg 0.20  "2116" dk=4.2 df=0.02
B.Cu    0.035
"""

TRACKS = [{"net": "+5V", "layer": "F.Cu", "path_mm": path, "width_mm": 0.5} for path in ([[10, 10], [20, 10]],)]


def pin(reference: str, x: float, y: float, **more: object) -> Mapping[str, object]:
    pad = {"number": "1", "net": "+5V", "size_mm": [1.0, 1.0], "shape": "rect"} | more
    return {"reference": reference, "at_mm": [x, y], "pads": [pad]}


def board_of(folder: Path, **keys: object) -> Board:
    return read_board(build({"size_mm": [60, 40], "stackup": STACKUP, **keys}, folder, "rail"))


def solved(board: Board, amperes: float) -> RailDrop:
    """From U1 to J1."""

    def pads_of(reference: str) -> tuple[int, ...]:
        part = int(np.flatnonzero(board.footprints.reference == reference)[0])
        return tuple(np.flatnonzero(board.pads.footprint == part).tolist())

    load = Load(name="J1", pads=pads_of("J1"), current_a=amperes)
    feed = Terminal(name="U1", pads=pads_of("U1"))
    return solve_rail(board, "+5V", copper_of(board, plating_mm=0.02), feed, [load], precision=Precision(gap=0.05))


def bridged(folder: Path, net: str | None, **keys: object) -> Board:
    """A track from U1 to x = 20, and a line of 0.5 mm drawn from there to J1 at x = 31."""
    line = {"layer": "F.Cu", "path_mm": [[20, 10], [31, 10]], "width_mm": 0.5} | ({"net": net} if net else {})
    return board_of(folder, tracks=TRACKS, graphics=[line], parts=[pin("U1", 10, 10), pin("J1", 31, 10)], **keys)


def test_a_drawn_line_of_the_net_is_copper(tmp_path: Path) -> None:
    """20 mm of 0.5 mm between the pads, half of them drawn."""
    board = bridged(tmp_path, "+5V")

    assert solved(board, 1.0).worst.drop_v.nominal == pytest.approx(40 * OUTER_OHM, rel=1e-3)
    assert drawn_layers(board, board.net_index["+5V"]) == (0,)


def test_drawn_copper_without_a_net_is_no_proof_of_an_open_rail(tmp_path: Path) -> None:
    with pytest.raises(RailNotSolvedError, match="but graphics without a net") as told:
        solved(bridged(tmp_path, None), 1.0)
    assert not isinstance(told.value, RailNotJoinedError)


def test_drawn_copper_of_another_net_joins_nothing(tmp_path: Path) -> None:
    with pytest.raises(RailNotJoinedError, match="no copper joins U1 to J1"):
        solved(bridged(tmp_path, "+3V3"), 1.0)


def test_graphics_within_a_fill_add_nothing(tmp_path: Path) -> None:
    zone = {"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 5, 40, 15]}
    board = bridged(tmp_path, "+5V", zones=[zone])

    assert drawn_layers(board, board.net_index["+5V"]) == ()


def test_the_arm_of_a_custom_pad_conducts(tmp_path: Path) -> None:
    """From the anchor at x = 31 back to the end of the track: 10 mm of 1 mm, which are 10 squares."""
    load = pin("J1", 31, 10, shape=None, area_mm=[[-11, -0.5], [0, -0.5], [0, 0.5], [-11, 0.5]])
    board = board_of(tmp_path, tracks=TRACKS, parts=[pin("U1", 10, 10), load])

    assert solved(board, 1.0).worst.drop_v.nominal == pytest.approx(29.7 * OUTER_OHM, rel=0.02)


def stacked(folder: Path, inner_mm: float) -> Board:
    """J1 is a plated pad of 2 mm, inside of `inner_mm`, 0.6 mm before a fill on In1.Cu, which U1 joins."""

    def through(reference: str, x: float) -> Mapping[str, object]:
        return pin(reference, x, 10, size_mm=[2, 2], shape="circle", kind="through", drill_mm=0.3)

    zone = {"net": "+5V", "layer": "In1.Cu", "rect_mm": [10.6, 5, 50, 15]}
    path = board_of(folder, zones=[zone], parts=[through("J1", 10), through("U1", 40)]).path
    assert path is not None
    stack = (
        f'(padstack (mode front_inner_back) (layer "Inner" (shape circle) (size {inner_mm} {inner_mm}))'
        ' (layer "B.Cu" (shape circle) (size 2 2))) (remove_unused_layers no)'
    )
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("(remove_unused_layers no)", stack, 1), encoding="utf-8")
    return read_board(path)


def test_a_pad_is_as_large_as_each_layer_has_it(tmp_path: Path) -> None:
    """A ring of 1.6 mm inside reaches the fill, one of 0.5 mm does not, whatever the pad is outside."""
    assert solved(stacked(tmp_path / "a", 1.6), 1.0).worst.drop_v.nominal > 0
    with pytest.raises(RailNotJoinedError, match="no copper joins U1 to J1"):
        solved(stacked(tmp_path / "b", 0.5), 1.0)
