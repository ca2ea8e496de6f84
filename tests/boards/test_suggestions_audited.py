"""Every suggested stackup, for every profile, form and number of layers, read as a CAM engineer reads it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import profile_names
from drc_rules.settings.goals_choices import GoalChoices
from drc_rules.stackup_design.goals import GoalsFound, goals_for, selection_for
from stackup_lib.core.errors import ConfigError
from stackup_lib.synthesis import suggest
from stackup_lib.synthesis.evaluate import Evaluated
from tests.support.stackup_audit import Fault, audit

pytestmark = pytest.mark.slow

LAYER_COUNTS = (None, 4, 6, 8, 10, 12, 16, 20, 24, 32)
"""None is what profile and form ask for."""

BGA_PITCH_MM = 1.0
OUTLINE_MM = {"ubb": (417.0, 585.0)}
"""Of forms whose size stands in no document: what is told of them, for cautions only."""

VOLTS = {"oam": 54.0, "ubb": 54.0}
"""Supply of OAM modules, 48 to 54 V; for cautions only."""

EXAMPLES = 3


def searches(profile: str) -> Iterator[tuple[str, str | None, GoalsFound]]:
    """Give what can be asked for: words, form and goals; a count that the profile forbids is left out."""
    for layers in LAYER_COUNTS:
        for form in (None, *sorted(forms())):
            try:
                goals = goals_for(selection_for(profile, form), None, GoalChoices(layers=layers))
            except ConfigError:
                continue
            yield f"{profile}, {form or 'no form'}, {layers or 'usual'} layers", form, goals


@pytest.mark.parametrize("profile", profile_names())
def test_a_cam_engineer_finds_no_fault_in_what_is_suggested(profile: str) -> None:
    """Cautions are listed too, and fail nothing: no document stands behind them."""
    answers: dict[tuple[str, ...], tuple[Evaluated, ...]] = {}
    count: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[tuple[str, ...], str, Fault]] = set()
    examples: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for words, form, found in searches(profile):
        key = (found.goals.model_dump_json(), *(clause.kind for clause in found.judge.clauses))
        if key not in answers:
            answers[key] = tuple(suggest(found.goals, found.judge, limit=3).ranked)
        outline = OUTLINE_MM.get(form or "") or (forms()[form].size_mm if form else None)
        for answer in answers[key]:
            faults = audit(
                answer.candidate,
                outline_mm=outline,
                bga_pitch_mm=BGA_PITCH_MM,
                volts=VOLTS.get(form or ""),
                drill_mm=found.goals.drill_mm,
                lines=answer.lines,
            )
            for fault in faults:
                if (where := (key, answer.model_dump_json(), fault)) in seen:  # forms that ask the same
                    continue
                seen.add(where)
                kind = (fault.level, fault.rule)
                count[kind] += 1
                if len(examples[kind]) < EXAMPLES:
                    examples[kind].append(f"  {words}: {answer.candidate.name}: {fault.words}")
    assert any(answers.values())
    table = [line for kind in sorted(count) for line in (f"{kind[0]} {kind[1]}: {count[kind]}", *examples[kind])]
    assert not [kind for kind in count if kind[0] == "fault"], "\n".join(["", *table])
