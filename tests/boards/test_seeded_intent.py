"""What nets are meant to be: names, classes and declarations of one board are broken, one at a time.

KiCad's CM5 carrier has PCI Express by its names, in a net class of 90 ohm. No demo board has NVLink: our own B200
baseboard takes their place there, with eight lanes on eight layers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.kicad import read_board
from tests.support.seeded import Case, State, turned

BASEBOARD = Path(__file__).parents[2] / "fixtures" / "boards" / "training_b200_fit"

PCIE = tuple(f"/CM5/PCIE_PI.{way}_{trace}" for way in ("RX", "TX") for trace in "PN")
EDGE = """profile = "edge"
[[interface]]
is = "pcie3"
nets = ["/CM5/PCIE_PI.?X_?"]
"""
CARD = 'profile = "inference-pcie"\n'
DECLARED_CARD = CARD + '[[interface]]\nis = "pcie5"\nnets = ["/CM5/*_PI.?X_?"]\n'


@dataclass(frozen=True)
class Seed:
    """A defect: why exactly these clauses turn, the settings, how it is made in a folder, and what they turn to."""

    why: str
    settings: str
    edit: Callable[[Case, Path], Case]
    turns: dict[str, str]


def renamed(case: Case, old: str, new: str) -> Case:
    """Replace a part of every net's name; the nets stay in their classes."""
    project = case.board.project
    classes = {net.replace(old, new): names for net, names in project.net_classes_of.items()}
    nets = tuple(net.replace(old, new) for net in case.board.nets)
    assert nets != case.board.nets
    return case.with_board(nets=nets, project=replace(project, net_classes_of=classes))


def in_no_class(case: Case, *nets: str) -> Case:
    """Take nets out of their net classes."""
    project = case.board.project
    assert all(project.net_classes_of[net] for net in nets)
    kept = {net: names for net, names in project.net_classes_of.items() if net not in nets}
    return case.with_board(project=replace(project, net_classes_of=kept))


def without_pin_names(case: Case, *nets: str) -> Case:
    """Take the names of the pins off the pads of nets."""
    board = case.board
    mine = np.isin(board.pads.net, [board.net_index[net] for net in nets])
    return case.with_board(pads=replace(board.pads, function=np.where(mine, "", board.pads.function)))


def with_mute_pins(case: Case, *nets: str) -> Case:
    """Take the names of the pins and the numbers of the pads off: those of an M.2 socket tell its lanes, too."""
    board = case.board
    mine = np.isin(board.pads.net, [board.net_index[net] for net in nets])
    nameless = without_pin_names(case, *nets)
    return nameless.with_board(pads=replace(nameless.board.pads, number=np.where(mine, "", board.pads.number)))


def with_design_rule(case: Case, folder: Path, constraint: str) -> Case:
    """Put custom rules next to the board: one for the nets of PCI Express."""
    condition = "A.NetName == '/CM5/PCIE_PI.?X_?'"
    rules = f'(version 1)\n(rule "pcie" (condition "{condition}") {constraint})\n'
    (folder / "board.kicad_dru").write_text(rules, encoding="utf-8")
    return case.with_board(path=folder / "board.kicad_pcb")


NO_GENERATION = {
    "edge.generation.pcie": "not verifiable",
    "board.return_path.via": "not verifiable",
}
NO_SWAP = {"board.intent.swapped_pair": "passed +0 -1"}
"""The pins of PCI Express, whose pairs may be swapped, give a remark."""

ASKED_OF_GEN5 = ("backdrill", "foil", "impedance_tolerance", "impedance_tolerance_max", "laminate", "laminate_min")
NO_CLASS = {"board.nets.in_classes": "failed"}
SOUND_RULES = {"board.design_rules": "passed", "board.design_rules.act": "passed"}

SEEDS = {
    "the generation of PCI Express is left open": Seed(
        "what the edge asks of it, and how near its return vias are to be, cannot be told; its pairs are too short for "
        "glass to skew any generation too far, and no loss is known that could be exceeded",
        EDGE,
        lambda c, _: c.declared('is = "pcie3"', 'is = "?"'),
        NO_GENERATION | {"board.loss.share": "not applicable"},
    ),
    "the nets of the declaration are misspelt": Seed(
        "it reaches no net, which leaves the generation open as well; what PCIe Gen3 may lose stays asked",
        EDGE,
        lambda c, _: c.declared("/CM5/PCIE_PI.?X_?", "/CM5/PCIE_P1.?X_?"),
        NO_GENERATION,
    ),
    "the same nets are declared by two patterns": Seed(
        "another spelling of the same: harmless",
        EDGE,
        lambda c, _: c.declared('["/CM5/PCIE_PI.?X_?"]', '["/CM5/PCIE_PI.RX_*", "/CM5/PCIE_PI.TX_*"]'),
        {},
    ),
    "the nets are declared as NVLink": Seed(
        "no board at the edge has it; it is fast enough to ask for ground vias, and of its loss no share is published",
        EDGE,
        lambda c, _: c.declared('is = "pcie3"', 'is = "nvlink2"'),
        {
            "edge.interfaces.unexpected": "failed",
            "board.return_path.via": "failed",  # 1.3 mm away, and 1.2 mm would be lumped
            "board.loss.share": "not applicable",
            "board.loss.share_assumed": "not verifiable",
            **NO_SWAP,
        },
    ),
    "the nets are named like NVLink": Seed(
        "their generation is open, but the edge asks nothing of any; what is declared of PCIe Gen3 has no net",
        EDGE,
        lambda c, _: renamed(c, "PCIE_PI.", "NVLINK_PI."),
        {
            "edge.interfaces.unexpected": "failed",
            "board.return_path.via": "not verifiable",
            "board.weave.skew": "not verifiable",  # unnamed glass; a quarter of the fastest unit interval is 2.4 ps
            **NO_SWAP,
        },
    ),
    "one slow net is named like NVLink": Seed(
        "a reset is no link: a harmless name",
        EDGE,
        lambda c, _: renamed(c, "PCIE_PI.nRST", "NVLINK_nRST"),
        {},
    ),
    "no net has the name of PCI Express, nor a pin, on a socket of M.2": Seed(
        "the numbers of its pads, lane 0 of key M, tell as well: harmless, but for a remark that rests on the pins",
        CARD,
        lambda c, _: renamed(without_pin_names(c, *PCIE), "PCIE", "LANE"),
        NO_SWAP,
    ),
    "no net has the name of PCI Express, and no pin": Seed(
        "a card of the data centre has it: it is missing until its nets are declared, and nothing asked of it is "
        "judged until then",
        CARD,
        lambda c, _: renamed(with_mute_pins(c, *PCIE), "PCIE", "LANE"),
        {
            "inference.present.pcie5": "not verifiable",
            **dict.fromkeys((f"inference.{what}.pcie5" for what in ASKED_OF_GEN5), "absent"),
            "board.loss.share_assumed": "not applicable",
            "board.return_path.via": "passed",  # the vias of USB lead to breakouts
            **NO_SWAP,
        },
    ),
    "no net has the name of PCI Express": Seed(
        "the pins of its socket and of the module still tell: harmless",
        CARD,
        lambda c, _: renamed(c, "PCIE", "LANE"),
        {},
    ),
    "no net has the name, no pin, and they are declared": Seed(
        "names are one way to tell, declarations the other: harmless, but for a remark that rests on the pins",
        DECLARED_CARD,
        lambda c, _: renamed(with_mute_pins(c, *PCIE), "PCIE", "LANE"),
        NO_SWAP,
    ),
    "no class holds the nets of PCI Express": Seed(
        "nothing in KiCad keeps their width",
        EDGE,
        lambda c, _: in_no_class(c, *PCIE),
        NO_CLASS,
    ),
    "no class holds one trace of a pair": Seed(
        "one of four nets is enough",
        EDGE,
        lambda c, _: in_no_class(c, PCIE[0]),
        NO_CLASS,
    ),
    "a design rule prefers a width for them instead": Seed(
        "the other place from which KiCad takes a width: harmless but for the rules file, which is judged from now on",
        EDGE,
        lambda c, folder: with_design_rule(in_no_class(c, *PCIE), folder, "(constraint track_width (opt 0.14mm))"),
        SOUND_RULES,
    ),
    "a design rule only forbids narrow tracks there": Seed(
        "a minimum is no width that KiCad routes with",
        EDGE,
        lambda c, folder: with_design_rule(in_no_class(c, *PCIE), folder, "(constraint track_width (min 0.1mm))"),
        NO_CLASS | SOUND_RULES,
    ),
    "no class holds a pair of USB 2": Seed(
        "it is slow enough to go without: harmless",
        EDGE,
        lambda c, _: in_no_class(c, "/CM5/USB2P.D_N", "/CM5/USB2P.D_P"),
        {},
    ),
}


@functools.cache
def carrier(demos: Path, settings: str) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb"), settings)
    return case, case.states()


@pytest.mark.demo
def test_the_carrier_passes_what_the_seeds_break(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    edge, card = (carrier(demo_boards, settings)[1] for settings in (EDGE, CARD))

    assert {edge[clause][0] for clause in ("edge.interfaces.unexpected", "board.nets.in_classes")} == {"passed"}
    assert "edge.generation.pcie" not in edge
    assert "inference.present.pcie5" not in card


@pytest.mark.demo
@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_of_names_and_classes_turns_what_rests_on_it(name: str, demo_boards: Path, tmp_path: Path) -> None:
    """No more and no less."""
    seed = SEEDS[name]
    case, before = carrier(demo_boards, seed.settings)

    assert turned(before, seed.edit(case, tmp_path).states()) == seed.turns, seed.why


def lanes_on(case: Case, lanes: range, layer: str, must_cut: str) -> Case:
    """Route NVLink lanes on another layer, and drill their vias up to the next one below it."""
    board = case.board
    nets = [
        net for lane in lanes for way in ("TX0", "RX0") for net in (f"/NVLINK{lane}_{way}_P", f"/NVLINK{lane}_{way}_N")
    ]
    inner = case.on_nets(*nets) & (board.tracks.layer != 0)
    vias = board.vias.uuid[np.isin(board.vias.net, [board.net_index[net] for net in nets])]
    moved = case.with_tracks(inner, layer=board.layer_index[layer])
    return moved.backdrilled(vias.tolist(), size_mm=0.45, start="B.Cu", must_cut=must_cut)


NVLINK_SEEDS: dict[str, tuple[str, Callable[[Case], Case], dict[str, str]]] = {
    "three more lanes on In8": (
        "NVLink is left on five layers, where six are usual",
        lambda c: lanes_on(c, range(5, 8), "In8.Cu", "In9.Cu"),
        {"training.nvlink_layers.min": "failed"},
    ),
    "two more lanes on In8": (
        "six layers are enough: harmless",
        lambda c: lanes_on(c, range(6, 8), "In8.Cu", "In9.Cu"),
        {},
    ),
}


@functools.cache
def baseboard() -> tuple[Case, dict[str, State]]:
    settings = (BASEBOARD / "stackwright.toml").read_text(encoding="utf-8")
    case = Case(read_board(BASEBOARD / "training_b200_fit.kicad_pcb"), settings)
    return case, case.states()


@pytest.mark.parametrize("name", NVLINK_SEEDS)
def test_nvlink_on_fewer_layers_turns_the_clause_of_its_layers(name: str) -> None:
    """No more and no less."""
    case, before = baseboard()
    why, edit, turns = NVLINK_SEEDS[name]

    assert turned(before, edit(case).states()) == turns, why
