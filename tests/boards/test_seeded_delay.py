"""One trace of a pair on each of three KiCad demo boards is made longer in its package: that pair alone is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Finding
from drc_rules.rules.rule import all_rules, find_rule
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board

pytestmark = pytest.mark.demo

RULE = find_rule("intra-pair-skew")


@dataclass(frozen=True)
class SeededPair:
    """A net of a pair whose pad gets a package of some length, and what is found."""

    board: str
    net: str
    die_mm: float
    found: str


SEEDS = (
    SeededPair("jetson-agx-thor-baseboard/jetson-agx-thor-baseboard", "/SFP/SFI.RX-", 5.0, "/SFP/SFI.RX"),
    SeededPair("cm5_minima/CM5_MINIMA_3", "/CM5/PCIE_PI.RX_N", 4.0, "/CM5/PCIE_PI.RX"),
    SeededPair("vme-wren/vme-wren", "/SFP1.TX_P", 2.0, "/SFP1.TX"),
)


def skews(board: Board) -> list[Finding]:
    context, requirements, _ = prepare(board, parse_config(""), Overrides())
    outcome = run(context, [c for c in requirements.clauses if c.kind in RULE.kinds], all_rules(), [RULE])
    assert not outcome.crashes, outcome.crashes
    return outcome.findings


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.net)
def test_a_trace_that_is_longer_in_its_package_is_found(seed: SeededPair, demo_boards: Path) -> None:
    """The board itself has no finding; with the seed there is one, of that pair, as late as the package is long."""
    board = read_board(demo_boards / f"{seed.board}.kicad_pcb")
    assert skews(board) == []
    pads = board.pads
    on_net = np.flatnonzero(pads.net == board.net_index[seed.net])
    seeded = np.zeros(len(pads))
    seeded[on_net] = seed.die_mm  # an end or not: a pad on the way counts nothing
    (finding,) = skews(replace(board, pads=replace(pads, die_length_mm=pads.die_length_mm + seeded)))
    assert seed.found in finding.title
    assert finding.measured is not None
    assert float(finding.measured.value) > seed.die_mm * 4.7
