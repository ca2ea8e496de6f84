"""Reads the rules' case files: `fixtures/rules/<family>/<defect>.toml`, one per rule, named as the rule's file.

A case is `why`, a mini-board (on top of a `base` of the same file), and what the rule `finds`: one piece of each
finding's title, in any order, `$` for its end; an empty list: the rule stays quiet. `verdicts` maps clause ids to their
verdict. What it `says` are pieces of why and fix, what it `lacks` pieces of the facts that are missing and of how to
give them; `measured` are the numbers next to the limit. Of each finding, in the order of `finds`: its whole `titles`,
`severities`, `limits`, `objects` (by which it is known again) and `places`, as `layer net x,y`; whatever has a uuid is
an `item`. A limit without a value is "none". `confidence` is that of the findings, else of the decided clauses.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from drc_rules.engine.check import check_board, find_config, prepare
from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import Outcome
from drc_rules.explain.explain_trace import ClauseTrace, trace_clauses
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding, Location
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.rules.rule import Rule, all_rules, find_rule
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file
from tests.support.once_per_run import shared

FOLDER = Path(__file__).parents[2] / "fixtures" / "rules"


class Case(BaseModel):
    """One case as the file states it."""

    model_config = ConfigDict(extra="forbid")

    why: str
    base: str | None = None
    board: dict[str, object] = {}
    profile: str | None = None
    form: str | None = None
    finds: list[str]
    severity: str | None = None
    verdicts: dict[str, str] = {}
    says: list[str] = []
    lacks: list[str] = []
    measured: list[float | str] = []
    titles: list[str] = []
    severities: list[str] = []
    limits: list[float | str] = []
    objects: list[list[str]] = []
    places: list[list[str]] = []
    confidence: str | None = None


@dataclass(frozen=True)
class Loaded:
    """A case with its place, and its board with the base merged in."""

    defect: str
    number: int
    case: Case
    board: Mapping[str, object]

    @property
    def name(self) -> str:
        """Name for pytest."""
        return f"{self.defect}-{self.number}-{self.case.why.replace(' ', '_')[:60]}"

    def check(self, folder: Path) -> Report:
        """Write the board into a folder and check it, once in a run."""
        name = f"case-{self.defect}-{self.number}"
        return shared(name, lambda: check_board(self._written(folder), overrides=self._overrides))

    def decide(self, folder: Path, rule: Rule) -> Outcome:
        """Write the board into a folder and decide the clauses of one rule alone, which is quicker than a check."""
        path = self._written(folder)
        context, requirements, _ = prepare(read_board(path), find_config(path), self._overrides)
        kinds = {clause.kind for clause in requirements.clauses if clause.id in self.case.verdicts}
        chosen = [one for one in all_rules() if one is rule or kinds & set(one.kinds)]
        return run(context, requirements.clauses, all_rules(), chosen)

    def traced(self, folder: Path, rule: Rule) -> tuple[ClauseTrace, ...]:
        """Write the board into a folder and work out the clauses of its own rule, once in a run."""

        def worked_out() -> tuple[ClauseTrace, ...]:
            path = self._written(folder)
            board, config = read_board(path), find_config(path)
            found = trace_clauses(board, config, self._overrides, lambda clause: clause.kind in rule.kinds)
            assert {answer.rule for answer in found.answers} <= {rule}
            return tuple(replace(answer, rule=None) for answer in found.answers)  # a rule may hold what no file can

        answers = shared(f"trace-{rule.code}-{self.defect}-{self.number}", worked_out)
        return tuple(replace(answer, rule=rule) for answer in answers)

    def _written(self, folder: Path) -> Path:
        return mini_file(folder, self.board)

    @property
    def _overrides(self) -> Overrides:
        return Overrides(profile=self.case.profile, form=self.case.form)


@cache
def all_cases() -> tuple[Loaded, ...]:
    """Every case of every rule; the files are read once."""
    return tuple(_read_cases())


def cases_of(rule: Rule) -> list[Loaded]:
    """The cases of a rule's own file."""
    return [loaded for loaded in all_cases() if find_rule(loaded.defect.replace("_", "-")) is rule]


def _read_cases() -> Iterator[Loaded]:
    for path in sorted(FOLDER.glob("*/*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        bases = data.pop("base", {})
        for number, row in enumerate(data.pop("case"), start=1):
            case = Case.model_validate(row)
            base = bases[case.base] if case.base else {}
            yield Loaded(path.stem, number, case, {**base, **case.board})
        assert not data, f"{path}: unknown tables {sorted(data)}"


def holds(case: Case, rule: Rule, report: Report | Outcome) -> None:
    """Assert that a rule did on a case's board what the case says, and nothing else."""
    assert not report.crashes, report.crashes
    found = _in_order(case, [f for f in report.findings if f.code == rule.code])
    if case.severity:
        assert {f.severity.value for f in found} == {case.severity}
    verdicts = {v.clause.id: v.verdict.value for v in report.verdicts}
    assert case.verdicts.items() <= verdicts.items(), verdicts
    said = [f"{f.why}\n{f.fix}" for f in found]
    assert [piece for piece in case.says if not any(piece in text for text in said)] == [], said
    mine = [v for v in report.verdicts if v.code == rule.code]
    assert [m.fact for v in mine for m in v.missing if not m.how_to_give] == [], "facts that nobody is told how to give"
    lacking = [f"{m.fact}\n{m.how_to_give}" for v in mine for m in v.missing]
    assert [piece for piece in case.lacks if not any(piece in text for text in lacking)] == [], lacking
    if case.confidence:
        decided = [v for v in mine if v.verdict in (Verdict.FAILED, Verdict.PASSED)]
        assert {one.confidence.value for one in found or decided} == {case.confidence}
    _tells(case, found)


def _in_order(case: Case, findings: list[Finding]) -> list[Finding]:
    """The findings in the order of the case's pieces of titles, one each."""
    left, found = list(findings), []
    for piece in case.finds:
        match = next((f for f in left if piece in f"{f.title}$"), None)
        assert match is not None, f"no finding with {piece!r} among {[f.title for f in findings]}"
        left.remove(match)
        found.append(match)
    assert [f.title for f in left] == []
    return found


def _tells(case: Case, found: list[Finding]) -> None:
    """Assert the rest of each finding, as far as the case states it."""
    if case.titles:
        assert [f.title for f in found] == case.titles
    if case.measured:
        assert [f.measured.value for f in found if f.measured] == _near(case.measured)
    if case.limits:
        assert [_limit_of(f) for f in found] == _near(case.limits)
    if case.severities:
        assert [f.severity.value for f in found] == case.severities
    if case.objects:
        assert [[_UUID.sub("item", thing) for thing in f.objects] for f in found] == case.objects
    if case.places:
        assert [[_in_words(place) for place in f.places] for f in found] == case.places


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _limit_of(finding: Finding) -> float | str:
    value = finding.limit.value if finding.limit else None
    return "none" if value is None else value


def _near(values: list[float | str]) -> list[object]:
    """Numbers with room for floating point, words as they are."""
    return [pytest.approx(value) if isinstance(value, float | int) else value for value in values]


def _in_words(place: Location) -> str:
    point = f"{place.x_mm:g},{place.y_mm:g}" if place.x_mm is not None and place.y_mm is not None else None
    return " ".join(part for part in (place.layer, place.net, point, "item" if place.uuid else None) if part)
