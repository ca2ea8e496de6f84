"""Design rules that a later one replaces, mistakes in them, the source of a via, and the drill of a suggestion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drc_rules.analysis.via.configured_vias import RequiredVia
from drc_rules.rules.intent._design_rule_reach import MissingItem, replaced_by
from drc_rules.settings.goals_choices import GoalChoices
from drc_rules.stackup_design.goals import goals_for
from drc_rules.stackup_design.goals_selection import selection_for
from stackup_lib.board.design_rules import Constraint, DesignRule
from tests.support.small_boards.configured_vias import via


def rule(name: str, least_mm: float, **fields: Any) -> DesignRule:
    whole = DesignRule(name=name, line=1, constraints=(Constraint(kind="track_width", min_mm=least_mm, line=1),))
    return replace(whole, **fields)


@pytest.mark.parametrize(
    "later,is_replaced",
    [
        (rule("b", 0.2), True),
        (rule("b", 0.2, condition="A.NetClass == 'X'"), True),
        (rule("b", 0.2, condition="A.NetClass == 'Y'"), False),
        (rule("b", 0.2, layer="F.Cu"), False),
        (rule("b", 0.2, severity="ignore"), False),
        (rule("b", 0.1), False),
    ],
)
def test_a_later_rule_replaces_one_that_is_no_wider(later: DesignRule, *, is_replaced: bool) -> None:
    """Without a condition or with the same one, on every layer, not ignored, with another number."""
    found = list(replaced_by(rule("a", 0.1, condition="A.NetClass == 'X'"), [later]))

    assert found == ([("track_width min", later)] if is_replaced else [])


def test_what_kicad_itself_does_not_know_is_a_mistake() -> None:
    """So is a name with another near it; what merely is not there may be meant for another board."""
    found = [MissingItem("x", "y", meant="z"), MissingItem("x", "y", is_kicads=True), MissingItem("x", "y")]

    assert [one.is_mistake for one in found] == [True, True, False]


def test_a_drill_that_was_said_is_taken_and_else_a_quarter_of_a_millimetre() -> None:
    """Without a board there is no smallest via."""
    chosen = GoalChoices(drill_mm=0.3)

    assert goals_for(selection_for("inference-pcie", None, chosen), None, chosen).goals.drill_mm == 0.3
    assert goals_for(selection_for("inference-pcie", None)).goals.drill_mm == 0.25


@pytest.mark.parametrize(
    "asked_by,who",
    [
        (("net class A",), "net class A"),
        (("net class A", "net class B"), "net classes A and B"),
        (("net class A", "net class B", "net class C"), "net classes A, B and C"),
        (("net class A", "net class B", "net class C", "net class D"), "net classes A, B, C and 1 more"),
        (("net class A", "design rule x"), "net class A and design rule x"),
    ],
)
def test_who_asks_for_a_via_is_named_up_to_three_classes(asked_by: tuple[str, ...], who: str, tmp_path: Path) -> None:
    """More are counted; rules stand next to classes."""
    asked = RequiredVia(via(tmp_path, ""), asked_by, ())

    assert asked.who == who
