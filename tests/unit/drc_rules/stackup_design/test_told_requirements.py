"""What rules no suggestion out is told all the same: information that is a goal, and what the user chose against."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from drc_rules.stackup_design.goals import GoalChoices, answers_for, goals_for, project_of, selection_for
from stackup_lib.kicad import read_board
from stackup_lib.synthesis import Evaluated
from tests.support.mini import mini_file
from tests.support.small_boards.kept_layers import PLANES, SIX, TRACK


def said_of(one: Evaluated, clause: str) -> list[tuple[bool, str]]:
    """Return whether a requirement is met, and its words; nothing where it was not judged."""
    return [(met, words) for each, met, words in one.clauses if each == clause]


@pytest.mark.parametrize(("inner", "oz"), [(0.0152, 0.5), (0.035, 1.0)])
def test_power_copper_of_layers_that_stay_is_judged_and_is_a_goal_only_where_it_is_met(
    tmp_path: Path, inner: float, oz: float
) -> None:
    """Half an ounce stays, and the answer misses the 1 oz of `edge.copper.min`; 1 oz meets it."""
    board = {"size_mm": [80, 40], "stackup": SIX.format(outer=0.035, inner=inner), "planes": PLANES, "tracks": [TRACK]}
    project = project_of(read_board(mini_file(tmp_path, board)), parse_config(""), Overrides("edge"))
    answers, met = answers_for(goals_for(selection_for("edge", None, None, project), project), 1)
    assert answers.keeps_layers
    (one,) = answers.ranked
    assert {row.copper_oz for row in one.candidate.copper if row.use == "power"} == {oz}
    ((is_met, words),) = said_of(one, "edge.copper.min")
    assert is_met == (oz >= 1)
    if not is_met:
        assert words == "copper weight 0.5 oz, minimum 1 oz: heaviest power plane, In3.Cu"
    assert ("power copper" in {reason.goal for reason in met.reasons}) == is_met


def test_without_a_power_plane_there_is_no_copper_to_judge() -> None:
    """Four layers at the edge: supplies share the grounds."""
    (one,) = answers_for(goals_for(selection_for("edge", None)), 1)[0].ranked
    assert not any(row.use == "power" for row in one.candidate.copper)
    assert said_of(one, "edge.copper.min") == []


@pytest.mark.parametrize(("oz", "is_met"), [(3.0, True), (4.0, False)])
def test_a_warning_that_the_user_breaks_is_named_with_the_choice(oz: float, is_met: bool) -> None:
    """`training.copper.max` is 3 oz: 4 oz are built as chosen, and counted as not met."""
    chosen = GoalChoices(power_copper_oz=oz)
    found = goals_for(selection_for("training-b200", None, chosen), choices=chosen)
    (one,) = answers_for(found, 1)[0].ranked
    ((met, words),) = said_of(one, "training.copper.max")
    assert met is is_met
    assert words.endswith("; by your --power-oz 4") is not is_met
