"""Losses of links on KiCad's own demo boards, each value against one that was worked out by hand."""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_needs import df_needed, longest_length_mm
from drc_rules.analysis.loss.sparameters.link_network import link_network
from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.core.facts import Confidence
from stackup_lib.kicad import read_board
from stackup_lib.transmission_lines.materials.roughness import cannonball

pytestmark = pytest.mark.demo

ROWS = {1: "2116", 3: "1080", 5: "1080", 7: "1080", 9: "2116"}
THOR_CONFIG = """
[declared]
foil = "RTF"
[[interface]]
is = "pcie4"
role = "direct"
net_classes = ["85Ohm-diff_PCIE"]
""" + "".join(
    f'[declared.dielectric."dielectric {row}"]\nmaterial = "370HR {ROWS.get(row, "")}"\n' for row in range(1, 10)
)
WREN_CONFIG = """
[declared]
foil = "RTF"
[[interface]]
is = "pcie3"
role = "direct"
nets = ["/PCIE.*", "/pcie_connector/PCIE_PE*_AC_*"]
[[interface]]
is = "eth10g-kr"
role = "short"
nets = ["/SFP?.RX_*", "/SFP?.TX_*"]
"""
THOR, WREN = "jetson-agx-thor-baseboard", "vme-wren"


@functools.cache
def context(demos: Path, name: str) -> Context:
    board = read_board(demos / name / f"{name}.kicad_pcb")
    return prepare(board, parse_config({THOR: THOR_CONFIG, WREN: WREN_CONFIG}[name]), Overrides())[0]


def link_of(ctx: Context, interface_id: str, net: str) -> LinkLoss:
    losses = LinkLosses(ctx).of(interface_id, declared=True)
    assert losses.missing == ()
    return next(link for link in losses.known if ctx.board.net_index[net] in link.nets)


TRACK = re.compile(
    rb"\n\t\((?:segment|arc)\n\t\t\(start (\S+) (\S+)\)\n(?:\t\t\(mid (\S+) (\S+)\)\n)?\t\t\(end (\S+) (\S+)\)\n"
    rb'\t\t\(width \S+\)\n(?:\t\t\(locked yes\)\n)?\t\t\(layer "([^"]+)"\)\n\t\t\(net (\d+)\)'
)


def track_mm(start: complex, middle: complex | None, end: complex) -> float:
    """Length of a straight track, or of an arc through three points: radius times the angle at the rim, doubled."""
    if middle is None:
        return abs(end - start)
    a, b, chord = abs(middle - start), abs(end - middle), abs(end - start)
    at_rim = math.acos((a * a + b * b - chord * chord) / (2 * a * b))
    return chord / math.sin(at_rim) * (math.pi - at_rim)


def drawn_mm(file: Path, nets: list[str]) -> dict[str, float]:
    """Length of tracks by layer, straight from the text of a file whose nets are numbered."""
    data = file.read_bytes()
    numbers = {number for number, name in re.findall(rb'\n\t\(net (\d+) "([^"]+)"\)', data) if name.decode() in nets}
    sums: dict[str, float] = {}
    for x1, y1, x2, y2, x3, y3, layer, net in TRACK.findall(data):
        if net in numbers:
            middle = complex(float(x2), float(y2)) if x2 else None
            length = track_mm(complex(float(x1), float(y1)), middle, complex(float(x3), float(y3)))
            sums[layer.decode()] = sums.get(layer.decode(), 0.0) + length
    return sums


def test_lengths_by_layer_are_those_that_are_drawn(demo_boards: Path) -> None:
    """A pair of the Thor carrier without branches: half of what its two nets draw, but for ends inside pads."""
    ctx = context(demo_boards, THOR)
    link = link_of(ctx, "pcie4", "/M.2/PCIe_{C1x1}.RX0-")
    names = [ctx.board.nets[net] for net in link.nets]

    drawn = drawn_mm(demo_boards / THOR / f"{THOR}.kicad_pcb", names)
    found = {ctx.board.copper_layers[layer].name: length for layer, length in link.length_mm_by_layer.items()}
    assert sorted(names) == ["/M.2/PCIe_{C1x1}.RX0+", "/M.2/PCIe_{C1x1}.RX0-"]
    assert sorted(found) == ["B.Cu", "F.Cu", "In7.Cu"]
    for layer, length in found.items():
        assert length == pytest.approx(drawn[layer] / 2, abs=0.4), layer


def test_the_loss_of_a_pair_on_an_inner_layer_by_hand(demo_boards: Path) -> None:
    """In7: 0.15 mm traces between 0.2 mm of core (Dk 4.3, Df 0.025) and 0.14 mm of prepreg (Dk 3.96, Df 0.0294), 8 GHz.

    Dielectric: 2.3156 f sqrt(Dk) Df dB/inch, between that of the core and of the prepreg. Copper: Pozar's closed form
    of a single centred stripline of its width, 0.31 dB/inch; the pair's odd mode loses a little more. Roughness:
    between the cannonball's multiplier less one on a bonded face of Rz 4 um and on another of 5.
    """
    ctx = context(demo_boards, THOR)
    link = link_of(ctx, "pcie4", "/M.2/PCIe_{C1x1}.RX0-")
    inner = next(s.loss for s in link.sections if ctx.board.copper_layers[s.key.layer].name == "In7.Cu")

    inch, low, high = 25.4, 2.3156 * 8 * math.sqrt(4.3) * 0.025, 2.3156 * 8 * math.sqrt(3.96) * 0.02942
    assert low < inch * inner.dielectric_db_per_mm < high
    assert inch * inner.copper_db_per_mm == pytest.approx(0.31, rel=0.15)
    rough = [float(cannonball(rz).multiplier(8.0).resistance) - 1 for rz in (4.0, 5.0)]
    assert rough[0] < inner.roughness_db_per_mm / inner.copper_db_per_mm < rough[1]


def test_holes_of_a_link_are_counted(demo_boards: Path) -> None:
    """Up to In7 and down again, and once to B.Cu: three per trace; the others of its class run from F to B at most."""
    ctx = context(demo_boards, THOR)

    link = link_of(ctx, "pcie4", "/M.2/PCIe_{C1x1}.RX0-")
    assert link.hole_count == 3
    assert 0 == link.holes_db.low < link.holes_db.nominal < link.holes_db.high  # three may cancel


@pytest.mark.parametrize("ghz", [4.0, 6.0, 8.0, 10.0])
def test_holes_lose_what_the_s_parameters_of_the_link_have_more_than_its_lines(demo_boards: Path, ghz: float) -> None:
    """Reflections of three holes add to more or less at one frequency: over 2 GHz they lose the sum of what each does.

    The lines are no 85 ohm either, for which the S-parameters have up to a fifth more.
    """
    ctx = context(demo_boards, THOR)
    link = LinkLosses(ctx).at(link_of(ctx, "pcie4", "/M.2/PCIe_{C1x1}.RX0-"), ghz)
    around = np.arange(ghz - 1.0, ghz + 1.001, 0.1)
    s21 = np.abs(link_network(ctx, link, around).own_s[:, 1, 0])
    more_db = float(np.mean(-20 * np.log10(s21))) - (link.dielectric_db + link.copper_db + link.roughness_db)

    assert link.holes_db.low < more_db < link.holes_db.high
    assert 1.0 < more_db / link.holes_db.nominal < 1.25


def test_parts_add_up_and_both_inversions_close_the_link(demo_boards: Path) -> None:
    """At the Df that is named, and at the length that is named, the loss is the budget."""
    link = link_of(context(demo_boards, THOR), "pcie4", "/M.2/PCIe_{C1x1}.RX0-")

    parts = link.dielectric_db + link.copper_db + link.roughness_db + link.holes_db.nominal
    assert parts == pytest.approx(link.total_db.nominal)
    budget_db = 4.0
    needed = df_needed(link, budget_db, 0.0294)
    assert needed is not None
    assert link.total_db.nominal - link.dielectric_db * (1 - needed / 0.0294) == pytest.approx(budget_db)
    per_mm = link.sections[0].loss.total_db_per_mm.nominal
    longest = longest_length_mm(budget_db, link.holes_db.nominal, per_mm)
    assert longest * per_mm + link.holes_db.nominal == pytest.approx(budget_db)


def test_a_net_that_leads_to_a_cage_and_to_a_connector_is_two_links(demo_boards: Path) -> None:
    """vme-wren: SFP1 shares its FPGA pins with PCIe, one or the other being fitted. Each way counts where it leads."""
    ctx = context(demo_boards, WREN)

    pcie, ethernet = (LinkLosses(ctx).of(one, declared=True) for one in ("pcie3", "eth10g-kr"))
    assert pcie.missing == ethernet.missing == ()
    assert [len(pcie.known), len(ethernet.known)] == [2, 4]
    assert {round(link.length_mm) for link in pcie.known} == {205, 226}
    assert all(160 < link.length_mm < 168 for link in ethernet.known)
    assert pcie.confidence is Confidence.LOW
    assert any("leads to J1.18 too" in note for link in pcie.known for note in link.notes)
