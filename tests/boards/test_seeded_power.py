"""One fact at a time of the rails of KiCad's Jetson board is broken, and exactly the clauses turn that rest on it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Drilling, Tracks, Vias
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, Seed, State, turned, undecided

pytestmark = pytest.mark.demo

CONFIG = """
profile = "edge"
[[rail]]
net = "VCC_IN"
voltage_v = 20
current_a = 6
from = ["J2"]
to = { Q2 = 3, Q39 = 3 }
ground_to = ["J1"]
max_drop_mv = 25
max_via_a = 0.5
max_a_per_mm2 = 80
[[rail]]
net = "+1V15"
voltage_v = 1.15
current_a = 1.5
core = true
remote_sense = true
impedance_mohm = 0.9
from = ["R7"]
to = ["U21"]
[[rail]]
net = "/CSI/CSIB_5V"
voltage_v = 5
current_a = 0.2
from = ["J10"]
to = ["R178"]
ground_to = ["D27"]
"""
CONFIG = CONFIG.replace("current_a = 6\n", "")

DROP, USUAL, JOINED = "board.pdn.ir_drop", "board.pdn.ir_drop_usual", "board.pdn.joined"
RETURN = "board.pdn.return_joined"
DENSITY, VIAS, HEAT = "board.pdn.density", "board.pdn.via_current", "board.pdn.heating"
COPPER = "edge.copper.min"


def power_states(case: Case) -> dict[str, State]:
    """Judge the clauses of rails and of power copper alone."""
    return case.states_of_clauses(lambda clause: "pdn" in clause.id or clause.kind == "power_copper_oz")


def cut(case: Case, net: str) -> Case:
    """Delete the tracks of a net."""
    tracks = case.board.tracks
    rows = np.flatnonzero(case.on_nets(net))
    return case.with_board(tracks=Tracks(**{f.name: np.delete(getattr(tracks, f.name), rows) for f in fields(Tracks)}))


def no_vias(case: Case, net: str) -> Case:
    """Delete the vias of a net."""
    vias = case.board.vias
    kept = vias.net != case.board.net_index[net]
    drilling = Drilling(**{f.name: getattr(vias.drilling, f.name)[kept] for f in fields(Drilling)})
    rows = {f.name: getattr(vias, f.name)[kept] for f in fields(Vias) if f.name != "drilling"}
    return case.with_board(vias=Vias(**rows, drilling=drilling))


SEEDS = [
    Seed(
        "ten times the current: the drop, the vias and the necks of VCC_IN; its fills have no narrow tracks",
        lambda case: case.declared("{ Q2 = 3, Q39 = 3 }", "{ Q2 = 30, Q39 = 30 }"),
        {DROP: "failed", VIAS: "failed", DENSITY: "failed"},
    ),
    Seed(
        "a tighter limit than 7.6 mV",
        lambda case: case.declared("max_drop_mv = 25", "max_drop_mv = 3"),
        {DROP: "failed"},
    ),
    Seed(
        "8.5 mV hold the 7.6 mV of the supply side, not the 2 mV of the return as well; with thicker copper they may",
        lambda case: case.declared("max_drop_mv = 25", "max_drop_mv = 8.5"),
        undecided(DROP),
    ),
    Seed(
        "the part at which the current of CSIB_5V enters ground is gone: its return is open, and so is its drop",
        lambda case: case.without_part("D27"),
        undecided(RETURN, USUAL),
    ),
    Seed(
        "the vias of ground are deleted: nothing leads back from surface pads, and no drop there and back is known",
        lambda case: no_vias(case, "GND"),
        {RETURN: "failed", **undecided(DROP, USUAL)},
    ),
    Seed(
        "vias of 0.17 A held to 0.1 A",
        lambda case: case.declared("max_via_a = 0.5", "max_via_a = 0.1"),
        {VIAS: "failed"},
    ),
    Seed(
        "necks of 46 A/mm2 held to 20",
        lambda case: case.declared("max_a_per_mm2 = 80", "max_a_per_mm2 = 20"),
        {DENSITY: "failed"},
    ),
    Seed(  # by the chart: (0.8 A / (0.048 (5.43 square mils)^0.725))^(1/0.44) = 37 degrees, 13 with 30 um more
        "0.8 A in tracks of 0.1 mm between pads warm them past 20 degrees, not with plating on them",
        lambda case: case.declared("current_a = 0.2", "current_a = 0.8"),
        undecided(HEAT),
    ),
    Seed(  # 154 degrees by the same formula, 56 with plating; conduction bounds neither, both ends being pads
        "1.5 A in the same tracks warm them with any plating; 49 mV of 5 V are within the usual 3 %",
        lambda case: case.declared("current_a = 0.2", "current_a = 1.5"),
        {HEAT: "failed", **undecided(VIAS)},
    ),
    Seed(
        "6 A through the same tracks warm them with any plating; 190 mV are above 3 % of 5 V as stated only",
        lambda case: case.declared("current_a = 0.2", "current_a = 6"),
        {HEAT: "failed", VIAS: "failed", **undecided(USUAL)},
    ),
    Seed(
        "12 A take too much with any copper",
        lambda case: case.declared("current_a = 0.2", "current_a = 12"),
        {HEAT: "failed", USUAL: "failed", **undecided(VIAS)},
    ),
    Seed(
        "the tracks to R178 are deleted: the rail is broken, and nothing else of it can be told",
        lambda case: cut(case, "/CSI/CSIB_5V"),
        {JOINED: "failed", **undecided(HEAT, USUAL)},
    ),
    Seed(
        "no fill is stored: VCC_IN and +1V15 are open, and so is the copper of the core rail's planes",
        lambda case: case.without_fills(),
        undecided(DROP, VIAS, DENSITY, HEAT, USUAL, JOINED, RETURN, COPPER),
    ),
    Seed(
        "the simulated impedance is past 1 mOhm",
        lambda case: case.declared("impedance_mohm = 0.9", "impedance_mohm = 1.2"),
        {"edge.pdn": "failed"},
    ),
    Seed(
        "without remote sense the 4 mOhm of copper contradict the simulation",
        lambda case: case.declared("remote_sense = true\n", ""),
        {"edge.pdn": "failed"},
    ),
    Seed(
        "no simulation: copper alone proves nothing",
        lambda case: case.declared("impedance_mohm = 0.9\n", ""),
        undecided("edge.pdn"),
    ),
    Seed(
        "no rail is the core's: the profile's figure has no rail, its copper clause judges the heaviest plane",
        lambda case: case.declared("core = true\n", ""),
        {**undecided("edge.pdn"), COPPER: "failed +1 -1"},
    ),
    Seed(
        "the part that feeds +1V15 is gone, whose usual drop its remote sense makes up for",
        lambda case: case.without_part("R7"),
        undecided(HEAT, JOINED, RETURN),
    ),
    Seed(
        "a net that is not on the board",
        lambda case: case.declared('net = "VCC_IN"', 'net = "VCC_INN"'),
        undecided(DROP, VIAS, DENSITY, HEAT, JOINED, RETURN),
    ),
    Seed(
        "a row of dielectric is taken out of the stackup: copper lies on copper, and no barrel has a length",
        lambda case: case.without_row("dielectric 5"),
        undecided(DROP, VIAS, DENSITY, HEAT, USUAL, JOINED, RETURN),
    ),
    Seed(
        "the thickness of In4 is taken out of the stackup: no rail can be solved, and its weight is unknown",
        lambda case: case.with_ply("In4.Cu", thickness_mm=None),
        undecided(DROP, VIAS, DENSITY, HEAT, USUAL, JOINED, RETURN, COPPER),
    ),
]


@pytest.fixture(scope="module")
def thor(demo_boards: Path) -> Case:
    path = demo_boards / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb"
    return Case(read_board(path), CONFIG)


NOT_ASKED = {
    "board.pdn.voltage_clearance",
    "board.pdn.conversion_clearance",
    "board.pdn.regulator_reach",
    "board.pdn.target",
}
"""No rail has 30 V or more against another net, and none declares ripple and step."""


@pytest.fixture(scope="module")
def whole(thor: Case) -> dict[str, State]:
    return power_states(thor)


def test_the_board_as_it_is_fails_nothing_but_its_half_ounce_plane(whole: dict[str, State]) -> None:
    """In4 is 18 um: 1/2 oz, of the 1 oz that edge usually has; a clause that fails already could not turn."""
    verdicts = {clause: state[0] for clause, state in whole.items()}

    assert verdicts.pop(COPPER) == "failed"
    assert {clause for clause, verdict in verdicts.items() if verdict != "passed"} == NOT_ASKED
    assert {verdicts[clause] for clause in NOT_ASKED} == {"not applicable"}
    assert len(verdicts) == 8 + len(NOT_ASKED)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.why[:60].replace(" ", "_"))
def test_a_seeded_defect_turns_exactly_its_clauses(seed: Seed, thor: Case, whole: dict[str, State]) -> None:
    """Found, and nothing next to it."""
    assert turned(whole, power_states(seed.edit(thor))) == seed.turns
