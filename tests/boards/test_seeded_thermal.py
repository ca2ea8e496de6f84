"""One fact at a time about heat is broken in a demo board of KiCad, and exactly the clauses turn that rest on it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import PadKind
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, State, turned

# RoyalBlue54L Feather: U5 and U2 with 16 and 9 holes of their footprints in pads of 3.6 mm square. Its stackup is
# KiCad's default, so one row is given a laminate.
CONFIG = """
profile = "training-b200"
[[hot_part]]
refs = ["U5"]
power_w = 800
board_w = 1
cooling = "cold plate"
coin = true
path_k_per_w = 5
max_k_per_w = 6
via_fill = "resin"
via_capped = true
[[hot_part]]
refs = ["U2"]
power_w = 1
max_k_per_w = 60
via_fill = "resin"
via_capped = true
"""
U2 = 'refs = ["U2"]\npower_w = 1\nmax_k_per_w = 60\nvia_fill = "resin"\nvia_capped = true\n'
CLAUSES = (
    "board.thermal.vias",
    "board.thermal.resistance",
    "training.thermal_vias",
    "training.cooling",
    "training.coin",
)


def pads_of(case: Case, reference: str, *, plated: bool) -> np.ndarray:
    """Tell which pads of a part are plated holes, or are not."""
    board = case.board
    mine = board.footprints.reference[board.pads.footprint] == reference
    return np.asarray(mine & ((board.pads.kind == PadKind.THROUGH) == plated))


def without_holes(case: Case, reference: str, *, kept: int) -> Case:
    """Take the drills out of the plated holes of a part, but for the first few."""
    gone = pads_of(case, reference, plated=True)
    gone[np.flatnonzero(gone)[:kept]] = False
    pads = case.board.pads
    kind = np.where(gone, PadKind.SMD, pads.kind).astype(pads.kind.dtype)
    drill_x, drill_y = (np.where(gone, np.nan, column) for column in (pads.drill_x_mm, pads.drill_y_mm))
    return case.with_board(pads=replace(pads, kind=kind, drill_x_mm=drill_x, drill_y_mm=drill_y))


SEEDS: dict[str, tuple[str, Callable[[Case], Case], dict[str, str]]] = {
    "nobody has said which parts are hot": (
        "what the profile asks is open, what only declared parts are asked does not concern the board",
        lambda c: replace(c, config='profile = "training-b200"\n'),
        dict.fromkeys(CLAUSES[2:], "not verifiable") | dict.fromkeys(CLAUSES[:2], "not applicable"),
    ),
    "a reference that is not on the board": (
        "nothing about hot parts can be said while one of them is not known",
        lambda c: c.declared('"U2"', '"U99"'),
        dict.fromkeys(CLAUSES, "not verifiable"),
    ),
    "800 W in air": (
        "liquid is preferred; nothing else rests on it",
        lambda c: c.declared('"cold plate"', '"air"'),
        {"training.cooling": "failed"},
    ),
    "the cooling is no longer declared": (
        "no file holds it",
        lambda c: c.declared('cooling = "cold plate"\n', ""),
        {"training.cooling": "not verifiable"},
    ),
    "no coin": (
        "the pad is left to its vias, which are enough of them: a remark more",
        lambda c: c.declared("coin = true\n", "coin = false\n"),
        {"training.coin": "failed", "board.thermal.vias": "passed +1 -0"},
    ),
    "vias plugged but not capped": (
        "the pad is open for solder",
        lambda c: c.declared(U2, U2.replace("= true", "= false")),
        {"training.thermal_vias": "failed"},
    ),
    "the fill is no longer declared": (
        "KiCad stores none for a footprint's holes; the resistance stays below its limit whatever is in them",
        lambda c: c.declared(U2, U2.replace('via_fill = "resin"\n', "")),
        {"training.thermal_vias": "not verifiable"},
    ),
    "a limit between the nominal and the highest resistance": (
        "the nominal figure is within the limit: a pass, and a remark on what thin plating makes of it",
        lambda c: c.declared("max_k_per_w = 60", "max_k_per_w = 35"),
        {"board.thermal.resistance": "passed +1 -0"},
    ),
    "a limit below the nominal resistance": (
        "the vias nominally exceed it, the planes between may save it",
        lambda c: c.declared("max_k_per_w = 60", "max_k_per_w = 12"),
        {"board.thermal.resistance": "not verifiable"},
    ),
    "a limit below the resistance to the nearest plane": (
        "not even planes that spread the heat without loss make it",
        lambda c: c.declared("max_k_per_w = 60", "max_k_per_w = 0.5"),
        {"board.thermal.resistance": "failed"},
    ),
    "a coin that was simulated worse than its limit": (
        "maximum 6 K/W",
        lambda c: c.declared("path_k_per_w = 5", "path_k_per_w = 7"),
        {"board.thermal.resistance": "failed"},
    ),
    "one hole left in the pad of U2": (
        "one every 3.6 mm leads too little heat",
        lambda c: without_holes(c, "U2", kept=1),
        {"board.thermal.vias": "failed", "board.thermal.resistance": "not verifiable"},
    ),
    "no hole in the pad of U2": (
        "no way for the heat, and nothing to fill but under U5",
        lambda c: without_holes(c, "U2", kept=0),
        {"board.thermal.vias": "failed", "board.thermal.resistance": "not verifiable"},
    ),
}


@functools.cache
def feather(demos: Path) -> tuple[Case, dict[str, State]]:
    board = read_board(demos / "royalblue54L_feather" / "RoyalBlue54L-Feather.kicad_pcb")
    case = Case(board, CONFIG).with_ply("dielectric 1", material="370HR")
    return case, case.states()


@pytest.mark.demo
def test_the_feather_passes_what_the_seeds_break(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    states = feather(demo_boards)[1]

    assert {clause: states[clause][0] for clause in CLAUSES} == dict.fromkeys(CLAUSES, "passed")


@pytest.mark.demo
@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_about_heat_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less, over all clauses of the profile."""
    case, before = feather(demo_boards)
    why, edit, turns = SEEDS[name]

    assert turned(before, edit(case).states()) == turns, why
