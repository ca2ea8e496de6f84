"""The report as one HTML file that needs nothing else and loads nothing; for the screen, dark or light, and paper.

It can be read without its script, which chooses findings, shows the facts of a stackup row in place, and draws the
board view.

Every expression of the templates is cleaned and escaped; text from the board stands in `<bdi>` besides, so that no name
reorders the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from itertools import islice
from pathlib import PurePath

from jinja2 import Environment
from markupsafe import Markup

from drc_rules.report.findings import Finding
from drc_rules.report.link_rows import LinkLossRow
from drc_rules.report.model import Headline, Report
from drc_rules.report.stackup_rows import StackupRow
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.documents import Document, documents
from stackup_lib.core.record import record
from stackwright.drawing import words as said
from stackwright.drawing.board_map import BoardMap
from stackwright.drawing.budget_bars import budget_bars
from stackwright.drawing.map_links import LinkShape
from stackwright.drawing.map_payload import payload
from stackwright.drawing.map_pins import Pin, colour_of, legend, pins_of
from stackwright.drawing.svg import svg
from stackwright.reporters import charts
from stackwright.reporters.cards import (
    MOST_CHIPS,
    MOST_LISTED,
    ChipRow,
    Shown,
    chip_rows,
    folded_title,
    in_view,
    shown_findings,
)
from stackwright.reporters.delays import ShownGroup, drawn_links, shown_delays
from stackwright.reporters.pages import NO_RULE, environment, labelled
from stackwright.results.checked import Checked, Unchecked
from stackwright.tables import copper, kicad_drc, losses, pairs, power
from stackwright.tables.counts import (
    LABELS,
    ORDER,
    coupled_words,
    how_to_supply,
    left_out_words,
    sectionless,
    unproven_words,
    verdict_count,
)
from stackwright.tables.grouping import not_verifiable
from stackwright.text.words import count, number, sentence

MOST_REASONS = 3
"""Of a verdict, next to it; the rest is below."""


@record
class _Row:
    """A clause as the page shows it: its answer is a measured value, a missing fact or how much was looked at."""

    verdict: ClauseVerdict
    word: str
    answers: tuple[str, ...]
    document: int
    finding: str = ""


@record
class _Board:
    """Everything the page shows of one board."""

    id: str
    name: str
    checked: Checked
    report: Report
    asked: str
    facts: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, int], ...]
    coupled: str
    sectionless: str
    left_out: str
    waiting: str
    how_to_supply: str
    findings: tuple[Shown, ...]
    blocked: tuple[tuple[str, tuple[str, ...]], ...]
    sections: tuple[tuple[str, tuple[_Row, ...]], ...]
    documents: tuple[tuple[str, Document | None], ...]
    reasons: tuple[tuple[str, str], ...] = ()
    head: tuple[tuple[str, str], ...] = ()
    chips: tuple[ChipRow, ...] = ()
    tokens: Mapping[str, str] = field(default_factory=dict)
    drawing: Markup | None = None
    remarks: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    marks: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    delays: tuple[ShownGroup, ...] = ()
    links: tuple[tuple[str, LinkShape], ...] = ()

    @property
    def titles(self) -> Mapping[str, str]:
        """Id of a requirement -> what it requires."""
        return {verdict.clause.id: verdict.clause.title for verdict in self.report.verdicts}

    def marks_of(self, row: StackupRow) -> tuple[tuple[str, str], ...]:
        """Return code and id of the findings at a row of the stackup."""
        return self.marks.get(said.file_row(row), ())


def render(outcomes: Sequence[Checked | Unchecked]) -> str:
    """Return the page for one or several boards; same boards and settings give the same bytes."""
    boards = [_board(index, one) for index, one in enumerate(outcomes, start=1) if isinstance(one, Checked)]
    failures = [one for one in outcomes if isinstance(one, Unchecked)]
    page = _environment().get_template("report.html")
    return page.render(
        boards=boards, failures=failures, title=_title(boards, len(outcomes)), heading=_heading(boards, len(outcomes))
    )


@cache
def _environment() -> Environment:
    return environment(
        payload=_payload,
        said=said,
        copper=copper,
        pairs=pairs,
        power=power,
        losses=losses,
        kicad_drc=kicad_drc,
        charts=charts,
        legend=legend,
        colour_of=colour_of,
        budget_bars=_budget_bars,
        most_listed=MOST_LISTED,
        verdict_count=verdict_count,
        in_view=in_view,
        folded_title=folded_title,
        most_chips=MOST_CHIPS,
    )


def _budget_bars(rows: Sequence[LinkLossRow], ident: str) -> Markup:
    return Markup(budget_bars(rows, ident))  # noqa: S704 - budget_bars() escapes what comes from the board


def _payload(drawn: BoardMap, pins: Sequence[Pin], links: Sequence[tuple[str, LinkShape]]) -> Markup:
    return Markup(payload(drawn, pins, links))  # noqa: S704 - JSON without <, > and &, or base64


def _heading(boards: Sequence[_Board], named: int) -> str:
    """Return how many boards were checked, of those that were named."""
    return f"{count(named, 'board')} checked" if len(boards) == named else f"{len(boards)} of {named} boards checked"


def _title(boards: Sequence[_Board], named: int) -> str:
    if len(boards) != 1 or named != 1:
        return f"Stackwright: {_heading(boards, named)}"
    return f"{boards[0].report.headline.value}: {boards[0].name}"


def _board(index: int, checked: Checked) -> _Board:
    report, ident = checked.report, f"b{index}"
    shown = tuple(shown_findings(report.findings, f"{ident}-" if index > 1 else ""))
    marks = _marks(shown)
    layers = [said.file_row(row) for row in report.stackup.rows] if report.stackup else []
    chips, tokens = chip_rows(shown, layers, checked.identity.net_classes)
    blocked = tuple(_blocked(report))
    keys = list(dict.fromkeys(v.clause.source.document for v in report.verdicts))
    profile = f"for {report.workload}" if report.profile else "no workload stated"
    delays = shown_delays(checked.charts, ident)
    return _Board(
        id=ident,
        name=PurePath(report.board.path).name or "board",
        checked=checked,
        report=report,
        asked=profile + (f", form {report.form}" if report.form else ""),
        facts=tuple(labelled(line) for line in report.board.lines),
        counts=tuple((LABELS[s], sum(f.severity is s for f in report.findings)) for s in Severity),
        coupled=coupled_words(report.coverage),
        sectionless=sectionless(report.coverage),
        left_out=left_out_words(report),
        waiting=unproven_words(report),
        how_to_supply=sentence(how_to_supply(report)),
        findings=shown,
        blocked=blocked,
        sections=tuple(_sections(report, shown, keys)),
        documents=tuple((key, documents().get(key)) for key in keys),
        reasons=tuple(_reasons(report, shown, blocked, f"{ident}-proof")),
        head=tuple(_head(checked)),
        chips=chips,
        tokens=tokens,
        drawing=_drawing(report, ident, marks),
        remarks=tuple(said.remarks(report.stackup)) if report.stackup else (),
        sources=tuple(dict.fromkeys(_sources(report))),
        marks=marks,
        pins=tuple(_pins(checked, shown, ident if index > 1 else "")),
        delays=delays,
        links=drawn_links(delays, checked.charts),
    )


def _pins(checked: Checked, shown: Sequence[Shown], ident: str) -> Iterator[Pin]:
    """Yield the places on the board view; ids begin with that of the board where a page has several."""
    if checked.map:
        findings = [(one.id, one.group) for one in shown]
        yield from pins_of(checked.map, findings, f"{ident}-" if ident else "")


def _blocked(report: Report) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each missing fact with the clauses that wait for it, error-tier clauses first; `Tg of A, B, C` in one line."""
    waiting: dict[str, list[str]] = {}
    open_verdicts, _ = not_verifiable(report.verdicts)
    for verdict in sorted(open_verdicts, key=lambda v: -v.clause.severity.rank):
        for missing in (*verdict.missing, *verdict.guesses):
            waiting.setdefault(missing.fact, []).append(verdict.clause.id)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for fact, clauses in waiting.items():
        what, _, of = fact.partition(" of ")
        alike.setdefault((what, tuple(dict.fromkeys(clauses))), []).append(of)
    for (what, blocked), objects in alike.items():
        yield f"{what} of {'; '.join(objects)}" if any(objects) else what, blocked
    if report.unknown_pairs:
        yield f"the interface of {'; '.join(report.unknown_pairs)}", ("coverage",)


def _judged(report: Report) -> list[ClauseVerdict]:
    return [verdict for verdict in report.verdicts if verdict.has_rule]


def _sections(report: Report, shown: Sequence[Shown], keys: Sequence[str]) -> Iterator[tuple[str, tuple[_Row, ...]]]:
    """The clauses by verdict in the order of precedence, last those that nothing decides yet."""
    measured: dict[str, tuple[str, str]] = {}
    found = [(finding, one.id) for one in shown for finding in one.group.findings]
    found += [(one.finding, "") for one in report.accepted]
    for finding, ident in found:
        measured.setdefault(finding.clause, (_measured(finding), ident))
    for finding, ident in found:
        for clause in finding.also:  # it has no finding of its own: this one speaks for it
            measured.setdefault(clause, (_measured(finding), ident))
    for word in (*ORDER, NO_RULE):
        chosen = [v for v in report.verdicts if _word(v) == word]
        chosen.sort(key=lambda v: -v.clause.severity.rank)
        rows = tuple(_row(v, word, measured, keys) for v in chosen)
        if rows:
            yield word, rows


def _word(verdict: ClauseVerdict) -> str:
    if not verdict.has_rule:
        return NO_RULE
    return "met" if verdict.is_guess else verdict.words


def _measured(finding: Finding) -> str:
    return number(finding.measured.value, finding.measured.unit) if finding.measured else ""


def _row(verdict: ClauseVerdict, word: str, measured: Mapping[str, tuple[str, str]], keys: Sequence[str]) -> _Row:
    text, finding = measured.get(verdict.clause.id, ("", ""))
    answers = [text] if text else []
    if verdict.verdict is Verdict.NOT_VERIFIABLE and verdict.has_rule:
        facts = list(dict.fromkeys(missing.fact for missing in verdict.missing))
        more = f" and {len(facts) - 1} more" if len(facts) > 1 else ""
        answers += [f"needs {facts[0]}{more}"] if facts else []
    elif verdict.checked:
        answers.append(f"{verdict.checked} checked")
    return _Row(verdict, word, tuple(answers), keys.index(verdict.clause.source.document) + 1, finding)


def _head(checked: Checked) -> Iterator[tuple[str, str]]:
    """What the title block and git say of the board."""
    sheet = checked.identity.sheet
    found = (
        ("title", sheet.title),
        ("revision", sheet.rev),
        ("date", sheet.date),
        ("company", sheet.company),
        ("commit", checked.identity.commit),
    )
    yield from ((label, text) for label, text in found if text)


def _reasons(
    report: Report, shown: Sequence[Shown], blocked: Sequence[tuple[str, tuple[str, ...]]], missing: str
) -> Iterator[tuple[str, str]]:
    """What the verdict rests on first, at most `MOST_REASONS`: text, and id of what tells more."""
    if report.headline is Headline.NOT_FIT:
        errors = [one for one in shown if one.group.first.severity is Severity.ERROR]
        for one in errors[:MOST_REASONS]:
            more = len(one.group.findings) - 1
            similar = f" (and {count(more, 'similar finding')})" if more else ""
            yield one.group.first.title + similar, one.id
    elif report.headline is Headline.NOT_PROVEN:
        waiting: dict[str, set[str]] = {}
        for fact, clauses in blocked:
            waiting.setdefault(_in_short(fact), set()).update(clauses)
        for fact, ids in islice(waiting.items(), MOST_REASONS):
            yield f"missing: {fact} ({count(len(ids), 'requirement')})", missing


def _in_short(fact: str) -> str:
    """Return a missing fact of many objects with the first one, and any other without what it remarks."""
    what, _, objects = fact.partition(" of ")
    if not objects:
        return fact.partition("; ")[0]
    first, *others = objects.split("; ")
    return f"{what} of {first}" + (f" and {len(others)} more" if others else "")


def _drawing(report: Report, ident: str, marks: Mapping[str, tuple[tuple[str, str], ...]]) -> Markup | None:
    """The cross-section, every row readable and a link to what is said of it."""
    view = report.stackup
    if view is None or not view.rows:
        return None
    codes = {layer: ", ".join(dict.fromkeys(code for code, _ in found)) for layer, found in marks.items()}
    title = f"Cross-section of {PurePath(report.board.path).name}"
    drawing = svg(view, standalone=False, title=title, marks=codes, links=f"{ident}-row-")
    return Markup(drawing)  # noqa: S704 - svg() escapes what comes from the board


def _sources(report: Report) -> Iterator[str]:
    """Where the values of the stackup's table come from, for its footnotes."""
    for row in report.stackup.rows if report.stackup else ():
        if row.df_10ghz:
            yield said.figure_source(row.df_10ghz)
        if row.foil:
            yield row.foil.source


def _marks(shown: Sequence[Shown]) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Findings by the layer at which they are, for the table of the stackup; informations mark nothing."""
    marks: dict[str, dict[tuple[str, str], None]] = {}
    for one in shown:
        for finding in one.group.findings:
            for place in finding.places if finding.severity is not Severity.INFO else ():
                if place.layer:
                    marks.setdefault(place.layer, {})[(finding.code, one.id)] = None
    return {layer: tuple(codes) for layer, codes in marks.items()}
