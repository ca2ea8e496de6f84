"""Where usual dielectrics leave no trace wide enough, those that make it widest are tried before nothing is found."""

from __future__ import annotations

import pytest

from drc_rules.stackup_design.goals import GoalChoices, goals_for, selection_for
from stackup_lib.synthesis import Goals, suggest
from stackup_lib.synthesis.best_first import Search
from stackup_lib.synthesis.fill.closest import closest_builds
from tests.support.stackup_audit import audit


def goals_of(profile: str, **choices: object) -> Goals:
    chosen = GoalChoices.model_validate(choices)
    return goals_for(selection_for(profile, None, chosen), None, chosen).goals


CROWDED = {"layers": 24, "power_planes": 2, "laminates": ("I-Tera MT40",)}


def test_a_crowded_card_is_built_with_the_dielectrics_that_make_its_lines_widest() -> None:
    """None was found; trying combinations one by one finds 0.064 and 0.0553 mm: no narrower lines than those."""
    goals = goals_of("inference-pcie", **CROWDED)
    usual = Search(goals)
    assert usual._run() == [] and usual._with_widest() is not None
    (best,) = suggest(goals, limit=1).ranked
    assert best.faults == () and abs(best.thickness_error) <= goals.thickness_tolerance
    assert all(line.width_mm >= goals.least_width_mm for line in best.lines)
    around = [best.candidate.dielectrics[gap].thickness_mm for gap in (1, 2)]
    assert sum(1 / thickness for thickness in around) <= 1 / 0.064 + 1 / 0.0553
    assert [fault for fault in audit(best.candidate, drill_mm=goals.drill_mm) if fault.level == "fault"] == []


@pytest.mark.parametrize("layers", [12, 16])
def test_where_the_usual_dielectrics_do_nothing_is_searched_twice(layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def builds(*given: object, widest: bool = False) -> object:
        asked.append(widest)
        return closest_builds(*given, widest=widest)  # type: ignore[arg-type]

    monkeypatch.setattr("stackup_lib.synthesis.best_first.closest_builds", builds)
    assert suggest(goals_of("inference-pcie", layers=layers, laminates=("I-Tera MT40",)), limit=1).ranked
    assert asked and not any(asked)


def test_a_thickness_near_the_goal_is_what_would_help() -> None:
    """24 layers of a B200 baseboard: 3.44 mm was named, though a little more than what is asked for will do."""
    chosen = {"layers": 24, "power_planes": 4, "thickness_mm": 2.1, "laminates": ("Megtron 7(N)", "S1000-2M")}
    goals = goals_of("training-b200", **chosen)
    found = suggest(goals, limit=1)
    (eased,) = [one for one in found.relaxations if one.goal == "thickness"]
    assert not found.ranked
    assert 2.1 * 1.1 < eased.result.candidate.thickness_mm <= 2.1 * 1.2 * 1.1
