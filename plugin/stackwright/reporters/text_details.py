"""The report in detail: facts, findings with reason and source, tables, missing data and the lines that supply it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.text import Text

from drc_rules.report.findings import Finding, Location
from drc_rules.report.model import Report, TakenAs
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.documents import document
from drc_rules.settings import FILE_NAME
from stackup_lib.core.facts import Confidence, Origin
from stackwright.tables import copper, kicad_drc, losses, pairs, power
from stackwright.tables.counts import (
    LABELS,
    SEVERITY_STYLE,
    coupled_words,
    how_to_supply,
    left_out_words,
    sectionless,
    severity_counts,
    tally,
    unproven_words,
)
from stackwright.tables.grouping import Group, groups, not_verifiable
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, number, some

SHOWN = 10
"""Findings shown unless all are requested."""

PAIRS_SHOWN = 8
"""Differential pairs of unknown interface that are named unless all are requested."""

VERDICT_STYLE = {
    Verdict.FAILED: "bold red",
    Verdict.NOT_VERIFIABLE: "yellow",
    Verdict.PASSED: "green",
    Verdict.NOT_APPLICABLE: "dim",
}
LABEL = Column(min_width=8)
BODY = Column(wraps=True)


def details(out: Page, report: Report, *, show_all: bool, with_clauses: bool) -> None:
    """Add everything between the headline and the counts; `show_all` shows every finding and every missing fact."""
    facts(out, report.board.lines)
    out.rows([LABEL, BODY], [(styled("note", "yellow"), note) for note in report.notes])
    taken_as(out, report.taken_as, report.not_routed)
    _findings(out, report, show_all=show_all)
    _kicad_drc(out, report, show_all=show_all)
    _accepted(out, report, show_all=show_all)
    _impedances(out, report)
    _pairs(out, report, show_all=show_all)
    _losses(out, report)
    _rails(out, report)
    _backdrills(out, report, show_all=show_all)
    _missing(out, report, show_all=show_all)
    _proofs(out, report)
    if with_clauses:
        clauses(out, report)
    _coverage(out, report)


def facts(out: Page, lines: Iterable[str]) -> None:
    """Add the board's facts, `label: text` each."""
    out.rows([LABEL, BODY], [_labelled(line) for line in lines])


def _labelled(line: str) -> tuple[Text, str]:
    label, colon, rest = line.partition(":")
    if colon and len(label) <= 8 and " " not in label:
        return styled(label, "dim"), rest.strip()
    return styled("board", "dim"), line


def taken_as(out: Page, rows: Sequence[TakenAs], not_routed: Sequence[TakenAs]) -> None:
    """Add what the high-speed nets were assigned to, and why."""
    out.heading("Interfaces")
    grid = []
    for row in (*rows, *not_routed):
        what = row.interface or f"{row.family}, version unknown"
        sure = "" if row.origin == Origin.DECLARED else f" ({row.confidence.value} confidence)"
        sure += "; not routed" if row in not_routed else ""
        grid.append(
            (row.group, count(row.nets, "net"), Text.assemble(styled(what, "bold"), styled(f": {row.why}{sure}")))
        )
    out.rows([Column(max_width=32), Column(right=True), BODY], grid)
    if not grid:
        out.line("no high-speed interface found by net class or net name; declare one as [[interface]]", indent=2)


def _findings(out: Page, report: Report, *, show_all: bool) -> None:
    if not report.findings:
        out.heading("Findings", "none")
        return
    together = groups(report.findings)
    shown = together if show_all else together[:SHOWN]
    out.heading("Findings", severity_counts(report.findings))
    for index, group in enumerate(shown):
        if index:
            out.gap()
        out.rows([LABEL, BODY], list(_entry(group)))
    hidden = sum(len(group.findings) for group in together[len(shown) :])
    if hidden:
        out.gap()
        out.line(styled(f"{count(hidden, 'finding')} more: --full", "dim"), indent=2)


def _entry(group: Group) -> Iterator[tuple[Text, str | Text]]:
    """One finding, number first."""
    first = group.first
    yield styled(LABELS[first.severity], SEVERITY_STYLE[first.severity]), styled(first.title, "bold")
    if len(group.findings) > 1:
        names = f": {some(group.others)}" if group.others else ""
        yield styled(""), f"and {count(len(group.findings) - 1, 'similar finding')}{names}"
    yield from _grounds(first)
    yield styled("fix", "dim"), first.fix
    sure = "" if first.confidence is Confidence.HIGH else f", {first.confidence.value} confidence"
    yield styled("rule", "dim"), styled(f"{first.code} {first.name}, {some(group.clauses, 2)}{sure}", "dim")


def _grounds(finding: Finding) -> Iterator[tuple[Text, str]]:
    """What is required and by whom, what it costs, where it is."""
    limit = finding.limit
    asked = number(limit.value, limit.unit) if limit else ""
    if asked:
        yield styled("limit", "dim"), asked
    if limit and limit.source:
        yield styled("source", "dim"), limit.source
    yield styled("why", "dim"), finding.why
    at = _place(finding.places)
    if at:
        yield styled("at", "dim"), at


def _place(places: tuple[Location, ...]) -> str:
    """Return where to click: only places with a position or a line; layers and nets are in the title."""
    located = [place for place in places if place.x_mm is not None and place.y_mm is not None]
    if not located:
        return ""
    first = located[0]
    layer = f"{first.layer}, " if first.layer else ""
    more = f", and {len(located) - 1} more" if len(located) > 1 else ""
    return f"{layer}x {first.x_mm:.3f} mm, y {first.y_mm:.3f} mm{more}"


def _accepted(out: Page, report: Report, *, show_all: bool) -> None:
    """What the user accepted, and why; suppressions that do nothing; what is gone from the baseline."""
    suppressed = [one for one in report.accepted if one.by == "suppression"]
    known = [one for one in report.accepted if one.by == "baseline"]
    if report.accepted or report.stale_suppressions or report.fixed:
        by_whom = [(suppressed, "suppressed"), (known, "known before")]
        remark = ", ".join(f"{len(ones)} {how}" for ones, how in by_whom if ones)
        out.heading("Accepted", remark or "none")
    rows: list[tuple[str | Text, str | Text]] = []
    for one in [*suppressed, *(known if show_all else [])]:
        until = f", until {one.expires.isoformat()}" if one.expires else ""
        who = f" ({one.owner}{until})" if one.owner else ""
        rows += [(styled(one.finding.code, "dim"), one.finding.title), ("", styled(f"{one.reason}{who}", "dim"))]
    for stale in report.stale_suppressions:
        line = f", line {stale.line} of {report.settings_file or FILE_NAME}" if stale.line else ""
        what = f"suppression of {stale.entry} {stale.problem}{line}: {stale.reason} ({stale.owner})"
        rows.append((styled("warning", SEVERITY_STYLE[Severity.WARNING]), what))
    rows += [(styled("fixed", "green"), f"{one.code} {one.title}") for one in report.fixed]
    out.rows([LABEL, BODY], rows)
    if report.fixed:
        out.line(styled("`stackwright baseline` takes what is fixed out of the baseline", "dim"), indent=2)


def _kicad_drc(out: Page, report: Report, *, show_all: bool) -> None:
    """What KiCad's own check says, type by type."""
    drc = report.kicad_drc
    if drc is None:
        return
    out.heading(kicad_drc.TITLE, kicad_drc.remark(drc))
    rows: list[tuple[str | Text, str | Text]] = []
    for group in kicad_drc.groups(drc, len(drc.violations) if show_all else kicad_drc.SHOWN):
        rows.append((styled(group.severity.value, SEVERITY_STYLE[group.severity]), styled(group.title, "bold")))
        rows += [(styled("at", "dim"), place) for place in group.places]
        rows += [("", styled(f"{group.more} more: --full", "dim"))] if group.more else []
    if drc.others:
        rows.append((styled("others", "dim"), styled(kicad_drc.others(drc), "dim")))
    if drc.failed:
        rows = [(styled("error", SEVERITY_STYLE[Severity.ERROR]), drc.failed), (styled("fix", "dim"), drc.next_step)]
    out.rows([LABEL, BODY], rows)


def _impedances(out: Page, report: Report) -> None:
    """One row per target; the page and the JSON report have every link."""
    if not report.impedances:
        return
    out.heading("Impedance as routed", "nominal, by the solver; breakouts and neck-downs do not count")
    columns = [Column(max_width=24), Column(), Column(), Column(max_width=16), BODY]
    out.rows(columns, copper.impedance_rows(report.impedances), head=copper.IMPEDANCE_HEAD)


def _pairs(out: Page, report: Report, *, show_all: bool) -> None:
    """Pairs that no clause judges, with their impedance all the same; every pair and layer where all is requested."""
    shown = report.pairs if show_all else pairs.unjudged(report.pairs)[:SHOWN]
    if not shown:
        return
    out.heading("Pairs" if show_all else "Pairs not judged", f"{pairs.said(report.pairs)}; {pairs.NOTE}")
    why = Column(wraps=True, below=34)
    columns = [Column(max_width=24), Column(), Column(right=True), Column(), Column(), Column(max_width=20), why]
    rows = [cells for row in shown for cells in pairs.cells(row, every_layer=show_all)]
    out.rows(columns, rows, head=pairs.HEAD)
    out.rows([LABEL, BODY], [(styled("missing", "yellow"), text) for text in pairs.missing(shown)])
    if len(report.pairs) > len(shown):
        left = len(pairs.unjudged(report.pairs)) - len(shown)
        rest = f"{count(left, 'pair')} more not judged; " if left > 0 else ""
        out.line(styled(f"{rest}--full shows every pair and layer", "dim"), indent=2)


def _losses(out: Page, report: Report) -> None:
    """Two rows per interface: what its worst link loses where, and what its length would need."""
    groups_ = losses.by_interface(report.losses)
    if not groups_:
        return
    out.heading("Loss at Nyquist", "the worst link of each interface; nominal, in brackets with what is not known")
    cells = [row for row in map(losses.interface_cells, groups_) if row]
    if cells:
        columns = [Column(max_width=20), *[Column(right=True)] * 2, BODY, *[Column(right=True)] * 6]
        out.rows(columns, cells, head=losses.HEAD)
        out.gap()
        columns = [Column(max_width=26), Column(max_width=22), Column(max_width=24), BODY]
        out.rows(columns, filter(None, map(losses.needs_cells, groups_)), head=losses.NEEDS_HEAD)
    if any(group.is_starred for group in groups_):
        out.line(styled(losses.ASSUMED, "dim"), indent=2)
    missing = [text for group in groups_ for text in losses.missing(group)]
    out.rows([LABEL, BODY], [(styled("missing", "yellow"), text) for text in missing])


def _rails(out: Page, report: Report) -> None:
    """One row per declared rail, and what is missing of those that are not solved."""
    if not report.rails:
        return
    out.heading("Rails", power.NOTE)
    columns = [Column(max_width=20), *[Column()] * 6, BODY]
    out.rows(columns, map(power.short_cells, report.rails), head=power.SHORT_HEAD)
    out.rows([LABEL, BODY], [(styled("missing", "yellow"), fact) for fact, _ in power.remarks(report.rails)])


def _backdrills(out: Page, report: Report, *, show_all: bool) -> None:
    """One row per depth group."""
    if not report.backdrills and not report.backdrills_missing:
        return
    holes = sum(row.holes for row in report.backdrills)
    out.heading("Backdrills", f"{count(holes, 'hole')} in {count(len(report.backdrills), 'depth group')}")
    shown = report.backdrills if show_all else report.backdrills[:SHOWN]
    if shown:
        head = copper.BACKDRILL_SHORT
        out.rows([Column()] * (len(head) - 1) + [BODY], map(copper.backdrill_cells, shown), head=head)
    if len(report.backdrills) > len(shown):
        out.line(styled(f"{count(len(report.backdrills) - len(shown), 'group')} more: --full", "dim"), indent=2)
    if any(row.is_proposed for row in shown):
        out.line(styled("* not in the board file yet; the stubs of a high-speed interface need them", "dim"), indent=2)
    out.rows([LABEL, BODY], [(styled("missing", "yellow"), m.fact) for m in report.backdrills_missing])


def _missing(out: Page, report: Report, *, show_all: bool) -> None:
    """What is not proven, by missing fact; what blocks an error-tier clause first, and none of those is left out."""
    open_verdicts, left_out = not_verifiable(report.verdicts)
    blocked: dict[str, list[ClauseVerdict]] = {}
    for verdict in sorted(open_verdicts, key=_severity_first):
        for missing in (*verdict.missing, *verdict.guesses):
            blocked.setdefault(missing.fact, []).append(verdict)
    if not open_verdicts and not left_out and not report.unknown_pairs:
        return
    out.heading("Missing data", unproven_words(report))
    rows, needed = _needed_first(list(blocked.items()) if show_all else _like_facts_together(blocked))
    shown = len(rows) if show_all else max(SHOWN, needed)
    pairs = report.unknown_pairs
    lines = [(fact, _waiting(verdicts)) for fact, verdicts in rows[:shown]]
    if pairs:
        named = some(pairs, len(pairs) if show_all else PAIRS_SHOWN)
        lines.append((f"the interface of {named}", "coverage: pairs of unknown interface have no requirements"))
    out.rows([Column(max_width=56), BODY], lines)
    if len(rows) > shown:
        out.line(styled(f"{count(len(rows) - shown, 'fact')} more: --full", "dim"), indent=2)


_Blocked = tuple[str, list[ClauseVerdict]]
"""A missing fact and the clauses that wait for it."""


def _waiting(verdicts: list[ClauseVerdict]) -> str:
    """The clauses that wait for a fact: those of severity error all, of others the first."""
    ids = list(dict.fromkeys(v.clause.id for v in verdicts))
    errors = {v.clause.id for v in verdicts if v.clause.severity is Severity.ERROR}
    return some(ids, max(2, len(errors)))


def _needed_first(rows: Sequence[_Blocked]) -> tuple[list[_Blocked], int]:
    """Return the rows with those first that an error-tier clause needs to be there at all, and how many these are."""
    seen, needed, rest = set[str](), list[_Blocked](), list[_Blocked]()
    for fact, verdicts in rows:
        errors = {v.clause.id for v in verdicts if v.clause.severity is Severity.ERROR}
        (rest if errors <= seen else needed).append((fact, verdicts))
        seen |= errors
    return needed + rest, len(needed)


def _like_facts_together(blocked: Mapping[str, list[ClauseVerdict]]) -> list[tuple[str, list[ClauseVerdict]]]:
    """Merge `Tg of dielectric 1`, `Tg of dielectric 2` ... where they block the same clauses."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for fact, verdicts in blocked.items():
        merged.setdefault((fact.partition(" of ")[0], *(v.clause.id for v in verdicts)), []).append(fact)
    more = {facts[0]: f" and {len(facts) - 1} more" if len(facts) > 1 else "" for facts in merged.values()}
    return [(first + rest, blocked[first]) for first, rest in more.items()]


def _severity_first(verdict: ClauseVerdict) -> int:
    return -verdict.clause.severity.rank


def _proofs(out: Page, report: Report) -> None:
    if not report.proofs:
        return
    out.heading("To supply it", how_to_supply(report))
    out.gap()
    for index, line in enumerate(report.proofs):
        if index and line.startswith("["):
            out.gap()
        out.verbatim([line], indent=4)


def clauses(out: Page, report: Report) -> None:
    """Every clause by verdict, in the order of precedence; documents as numbers, explained below."""
    judged = [v for v in report.verdicts if v.has_rule]
    ordered = [v for verdict in Verdict for v in sorted(judged, key=_severity_first) if v.verdict is verdict]
    out.heading(f"Requirements of {report.profile or report.form or 'every board'}", tally(judged))
    answers = _answers(report)
    keys = list(dict.fromkeys(v.clause.source.document for v in ordered))
    rows: list[tuple[str | Text, ...]] = []
    for judged_clause in ordered:
        clause, verdict = judged_clause.clause, judged_clause.verdict
        style = VERDICT_STYLE[Verdict.NOT_VERIFIABLE if judged_clause.is_guess else verdict]
        word = styled(judged_clause.words, style)
        where = f"{clause.id}, {clause.severity.value} [{keys.index(clause.source.document) + 1}]"
        rows += [(word, clause.title, answers[clause.id]), ("", styled(where, "dim"), "")]
    out.rows([Column(), BODY, Column(max_width=24)], rows)
    out.heading("Documents")
    out.rows([Column(), BODY], [(f"[{index}]", _document(key)) for index, key in enumerate(keys, start=1)])


def _document(key: str) -> str:
    """Return publisher, title and how far to trust them; a key of the user is returned as it is."""
    known = document(key)
    if known is None:
        return key
    return f"{': '.join(part for part in (known.publisher, known.title) if part)} ({known.trust.value})"


def _answers(report: Report) -> dict[str, str]:
    """What the table says to each clause: the worst measured value, the missing fact, or how much was looked at."""
    answers = {}
    for verdict in report.verdicts:
        needs = verdict.verdict is Verdict.NOT_VERIFIABLE and verdict.missing
        looked_at = f"{verdict.checked} checked" if verdict.checked else ""
        answers[verdict.clause.id] = f"needs {_short(verdict.missing[0].fact)}" if needs else looked_at
    shown = groups([*report.findings, *(one.finding for one in report.accepted)])
    found = [finding for group in reversed(shown) for finding in reversed(group.findings) if finding.measured]
    own = {finding.clause for finding in found}
    for finding in found:
        clauses = (finding.clause, *(clause for clause in finding.also if clause not in own))
        value = number(finding.measured.value, finding.measured.unit) if finding.measured else ""
        answers |= dict.fromkeys((clause for clause in clauses if clause in answers), value)
    return answers


def _short(fact: str) -> str:
    return fact.partition(" (")[0]


def _coverage(out: Page, report: Report) -> None:
    """How much was decided, and what counts as undecided."""
    cover = report.coverage
    out.heading("Coverage", f"{cover.decided} of {cover.total} questions decided ({cover.whole_percent} %)")
    if cover.unknown_pairs:
        pairs = count(cover.unknown_pairs, "differential pair counts", "differential pairs count")
        out.line(f"{pairs} as undecided: interface not known", indent=2)
    if told := sectionless(cover):
        counts = "counts" if cover.unjudged_pairs == 1 else "count"
        where = 'see "Pairs not judged"' if report.pairs else "`check -v` lists them"
        out.line(f"{told} {counts} as undecided, {where}", indent=2)
    if coupled := coupled_words(cover):
        out.line(f"{coupled}: not counted, see stackwright nets", indent=2)
    if told := left_out_words(report):
        out.line(f"{told}: they count as undecided", indent=2)
    if cover.clauses_without_rule:
        later = count(cover.clauses_without_rule, "requirement has", "requirements have")
        out.line(f"{later} no rule yet and count nowhere", indent=2)
    for crash in report.crashes:
        words = f"internal error in rule {crash.code} {crash.name} ({crash.error}): please report it with this board"
        out.line(styled("error", SEVERITY_STYLE[Severity.ERROR]), f"  {words}", indent=2)
