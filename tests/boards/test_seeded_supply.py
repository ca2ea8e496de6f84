"""Voltage of a rail and reach of its regulator: one fact of the 5 V of KiCad's CM5 carrier is broken at a time.

It runs from the USB connector J101 to the module: 43 mm and 0.864 nH, which is 0.543 mOhm at 100 kHz, and at least half
of that. A via of it lies 0.13 mm from one of ground under mask, which is what IPC-2221B has from 31 to 100 V.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.kicad import read_board
from tests.support.seeded import Case, SeedUnder, State, turned

pytestmark = pytest.mark.demo

BARE = 'profile = "edge"\n'
VOLTAGE = BARE + '[[rail]]\nnet = "+5V"\nvoltage_v = 5\n'
RAIL = f"""{VOLTAGE}current_a = 2
ripple_pct = 5
step_a = 1
remote_sense = true
max_drop_mv = 100
from = ["J101"]
to = ["Module301"]
ground_to = ["J101"]
"""
AT_48_V = VOLTAGE.replace("voltage_v = 5", "voltage_v = 48")
SPACE, CONVERTER = "board.pdn.voltage_clearance", "board.pdn.conversion_clearance"
REACH = "board.pdn.regulator_reach"


def renamed(case: Case, net: str) -> Case:
    """Call the 5 V otherwise."""
    return case.with_board(nets=tuple(net if one == "+5V" else one for one in case.board.nets))


def vias_side_by_side(case: Case) -> tuple[str, str]:
    """Return the via of the rail and that of ground which are next to one another."""
    vias, index = case.board.vias, case.board.net_index
    mine, ground = (np.flatnonzero(vias.net == index[net]) for net in ("+5V", "GND"))
    apart = np.hypot(vias.x_mm[mine, None] - vias.x_mm[ground], vias.y_mm[mine, None] - vias.y_mm[ground])
    one, other = np.unravel_index(np.argmin(apart), apart.shape)
    return str(vias.uuid[mine[one]]), str(vias.uuid[ground[other]])


def nearer(case: Case, by_mm: float) -> Case:
    """Move the via of the rail towards that of ground."""
    vias = case.board.vias
    mine, ground = (int(np.flatnonzero(case.via_rows([uuid]))[0]) for uuid in vias_side_by_side(case))
    x, y = vias.x_mm[ground] - vias.x_mm[mine], vias.y_mm[ground] - vias.y_mm[mine]
    share = by_mm / float(np.hypot(x, y))
    return case.with_vias(
        [str(vias.uuid[mine])],
        x_mm=float(vias.x_mm[mine] + share * x),
        y_mm=float(vias.y_mm[mine] + share * y),
    )


def untented(case: Case, *uuids: str) -> Case:
    """Open the solder mask over vias on both sides."""
    return case.with_vias(uuids, tented_front=0, tented_back=0)


def with_step(case: Case, amperes: float) -> Case:
    return case.declared("step_a = 1", f"step_a = {amperes:g}")


SEEDS = {
    "the rail is of 48 V": SeedUnder(
        # Fills keep 0.15 mm from the pads: enough for class B4 (0.13 mm), which mask over both would have, not for A6.
        "bare pads next to masked ground, for which the standard states no class",
        VOLTAGE,
        lambda c: c.declared("voltage_v = 5", "voltage_v = 48"),
        {SPACE: "not verifiable"},
    ),
    "the rail is of 24 V": SeedUnder(
        "up to 30 V fabs ask for more than the table: harmless",
        VOLTAGE,
        lambda c: c.declared("voltage_v = 5", "voltage_v = 24"),
        {},
    ),
    "the rail is of 120 V": SeedUnder(
        "0.4 mm under mask, and 1.2 for a converter",
        VOLTAGE,
        lambda c: c.declared("voltage_v = 5", "voltage_v = 120"),
        {SPACE: "failed", CONVERTER: "failed"},
    ),
    "at 48 V a via is 0.02 mm nearer to ground": SeedUnder(
        "0.11 mm under mask",
        AT_48_V,
        lambda c: nearer(c, 0.02),
        {SPACE: "failed"},
    ),
    "at 48 V neither of the two vias is tented": SeedUnder(
        "bare copper has 0.6 mm",
        AT_48_V,
        lambda c: untented(c, *vias_side_by_side(c)),
        {SPACE: "failed"},
    ),
    "at 48 V one of the two vias is not tented": SeedUnder(
        "mask covers the other: harmless",
        AT_48_V,
        lambda c: untented(c, vias_side_by_side(c)[0]),
        {},
    ),
    "nothing is declared, and the net is called +120V": SeedUnder(
        "its name tells the voltage",
        BARE,
        lambda c: renamed(c, "+120V"),
        {SPACE: "failed", CONVERTER: "failed"},
    ),
    "nothing is declared, and the net is called V_120V0": SeedUnder(
        "another spelling of it",
        BARE,
        lambda c: renamed(c, "V_120V0"),
        {SPACE: "failed", CONVERTER: "failed"},
    ),
    "nothing is declared, and the net is called +24V": SeedUnder(
        "too little to ask for a distance: harmless",
        BARE,
        lambda c: renamed(c, "+24V"),
        {},
    ),
    "the net is called +120V, and declared with 5 V": SeedUnder(
        "what is declared is believed before the name: harmless",
        VOLTAGE,
        lambda c: replace(renamed(c, "+120V"), config=VOLTAGE.replace('"+5V"', '"+120V"')),
        {},
    ),
    "a step of 1000 A": SeedUnder(
        "0.25 mOhm are allowed; half of 0.543 is more. The impedance over frequency stays open, as it was",
        RAIL,
        lambda c: with_step(c, 1000),
        {REACH: "failed"},
    ),
    "a step of 900 A": SeedUnder(
        "0.278 mOhm lie between half of it and all of it",
        RAIL,
        lambda c: with_step(c, 900),
        {REACH: "not verifiable"},
    ),
    "a step of 462 A": SeedUnder(
        "0.541 mOhm, just below all of it",
        RAIL,
        lambda c: with_step(c, 462),
        {REACH: "not verifiable"},
    ),
    "a step of 459 A": SeedUnder(
        "0.545 mOhm, just above it: harmless",
        RAIL,
        lambda c: with_step(c, 459),
        {},
    ),
    "a step of 1000 A, and the rail was simulated": SeedUnder(
        "what was simulated takes the place of the estimate, and is within the rail's own target",
        RAIL,
        lambda c: with_step(c.declared("ripple_pct", "impedance_mohm = 0.2\nripple_pct"), 1000),
        {REACH: "not applicable", "board.pdn.target": "passed"},
    ),
    "no step": SeedUnder(
        "no target, and nothing to compare with",
        RAIL,
        lambda c: c.declared("step_a = 1\n", ""),
        {REACH: "not applicable", "board.pdn.target": "not applicable"},
    ),
}


@functools.cache
def carrier(demos: Path, settings: str) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb"), settings)
    return case, case.states()


def test_the_carrier_passes_what_the_seeds_break(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    states = carrier(demo_boards, RAIL)[1]

    assert {clause: states[clause][0] for clause in (SPACE, CONVERTER, REACH, "board.pdn.target")} == {
        SPACE: "not applicable",
        CONVERTER: "not applicable",
        REACH: "passed",
        "board.pdn.target": "not verifiable",
    }


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_of_the_supply_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    seed = SEEDS[name]
    case, before = carrier(demo_boards, seed.settings)

    assert turned(before, seed.edit(case).states()) == seed.turns, seed.why
