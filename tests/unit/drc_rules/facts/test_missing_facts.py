"""What is not stated is never passed by the families IMP, LOS, VIA and NET; each verdict says what to supply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import pytest

from drc_rules.report.verdicts import ClauseVerdict
from fixtures.miniboard import MiniBoard, write
from stackup_lib.board.board import Tracks
from stackup_lib.kicad import read_board
from tests.support.seeded import Case

pytestmark = pytest.mark.slow

FAMILIES = ("IMP", "LOS", "VIA", "NET")
STUBS = "board.via.stub_resonance", "board.via.stub_resonance_worst", "board.via.stub_ten_times"
STACKUP, FILLS, ROUTE = "Physical Stackup", "press B to fill all zones", "route it"
GENERATION = '[[interface]]\nis = "?"'


@dataclass(frozen=True)
class Missing:
    """A fact that is taken away: how, and which clauses then say what to supply."""

    without: Callable[[Case], Case]
    asks: dict[str, str]


def card() -> Case:
    """Our card for PCIe Gen5, on which every clause is decided; its share of loss is so tight that all of it counts."""
    folder = Path(__file__).parents[4] / "fixtures" / "boards" / "inference_pcie_gen5_fit"
    config = (folder / "stackwright.toml").read_text(encoding="utf-8")
    return Case(read_board(folder / "inference_pcie_gen5_fit.kicad_pcb"), config)


def unrouted(case: Case) -> Case:
    tracks = case.board.tracks
    return case.with_board(tracks=Tracks(**{f.name: getattr(tracks, f.name)[:0] for f in fields(Tracks)}))


def without_materials(case: Case) -> Case:
    assert case.board.stackup is not None
    for layer in case.board.stackup.dielectrics:
        case = case.with_ply(layer.name, material=None, dk=None)
    return case


MISSING = {
    "stackup": Missing(
        lambda c: c.with_board(stackup=None),
        dict.fromkeys(
            (
                *STUBS,
                "board.impedance.routed",
                "board.loss.share",
                "board.via.aspect_ratio_advanced",
                "board.via.aspect_ratio_standard",
                "inference.backdrill.pcie5",
            ),
            STACKUP,
        ),
    ),
    "thickness": Missing(
        lambda c: c.with_ply("dielectric 3", thickness_mm=None),
        {
            **dict.fromkeys((*STUBS, "inference.backdrill.pcie5"), STACKUP),
            "board.via.aspect_ratio_standard": STACKUP,
            "board.loss.share": STACKUP,
            "board.impedance.routed": STACKUP,
        },
    ),
    "laminate": Missing(
        without_materials,
        {
            "board.impedance.routed": "Epsilon R",
            "board.loss.share": "Epsilon R",
            **dict.fromkeys(STUBS, "Epsilon R"),
        },
    ),
    "fills": Missing(
        Case.without_fills,
        {"board.impedance.routed": FILLS, "board.loss.share": FILLS},
    ),
    "foil": Missing(
        lambda c: c.declared('foil = "VLP"\n', "").declared("package_loss_db = 3\n", "board_loss_db = 5\n"),
        {"board.loss.share": "foil ="},
    ),
    "interface": Missing(
        lambda c: c.declared('is = "pcie5"', 'is = "?"').declared('"inference-pcie"', '"inference"'),
        {"inference.generation.pcie": GENERATION},
    ),
    "role": Missing(
        lambda c: c.declared('profile = "inference-pcie"', 'profile = "inference"'),
        {"board.loss.share": 'role = "?"'},
    ),
    "tolerance": Missing(
        lambda c: c.declared("impedance_tolerance_pct = 5\n", ""),
        # 10 % is what fabs hold on a board that is marked impedance controlled, as this one is
        {"inference.impedance_tolerance.pcie5": "impedance_tolerance_pct ="},
    ),
    "routed copper": Missing(
        unrouted,
        {
            **dict.fromkeys((*STUBS, "inference.backdrill.pcie5", "board.via.backdrill_spares_used"), ROUTE),
            "board.loss.share": ROUTE,
        },
    ),
}


def verdicts(case: Case) -> dict[str, ClauseVerdict]:
    return {v.clause.id: v for v in case.judged(FAMILIES).verdicts if v.code.startswith(FAMILIES)}


@cache
def without(fact: str) -> dict[str, ClauseVerdict]:
    """The verdicts on our card without a fact."""
    return verdicts(MISSING[fact].without(card()))


def said(verdict: ClauseVerdict) -> str:
    return "\n".join(missing.how_to_give for missing in verdict.missing)


def test_the_card_is_decided_in_full() -> None:
    """What is not verifiable below is so because of what was taken away."""
    assert {v.verdict.value for v in verdicts(card()).values()} == {"passed", "not applicable"}


@pytest.mark.parametrize("fact", MISSING)
def test_what_rests_on_a_missing_fact_says_how_to_supply_it(fact: str) -> None:
    """Not passed, and the text names the key of the settings or the place in KiCad."""
    found = without(fact)

    for clause, phrase in MISSING[fact].asks.items():
        assert found[clause].verdict.value == "not verifiable", clause
        assert phrase in said(found[clause]), clause


@pytest.mark.parametrize("fact", MISSING)
def test_every_open_question_says_what_to_do(fact: str) -> None:
    """A line to paste, a place in KiCad, or to route it."""
    found = [v for v in without(fact).values() if v.verdict.value == "not verifiable"]

    assert found
    for verdict in found:
        for missing in verdict.missing:
            assert any(word in missing.how_to_give for word in ("[[", "[declared", "KiCad", "route")), missing


def test_a_board_of_which_nothing_is_known_passes_nothing_that_rests_on_copper_or_materials(tmp_path: Path) -> None:
    """Nets with the names of PCIe, one via on each, and neither stackup, planes, tracks nor settings."""
    nets = ["/PCIE_TX0_P", "/PCIE_TX0_N"]
    board = MiniBoard.model_validate(
        {
            "copper_layers": 8,
            "parts": [
                {"reference": "U1", "at_mm": [5, 5 + i], "pads": [{"number": "1", "net": net}]}
                for i, net in enumerate(nets)
            ],
            "vias": [{"net": net, "at_mm": [20, 5 + i], "drill_mm": 0.1} for i, net in enumerate(nets)],
        }
    )
    case = Case(read_board(write(board, tmp_path, "board")), 'profile = "inference"\n')

    found = verdicts(case)
    passed = {clause for clause, v in found.items() if v.verdict.value == "passed"}
    asked = {clause for clause, v in found.items() if v.verdict.value == "not verifiable"}
    # no microvias, the layers that vias join, and that an inference board may carry PCIe: known all the same
    assert passed <= {"inference.hdi", "board.via.two_layers", "inference.interfaces.unexpected"}
    assert {*STUBS, "board.via.aspect_ratio_standard", "inference.generation.pcie"} <= asked
