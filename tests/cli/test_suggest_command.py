"""`stackwright suggest`: answers that our own check passes, the least change of a board, a plan that can be applied."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report, Verdict
from drc_rules.stackup_design.goals_judge import DECIDED
from drc_rules.stackup_design.plan_file import read_plan
from stackup_lib.core.errors import StackwrightError
from stackwright.cli.app import run
from stackwright.commands.suggest.words import shortened

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BOARDS = ROOT / "fixtures" / "boards"
SCHEMA = ROOT / "fixtures" / "schemas" / "suggestion-v1.json"
SMALL = ("suggest", "--profile", "edge", "--interface", "pcie3", "--limit", "2")


def failed(report: Report) -> list[str]:
    """Clauses that a stackup decides and that failed."""
    return [v.clause.id for v in report.verdicts if v.verdict is Verdict.FAILED and v.clause.kind in DECIDED]


def copied(name: str, target: Path) -> Path:
    """A fixture board of one's own."""
    shutil.copytree(BOARDS / name, target / name)
    return target / name / f"{name}.kicad_pcb"


@pytest.mark.parametrize("profile", ["edge", "inference", "inference-workstation", "training", "training-nvswitch"])
def test_a_suggestion_begun_as_a_board_fails_no_clause_of_its_profile(profile: str, tmp_path: Path) -> None:
    """Profile to plan to new board to check: no stackup, material or copper clause fails."""
    plan, board = tmp_path / "a.stackwright-plan.toml", tmp_path / "a.kicad_pcb"
    assert run(["suggest", "--profile", profile, "--limit", "1", "--plan", str(plan)]) == 0
    assert run(["new", "--profile", profile, "--plan", str(plan), str(board)]) == 0
    assert failed(check_board(board)) == []


def test_answers_are_drawn_with_widths_clauses_and_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    """The page shows the table, the first stackup, its lines, why others lost and what was assumed."""
    assert run(list(SMALL)) == 0
    out = capsys.readouterr().out
    for words in ("answers", "stackup 1", "In1.Cu", "PCIe Gen3 85 ohm on", "edge.tg.min", "why others lost", "assumed"):
        assert words in out


def test_the_same_question_gives_the_same_json_and_it_fits_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is valid against the published schema, and equal for equal inputs."""
    assert run([*SMALL, "--json"]) == 0
    first = capsys.readouterr().out
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(json.loads(first))
    assert run([*SMALL, "--json"]) == 0
    assert capsys.readouterr().out == first


def test_goals_that_fight_give_exit_code_1_and_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty-four layers with 2 oz planes in a card cannot be built: it says so, what fights, and what would help."""
    words = ["suggest", "--profile", "inference-pcie", "--layers", "24", "--power-oz", "2", "--laminate", "Megtron 6"]
    assert run(words) == 1
    out = capsys.readouterr().out
    assert "no stackup meets these goals" in out and "what would help" in out
    assert "a thickness of 1.575 mm" in out and "24 layers" in out


def test_a_low_tg_is_mended_by_the_rows_that_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a board with one laminate that softens early that row alone is swapped; applied, the check passes."""
    board, plan = copied("inference_pcie_low_tg", tmp_path), tmp_path / "a.stackwright-plan.toml"
    assert "inference.tg.min" in failed(check_board(board))
    assert run(["suggest", str(board), "--limit", "1", "--plan", str(plan)]) == 0
    out = capsys.readouterr().out
    assert "dielectric 8 to 370HR" in out and "check then: 0 failed" in out and "widths stay" in out
    assert len(read_plan(plan).rule) == 0
    assert run(["apply", str(plan), str(board), "--write", "--change-stackup"]) == 0
    assert failed(check_board(board)) == []


def test_a_rough_foil_is_mended_by_a_foil(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a board with ED foil on one fast layer only the foil of that layer changes, in the settings alone."""
    board, plan = copied("training_b200_ed_foil", tmp_path), tmp_path / "a.stackwright-plan.toml"
    before = board.read_bytes()
    assert run(["suggest", str(board), "--limit", "1", "--plan", str(plan)]) == 0
    assert "VLP on In4.Cu" in capsys.readouterr().out
    assert run(["apply", str(plan), str(board), "--write"]) == 0
    assert board.read_bytes() == before
    assert failed(check_board(board)) == []


def test_a_board_that_fits_needs_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    """A board without a fault is told so first."""
    assert run(["suggest", str(BOARDS / "inference_pcie_gen5_fit"), "--limit", "1"]) == 0
    assert "nothing has to change" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--profile"),
        (["--profile", "trainng"], "training"),
        (["--profile", "edge", "--length", "pcie5"], "pcie5=120"),
        (["--profile", "edge", "--laminate", "Megtrom 6"], "Megtron 6"),
        (["--profile", "edge", "--layers", "7"], "even number"),
        (["--profile", "training-b200", "--layers", "12"], "training.layers.min"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_with_a_cure(words: list[str], said: str) -> None:
    """What makes no sense is one sentence with the next step."""
    with pytest.raises(StackwrightError) as refused:
        run(["suggest", *words])
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_pick_beyond_the_answers_writes_nothing(tmp_path: Path) -> None:
    """There is no twentieth answer, so there is no plan."""
    plan = tmp_path / "a.stackwright-plan.toml"
    with pytest.raises(StackwrightError, match="--pick 20"):
        run(["suggest", "--profile", "edge", "--pick", "20", "--plan", str(plan)])
    assert not plan.exists()


def test_lists_of_layers_are_written_short() -> None:
    """Three dielectrics in a row are a range, a layer is named once, and words between stay."""
    long = "dielectric 2, dielectric 3, dielectric 4 and dielectric 9 to X; VLP on In2.Cu, In4.Cu and In2.Cu"
    assert shortened(long) == "dielectrics 2 to 4 and 9 to X; VLP on In2.Cu and In4.Cu"
    assert shortened("dielectric 8 to 370HR") == "dielectric 8 to 370HR"
