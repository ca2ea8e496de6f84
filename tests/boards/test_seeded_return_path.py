"""One fact of KiCad's demo board is broken, and exactly the clauses of the return path turn that rest on it."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.rules.rule import all_rules
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, Seed, State, turned

pytestmark = pytest.mark.demo

CONFIG = """
profile = "inference"
[[interface]]
is = "pcie4"
net_classes = ["85Ohm-diff_PCIE"]
[[interface]]
is = "dp-hbr3"
net_classes = ["85Ohm-diff_DP"]
[[interface]]
is = "usb3.2gen1"
net_classes = ["85Ohm-diff_USB_SS"]
"""
PAIR = "/M.2/PCIe_{C1x1}.RX0-", "/M.2/PCIe_{C1x1}.RX0+"
RULES = tuple(rule for rule in all_rules() if rule.family == "return_path")
KINDS = {kind for rule in RULES for kind in rule.kinds}
GAP, VIA, CROSSTALK = "board.return_path.gap", "board.return_path.via", "board.crosstalk.pairs"
PLANES = "inference.reference_planes"


def states(case: Case) -> dict[str, State]:
    return case.states_of_clauses(lambda clause: clause.kind in KINDS, RULES)


@functools.cache
def thor(demos: Path) -> tuple[Case, dict[str, State]]:
    path = demos / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb"
    case = Case(read_board(path), CONFIG)
    return case, states(case)


def unfilled(case: Case, layer: str) -> Case:
    """Say of the zones on a layer that they are not filled."""
    zones = case.board.zones
    here = (zones.layers >> np.uint64(case.board.layer_index[layer])) & np.uint64(1) != 0
    return case.with_board(zones=replace(zones, is_filled=np.where(here, 0, zones.is_filled).astype(np.int8)))


def without_ground_near(case: Case, net: str, reach_mm: float) -> Case:
    """Take the ground vias near the vias of a net off their net."""
    vias, index = case.board.vias, case.board.net_index
    mine = np.flatnonzero(vias.net == index[net])
    apart = np.hypot(vias.x_mm[:, None] - vias.x_mm[mine], vias.y_mm[:, None] - vias.y_mm[mine]).min(axis=1)
    gone = (vias.net == index["GND"]) & (apart < reach_mm)
    assert gone.any()
    return case.with_board(vias=replace(vias, x_mm=np.where(gone, vias.x_mm + 900.0, vias.x_mm)))


def moved(case: Case, nets: tuple[str, ...], by_mm: float) -> Case:
    """Shift the tracks of some nets to the right."""
    tracks, chosen = case.board.tracks, case.on_nets(*nets)
    columns = {name: getattr(tracks, name) for name in ("start_x_mm", "mid_x_mm", "end_x_mm")}
    new = {name: np.where(chosen, x + by_mm, x) for name, x in columns.items()}
    return case.with_board(tracks=replace(tracks, **new))


def renamed(case: Case, old: str, new: str) -> Case:
    return case.with_board(nets=tuple(new if net == old else net for net in case.board.nets))


SEEDS = {
    "In8 is not filled": Seed(
        "it is a plane of In7 and of B.Cu: nothing that runs there can be judged by it",
        lambda c: unfilled(c, "In8.Cu"),
        dict.fromkeys((GAP, VIA, PLANES), "not verifiable"),
    ),
    "ground has another name": Seed(
        "neither side of In7 is ground any more",
        lambda c: renamed(c, "GND", "RAIL"),
        {PLANES: "failed"},
    ),
    "no ground via near the vias of one trace": Seed(
        "its return current has to go 3 mm and more, where 1.9 would be lumped",
        lambda c: without_ground_near(c, PAIR[0], 3.0),
        {VIA: "failed"},
    ),
    "a trace beyond the edge of the board": Seed(
        "no plane lies under it there",
        lambda c: moved(c, PAIR[:1], 900.0),
        {GAP: "failed"},
    ),
}


def test_the_board_as_it_is_has_no_gap_and_a_ground_via_at_every_layer_change(demo_boards: Path) -> None:
    """The ground on which the seeds fall; only a pair that runs along another for 7 mm is reported."""
    found = thor(demo_boards)[1]

    assert {clause: verdict for clause, (verdict, _) in found.items()} == {
        GAP: "passed",
        VIA: "passed",
        PLANES: "passed",
        CROSSTALK: "failed",
    }


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_turns_the_clauses_that_rest_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = thor(demo_boards)

    assert turned(before, states(SEEDS[name].edit(case))) == SEEDS[name].turns, SEEDS[name].why
