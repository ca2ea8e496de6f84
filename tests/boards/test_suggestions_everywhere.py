"""Every profile, form and layer count: what is suggested passes our rules, a CAM audit, and a check once applied."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import profile_names
from drc_rules.settings.goals_choices import GoalChoices
from drc_rules.stackup_design.goals import GoalsFound, goals_for, selection_for
from drc_rules.stackup_design.goals_judge import trial_board
from drc_rules.stackup_design.new_plan import plan_of_answer
from drc_rules.stackup_design.plan_file import write_plan
from stackup_lib.core.errors import ConfigError
from stackup_lib.synthesis import Answers, Evaluated, suggest
from tests.support.in_process import run_here
from tests.support.remembered import equal_sections_solved_once
from tests.support.stackup_audit import audit

pytestmark = pytest.mark.slow

LAYER_COUNTS = (4, 6, 8, 10, 12, 16, 20, 24, 32)
"""A profile gets every other one, the next profile the others."""

ANSWERS = 3

BGA_PITCH_MM = 1.0
OUTLINE_MM = {"ubb": (417.0, 585.0)}
"""Of forms whose size stands in no document: what is stated for them, for cautions only."""

VOLTS = {"oam": 54.0, "ubb": 54.0}
"""Supply of OAM modules, 48 to 54 V; for cautions only."""

EXAMPLES = 3


@cache
def searches(profile: str) -> dict[str, tuple[str | None, GoalsFound, Answers]]:
    """Search what can be requested: each form with its usual layers, and layer counts; what is the same once."""
    found: dict[str, tuple[str | None, GoalsFound, Answers]] = {}
    seen: dict[tuple[str, ...], Answers] = {}
    counts = LAYER_COUNTS[profile_names().index(profile) % 2 :: 2]
    asked = [(form, None) for form in (None, *sorted(forms()))] + [(None, count) for count in counts]
    for form, layers in asked:
        try:
            goals = goals_for(selection_for(profile, form), None, GoalChoices(layers=layers))
        except ConfigError:
            continue  # the profile forbids so few layers
        key = (goals.goals.model_dump_json(), *(c.kind for c in goals.judge.clauses))
        if key not in seen:
            with equal_sections_solved_once():
                seen[key] = suggest(goals.goals, goals.judge, limit=ANSWERS)
            found[f"{profile}, {form or 'no form'}, {layers or 'usual'} layers"] = form, goals, seen[key]
    return found


def answers_of(profile: str) -> Iterator[tuple[str, str | None, GoalsFound, Evaluated]]:
    """Give every answer with its request."""
    for words, (form, found, answers) in searches(profile).items():
        for one in answers.ranked:
            yield words, form, found, one


@pytest.mark.parametrize("profile", profile_names())
def test_a_profile_in_any_form_is_served_or_told_what_fights(profile: str) -> None:
    """Each answer meets its goals and all clauses but preferred ones, judged anew; no answer names its reasons."""
    for words, _, found, one in answers_of(profile):
        assert not one.faults, (words, one.candidate.name)
        judged = {clause: met for clause, met, _ in found.judge(one.candidate)}
        assert judged, words
        unmet = {clause for clause, met in judged.items() if not met}
        assert unmet == set(one.missed_wishes), (words, one.candidate.name)
        assert unmet <= set(found.goals.preferred_clauses), (words, one.candidate.name)
    empty = [(words, answers) for words, (_, _, answers) in searches(profile).items() if not answers.ranked]
    for words, answers in empty:
        assert answers.unreachable, words
        assert answers.fighting or answers.relaxations, words
    assert len(empty) < len(searches(profile))


@pytest.mark.parametrize("profile", profile_names())
def test_a_cam_engineer_finds_no_fault_in_what_is_suggested(profile: str) -> None:
    """Cautions are listed too, and fail nothing: no document stands behind them."""
    count: Counter[tuple[str, str]] = Counter()
    examples: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for words, form, found, answer in answers_of(profile):
        outline = OUTLINE_MM.get(form or "") or (forms()[form].size_mm if form else None)
        faults = audit(
            answer.candidate,
            outline_mm=outline,
            bga_pitch_mm=BGA_PITCH_MM,
            volts=VOLTS.get(form or ""),
            drill_mm=found.goals.drill_mm,
            lines=answer.lines,
        )
        for fault in faults:
            kind = (fault.level, fault.rule)
            count[kind] += 1
            if len(examples[kind]) < EXAMPLES:
                examples[kind].append(f"  {words}: {answer.candidate.name}: {fault.words}")
    table = [line for kind in sorted(count) for line in (f"{kind[0]} {kind[1]}: {count[kind]}", *examples[kind])]
    assert not [kind for kind in count if kind[0] == "fault"], "\n".join(["", *table])


def board_with_links(one: Evaluated, found: GoalsFound, folder: Path) -> Path:
    """Write a board with the answer's layers and links, but without its stackup, and settings that name the links."""
    text = trial_board(one.candidate, found.judge.interfaces, fast_outside=found.goals.fast_outside).decode()
    start = text.index("(stackup")
    depth, end = 0, start
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            break
    board = folder / "trial.kicad_pcb"
    board.write_text(text[:start] + text[end + 1 :], encoding="utf-8")
    links = (f'[[interface]]\nis = "{i}"\nnets = ["/{i}_P", "/{i}_N"]\n' for i in found.judge.interfaces)
    (folder / "stackwright.toml").write_text("\n".join(links), encoding="utf-8")
    return board


@pytest.mark.parametrize("profile", profile_names())
def test_no_clause_that_an_answer_promises_fails_once_it_is_applied(profile: str, tmp_path: Path) -> None:
    """Outer layers carry links too, where the answer allows it."""
    _, found, answers = searches(profile)[f"{profile}, no form, usual layers"]
    assert answers.ranked
    for k, one in enumerate(answers.ranked):
        folder = tmp_path / str(k)
        folder.mkdir()
        board = board_with_links(one, found, folder)
        plan = folder / "plan.toml"
        plan.write_text(write_plan(plan_of_answer(one, found.goals, found.interfaces), title=profile), encoding="utf-8")
        applied = run_here("apply", plan, board, "--write", "--change-stackup", cwd=folder)
        assert applied.code == 0, applied.err + applied.out
        form = ("--form", found.judge.form.name) if found.judge.form else ()
        checked = run_here("check", board, "--profile", profile, *form, "--format", "json", cwd=folder)
        verdicts = {v["clause"]: v["verdict"] for v in json.loads(checked.out)["reports"][0]["verdicts"]}
        promised = [clause for clause, met, _ in one.clauses if met]
        assert promised
        broken = [clause for clause in promised if verdicts.get(clause) != "passed"]
        assert broken == [], (one.candidate.name, broken)
