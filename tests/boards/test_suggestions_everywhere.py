"""Every profile in every form: suggestions that our own rules pass, or the goals that fight, by name."""

from __future__ import annotations

import pytest

from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import profile_names
from drc_rules.stackup_design.goals import GoalsFound, goals_for, selection_for
from stackup_lib.synthesis import suggest


def different_goals(profile: str) -> dict[str, GoalsFound]:
    """Goals by form; forms that ask the same of a stackup once."""
    found: dict[str, GoalsFound] = {}
    seen: set[tuple[str, ...]] = set()
    for form in (None, *sorted(forms())):
        goals = goals_for(selection_for(profile, form))
        key = (goals.goals.model_dump_json(), *(c.kind for c in goals.judge.clauses))
        if key not in seen:
            seen.add(key)
            found[form or "no form"] = goals
    return found


@pytest.mark.parametrize("profile", profile_names())
def test_a_profile_in_any_form_is_served_or_told_what_fights(profile: str) -> None:
    """Each answer meets its goals and every clause that a stackup decides, judged anew; no answer names its reasons."""
    served = 0
    for form, found in different_goals(profile).items():
        answers = suggest(found.goals, found.judge, limit=3)
        for one in answers.ranked:
            assert not one.faults, (form, one.candidate.name)
            judged = found.judge(one.candidate)
            assert judged, form
            assert all(met for _, met, _ in judged), (form, one.candidate.name, judged)
        if answers.ranked:
            served += 1
        else:
            assert answers.unreachable, form
            assert answers.fighting or answers.relaxations, form
    assert served >= 1
