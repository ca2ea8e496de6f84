"""Everything a report has to say, as one flat list: for formats that know nothing but lines with a severity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from drc_rules.engine.missing_inputs import unproven
from drc_rules.report.findings import Finding
from drc_rules.report.model import Report
from drc_rules.report.verdicts import ClauseVerdict, Missing
from drc_rules.requirements.clauses import Severity
from drc_rules.settings import FILE_NAME
from stackup_lib.core.record import record
from stackwright.results.checked import Checked, Unchecked
from stackwright.results.exit_reason import FOUND, ExitCause, untold
from stackwright.run.paths import relative_to_run
from stackwright.tables import kicad_drc
from stackwright.tables.grouping import groups
from stackwright.text.remarks import KICAD, NOT_PROVEN, STALE

FACTS = 4
"""Missing facts of a clause that are listed."""


class Level(StrEnum):
    """How much an entry weighs; `BROKEN` is a check that could not be made."""

    BROKEN = "broken"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NOT_PROVEN = "not proven"


OF_THEIR_OWN = (ExitCause.CRASH, ExitCause.NO_KICAD_DRC)
"""Causes that have entries of their own."""

LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.INFO: Level.INFO}


@record
class Entry:
    """One line of an outcome.

    Attributes:
        path: file it is about, relative to the folder of the run where it lies inside.
        line: line of that file, from 1.
        code: rule or remark; empty for a check that could not be made.
        text: why and what to do, in sentences.
        key: stays the same from run to run, and differs between entries of one file.
    """

    level: Level
    path: str
    line: int
    code: str
    title: str
    text: str
    key: str


def entries(outcomes: Iterable[Checked | Unchecked], *, grouped: bool = False) -> Iterator[Entry]:
    """Yield what every outcome has to say; accepted findings are left out, nothing else is.

    Args:
        outcomes: boards, checked or not.
        grouped: one entry for findings that differ only in names and numbers, which the worst of them stands for.
    """
    for outcome in outcomes:
        if isinstance(outcome, Unchecked):
            yield _unchecked(outcome)
        else:
            yield from _entries_of(outcome, grouped=grouped)


def _of_finding(finding: Finding, path: str, alike: Sequence[Finding] = ()) -> Entry:
    more = f" and {len(alike)} similar" if alike else ""
    return Entry(
        level=LEVELS[finding.severity],
        path=path,
        line=finding.line or 1,
        code=finding.code,
        title=f"{finding.title}{more}",
        text=f"Why: {finding.why}. Fix: {finding.fix}.",
        key=finding.key,
    )


def open_errors(report: Report) -> tuple[ClauseVerdict, ...]:
    """Return the clauses of severity error that are open or met on a guess: what stands between a board and `fit`."""
    return tuple(v for v in unproven(report.verdicts) if v.clause.severity is Severity.ERROR)


def what_it_needs(verdict: ClauseVerdict) -> str:
    """Return the facts that a clause lacks, with how to give each."""
    facts = (*verdict.missing, *verdict.guesses)
    more = f" and {len(facts) - FACTS} more" if len(facts) > FACTS else ""
    said = f"It is {verdict.words}; it needs" if verdict.is_guess else "It needs"
    return f"{said}: {'; '.join(_fact(one) for one in facts[:FACTS])}{more}"


def _fact(missing: Missing) -> str:
    how = " ".join(missing.how_to_give.split())
    return f"{missing.fact} ({how})" if how else missing.fact


def _unchecked(outcome: Unchecked) -> Entry:
    error = outcome.error
    text = f"{error.where}: {error.what}; {error.next_step}."
    return Entry(Level.BROKEN, relative_to_run(outcome.path)[0], 1, "", "this board was not checked", text, "unchecked")


def _entries_of(checked: Checked, *, grouped: bool) -> Iterator[Entry]:
    report = checked.report
    path = relative_to_run(report.board.path)[0]
    for crash in report.crashes:
        title = f"internal error in rule {crash.code} ({crash.error})"
        yield Entry(Level.BROKEN, path, 1, crash.code, title, "Please report this board.", f"broke-{crash.code}")
    for reason in untold(checked.exit_reasons):
        if reason.cause not in OF_THEIR_OWN:
            level = Level.ERROR if reason.code == FOUND else Level.BROKEN
            text = f"The check fails. Next: {reason.next_step}."
            yield Entry(level, path, 1, "", reason.text, text, reason.cause.value)
    if grouped:
        for group in groups(report.findings):
            yield _of_finding(group.first, path, group.findings[1:])
    else:
        for finding in report.findings:
            yield _of_finding(finding, path)
    yield from _kicad_entries(report, path)
    for stale in report.stale_suppressions:
        config = relative_to_run(checked.config_path or FILE_NAME)[0]
        title = f"the suppression of {stale.entry} {stale.problem}"
        text = f"It said: {stale.reason} ({stale.owner}). Fix: remove it, or correct it."
        yield Entry(Level.WARNING, config, stale.line or 1, STALE.code, title, text, f"{STALE.code}-{stale.entry}")
    for verdict in open_errors(report):
        title = f"not proven: {verdict.clause.title}"
        key = f"{NOT_PROVEN.code}-{verdict.clause.id}"
        yield Entry(Level.NOT_PROVEN, path, 1, NOT_PROVEN.code, title, f"{what_it_needs(verdict)}.", key)


def _kicad_entries(report: Report, path: str) -> Iterator[Entry]:
    """One entry for each type of KiCad's violations."""
    drc = report.kicad_drc
    if drc is None:
        return
    if drc.failed:
        yield Entry(
            Level.BROKEN, path, 1, KICAD.code, "KiCad DRC did not run", f"{drc.failed}; {drc.next_step}.", KICAD.code
        )
    for group in kicad_drc.groups(drc):
        more = f" And {group.more} more." if group.more else ""
        key = f"{KICAD.code}-{group.type}-{group.severity.value}"
        text = " ".join(f"{place}." for place in group.places) + more
        yield Entry(LEVELS[group.severity], path, 1, KICAD.code, f"KiCad DRC: {group.title}", text, key)
