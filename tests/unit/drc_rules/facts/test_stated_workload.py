"""A workload that was chosen for a check, where settings or project state another one: a report names both."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides, overruled_words
from stackup_lib.core.facts import Fact, Origin
from tests.support.mini import mini_file

EDGE = Fact[str](name="workload", value="edge", origin=Origin.COMMAND_LINE, source="--profile")


def stated(value: str | None, origin: Origin = Origin.DECLARED, source: str = "stackwright.toml") -> Fact[str]:
    return Fact[str](name="workload", value=value, origin=origin, source=source)


@pytest.mark.parametrize(
    ("chosen", "elsewhere", "words"),
    [
        (EDGE, stated("training-b200"), "stackwright.toml says training-b200"),
        (EDGE, stated("dev", Origin.TEXT_VARIABLE, "STACKWRIGHT_X"), "text variable STACKWRIGHT_X says dev"),
        (EDGE, stated("edge"), ""),
        (EDGE, stated(None, Origin.UNKNOWN, ""), ""),
        (stated("edge"), stated("edge"), ""),
    ],
)
def test_another_workload_that_is_stated_is_said(chosen: Fact[str], elsewhere: Fact[str], words: str) -> None:
    """Only for a choice, and only where it differs."""
    assert overruled_words(chosen, elsewhere) == words


def test_a_report_names_both(tmp_path: Path) -> None:
    """Without a choice, the one that counts alone."""
    path = mini_file(tmp_path, {"size_mm": [20, 20]})
    path.with_name("stackwright.toml").write_text('profile = "training-b200"\n', encoding="utf-8")

    assert check_board(path).workload == "training-b200"
    chosen = check_board(path, overrides=Overrides(profile="edge"))
    assert (chosen.profile, chosen.workload) == ("edge", "edge (chosen; stackwright.toml says training-b200)")
