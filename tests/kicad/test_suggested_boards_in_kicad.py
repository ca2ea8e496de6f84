"""Boards begun from suggested stackups, in a real KiCad 10: it saves them as they are and obeys each layer's rule."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.profiles.profile import load_profile, profile_names
from drc_rules.stackup_design.new_plan import plan_of_answer
from drc_rules.stackup_design.plan_file import Plan, parse_plan, write_plan
from stackup_lib.board.planned import PlannedClass, planned_from
from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.kicad.write.project_writer import set_net_classes
from stackup_lib.synthesis import Evaluated, suggest
from stackwright.commands.apply.new import NewRequest, new_board
from tests.conftest import KicadCli
from tests.support.cli.new_boards import REMARKS
from tests.support.kicad.violations import KICADS, OURS, all_violations, pair, segment, violations
from tests.support.synthesis_goals import ALL

pytestmark = pytest.mark.kicad

CASES = {
    "edge": ("edge", {"PCIe Gen3": "pcie3"}),
    "card": ("inference-pcie", {"PCIe Gen5": "pcie5"}),
    "baseboard": ("training-b200", {"NVLink": "nvlink5"}),
}


@cache
def answers(name: str) -> tuple[Evaluated, ...]:
    """What is suggested for some goals."""
    return suggest(ALL[name]).ranked


def begun(name: str, one: Evaluated, folder: Path) -> tuple[Path, Plan]:
    """A board from a suggestion, by way of its plan file."""
    profile, interfaces = CASES[name]
    plan = plan_of_answer(one, ALL[name], interfaces)
    text = write_plan(plan)
    assert parse_plan(text, "plan") == plan
    plan_file = folder / "suggestion.stackwright-plan.toml"
    plan_file.write_text(text, encoding="utf-8")
    (folder / "board").mkdir()
    board = folder / "board" / "board.kicad_pcb"
    new_board(board, NewRequest(profile, interfaces=tuple(interfaces.values()), plan=plan_file))
    return board, plan


def failed(board: Path) -> set[str]:
    return {v.clause.id for v in check_board(board).verdicts if v.verdict is Verdict.FAILED}


@pytest.mark.parametrize("name", CASES)
def test_every_suggestion_opens_and_fails_no_clause(name: str, tmp_path: Path, kicad_cli: KicadCli) -> None:
    """KiCad saves every ranked answer as it is; before and after our check has nothing but remarks about fabs."""
    assert answers(name)
    for number, one in enumerate(answers(name)):
        folder = tmp_path / str(number)
        folder.mkdir()
        board, plan = begun(name, one, folder)
        ours = board.read_bytes()
        assert failed(board) <= REMARKS
        kicad_cli("pcb", "upgrade", "--force", board)
        assert board.read_bytes() == ours.replace(OURS, KICADS)
        assert failed(board) <= REMARKS
        stackup = read_board(board).stackup
        assert stackup is not None
        theirs, planned = planned_from(stackup).rows, plan.planned.rows
        assert [(r.name, r.kind, len(r.plies)) for r in theirs] == [(r.name, r.kind, len(r.plies)) for r in planned]
        assert [r.thickness_mm for r in theirs] == pytest.approx([r.thickness_mm for r in planned], abs=1e-6)
        assert [r.plies[0].material for r in theirs] == [r.plies[0].material for r in planned]


@pytest.mark.parametrize("profile", profile_names())
def test_a_board_of_every_profile_opens_and_its_rules_are_read(
    profile: str, tmp_path: Path, kicad_cli: KicadCli
) -> None:
    """Saved as it is, without a violation; where it carries interfaces, tracks off the first rule are reported."""
    board = tmp_path / "board.kicad_pcb"
    new_board(board, NewRequest(profile))
    assert all_violations(board, kicad_cli) == []
    ours = board.read_bytes()
    kicad_cli("pcb", "upgrade", "--force", board)
    saved = board.read_bytes()
    assert saved == ours.replace(OURS, KICADS)
    assert not any("stale" in note for note in check_board(board).notes)
    rules_file = board.with_suffix(".kicad_dru")
    one = load_profile(profile)
    assert rules_file.exists() == bool(one.must_carry or one.design_for)
    if not rules_file.exists():
        return
    first, *_ = parse_design_rules(rules_file.read_text(encoding="utf-8")).rules
    project = board.with_suffix(".kicad_pro")
    net_class = first.name.removeprefix("stackwright: ").rpartition(", ")[0]
    planned = PlannedClass(name=net_class, patterns=("/TX*",))
    project.write_bytes(set_net_classes(project.read_bytes(), [planned]).content)
    gap_mm = next((one.opt_mm for one in first.constraints if one.kind == "diff_pair_gap"), None)
    tracks = (
        segment("/TX", first.layer or "", 60, 0.999)
        if gap_mm is None
        else pair("TX", first.layer or "", 60, 0.999, gap_mm)
    ).encode()
    board.write_bytes(saved.replace(b"\t(embedded_fonts no)", tracks + b"\t(embedded_fonts no)"))
    found = violations(board, kicad_cli)
    assert {kind for kind, _ in found} == {"track_width"}
    assert all(f"stackwright: {net_class}, " in words for _, words in found)


@pytest.mark.parametrize("name", CASES)
def test_kicad_obeys_the_rule_of_every_layer(name: str, tmp_path: Path, kicad_cli: KicadCli) -> None:
    """On each layer a pair as solved passes; one that is 10 um wider is reported, by the name of that layer's rule."""
    board, plan = begun(name, answers(name)[0], tmp_path)
    pairs = [rule for rule in plan.rule if rule.gap_mm is not None]
    project = board.with_suffix(".kicad_pro")
    classes = [PlannedClass(name=rule.net_class, patterns=("/TX*",)) for rule in pairs[:1]]
    project.write_bytes(set_net_classes(project.read_bytes(), classes).content)
    empty = board.read_bytes()

    def routed(wider_mm: float) -> None:
        lines = [
            pair(f"TX{i}", rule.layer, 60 + 5 * i, rule.width_mm + wider_mm, rule.gap_mm or 0.0)
            for i, rule in enumerate(pairs)
        ]
        board.write_bytes(empty.replace(b"\t(embedded_fonts no)", "".join(lines).encode() + b"\t(embedded_fonts no)"))

    routed(0.0)
    assert violations(board, kicad_cli) == []
    routed(0.01)
    found = violations(board, kicad_cli)
    assert {kind for kind, _ in found} == {"track_width"}
    assert len(found) == len(pairs)
    for rule in pairs:
        assert any(f"stackwright: {rule.net_class}, pair on {rule.layer}" in words for _, words in found)
