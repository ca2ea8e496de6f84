"""KiCad's CM5 carrier is given more than it needs, one thing at a time: laminate, foil, copper, layers.

PCIe Gen3 to a slot for 54 mm and HDMI, at the edge, on an FR-4 with a name: nothing of it is too good. The middle of
the six layers carries the 5 V from the USB connector to the module.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.rules.rule import all_rules
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, SeedUnder, State, turned, undecided

pytestmark = pytest.mark.demo

LINKS = """profile = "edge"
[declared]
foil = "STD"
[[interface]]
is = "pcie3"
role = "slot"
nets = ["/CM5/PCIE_PI.?X_?"]
[[interface]]
is = "hdmi2.0"
nets = ["/CM5/HDMI*_?"]
"""
RAIL = f"""{LINKS}[[rail]]
net = "+5V"
voltage_v = 5
current_a = 2
max_drop_mv = 100
from = ["J101"]
to = ["Module301"]
"""
RULES = tuple(rule for rule in all_rules() if rule.family == "over_design")
KINDS = {kind for rule in RULES for kind in rule.kinds}
LAMINATE, FOIL, LAYERS, COPPER = (f"board.over.{what}" for what in ("laminate", "foil", "layers", "copper"))
FAST, INNER = ("dielectric 1", "dielectric 5"), ("dielectric 2", "dielectric 3", "dielectric 4")


def made_of(case: Case, material: str, dk: float, *rows: str) -> Case:
    """Make rows of the stackup of a laminate."""
    for row in rows:
        case = case.with_ply(row, material=material, dk=dk, df=None)
    return case


def unfilled(case: Case, net: str) -> Case:
    """Unfill the zones of a net, as KiCad does where one of them gets another layer."""
    zones = case.board.zones
    mine = zones.net == case.board.net_index[net]
    case = case.with_fills(~mine[zones.fill_zone])
    is_filled = np.where(mine, 0, zones.is_filled).astype(zones.is_filled.dtype)
    return case.with_board(zones=replace(case.board.zones, is_filled=is_filled))


def with_budget(case: Case, board_loss_db: float) -> Case:
    """Declare what the board may lose on PCI Express in place of a slot's share."""
    return case.declared('role = "slot"', f"board_loss_db = {board_loss_db:g}")


SILENT = {LAMINATE: "not applicable", LAYERS: "not applicable"}

SEEDS = {
    "Megtron 7 next to the links": SeedUnder(
        "the edge asks for no class, and FR-4 closes 54 mm by far",
        LINKS,
        lambda c: made_of(c, "R-5785(N)", 3.4, *FAST),
        {LAMINATE: "failed"},
    ),
    "Megtron 7 in the middle": SeedUnder(
        "no link touches it: not its business",
        LINKS,
        lambda c: made_of(c, "R-5785(N)", 3.4, *INNER),
        {},
    ),
    "Megtron 7, and a budget that the next class just keeps": SeedUnder(
        "2.5 dB less a tenth leave room for a Df of 0.0057, and very low loss has 0.005 at most",
        LINKS,
        lambda c: with_budget(made_of(c, "R-5785(N)", 3.4, *FAST), 2.5),
        {LAMINATE: "failed"},
    ),
    "Megtron 7, and a budget that the next class just misses": SeedUnder(
        "2.41 dB leave room for 0.0049: harmless",
        LINKS,
        lambda c: with_budget(made_of(c, "R-5785(N)", 3.4, *FAST), 2.41),
        {},
    ),
    "an unknown laminate next to the links": SeedUnder(
        "without its class there is no advice",
        LINKS,
        lambda c: made_of(c, "Unobtainium", 3.4, *FAST),
        {LAMINATE: "not applicable"},
    ),
    "Megtron 7, and the generation is open": SeedUnder(
        "without what the links need there is no advice at all",
        LINKS,
        lambda c: made_of(c, "R-5785(N)", 3.4, *FAST).declared('is = "pcie3"', 'is = "?"'),
        SILENT,
    ),
    "Megtron 7, and no workload": SeedUnder(
        "the same",
        LINKS,
        lambda c: made_of(c, "R-5785(N)", 3.4, *FAST).declared('profile = "edge"\n', ""),
        SILENT,
    ),
    "HVLP foil": SeedUnder(
        "it is not asked for, and the standard one closes by far",
        LINKS,
        lambda c: c.declared('foil = "STD"', 'foil = "HVLP"'),
        {FOIL: "failed"},
    ),
    "HVLP foil, and a budget that VLP just keeps": SeedUnder(
        "1.87 dB less a tenth are 1.683, and VLP has 1.672 at most",
        LINKS,
        lambda c: with_budget(c.declared('foil = "STD"', 'foil = "HVLP"'), 1.87),
        {FOIL: "failed"},
    ),
    "HVLP foil, and a budget that VLP just misses": SeedUnder(
        "1.82 dB less a tenth are 1.638, which HVLP keeps with 1.609",
        LINKS,
        lambda c: with_budget(c.declared('foil = "STD"', 'foil = "HVLP"'), 1.82),
        {FOIL: "passed"},
    ),
    "RTF foil": SeedUnder(
        "it costs a percent more than the standard one, which closes",
        LINKS,
        lambda c: c.declared('foil = "STD"', 'foil = "RTF"'),
        {FOIL: "failed"},
    ),
    "no copper on In1 and In4": SeedUnder(
        "four layers are enough for the edge",
        LINKS,
        lambda c: c.without_copper("In1.Cu", "In4.Cu"),
        {LAYERS: "failed"},
    ),
    "no copper on In1": SeedUnder(
        "five layers are none: harmless",
        LINKS,
        lambda c: c.without_copper("In1.Cu"),
        {},
    ),
    "the ground zone is not filled yet": SeedUnder(
        "In1 and In4 wait for their copper, and so does the loss of the links over them",
        LINKS,
        lambda c: unfilled(c, "GND"),
        {LAMINATE: "not applicable"},
    ),
    "no copper on In1 and In4 of a workstation's card": SeedUnder(
        "it is to have eight layers: harmless",
        LINKS,
        lambda c: c.without_copper("In1.Cu", "In4.Cu").declared('"edge"', '"inference-workstation"'),
        {},
    ),
    "two ounces on In3": SeedUnder(
        "the 5 V would keep its 100 mV with one",
        RAIL,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.07),
        {COPPER: "failed"},
    ),
    "two ounces on In3, and a limit that one just keeps": SeedUnder(
        "14.4 mV with the thinnest copper of an ounce",
        RAIL,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.07).declared("max_drop_mv = 100", "max_drop_mv = 15"),
        {COPPER: "failed"},
    ),
    "two ounces on In3, and a limit that one just misses": SeedUnder(
        "the same 14.4 mV, of 14",
        RAIL,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.07).declared("max_drop_mv = 100", "max_drop_mv = 14"),
        {COPPER: "passed"},
    ),
    "three ounces on In3": SeedUnder(
        "two would do",
        RAIL,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.105),
        {COPPER: "failed"},
    ),
    "one ounce on In3": SeedUnder(
        "that is not heavy: harmless",
        RAIL,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.035),
        {},
    ),
    "two ounces on In3, and no limit is declared": SeedUnder(
        "nothing to hold the lighter copper to: no advice",
        RAIL,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.07).declared("max_drop_mv = 100\n", ""),
        {},
    ),
    "two ounces on In3, and no rail is declared": SeedUnder(
        "the same",
        LINKS,
        lambda c: c.with_ply("In3.Cu", thickness_mm=0.07),
        {},
    ),
}


def states(case: Case) -> dict[str, State]:
    return case.states_of_clauses(lambda clause: clause.kind in KINDS, RULES)


@functools.cache
def carrier(demos: Path, settings: str) -> tuple[Case, dict[str, State]]:
    board = read_board(demos / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb")
    case = made_of(Case(board, settings), "370HR", 4.4, *FAST, *INNER)
    return case, states(case)


def test_nothing_of_the_carrier_is_too_much(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    verdicts = {clause: verdict for clause, (verdict, _) in carrier(demo_boards, RAIL)[1].items()}

    assert verdicts == {LAMINATE: "passed", FOIL: "not applicable", LAYERS: "passed", COPPER: "not applicable"}


@pytest.mark.parametrize("name", SEEDS)
def test_too_much_turns_the_clause_that_says_so(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    seed = SEEDS[name]
    case, before = carrier(demo_boards, seed.settings)

    assert turned(before, states(seed.edit(case))) == seed.turns, seed.why


UNFILLED = SeedUnder(
    "In1, In2 and In4 may be its planes: whatever has a plane over or under it is open, and so is how near its copper "
    "comes to anything; the edge of standard fabs had failed for other copper",
    LINKS,
    lambda c: unfilled(c, "GND"),
    undecided(
        "board.copper.balance",
        "board.crosstalk.pairs",
        "board.impedance.intended",
        "board.impedance.routed",
        "board.loss.share_assumed",
        "board.return_path.gap",
        "board.fab.edge",
        "board.fab.edge_advanced",
        *(f"board.fab.{what}{tier}" for what in ("hole_to_copper", "space") for tier in ("", "_advanced", "_standard")),
    ),
)
"""One zone without its fill, on a board whose other zones are filled."""


def test_a_ground_zone_without_its_fill_opens_what_rests_on_planes(demo_boards: Path) -> None:
    """No more and no less, over all clauses: nothing is judged with the next plane beyond the missing one."""
    case, _ = carrier(demo_boards, UNFILLED.settings)

    assert turned(case.states(), UNFILLED.edit(case).states()) == UNFILLED.turns, UNFILLED.why
