"""A plan that was applied, in a real KiCad 10: the board opens, its stackup is the plan's, its rules are obeyed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from drc_rules.settings.config import Config, load_config
from drc_rules.stackup_design.plan_file import parse_plan, plan_of, write_plan
from fixtures.miniboard import build
from stackup_lib.board.planned import planned_from
from stackup_lib.kicad import read_board
from stackwright.cli.app import run
from stackwright.commands.apply.apply import PlanParts, apply_plan
from tests.conftest import KicadCli
from tests.support.boards import copied

pytestmark = pytest.mark.kicad

FIT = "inference_pcie_gen5_fit"
CLASS = "85Ohm-diff_PCIE"
RULE = f"""
[[rule]]
net_class = "{CLASS}"
layer = "In2.Cu"
width_mm = 0.2
gap_mm = 0.13
requirement = "85 ohm by the plan"
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A copy of our PCIe card, as KiCad itself would save it."""
    return copied(FIT, tmp_path, "card")


def edited(card: Path, *swaps: tuple[str, str], extra: str = "") -> Path:
    """The card's own plan with some texts replaced."""
    text = write_plan(plan_of(read_board(card), Config()))
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new)
    path = card.parent / "card.stackwright-plan.toml"
    path.write_text(text + extra, encoding="utf-8")
    return path


def test_kicad_saves_the_applied_stackup_as_planned(card: Path, kicad_cli: KicadCli) -> None:
    """After KiCad has read and written the board, it states the plan's rows, Unknown Dk and Df included."""
    path = edited(
        card,
        (
            'thickness_mm = 0.075, material = "R-5775(N) 2013 RC56%", laminate = "Megtron 6(N)", dk = 3.35, df = 0.004',
            'thickness_mm = 0.1, material = "I-Tera MT40"',
        ),
        ('name = "In2.Cu"', 'name = "In2.Cu", foil = "HVLP"'),
    )
    apply_plan(path, card, PlanParts(write=True, change_stackup=True))
    ours = read_board(card).stackup
    kicad_cli("pcb", "upgrade", "--force", card)
    theirs = read_board(card).stackup
    assert ours is not None and theirs is not None
    planned = parse_plan(path.read_text(encoding="utf-8"), "plan").planned
    told = [(r.name, r.kind, [(p.thickness_mm, p.material, p.dk, p.df) for p in r.plies]) for r in planned.rows]
    after = planned_from(theirs)
    assert [(r.name, r.kind, [(p.thickness_mm, p.material, p.dk, p.df) for p in r.plies]) for r in after.rows] == told
    assert theirs.digest == ours.digest  # so the facts in stackwright.toml still hold
    before = card.read_bytes()
    apply_plan(path, card, PlanParts(write=True, change_stackup=True))
    assert card.read_bytes() == before


def test_kicads_design_rule_check_holds_the_plans_width(card: Path, kicad_cli: KicadCli, tmp_path: Path) -> None:
    """The card is routed at 0.094 mm: a rule for 0.2 mm is violated on In2.Cu, by the name that we gave it."""

    def violations(name: str) -> list[str]:
        report = tmp_path / name
        kicad_cli("pcb", "drc", "--format", "json", "--output", report, card)
        found = json.loads(report.read_text(encoding="utf-8"))["violations"]
        return [one["description"] for one in found if one["type"] == "track_width"]

    assert violations("before.json") == []
    apply_plan(edited(card, extra=RULE), card, PlanParts(write=True, rules=True))
    after = violations("after.json")
    assert after
    assert all(f"stackwright: {CLASS}, pair on In2.Cu" in one for one in after)


def test_layers_are_added_to_an_unrouted_board(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Two layers become four where nothing is on them yet; KiCad keeps layers, types and thicknesses."""
    board = build({"copper_layers": 2, "stackup": 'F.Cu 0.035\ncore 1.5 "370HR"\nB.Cu 0.035'}, tmp_path, "board")
    plan = tmp_path / "four.stackwright-plan.toml"
    plan.write_text(
        """rows = [
  { kind = "copper", thickness_mm = 0.035 },
  { kind = "prepreg", thickness_mm = 0.1, material = "370HR 1080", laminate = "370HR", dk = 3.9 },
  { kind = "copper", thickness_mm = 0.0152, layer_type = "power", foil = "RTF" },
  { kind = "core", thickness_mm = 1.2, material = "370HR", laminate = "370HR", dk = 4.2 },
  { kind = "copper", thickness_mm = 0.0152, layer_type = "power" },
  { kind = "prepreg", thickness_mm = 0.1, material = "370HR 1080", laminate = "370HR", dk = 3.9 },
  { kind = "copper", thickness_mm = 0.035 },
]
""",
        encoding="utf-8",
    )
    apply_plan(plan, board, PlanParts(write=True, change_stackup=True, layers=True))
    kicad_cli("pcb", "upgrade", "--force", board)
    found = read_board(board)
    assert [(layer.name, layer.kicad_type) for layer in found.copper_layers] == [
        ("F.Cu", "signal"),
        ("In1.Cu", "power"),
        ("In2.Cu", "power"),
        ("B.Cu", "signal"),
    ]
    assert found.stackup is not None
    assert [row.thickness_mm for row in found.stackup.dielectrics] == [0.1, 1.2, 0.1]
    declared = load_config(board.with_name("stackwright.toml")).declared
    assert declared.copper["In1.Cu"].foil == "RTF"
    assert declared.stackup_hash == found.stackup.digest


def errors(board: Path, kicad_cli: KicadCli) -> list[str]:
    """What KiCad's design rule check reports as errors."""
    report = board.with_suffix(".drc.json")
    kicad_cli("pcb", "drc", "--severity-error", "--format", "json", "--output", report, board)
    return [one["description"] for one in json.loads(report.read_text(encoding="utf-8"))["violations"]]


def test_pairs_that_stay_pass_the_rules_of_another_stackup(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Nothing has to be rerouted for the fab's stackup: KiCad has no error either, though pairs spread at their pads.

    A track wider than what stays is one.
    """
    board = copied("edge_jetson_carrier_fit", tmp_path, "carrier")
    assert errors(board, kicad_cli) == []
    assert run(["retarget", str(board), "--to", "JLC06161H-3313", "--write"]) == 0
    assert errors(board, kicad_cli) == []
    text = board.read_text(encoding="utf-8")
    wide = text.replace("(width 0.12)", "(width 0.125)")
    assert wide != text
    board.write_text(wide, encoding="utf-8")
    assert any("stackwright: 100Ohm-diff_CSI, pair on F.Cu" in one for one in errors(board, kicad_cli))


@pytest.mark.demo
def test_of_several_targets_of_a_class_the_routed_one_rules(
    tmp_path: Path, demo_boards: Path, kicad_cli: KicadCli
) -> None:
    """On B.Cu the class `90ohm` has the reference clock only, which stays; PCIe, on F.Cu, makes no rule for B.Cu.

    KiCad adds one error, as `retarget` says: a piece of 0.85 mm, 0.2 mm wide, too short to count.
    """
    shutil.copytree(demo_boards / "cm5_minima", tmp_path / "cm5")
    board = tmp_path / "cm5" / "CM5_MINIMA_3.kicad_pcb"
    (tmp_path / "cm5" / "stackwright.toml").write_text(
        '[[interface]]\nis = "pcie2"\nnets = ["/CM5/PCIE_PI.RX_*", "/CM5/PCIE_PI.TX_*"]\n', encoding="utf-8"
    )
    before = errors(board, kicad_cli)
    assert run(["retarget", str(board), "--to", "JLC06161H-3313", "--write"]) == 0
    added = [one for one in errors(board, kicad_cli) if one not in before]
    assert len(added) == 1
    assert "90ohm, pair on F.Cu" in added[0] and "actual 0.2000 mm" in added[0]
