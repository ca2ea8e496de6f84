"""The report as Markdown, for a step summary or a comment on a merge request; board text stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from drc_rules.report.findings import Finding
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import ClauseVerdict
from stackwright.results.checked import Checked, Unchecked
from stackwright.tables import kicad_drc, pairs
from stackwright.tables.counts import (
    LABELS,
    coupled_words,
    how_to_supply,
    left_out_words,
    sectionless,
    severity_counts,
    tally,
)
from stackwright.tables.grouping import Group, groups, not_verifiable
from stackwright.text.markup import escape
from stackwright.text.words import clean, count, number, sentence, some

SHOWN = 30
"""Rows of a table; hosts cut long comments off."""

MARKS = {Headline.FIT: "✅", Headline.NOT_FIT: "❌", Headline.NOT_PROVEN: "⚠️", Headline.NO_WORKLOAD: "❔"}


def render(outcomes: Sequence[Checked | Unchecked]) -> str:
    """Return the Markdown text; same boards and settings give the same bytes."""
    parts = [_board(o.report, o.why_it_fails) if isinstance(o, Checked) else _unchecked(o) for o in outcomes]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _unchecked(unchecked: Unchecked) -> Iterator[str]:
    error = unchecked.error
    yield f"## ❌ Not checked: {escape(unchecked.path)}"
    yield ""
    yield f"{escape(error.where)}: {escape(error.what)}; {escape(error.next_step)}."


def _board(report: Report, why_it_fails: str) -> Iterator[str]:
    yield f"## {MARKS[report.headline]} {report.headline.value.capitalize()}: {escape(report.board.path)}"
    yield ""
    yield f"{escape(report.headline_why)}. {_asked(report)}"
    yield ""
    if why_it_fails:
        yield f"**The check fails: {escape(why_it_fails)}.**"
        yield ""
    yield _counts(report)
    yield from _findings(report)
    yield from _kicad_drc(report)
    yield from _accepted(report)
    yield from _pairs(report)
    yield from _not_proven(report)
    for crash in report.crashes:
        yield ""
        yield f"**Internal error in rule {crash.code}** ({escape(crash.error)}): please report it with this board."


def _asked(report: Report) -> str:
    if not report.profile:
        return "No workload is stated."
    return f"Judged as {escape(report.workload)}" + (f", form {escape(report.form)}." if report.form else ".")


def _counts(report: Report) -> str:
    cover = report.coverage
    pairs = count(cover.unknown_pairs, "differential pair") + " of unknown interface"
    cells = [
        f"findings: {severity_counts(report.findings) or 'none'}"
        + (f"; {len(report.accepted)} accepted" if report.accepted else ""),
        f"requirements: {tally(report.verdicts) or 'none'}",
        f"coverage: {cover.decided} of {cover.total} questions decided ({cover.whole_percent} %)"
        + (f"; {pairs}: {escape(some(report.unknown_pairs, SHOWN))}" if report.unknown_pairs else "")
        + (f"; {told}" if (told := sectionless(cover)) else "")
        + (f"; {coupled}" if (coupled := coupled_words(cover)) else ""),
    ]
    return "\n".join(f"- {cell}" for cell in cells)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], one: str, several: str = "") -> Iterator[str]:
    """A table of at most `SHOWN` rows, each `one`; the cells are escaped already."""
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows[:SHOWN]:
        yield f"| {' | '.join(row)} |"
    if len(rows) > SHOWN:
        yield ""
        more = count(len(rows) - SHOWN, f"more {one}", f"more {several or f'{one}s'}")
        yield f"{more}: `stackwright check` with `--full` shows all."


def _findings(report: Report) -> Iterator[str]:
    if not report.findings:
        return
    yield ""
    yield "### Findings"
    rows = [_row(group) for group in groups(report.findings)]
    yield from table(
        ("Severity", "What is wrong", "Limit", "Fix", "Rule"), rows, "kind of findings", "kinds of findings"
    )


def _row(group: Group) -> tuple[str, ...]:
    first = group.first
    names = f": {some(group.others)}" if group.others else ""
    others = f" and {len(group.findings) - 1} similar{names}" if len(group.findings) > 1 else ""
    return (
        LABELS[first.severity],
        f"**{escape(first.title)}**{escape(others)}<br>{escape(first.why)}",
        _limit(first),
        escape(first.fix),
        f"{first.code} {escape(some(group.clauses, 2))}<br>{escape(first.key)}",
    )


def _limit(finding: Finding) -> str:
    if finding.limit is None:
        return ""
    asked = escape(number(finding.limit.value, finding.limit.unit))
    return "<br>".join(part for part in (asked, escape(finding.limit.source)) if part)


def _kicad_drc(report: Report) -> Iterator[str]:
    drc = report.kicad_drc
    if drc is None:
        return
    yield ""
    yield f"### {kicad_drc.TITLE}"
    yield ""
    yield f"{escape(kicad_drc.remark(drc))}."
    if drc.failed:
        yield ""
        yield f"{escape(drc.failed)}; {escape(drc.next_step)}."
    rows = [
        (
            group.severity.value,
            f"**{escape(group.title)}**",
            "<br>".join([*map(escape, group.places), *([f"{group.more} more"] if group.more else [])]),
        )
        for group in kicad_drc.groups(drc)
    ]
    if rows:
        yield from table(
            ("Severity", "Violations", "The first of them"), rows, "type of violations", "types of violations"
        )
    if drc.others:
        yield ""
        yield f"Others: {escape(kicad_drc.others(drc))}."


def _accepted(report: Report) -> Iterator[str]:
    if report.accepted:
        yield ""
        yield "### Accepted"
        rows = [
            (
                LABELS[one.finding.severity],
                escape(one.finding.title),
                escape(one.reason),
                escape(one.owner) + (f", until {one.expires.isoformat()}" if one.expires else ""),
            )
            for one in report.accepted
        ]
        yield from table(("Severity", "What is wrong", "Why it is accepted", "By"), rows, "accepted finding")
    lines = [
        f"- **Suppression of {escape(one.entry)} {one.problem}**: {escape(one.reason)} ({escape(one.owner)})"
        for one in report.stale_suppressions
    ]
    lines += [f"- Fixed, and still in the baseline: {one.code} {escape(one.title)}" for one in report.fixed]
    if lines:
        yield ""
        yield from lines[:SHOWN]


def _pairs(report: Report) -> Iterator[str]:
    """Pairs that no clause judges; the page and the JSON report have every pair."""
    rows = [cells for row in pairs.unjudged(report.pairs) for cells in pairs.cells(row, every_layer=True)]
    if rows:
        yield ""
        yield "### Pairs not judged"
        yield ""
        lacks = pairs.missing(pairs.unjudged(report.pairs))
        yield escape("; ".join([pairs.said(report.pairs), pairs.NOTE, *lacks])) + "."
        yield from table(pairs.HEAD, [tuple(map(escape, cells)) for cells in rows], "row")


def _not_proven(report: Report) -> Iterator[str]:
    open_verdicts, left_out = not_verifiable(report.verdicts)
    if open_verdicts or left_out:
        yield ""
        yield "### Missing data"
    if left_out:
        yield ""
        yield f"{escape(left_out_words(report))}."
    if open_verdicts:
        ordered = sorted(open_verdicts, key=lambda v: -v.clause.severity.rank)
        rows = [(v.clause.severity.value, escape(v.clause.title), escape(_needs(v))) for v in ordered]
        yield from table(("Severity", "Requirement", "It needs"), rows, "requirement")
    if report.proofs:
        yield ""
        yield escape(sentence(how_to_supply(report)))
        yield ""
        yield from fenced(report.proofs, "toml")


def _needs(verdict: ClauseVerdict) -> str:
    """The facts that are missing; of a clause that is met on a guess, that it is, and what was guessed."""
    said = f"{verdict.words}: " if verdict.is_guess else ""
    return said + some((m.fact for m in (*verdict.missing, *verdict.guesses)), 2)


def fenced(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """A fenced block, whose fence is longer than any run of backticks inside."""
    safe = [clean(line) for line in lines]
    longest = max((len(run) for line in safe for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from safe
    yield fence
