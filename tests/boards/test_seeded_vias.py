"""Drills of KiCad's large demo board with one fact broken at a time: exactly the clauses turn that rest on it."""

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

pytestmark = pytest.mark.demo

# A via of a PCIe pair of the Jetson AGX Thor carrier that leaves on In7, drilled from B.Cu up to In8.
VIA = ("00b7c370-27f7-4862-a4de-282d8df7d1e0",)
SETTINGS = '[[interface]]\nis = "pcie5"\nnet_classes = ["85Ohm-diff_PCIE"]\n'
DECLARED = '[[backdrill]]\nnets = ["/Expansion connector/PCIe_{C2x1}.TX0-"]\nfrom = "B.Cu"\nmust_cut = "In8.Cu"\n'


@functools.cache
def drilled(demos: Path) -> tuple[Case, dict[str, State]]:
    board = read_board(demos / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb")
    case = Case(board, SETTINGS).backdrilled(VIA, size_mm=0.3, start="B.Cu", must_cut="In8.Cu")
    return case, case.states()


def pad_beside_the_drill(case: Case, *, layer: str, apart_mm: float) -> Case:
    """Move an unconnected surface pad of a layer, made 0.2 mm round, to the left of the drill's edge."""
    board = case.board
    (via,) = np.flatnonzero(case.via_rows(VIA)).tolist()
    only = np.uint64(1 << board.layer_index[layer])
    row = np.flatnonzero((board.pads.kind == PadKind.SMD) & (board.pads.layers == only) & (board.pads.net == 0))[0]
    columns = {"x_mm": board.vias.x_mm[via] - 0.15 - apart_mm - 0.1, "y_mm": board.vias.y_mm[via]}
    changed = {}
    for name, value in {**columns, "size_x_mm": 0.2, "size_y_mm": 0.2, "corner_mm": 0.1, "shape": "circle"}.items():
        changed[name] = getattr(board.pads, name).copy()
        changed[name][row] = value
    return case.with_board(pads=replace(board.pads, **changed))


NEAR_THE_PAD = {
    "board.fab.space": "failed",
    "board.fab.space_advanced": "failed",
    "board.fab.space_standard": "failed +1 -0",
}
"""0.1 mm from the drill is 0.025 mm from the via's pad, too near for any fab; a plane of 1 oz is too near as it is."""

SEEDS: dict[str, tuple[Callable[[Case], Case], dict[str, str]]] = {
    "a pad 0.1 mm beside the drill, where it enters": (
        lambda c: pad_beside_the_drill(c, layer="B.Cu", apart_mm=0.10),
        {
            "board.via.backdrill_clearance": "failed",
            "board.via.backdrill_clearance_advanced": "failed +1 -1",  # reported with the best fabs' from now on
            **NEAR_THE_PAD,
        },
    ),
    "a pad 0.18 mm beside the drill": (
        lambda c: pad_beside_the_drill(c, layer="B.Cu", apart_mm=0.18),
        {},
    ),
    "the same pad on the side that the drill does not reach": (
        lambda c: pad_beside_the_drill(c, layer="F.Cu", apart_mm=0.10),
        NEAR_THE_PAD,
    ),
    "a second drill is declared without a diameter": (
        lambda c: replace(c, config=c.config + DECLARED),
        {
            "board.via.backdrill_size": "not verifiable",
            "board.via.backdrill_clearance": "not verifiable",
            "board.via.backdrill_spares_used": "failed",  # one of the net's three vias leaves on B.Cu
        },
    ),
}


def test_the_drill_that_is_broken_is_sound(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    states = drilled(demo_boards)[1]

    drills = {clause: verdict for clause, (verdict, _) in states.items() if clause.startswith("board.via.backdrill")}
    assert drills.pop("board.via.backdrill_clearance_advanced") == "failed"  # 0.175 mm to the ground on B.Cu
    assert drills.pop("board.via.backdrill_needed") != "failed"
    assert set(drills.values()) == {"passed"}


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_beside_a_drill_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = drilled(demo_boards)
    edit, turns = SEEDS[name]

    assert turned(before, edit(case).states()) == turns
