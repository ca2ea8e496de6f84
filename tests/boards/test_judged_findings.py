"""Every finding on KiCad's demo boards was judged by hand, and none comes or goes without being judged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from drc_rules.rules.rule import all_rules
from stackup_lib.kicad import read_board
from tests.support.accuracy.judged import LookedAt, expected, found, judged_boards, judgements


@pytest.mark.parametrize("name", judged_boards())
def test_a_judgement_is_about_a_rule_and_settings_that_there_are(name: str) -> None:
    """A key begins with a rule's code, its settings are the usual ones or the board's own, and it is judged once."""
    judged = judged_boards()[name]
    codes = {rule.code for rule in all_rules()}
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for judgement in judged.judgement:
        for finding in judgement.findings:
            assert finding.code in codes
            assert set(finding.settings) <= set(judged.all_settings)
            assert len(set(finding.settings)) == len(finding.settings)
            seen.update((finding.clause, finding.key, finding.says, one) for one in finding.settings)
    assert [row for row, count in seen.items() if count > 1] == []


def test_a_finding_that_was_judged_false_is_told_on_the_page_of_its_rule() -> None:
    """What is known to be a false alarm is stated where the rule says what it cannot see, or has been fixed."""
    pages = {rule.code: rule.page for rule in all_rules()}
    silent = {f.code for _, call, f in judgements() if call == "false" and "cannot see" not in pages[f.code]}
    assert silent == set()


@pytest.mark.demo
def test_every_demo_board_is_judged(demo_boards: Path) -> None:
    """A board that comes with another KiCad has to be looked at."""
    there = {path.relative_to(demo_boards).as_posix() for path in demo_boards.rglob("*.kicad_pcb")}
    assert there == {judged.board for judged in judged_boards().values()}


@pytest.mark.demo
@pytest.mark.usefixtures("sections_solved_once")
@pytest.mark.parametrize("name", judged_boards())
def test_every_finding_on_a_demo_board_is_judged(name: str, demo_boards: Path) -> None:
    """With no settings, against three workloads, and with what else is declared: neither more nor fewer, same numbers.

    A finding that says other numbers than those that were judged has to be judged anew.
    """
    judged = judged_boards()[name]
    board = LookedAt(read_board(demo_boards / judged.board))
    for settings, chosen in judged.all_settings.items():
        today, then = found(board, chosen), expected(judged, settings)
        assert {"not judged": list(today - then), "gone": list(then - today)} == {"not judged": [], "gone": []}, (
            settings
        )
