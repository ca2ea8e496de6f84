"""Goals that nothing meets: a conflict names two or more, and one alone is said to be impossible."""

from __future__ import annotations

import pytest

from stackwright.cli.app import run
from stackwright.commands.suggest.page import conflict_words

pytestmark = pytest.mark.slow


def test_a_laminate_conflicts_with_what_it_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    """370HR has a Df of 0.025 and no VLP foil; the profile's links allow 0.002 and want VLP."""
    assert run(["suggest", "--profile", "training-b200", "--laminate", "370HR"]) == 1
    out = capsys.readouterr().out
    conflict = out.partition("conflicting goals  they cannot be met together\n")[2].partition("\n\n")[0]
    assert [line.strip() for line in conflict.splitlines()] == [
        "370HR",
        "370HR: Df 0.0250 at 10 GHz, 0.002 allowed",
        "370HR: clad with STD, RTF only, VLP is needed",
    ]


def test_one_goal_alone_is_no_conflict() -> None:
    """It cannot be met whatever the others are; two can be met one at a time."""
    assert conflict_words(("the loss budgets",)) == ("goal that cannot be met", "however far the others are eased")
    assert conflict_words(("370HR", "24 layers")) == ("conflicting goals", "they cannot be met together")
