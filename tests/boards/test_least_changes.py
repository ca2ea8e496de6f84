"""Twelve least changes of boards, worked out by hand: minimal, helpful, harmless."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from drc_rules.engine.check import find_config, prepare
from drc_rules.engine.decide import run
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import all_rules
from drc_rules.stackup_design.goals import BoardProject, project_of
from drc_rules.stackup_design.plan_file import Plan, plan_of
from stackup_lib.kicad import read_board
from stackup_lib.materials import catalogue
from stackwright.commands.suggest.least import NOTHING, proposed_rows
from stackwright.commands.suggest.model import Suggested, suggestion_for
from tests.support.boards import copied

ROOT = Path(__file__).parents[2] / "fixtures"
CASES: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "expected" / "least_changes.toml").read_text(encoding="utf-8"))
TWINS = [name for name, case in CASES.items() if "profile" not in case]
DEMOS = [name for name, case in CASES.items() if "profile" in case]


@cache
def least(path: Path, profile: str | None) -> tuple[BoardProject, Suggested]:
    """A board, and the least change of it."""
    project = project_of(read_board(path), find_config(path, None), Overrides(profile))
    context = project.context
    assert context.profile is not None
    return project, suggestion_for(path, project, context.profile, context.form, new=False)


def plan_in(found: Suggested) -> Plan | None:
    """The plan of the first change, else of what helps."""
    if found.changes:
        return found.changes[0].plan
    return found.least.partial.plan if found.least.partial else None


def changed_rows(project: BoardProject, plan: Plan) -> dict[str, dict[str, object]]:
    """Rows that a plan changes, with what it says of them."""
    rows = zip(plan_of(project.board, project.config).rows, plan.rows, strict=True)
    found: dict[str, dict[str, object]] = {}
    for old, new in rows:
        if old == new:
            continue
        sheet = new.sheets[0]
        styles = catalogue().find(sheet.material or "").styles
        thickness = sum(one.thickness_mm or 0.0 for one in new.sheets)
        found[new.name] = {
            "thickness_mm": pytest.approx(thickness, abs=6e-5),
            "laminate": sheet.laminate,
            "style": styles[0] if styles else None,
            "plies": len(new.sheets),
            "foil": new.foil,
        }
    return found


def failing(path: Path, profile: str | None, plan: Plan | None) -> set[str]:
    """Every clause of a board that fails with a warning or an error, before or after a plan."""
    overrides, config = Overrides(profile), find_config(path, None)
    board = read_board(path)
    if plan is not None:
        proposal = proposed_rows(plan, path, None)
        board, config = proposal.after, proposal.settings_after
    context, requirements, _ = prepare(board, config, overrides)
    verdicts = run(context, requirements.clauses, all_rules(), all_rules()).verdicts
    return {
        one.clause.id for one in verdicts if one.verdict is Verdict.FAILED and one.clause.severity is not Severity.INFO
    }


def assert_as_worked_out(path: Path, case: dict[str, Any]) -> None:
    """The change is the one that was worked out: its words, its rows and no other, what stays open, and no harm."""
    profile = case.get("profile")
    project, found = least(path, profile)
    plan = plan_in(found)
    if "words" in case:
        words = found.changes[0].words
        assert words[0] == case["words"]
        assert case.get("ask", words[0]) in words
    else:
        assert not found.changes
    if "why_not" in case:
        assert any(case["why_not"] in why for why in found.least.why_not)
    if "partial" in case:
        assert found.least.partial is not None
        assert found.least.partial.words[0] == case["partial"]
        assert set(case["open"]) <= set(found.least.partial.still_open)
    rows = changed_rows(project, plan) if plan else {}
    expected = case.get("rows", {})
    assert set(rows) == set(expected)
    for name, row in expected.items():
        assert {key: rows[name][key] for key in row} == row
    if expected:
        before, after = failing(path, profile, None), failing(path, profile, plan)
        assert after < before or "foil" in str(expected)
        assert after <= before


@pytest.mark.parametrize("name", TWINS)
def test_the_least_change_of_a_fixture_board(name: str) -> None:
    """A twin gets back what was made worse in it, and nothing else is touched."""
    assert_as_worked_out(ROOT / "boards" / name / f"{name}.kicad_pcb", CASES[name])


@pytest.mark.demo
@pytest.mark.parametrize("name", DEMOS)
def test_the_least_change_of_a_published_board(name: str, demo_boards: Path) -> None:
    """Of KiCad's demos nothing gets worse, and what needs no laminate is offered."""
    case = CASES[name]
    assert_as_worked_out(demo_boards / name / f"{case.get('file', name)}.kicad_pcb", case)


def test_nothing_has_to_change_only_where_nothing_fails() -> None:
    """Where a clause fails, the words say what it requires; where none does, they say so."""
    said: set[bool] = set()
    for name in TWINS:
        path = ROOT / "boards" / name / f"{name}.kicad_pcb"
        _, found = least(path, None)
        for change in found.changes:
            if not change.moves_rows:
                fails = failing(path, None, None)
                said.add(bool(fails))
                assert (change.words[0] == NOTHING) == (not fails)
                assert all(title in change.words[0] for title in found.selection.titles(fails))
    assert said == {True, False}


@pytest.mark.parametrize(
    ("mask_mm", "words"),
    [
        ("0.02", "nothing has to change"),
        (
            "0.065",
            "nothing in the stackup has to change but how its rows are stated: solder mask thickness 0.005 to 0.06 mm",
        ),
    ],
)
def test_rows_that_are_stated_wrongly_do_not_lie_elsewhere(tmp_path: Path, mask_mm: str, words: str) -> None:
    """Solder mask that is too thick is no reason for another stackup, but a row of it is wrong."""
    path = copied("edge_jetson_carrier_fit", tmp_path)
    text = path.read_text(encoding="utf-8")
    head, mask, tail = text.partition('(type "Top Solder Mask")')
    path.write_text(head + mask + tail.replace("(thickness 0.02)", f"(thickness {mask_mm})", 1), encoding="utf-8")

    _, found = least(path, None)

    assert found.changes[0].words[0] == words
