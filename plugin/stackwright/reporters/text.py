"""The report as text: headline, facts, findings, what is not proven, and the lines that would prove it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from drc_rules.clauses import Severity
from drc_rules.report import ClauseVerdict, Finding, Headline, Place, Report, Verdict
from stackwright.page import Column, Page, styled
from stackwright.reporters.grouping import Group, groups
from stackwright.words import count, number, some

SHOWN = 10
"""Findings shown unless all are asked for."""

HEADLINE_STYLE = {Headline.FIT: "bold green", Headline.NOT_FIT: "bold red", Headline.NOT_PROVEN: "bold yellow"}
SEVERITY_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
VERDICT_STYLE = {Verdict.FAILED: "bold red", Verdict.NOT_VERIFIABLE: "yellow", Verdict.PASSED: "green"}
LABEL = Column(min_width=8)
BODY = Column(wraps=True)


def page(report: Report, *, show_all: bool = False) -> Page:
    """Lay out the report of one board; `show_all` shows every finding and every undecided fact."""
    out = Page()
    _headline(out, report)
    _facts(out, report)
    _taken_as(out, report)
    _findings(out, report, show_all=show_all)
    _not_proven(out, report, show_all=show_all)
    _proofs(out, report)
    if report.profile or report.form:
        _clauses(out, report)
    _end(out, report)
    return out


def summary(report: Report) -> Text:
    """Return the report in one line."""
    word = styled(report.headline.value.upper(), HEADLINE_STYLE[report.headline])
    return Text.assemble(word, styled(f"  {report.board.path}: {report.headline_why}"))


def _headline(out: Page, report: Report) -> None:
    asked = ", ".join(part for part in (report.profile, report.form) if part) or "no workload stated"
    word = styled(report.headline.value.upper(), HEADLINE_STYLE[report.headline])
    out.rows(
        [Column(), BODY],
        [(word, Text.assemble(styled(asked, "bold"), styled(f"  {report.board.path}"))), ("", report.headline_why)],
        indent=0,
    )


def _facts(out: Page, report: Report) -> None:
    out.gap()
    out.rows([LABEL, BODY], [_labelled(line) for line in report.board.lines])
    for note in report.notes:
        out.rows([LABEL, BODY], [("note", note)])


def _labelled(line: str) -> tuple[Text, str]:
    label, colon, rest = line.partition(":")
    if colon and len(label) <= 8 and " " not in label:
        return styled(label, "dim"), rest.strip()
    return styled("board", "dim"), line


def _taken_as(out: Page, report: Report) -> None:
    out.heading("Taken as")
    if not report.taken_as:
        out.line(
            "no fast interface was found by net class or net name; if there is one, declare it as [[interface]]",
            indent=2,
        )
        return
    rows = []
    for taken in report.taken_as:
        what = taken.interface or f"{taken.family}, generation unknown"
        rows.append((taken.group, count(taken.nets, "net"), what, f"{taken.why} ({taken.confidence.value} confidence)"))
    out.rows([Column(max_width=26), Column(right=True), Column(max_width=24), BODY], rows)


def _findings(out: Page, report: Report, *, show_all: bool) -> None:
    if not report.findings:
        out.heading("Findings", "none")
        return
    together = groups(report.findings)
    shown = together if show_all else together[:SHOWN]
    by_severity = [(s, sum(f.severity is s for f in report.findings)) for s in Severity]
    remark = ", ".join(count(n, s.value) if s is not Severity.INFO else f"{n} info" for s, n in by_severity if n)
    out.heading("Findings", remark)
    for group in shown:
        out.rows([LABEL, BODY], list(_entry(group)))
        out.gap()
    hidden = sum(len(group.findings) for group in together[len(shown) :])
    if hidden:
        out.line(styled(f"{count(hidden, 'finding')} more of less impact: --all shows them", "dim"), indent=2)


def _entry(group: Group) -> Iterable[tuple[Text, str | Text]]:
    first = group.first
    severity = styled(first.severity.value, SEVERITY_STYLE[first.severity])
    yield severity, styled(first.title, "bold")
    if len(group.findings) > 1:
        names = f": {some(group.others)}" if group.others else ""
        yield styled(""), f"and {len(group.findings) - 1} more like it{names}"
    limit = _limit(first)
    if limit:
        yield styled("limit", "dim"), limit
    yield styled("why", "dim"), first.why
    yield styled("fix", "dim"), first.fix
    at = _place(first.places)
    if at:
        yield styled("at", "dim"), at
    sure = "" if first.confidence.value == "high" else f", {first.confidence.value} confidence"
    yield styled("rule", "dim"), styled(f"{first.code} {first.name}, {some(group.clauses, 2)}{sure}", "dim")


def _limit(finding: Finding) -> str:
    if finding.limit is None:
        return ""
    asked = number(finding.limit.value, finding.limit.unit)
    return ": ".join(part for part in (asked, finding.limit.source) if part)


def _place(places: tuple[Place, ...]) -> str:
    """Return where to click: only places with a position or a line; layers and nets are in the title."""
    located = [place for place in places if place.x_mm is not None and place.y_mm is not None]
    if not located:
        return ""
    first = located[0]
    layer = f"{first.layer}, " if first.layer else ""
    more = f", and {len(located) - 1} more" if len(located) > 1 else ""
    return f"{layer}x {first.x_mm:.3f} mm, y {first.y_mm:.3f} mm{more}"


def _not_proven(out: Page, report: Report, *, show_all: bool) -> None:
    """What is not verifiable, by missing fact; the fact that blocks most clauses first."""
    open_verdicts = [v for v in report.verdicts if v.has_rule and v.verdict is Verdict.NOT_VERIFIABLE]
    blocked: dict[str, list[ClauseVerdict]] = {}
    for verdict in open_verdicts:
        for missing in verdict.missing:
            blocked.setdefault(missing.fact, []).append(verdict)
    if not blocked:
        return
    out.heading("Not proven", f"{count(len(open_verdicts), 'clause')} for want of a fact")
    ordered = sorted(blocked.items(), key=lambda item: -max(_weight(v) for v in item[1]))
    limit = len(ordered) if show_all else SHOWN
    rows = [(fact, some(dict.fromkeys(v.clause.id for v in verdicts), 2)) for fact, verdicts in ordered[:limit]]
    out.rows([Column(max_width=46), BODY], rows)
    if len(ordered) > limit:
        out.line(styled(f"{count(len(ordered) - limit, 'fact')} more: --all shows them", "dim"), indent=2)


def _weight(verdict: ClauseVerdict) -> int:
    return verdict.clause.severity.rank


def _proofs(out: Page, report: Report) -> None:
    if not report.proofs:
        return
    out.heading("To prove more", "fill in and put into stackwright.toml beside the board:")
    out.gap()
    out.verbatim(report.proofs, indent=4)


def _clauses(out: Page, report: Report) -> None:
    """Every clause by verdict, in the order of precedence."""
    name = report.profile or report.form or ""
    judged = [v for v in report.verdicts if v.has_rule]
    out.heading(f"Clauses of {name}", _tally(judged))
    answers = _answers(report)
    rows: list[tuple[str | Text, ...]] = []
    for verdict in Verdict:
        for clause in (v for v in judged if v.verdict is verdict):
            word = styled(verdict.value, VERDICT_STYLE.get(verdict, "dim"))
            demand = Text.assemble(styled(clause.clause.title), styled(f"\n{_short_source(clause)}", "dim"))
            rows.append((word, clause.clause.id, demand, answers[clause.clause.id]))
    out.rows([Column(), Column(max_width=32), BODY, Column(max_width=22)], rows)


def _tally(judged: list[ClauseVerdict]) -> str:
    counts = [(verdict, sum(v.verdict is verdict for v in judged)) for verdict in Verdict]
    return ", ".join(f"{n} {verdict.value}" for verdict, n in counts if n)


def _answers(report: Report) -> dict[str, str]:
    """What the table says to each clause: the first measured value, the missing fact, or how much was looked at."""
    answers = {}
    for verdict in report.verdicts:
        if verdict.verdict is Verdict.NOT_VERIFIABLE and verdict.missing:
            answer = f"needs {verdict.missing[0].fact}"
        elif verdict.checked:
            answer = f"{verdict.checked} checked"
        else:
            answer = ""
        answers[verdict.clause.id] = answer
    for finding in reversed(report.findings):
        if finding.measured is not None:
            answers[finding.clause] = number(finding.measured.value, finding.measured.unit)
    return answers


def _short_source(verdict: ClauseVerdict) -> str:
    return verdict.source


def _end(out: Page, report: Report) -> None:
    """Coverage, what has no rule yet, what broke, and the next step."""
    cover = report.coverage
    out.heading("Coverage")
    later = (
        f"; {count(cover.clauses_without_rule, 'clause has', 'clauses have')} no rule yet"
        if cover.clauses_without_rule
        else ""
    )
    out.line(f"{cover.decided} of {cover.total} questions decided ({cover.percent:.0f} %){later}", indent=2)
    for crash in report.crashes:
        out.line(
            styled("error", "bold red"),
            f"  rule {crash.code} {crash.name} broke ({crash.error}): please report this board",
            indent=2,
        )
    if report.findings:
        out.line(styled(f"stackwright explain {report.findings[0].code} tells why and how to mend it", "dim"), indent=2)
