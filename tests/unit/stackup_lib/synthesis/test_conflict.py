"""What would help where no stackup meets the goals: an easing that breaks a requirement says so."""

from __future__ import annotations

from math import floor

import pytest

from drc_rules.stackup_design.goals import GoalChoices, answers_for, goals_for, selection_for
from stackup_lib.core.errors import ConfigError
from stackup_lib.synthesis import CandidateStackup, Goals, suggest
from stackup_lib.synthesis.build_rules import BuildRules
from stackup_lib.synthesis.goals import LineGoal
from stackup_lib.transmission_lines.width_request import Target

RULES = BuildRules(equal_cladding=True)
HEAVY = "x.copper"
TOO_THIN = Goals(
    layer_count=24,
    fast_layers=4,
    other_signal_layers=4,
    power_planes=4,
    power_copper_oz=2,
    thickness_mm=1.57,
    laminates=("Megtron 7(N)", "370HR"),
    build_rules=RULES,
)


def two_ounces(candidate: CandidateStackup) -> list[tuple[str, bool, str]]:
    """A clause that requires 2 oz power planes."""
    is_met = all((row.copper_oz or 0.0) >= 2 for row in candidate.copper if row.use == "power")
    return [(HEAVY, is_met, "power planes below 2 oz")]


def test_an_easing_that_breaks_a_clause_names_it_and_comes_last() -> None:
    found = suggest(TOO_THIN, two_ounces)
    assert not found.ranked and found.relaxations[-1].goal == "power copper"
    for one in found.relaxations:
        assert one.words.endswith(f", which breaks {HEAVY}") is (one.goal == "power copper"), one.words
    assert "2 oz power planes" in found.fighting  # it conflicts all the same


def test_an_easing_that_breaks_only_a_wish_or_nothing_is_told_as_it_is() -> None:
    wished = suggest(TOO_THIN.model_copy(update={"preferred_clauses": (HEAVY,)}), two_ounces)
    plain = suggest(TOO_THIN)
    assert [one.words for one in wished.relaxations] == [one.words for one in plain.relaxations]
    assert not any("breaks" in one.words for one in plain.relaxations)


def test_of_three_ounces_two_come_before_one() -> None:
    """3 oz planes where 2 oz would do are not told to become 1 oz."""
    goals = Goals(layer_count=12, power_planes=4, power_copper_oz=3, thickness_mm=1.57, laminates=("370HR",))
    found = suggest(goals.model_copy(update={"build_rules": RULES}))
    (words,) = [one.words for one in found.relaxations if one.goal == "power copper"]
    assert words == "power copper 3 oz to 2 oz"


def test_the_nearest_says_what_it_misses() -> None:
    """Without a fault it read as if it met everything: it had 1 oz planes where 2 oz were wanted."""
    chosen = GoalChoices(layers=20, power_copper_oz=2)
    answers, _ = answers_for(goals_for(selection_for("inference-pcie", None, chosen), choices=chosen), 1)
    lighter = answers.nearest
    assert lighter is not None and lighter.faults == ("meets the other goals, with power copper 2 oz to 1 oz",)
    thicker = suggest(TOO_THIN).nearest
    assert thicker is not None and not any(fault.startswith("meets the other") for fault in thicker.faults)


def test_what_the_product_refuses_as_an_option_is_marked() -> None:
    """24 layers of a B200 baseboard in 1.8 mm: 1 oz planes and fewer layers are refused as options."""
    chosen = GoalChoices(thickness_mm=1.8, layers=24)
    answers, _ = answers_for(goals_for(selection_for("training-b200", None, chosen), choices=chosen), 1)
    by_goal = {one.goal: one.words for one in answers.relaxations}
    assert by_goal["power copper"].endswith("which breaks training.copper.min")
    assert by_goal["layers"].endswith("which breaks training.layers.min")
    assert "breaks" not in by_goal["thickness"]
    for refused in (GoalChoices(power_copper_oz=1.0), GoalChoices(layers=20)):
        with pytest.raises(ConfigError, match=r"breaks training\.(copper|layers)\.min"):
            goals_for(selection_for("training-b200", None, refused), choices=refused)


TOO_LONG = Goals(
    layer_count=12,
    fast_layers=2,
    power_planes=2,
    thickness_mm=1.57,
    lines=(
        LineGoal(
            name="PCIe Gen5 85 ohm",
            target=Target(kind="differential", ohm=85),
            nyquist_ghz=16,
            longest_mm=300,
            loss_budget_db=6.5,
        ),
    ),
    laminates=("Megtron 8(N)", "I-Tera MT40"),
    hybrids=False,
    build_rules=RULES,
)


def test_links_that_are_too_long_say_how_long_they_may_be() -> None:
    """Told was only that no loss budget lets everything be met."""
    found = suggest(TOO_LONG)
    (one,) = [one for one in found.relaxations if one.goal == "loss budget"]
    legal = min(line.longest_legal_mm or 0.0 for line in one.result.lines)
    assert 150 < legal < 300
    assert one.words == f"length of PCIe Gen5 85 ohm 300 mm to {floor(legal)} mm"
    shorter = TOO_LONG.lines[0].model_copy(update={"longest_mm": floor(legal)})
    assert suggest(TOO_LONG.model_copy(update={"lines": (shorter,)})).ranked


def test_links_that_no_usual_length_saves_lose_their_budget() -> None:
    longer = TOO_LONG.lines[0].model_copy(update={"longest_mm": 1500})
    found = suggest(TOO_LONG.model_copy(update={"lines": (longer,)}))
    (one,) = [one for one in found.relaxations if one.goal == "loss budget"]
    assert one.words.startswith("no loss budgets: up to ")


def test_the_nearest_loses_least_beyond_the_budget() -> None:
    """The cheapest was called the nearest, with twice the loss of another one."""
    nearest = suggest(TOO_LONG).nearest
    assert nearest is not None and nearest.candidate.laminates == ("Megtron 8(N)",)
    assert all("over 300 mm, 6.5 dB allowed" in fault for fault in nearest.faults)
