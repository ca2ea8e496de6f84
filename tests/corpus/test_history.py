"""Which defects are told, and what counts as caught."""

from __future__ import annotations

import re
import tomllib
from types import SimpleNamespace
from typing import Any, cast

from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.rules.rule import all_rules
from tests.corpus import history

DEFECT = {
    "repository": "a/b", "path": "c.kicad_pcb", "date": "2020-01-01", "what": "w", "told": "t", "rules": ["FAB002"],
}  # fmt: skip


def report(verdict: Verdict = Verdict.FAILED, missing: tuple[str, ...] = (), **titles: str) -> Report:
    """A report as far as it is read: keys and titles of findings, and one verdict."""
    findings = [SimpleNamespace(code="FAB002", key=key, title=title) for key, title in titles.items()]
    facts = tuple(SimpleNamespace(fact=fact) for fact in missing)
    verdicts = [SimpleNamespace(code="FAB002", verdict=verdict, missing=facts)]
    return cast("Report", SimpleNamespace(findings=findings, verdicts=verdicts))


def outcome(before: Report, after: Report | None, **changes: Any) -> str:
    return history.judged({**DEFECT, **changes}, before, after).outcome


def test_only_a_finding_that_is_gone_counts_as_caught() -> None:
    assert outcome(report(k="ring 0.05 mm"), report()) == history.CAUGHT
    assert outcome(report(k="ring 0.05 mm"), None) == history.CAUGHT
    assert outcome(report(k="45 vias"), report(k="30 vias")) == history.CHANGED
    assert outcome(report(k="45 vias"), report(k="45 vias")) == history.SAME
    assert outcome(report(Verdict.PASSED), report()) == history.PASSED
    assert outcome(report(Verdict.NOT_VERIFIABLE, ("the stackup",)), report()) == history.OPEN
    assert outcome(report(Verdict.NOT_APPLICABLE), report()) == history.UNJUDGED
    assert outcome(report(k="ring"), report(), rules=[]) == history.NO_RULE


def test_every_defect_names_its_commits_its_rules_and_where_it_is_told() -> None:
    defects = tomllib.loads(history.DEFECTS.read_text(encoding="utf-8"))["defect"]
    codes = {rule.code for rule in all_rules()}
    for one in defects:
        assert set(one["rules"]) <= codes
        assert one["told"].startswith(f"https://github.com/{one['repository']}/")
        for when in ("before", "after"):
            if when in one:
                assert re.fullmatch(r"[0-9a-f]{40}", one[when]["commit"])
                assert re.fullmatch(r"[0-9a-f]{64}", one[when]["sha256"])
    assert [(row.what, row.told) for row in history.read_rows()] == [(one["what"], one["told"]) for one in defects]
