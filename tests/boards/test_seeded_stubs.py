"""Stubs and backdrills of KiCad's vme-wren, which has twelve layers and no backdrill: one of them is broken at a time.

PCI Express runs on In2 from a connector to vias, whose stubs of 1.5 mm go on to B.Cu. Drilled from B.Cu up to In3 they
are sound for Gen4.
"""

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

RULES = tuple(rule for rule in all_rules() if rule.family == "via")
KINDS = {kind for rule in RULES for kind in rule.kinds}

SETTINGS = """profile = "inference"
[[interface]]
is = "pcie4"
role = "direct"
nets = ["/PCIE.PE*", "/pcie_connector/PCIE_PE*_AC_*"]
[[interface]]
is = "eth10g-kr"
board_loss_db = 20
nets = ["/SFP?.RX_*", "/SFP?.TX_*", "/SFP?/SFP_?D_C_*"]
"""
LINKS = tuple(f"/pcie_connector/PCIE_PE{way}_AC_{trace}" for way in "RT" for trace in "PN")
STUB, NEEDED = "inference.stub.pcie4", "board.via.backdrill_needed"


def drilled(case: Case, must_cut: str) -> Case:
    """Drill the vias and the connector's pins of PCI Express from B.Cu."""
    board = case.board
    mine = [board.net_index[net] for net in LINKS]
    case = case.backdrilled(
        board.vias.uuid[np.isin(board.vias.net, mine)].tolist(), size_mm=0.5, start="B.Cu", must_cut=must_cut
    )
    pads = case.board.pads
    pins = np.isin(pads.net, mine) & (pads.drill_x_mm > 0)
    old, layers = pads.drilling, board.layer_index
    drilling = replace(
        old,
        backdrill_size_mm=np.where(pins, 0.7, old.backdrill_size_mm),
        backdrill_start=np.where(pins, layers["B.Cu"], old.backdrill_start).astype(np.int16),
        backdrill_must_cut=np.where(pins, layers[must_cut], old.backdrill_must_cut).astype(np.int16),
    )
    return case.with_board(pads=replace(pads, drilling=drilling))


def one_more(case: Case, net: str, must_cut: str, *, number: int = 0) -> Case:
    """Drill a via of a net from B.Cu as well."""
    vias = case.board.vias
    uuid = vias.uuid[np.flatnonzero(vias.net == case.board.net_index[net])[number]]
    return case.backdrilled([str(uuid)], size_mm=0.5, start="B.Cu", must_cut=must_cut)


NEAR_PLANES = dict.fromkeys(("board.via.backdrill_clearance", "board.via.backdrill_clearance_advanced"), "failed +1 -0")
"""The board's antipads are made for its vias: any drill comes too near to a plane, as those of PCI Express do."""

SHALLOW = {"board.via.backdrill_depth": "failed", "board.via.stub_ten_times": "failed +2 -0"}
"""In3 could be cut too; what is left is short of 10 times Nyquist at the vias and at the pins."""

SEEDS = {
    "the drills stop below In7": Seed(
        "0.89 mm are left, to the middle of the dielectric over In8: 0.61 are allowed, and at worst it resonates below "
        "3 times Nyquist",
        lambda c: drilled(c, "In8.Cu"),
        {STUB: "failed", "board.via.stub_resonance_worst": "failed", **SHALLOW},
    ),
    "the drills stop below In6": Seed(
        "0.71 mm are left",
        lambda c: drilled(c, "In7.Cu"),
        {STUB: "failed", **SHALLOW},
    ),
    "the drills stop below In5": Seed(
        "0.56 mm are left, which the maker of the transceivers allows",
        lambda c: drilled(c, "In6.Cu"),
        SHALLOW,
    ),
    "a bit of DDR4 is drilled": Seed(
        "too slow for a stub to matter",
        lambda c: one_more(c, "/DDR4-PS.DQ18", "In8.Cu"),
        {NEEDED: "failed", **NEAR_PLANES},
    ),
    "a short stub of 10 Gb/s is drilled": Seed(
        "from In9 it is 0.37 mm and resonates above 10 times Nyquist",
        lambda c: one_more(c, "/SFP0.RX_P", "In10.Cu"),
        {NEEDED: "failed", **NEAR_PLANES},
    ),
    "a long stub of 10 Gb/s is drilled": Seed(
        "from In7 it resonates at 7.6 times Nyquist: harmless but for the plane",
        lambda c: one_more(c, "/SFP0.TX_P", "In8.Cu", number=2),
        NEAR_PLANES,
    ),
    "a via of ground is drilled": Seed(
        "no signal, and it loses the plane on In10",
        lambda c: one_more(c, "GND", "In10.Cu"),
        {NEEDED: "failed", "board.via.backdrill_spares_used": "failed"},
    ),
    "a net of no interface is drilled": Seed(
        "what its stub may do is open; its track on B.Cu is cut off",
        lambda c: one_more(c, "/FP_IO7", "In10.Cu"),
        {NEEDED: "not verifiable", "board.via.backdrill_spares_used": "failed", **NEAR_PLANES},
    ),
}


def states(case: Case) -> dict[str, State]:
    return case.states_of_clauses(lambda clause: clause.kind in KINDS, RULES)


@functools.cache
def wren(demos: Path) -> tuple[Case, dict[str, State]]:
    case = drilled(Case(read_board(demos / "vme-wren" / "vme-wren.kicad_pcb"), SETTINGS), "In3.Cu")
    return case, states(case)


def test_the_drills_that_are_broken_are_sound(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    found = wren(demo_boards)[1]

    assert {clause: found[clause][0] for clause in (STUB, NEEDED)} == {STUB: "passed", NEEDED: "passed"}


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_of_a_stub_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less, among the clauses on vias."""
    case, before = wren(demo_boards)

    assert turned(before, states(SEEDS[name].edit(case))) == SEEDS[name].turns, SEEDS[name].why
