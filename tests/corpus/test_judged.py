"""What two readers said of findings on public boards, and that no rule is more severe than that allows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from drc_rules.rules.rule import all_rules
from tests.corpus.judged import ANSWERS, ENOUGH, JUDGED, Judged, compiled, kappa, read_judged, tables, too_severe
from tests.corpus.manifest import read_manifest

PAGE = Path(__file__).parents[2] / "plugin/docs/pages/texts/guide/public_boards.md"


def judged(first: str, second: str, *, settled: str = "", severity: str = "error", key: str = "k") -> Judged:
    return Judged("b", "inferred", "FAB015", severity, "c", key, first, second, settled, "")


def test_kappa_is_that_of_cohen_s_example() -> None:
    """Two readers with 20, 5, 10 and 15 answers agree on 70 %, by chance on 50 %: 0.4."""
    found: Sequence[Judged] = [
        *[judged("true", "true")] * 20,
        *[judged("true", "false")] * 5,
        *[judged("false", "true")] * 10,
        *[judged("false", "false")] * 15,
    ]
    assert kappa(found) == pytest.approx(0.4)


def test_what_is_settled_counts_and_else_the_more_severe_answer() -> None:
    assert judged("true", "false").answer == "false"
    assert judged("true-useful", "true").answer == "true"
    assert judged("arguable", "false", settled="true").answer == "true"


def test_a_rule_with_too_many_false_findings_is_named() -> None:
    """An error at 5 % is allowed and above it is not; a warning at 20 %; a handful decides nothing."""
    right, wrong = judged("true", "true"), judged("false", "false")
    assert too_severe([*[right] * 19, wrong]) == []
    assert too_severe([*[right] * 18, wrong, wrong]) == ["FAB015: 2 of 20 findings of severity error are false"]
    assert too_severe([wrong] * (ENOUGH - 1)) == []
    warned = [judged("false", "false", severity="warning")] * 5
    assert too_severe([*[judged("true", "true", severity="warning")] * 16, *warned[:4]]) == []
    assert too_severe([*[judged("true", "true", severity="warning")] * 16, *warned]) != []


def test_answers_are_joined_by_number(tmp_path: Path) -> None:
    """What only the first has answered has one answer; a third decides; an answer that is none is refused."""
    sample, first, second, third = (tmp_path / name for name in ("s.csv", "a.csv", "b.csv", "c.csv"))
    rows = [f"{n},b,inferred,FAB015,error,c,key{n}" for n in (1, 2)]
    sample.write_text("\n".join(["number,board,profile,rule,severity,clause,key", *rows]), encoding="utf-8")
    first.write_text("number,key,answer,evidence\n1,key1,true,seen\n2,key2,false,seen\n", encoding="utf-8")
    second.write_text("number,key,answer,evidence\n1,key1,arguable,also\n", encoding="utf-8")
    third.write_text("number,key,answer,evidence\n2,key2,true,looked\n", encoding="utf-8")
    one, other = compiled(sample, first, second, third)
    assert (one.key, one.answer, one.first, one.second, one.evidence) == (
        "key1",
        "arguable",
        "true",
        "arguable",
        "seen | also",
    )
    assert (other.key, other.answer, other.first, other.second, other.evidence) == (
        "key2",
        "true",
        "false",
        "",
        "seen | looked",
    )
    second.write_text("number,key,answer,evidence\n1,key1,maybe,\n", encoding="utf-8")
    with pytest.raises(ValueError, match="maybe"):
        compiled(sample, first, second, third)


def test_the_table_is_of_boards_rules_and_answers_that_there_are() -> None:
    """Each with a line of evidence."""
    boards, rules = {entry.name for entry in read_manifest()}, {rule.code for rule in all_rules()}
    for one in read_judged():
        assert one.board in boards
        assert one.rule in rules
        assert {one.first, one.second or one.first, one.answer} <= set(ANSWERS)
        assert one.evidence


def test_no_rule_is_more_severe_than_its_findings_allow() -> None:
    """More than 5 % false: no error; more than 20 %: no warning."""
    assert too_severe(read_judged()) == []


def test_the_page_shows_what_the_table_says() -> None:
    """Else: `python -m tests.corpus.judged` prints it anew."""
    assert JUDGED.exists()
    assert tables(read_judged()) in PAGE.read_text(encoding="utf-8")
