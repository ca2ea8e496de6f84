"""One trace of a pair on each of three KiCad demo boards gets a longer package or another layer: that pair is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.rules.rule import Rule, all_rules, find_rule
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board

pytestmark = pytest.mark.demo

SKEW, LAYERS = find_rule("intra-pair-skew"), find_rule("pair-on-different-layers")
LANES, SWAPPED = find_rule("lane-skew"), find_rule("swapped-pair")


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


def findings_of(rule: Rule, board: Board) -> list[Finding]:
    context, requirements, _ = prepare(board, parse_config(""), Overrides())
    outcome = run(context, [c for c in requirements.clauses if c.kind in rule.kinds], all_rules(), [rule])
    assert not outcome.crashes, outcome.crashes
    return outcome.findings


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.net)
def test_a_trace_that_is_longer_in_its_package_is_found(seed: SeededPair, demo_boards: Path) -> None:
    """The board itself has no finding; with the seed there is one, of that pair, as late as the package is long."""
    board = read_board(demo_boards / f"{seed.board}.kicad_pcb")
    assert findings_of(SKEW, board) == []
    pads = board.pads
    on_net = np.flatnonzero(pads.net == board.net_index[seed.net])
    seeded = np.zeros(len(pads))
    seeded[on_net] = seed.die_mm  # an end or not: a pad on the way counts nothing
    (finding,) = findings_of(SKEW, replace(board, pads=replace(pads, die_length_mm=pads.die_length_mm + seeded)))
    assert seed.found in finding.title
    assert finding.measured is not None
    assert float(finding.measured.value) > seed.die_mm * 4.7


INNER = (
    SeededPair("jetson-agx-thor-baseboard/jetson-agx-thor-baseboard", "/SoM_IO2/DP1.TX1_C+", 0.0, "/SoM_IO2/DP1.TX1_C"),
    SeededPair("vme-wren/vme-wren", "/SFP0.RX_P", 0.0, "/SFP0.RX"),
    SeededPair("vme-wren/vme-wren", "/SFP1.RX_P", 0.0, "/SFP1.RX"),
)
"""Pairs that run on an inner layer between vias: on another one a trace stays connected."""


@pytest.mark.parametrize("seed", INNER, ids=lambda seed: seed.net)
def test_a_trace_on_another_layer_than_its_partner_is_found(seed: SeededPair, demo_boards: Path) -> None:
    """The board itself has no finding; with one trace on the next layer there is one, of that pair alone."""
    board = read_board(demo_boards / f"{seed.board}.kicad_pcb")
    assert findings_of(LAYERS, board) == []
    tracks = board.tracks
    own = tracks.net == board.net_index[seed.net]
    lengths = [float(tracks.length_mm[own & (tracks.layer == k)].sum()) for k in range(board.layer_count)]
    most = int(np.argmax(lengths))
    layer = np.where(own & (tracks.layer == most), most - 1, tracks.layer).astype(tracks.layer.dtype)

    (finding,) = findings_of(LAYERS, replace(board, tracks=replace(tracks, layer=layer)))

    assert seed.found in finding.title
    assert "more)" not in finding.title
    assert finding.measured is not None
    assert float(finding.measured.value) == pytest.approx(lengths[most], rel=0.05)


LATE_LANES = (
    SeededPair("jetson-agx-thor-baseboard/jetson-agx-thor-baseboard", "/CSI/CAM2.CSI4_D0", 10.0, "/CSI/CAM2.CSI4"),
    SeededPair("cm5_minima/CM5_MINIMA_3", "/CM5/DPHY0_P.D2", 10.0, "/CM5/DPHY0_P"),
    SeededPair("cm5_minima/CM5_MINIMA_3", "/CM5/HDMI_PI.D1", 100.0, "/CM5/HDMI_PI"),
)
"""Lanes with a limit; VME-WREN and the other demo boards have none."""


@pytest.mark.parametrize("seed", LATE_LANES, ids=lambda seed: seed.net)
def test_a_lane_that_is_longer_in_its_package_is_found(seed: SeededPair, demo_boards: Path) -> None:
    """The board itself has no finding; with both traces of a lane longer at both ends there is one, of its port."""
    board = read_board(demo_boards / f"{seed.board}.kicad_pcb")
    assert findings_of(LANES, board) == []
    traces = [
        net for name, net in board.net_index.items() if name.startswith(seed.net) and len(name) - len(seed.net) < 3
    ]
    assert len(traces) == 2
    seeded = np.where(np.isin(board.pads.net, traces), seed.die_mm, 0.0)

    (finding,) = findings_of(
        LANES, replace(board, pads=replace(board.pads, die_length_mm=board.pads.die_length_mm + seeded))
    )

    assert f"{seed.found}, {seed.net}" in finding.title
    assert finding.measured is not None
    assert float(finding.measured.value) > 2 * seed.die_mm * 4.7


@dataclass(frozen=True)
class SeededSwap:
    """A part of which two pins change places, and the pair that is swapped then."""

    board: str
    part: str
    pads: tuple[str, str]
    found: str


SWAPS = (
    SeededSwap("jetson-agx-thor-baseboard/jetson-agx-thor-baseboard", "U21", ("5", "6"), "/USB Hub/USBC4_D"),
    SeededSwap("cm5_minima/CM5_MINIMA_3", "J501", ("7", "9"), "/CM5/HDMI_PI.D0"),
    SeededSwap("jetson-agx-thor-baseboard/jetson-agx-thor-baseboard", "J1", ("A10", "A11"), "/SoM_IO2/USB2.D"),
)
"""The other demo boards name the pins of no pair at both of its ends."""


@pytest.mark.parametrize("seed", SWAPS, ids=lambda seed: seed.found)
def test_two_pins_that_change_places_swap_their_pair(seed: SeededSwap, demo_boards: Path) -> None:
    """The board's own swaps, if any, stay; the seed adds that pair to the finding of its interface, and no other."""
    board = read_board(demo_boards / f"{seed.board}.kicad_pcb")
    pads = board.pads
    part = board.footprints.reference.tolist().index(seed.part)
    rows = [np.flatnonzero((pads.footprint == part) & (pads.number == number)) for number in seed.pads]
    assert [len(one) for one in rows] == [1, 1]
    function = pads.function.copy()
    function[rows[0]], function[rows[1]] = pads.function[rows[1]], pads.function[rows[0]]

    before = {finding.title for finding in findings_of(SWAPPED, board)}
    after = findings_of(SWAPPED, replace(board, pads=replace(pads, function=function)))
    (finding,) = [one for one in after if one.title not in before]

    assert len(after) == len(before) + 1
    assert seed.found in finding.title
    assert "more)" not in finding.title
