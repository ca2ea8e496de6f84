"""Lanes of a port and data nets of a memory on KiCad's demo boards: one of them is broken, the others stay.

The CM5 carrier has a D-PHY port whose lanes are within 6.2 ps of its clock, of 40 allowed, and an HDMI port within 55
of 588. vme-wren has DDR4: four bytes of 26 to 38 mm, each on one inner layer with two vias.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.rules.rule import all_rules
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, State, turned

pytestmark = pytest.mark.demo

CARRIER, WREN = "cm5_minima/CM5_MINIMA_3", "vme-wren/vme-wren"
RULES = tuple(rule for rule in all_rules() if rule.family == "delay")
KINDS = {kind for rule in RULES for kind in rule.kinds}
BYTE_2 = tuple(f"/DDR4-PS.DQ{bit}" for bit in range(16, 24))


@dataclass(frozen=True)
class Seed:
    """A defect: why exactly these clauses turn, on which board, how it is made, and what they turn to."""

    why: str
    board: str
    edit: Callable[[Case], Case]
    turns: dict[str, str]


def longer_in_packages(case: Case, die_mm: float, *nets: str) -> Case:
    """Give every pad of some nets a longer way to the die."""
    pads = case.board.pads
    mine = np.isin(pads.net, [case.board.net_index[net] for net in nets])
    assert mine.any()
    die_length_mm = np.where(mine, pads.die_length_mm + die_mm, pads.die_length_mm)
    return case.with_board(pads=replace(pads, die_length_mm=die_length_mm))


def on_layer(case: Case, nets: tuple[str, ...], layer: str) -> Case:
    """Route the inner part of nets on another layer; their through vias reach that one as well."""
    inner = case.on_nets(*nets) & (case.board.tracks.layer != 0)
    return case.with_tracks(inner, layer=case.board.layer_index[layer])


def meander(case: Case, net: str, more_mm: float) -> Case:
    """Lengthen a net between the same two ends, as a tuning pattern does."""
    row = longest_run(case, net)
    length_mm = float(case.board.tracks.length_mm[row]) + more_mm
    return case.with_tracks(np.arange(len(case.board.tracks)) == row, length_mm=length_mm)


def longest_run(case: Case, net: str) -> int:
    """Return the row of the longest inner track of a net."""
    rows = np.flatnonzero(case.on_nets(net) & (case.board.tracks.layer != 0))
    return int(rows[np.argmax(case.board.tracks.length_mm[rows])])


def bridged(case: Case, net: str, layer: str) -> Case:
    """Lead the longest inner track of a net over another layer, through two more vias at its ends."""
    tracks, vias, row = case.board.tracks, case.board.vias, longest_run(case, net)
    taken = np.flatnonzero(vias.net == case.board.net_index["GND"])[:2].tolist()
    for via, end in zip(taken, ("start", "end"), strict=True):
        at = {f"{axis}_mm": float(getattr(tracks, f"{end}_{axis}_mm")[row]) for axis in "xy"}
        case = case.with_vias([vias.uuid[via]], net=case.board.net_index[net], **at)
    return case.with_tracks(np.arange(len(tracks)) == row, layer=case.board.layer_index[layer])


BYTES = [f"DDR4_BYTE{byte}" for byte in range(4)]
DDR5 = f'[[interface]]\nis = "ddr5"\nnet_classes = {BYTES}\n'
LATE_BYTE = {"board.delay.group_skew": "failed +1 -0"}
"""Byte 2 is late of its strobe, as byte 3 is by 13 ps more than 10 already."""

SEEDS = {
    "a lane of D-PHY is 10 mm longer in packages": Seed(
        "more than 47 ps, less the 6 by which the clock may be later than it: above 40",
        CARRIER,
        lambda c: longer_in_packages(c, 5.0, "/CM5/DPHY0_P.D2_P", "/CM5/DPHY0_P.D2_N"),
        {"board.lane.skew": "failed"},
    ),
    "the same lane is 4 mm longer": Seed(
        "28 ps at most, and 6: harmless",
        CARRIER,
        lambda c: longer_in_packages(c, 2.0, "/CM5/DPHY0_P.D2_P", "/CM5/DPHY0_P.D2_N"),
        {},
    ),
    "the clock of D-PHY is 10 mm longer in packages": Seed(
        "then every lane is early: one finding of the port",
        CARRIER,
        lambda c: longer_in_packages(c, 5.0, "/CM5/DPHY0_P.C_P", "/CM5/DPHY0_P.C_N"),
        {"board.lane.skew": "failed"},
    ),
    "all of the port is 10 mm longer": Seed(
        "its lanes stay together: harmless",
        CARRIER,
        lambda c: longer_in_packages(
            c, 5.0, *(f"/CM5/DPHY0_P.{lane}_{trace}" for lane in ("C", "D0", "D1", "D2", "D3") for trace in "PN")
        ),
        {},
    ),
    "a channel of HDMI is 10 mm longer in packages": Seed(
        "some 60 ps and 55 of 588: harmless",
        CARRIER,
        lambda c: longer_in_packages(c, 5.0, "/CM5/HDMI_PI.D2_P", "/CM5/HDMI_PI.D2_N"),
        {},
    ),
    "a bit of DDR4 is 104 mm longer": Seed(
        "141.5 mm, where a guide has 139.7; and it is late",
        WREN,
        lambda c: meander(c, "/DDR4-PS.DQ18", 104.0),
        {"board.memory.length": "failed", **LATE_BYTE},
    ),
    "the same bit is 101 mm longer": Seed(
        "138.5 mm: late, and within the guide's length",
        WREN,
        lambda c: meander(c, "/DDR4-PS.DQ18", 101.0),
        LATE_BYTE,
    ),
    "the same bit is 92 mm longer, and the memory is declared as DDR5": Seed(
        "129.5 mm, where the guide for DDR5 has 127; it allows 50 ps within a byte, which bytes 0 and 3 now keep. "
        "Three strobes of which the traces differ are found under the name of DDR5",
        WREN,
        lambda c: replace(meander(c, "/DDR4-PS.DQ18", 92.0), config=DDR5),
        {"board.memory.length": "failed", "board.delay.group_skew": "failed +4 -5"},
    ),
    "a strobe of DDR4 is 60 mm longer in packages": Seed(
        "more than 330 ps, less the 64 to 76 by which the clock is later than it: more than 149 before it",
        WREN,
        lambda c: longer_in_packages(c, 30.0, "/DDR4-PS.DQS_P0", "/DDR4-PS.DQS_N0"),
        {"board.delay.clock_to_strobe": "failed"},
    ),
    "the same strobe is 20 mm longer in packages": Seed(
        "110 to 140 ps, less these 64 to 76: within reach",
        WREN,
        lambda c: longer_in_packages(c, 10.0, "/DDR4-PS.DQS_P0", "/DDR4-PS.DQS_N0"),
        {},
    ),
    "the short ODT of DDR4 is 14 mm longer behind the first memory": Seed(
        "its longest run is between the memories: at IC5 it then arrives with the clock, and what is left there, 24 to "
        "93 ps of BA0, is open; at IC13 nothing changes",
        WREN,
        lambda c: meander(c, "/DDR4-PS.ODT", 14.0),
        {"board.delay.address_skew": "failed +0 -1"},
    ),
    "a bit of DDR4 runs on In4 for 4 mm": Seed(
        "four vias, where a guide has two; most of it stays on In7. The new vias pierce planes that were filled before "
        "them: old fills prove no delay",
        WREN,
        lambda c: bridged(c, "/DDR4-PS.DQ18", "In4.Cu"),
        {
            "board.memory.vias": "failed",
            "board.delay.group_skew": "not verifiable",
            "board.delay.address_skew": "not verifiable",
            "board.delay.clock_to_strobe": "not verifiable",
        },
    ),
    "a bit of DDR4 runs on In4 throughout": Seed(
        "the other seven are on In7",
        WREN,
        lambda c: on_layer(c, BYTE_2[2:3], "In4.Cu"),
        {"board.memory.byte_layers": "failed"},
    ),
    "a byte of DDR4 runs on In4": Seed(
        "all eight on one layer, the mirror of the other: harmless",
        WREN,
        lambda c: on_layer(c, BYTE_2, "In4.Cu"),
        {},
    ),
    "the mask of a byte runs on In4": Seed(
        "it is no bit of the byte: harmless",
        WREN,
        lambda c: on_layer(c, ("/DDR4-PS.DM2",), "In4.Cu"),
        {},
    ),
}


def states(case: Case) -> dict[str, State]:
    return case.states_of_clauses(lambda clause: clause.kind in KINDS, RULES)


@functools.cache
def sound(demos: Path, board: str) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / f"{board}.kicad_pcb"), "")
    return case, states(case)


def test_the_boards_pass_what_the_seeds_break(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    assert sound(demo_boards, CARRIER)[1]["board.lane.skew"] == ("passed", frozenset())
    memory = sound(demo_boards, WREN)[1]
    assert {memory[f"board.memory.{what}"][0] for what in ("length", "vias", "byte_layers")} == {"passed"}


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_of_a_bus_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less, among the clauses on delay."""
    seed = SEEDS[name]
    case, before = sound(demo_boards, seed.board)

    assert turned(before, states(seed.edit(case))) == seed.turns, seed.why
