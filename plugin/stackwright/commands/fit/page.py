"""The page of `stackwright fit`: a scorecard that is read in ten seconds, then what lies between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.text import Text

from drc_rules.engine.missing_inputs import paste_lines
from drc_rules.report.model import Headline
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.stackup_design.fitness import Fitness, FitnessReport, FormOrigin, Shortfall
from stackwright.commands.fit.changes import Way
from stackwright.commands.fit.words import form_words, step, to_go
from stackwright.reporters.text import HEADLINE_STYLE
from stackwright.reporters.text_details import facts
from stackwright.tables.counts import LABELS, SEVERITY_STYLE
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, some

QUESTIONS_SHOWN = 2
SHORT_SHOWN = 8
MEANT_SHOWN = 2
"""Workloads that go equally well with the board, of which the commands at the end name the first."""

WORD = {Headline.FIT: "FIT", Headline.NOT_PROVEN: "not proven", Headline.NOT_FIT: "not fit"}

NEAR = 2
"""Workloads that the board is not fit for, of which the terminal shows the nearest."""


def page_of(
    report: FitnessReport,
    shown: Sequence[Fitness],
    ways: Mapping[str, Way],
    *,
    board: Path,
    asked: bool,
    every: bool = False,
    settings: Path | None = None,
) -> Page:
    """Lay the answer out.

    Args:
        report: all workloads.
        shown: those to be shown in detail.
        ways: by workload, where one was looked for.
        board: as the user typed it, for the commands at the end.
        asked: the user named the workloads that are shown.
        every: a row for each workload, not only for those that the board is nearest to.
        settings: the file that the user named in place of the one next to the board.
    """
    page = Page()
    _title(page, report)
    page.gap()
    facts(page, report.board.lines[:2])
    _forms(page, report)
    page.rows([Column(min_width=8), Column(wraps=True)], [(styled("note", "yellow"), note) for note in report.notes])
    _scorecard(page, report, every=every)
    told: set[str] = set()
    for row in shown:
        _details(page, row, ways.get(row.profile), told, board=board, asked=asked)
    _end(page, shown[:1] if asked else _meant(report), board, settings)
    return page


def _title(page: Page, report: FitnessReport) -> None:
    fit = [row for row in report.rows if row.headline is Headline.FIT]
    plain = [row.profile for row in fit if not row.count(Severity.WARNING)]
    odd = " (unexpected interface)"
    warned = [row.profile + odd * row.forbids_what_is_there for row in fit if row.count(Severity.WARNING)]
    open_ = [row.profile for row in report.rows if row.headline is Headline.NOT_PROVEN]
    lines = (
        ("FIT FOR", Headline.FIT, plain),
        ("fit, with warnings, for", Headline.FIT, warned),
        ("not proven for", Headline.NOT_PROVEN, open_),
    )
    if not fit:
        page.line(styled("FIT FOR NONE", HEADLINE_STYLE[Headline.NOT_FIT]), " of the workloads, as far as is known")
    for words, headline, names in lines:
        if names:
            page.line(styled(f"{words}  ", HEADLINE_STYLE[headline]), styled(", ".join(names), "bold"))
    page.verbatim([report.board.path])


def _forms(page: Page, report: FitnessReport) -> None:
    for form in report.forms:
        failed = f"; not met: {'; '.join(form.failed)}; check it with --form {form.name}" if form.failed else ""
        words = f"outline of a {form.title} ({form.name}){failed}"
        page.rows([Column(min_width=8), Column(wraps=True)], [(styled("form", "dim"), words)])


def _scorecard(page: Page, report: FitnessReport, *, every: bool) -> None:
    page.heading("Workloads", "best first; a failed requirement decides, missing data leaves it not proven")
    head = ("", "workload", "form", "fails", "open", "warn", "what is between")
    rows: list[Sequence[str | Text]] = []
    far = [row for row in report.rows if row.headline is Headline.NOT_FIT and not row.is_declared][NEAR:]
    hidden = [] if every else far
    for row in report.rows:
        if row in hidden:
            continue
        rows.append(
            (
                styled(WORD[row.headline], HEADLINE_STYLE[row.headline]),
                Text.assemble(styled(row.profile, "bold"), styled(" *" if row.is_declared else "")),
                row.form or "any",
                _figure(row.count(Severity.ERROR)),
                _figure(len(row.unproven)),
                _figure(row.count(Severity.WARNING)),
                to_go(row),
            )
        )
    right = Column(right=True)
    page.rows([Column(), Column(), Column(), right, right, right, Column(wraps=True, below=30)], rows, head=head)
    if hidden:
        page.line(styled(f"{len(hidden)} more, not fit: -v; --profile NAME tells all of one", "dim"), indent=2)
    if any(row.is_declared for row in report.rows):
        page.line(styled("* the workload that the settings name", "dim"), indent=2)


def _figure(value: int) -> str:
    return f"{value}" if value else "-"


def _details(page: Page, row: Fitness, way: Way | None, told: set[str], *, board: Path, asked: bool) -> None:
    page.heading(row.profile, f"{row.title}, {form_words(row)}")
    page.line(styled(WORD[row.headline], HEADLINE_STYLE[row.headline]), f"  {row.why}", indent=2)
    least = Severity.INFO if asked else Severity.WARNING
    short = (one for one in row.short if one.severity.rank >= least.rank)
    every = list({(one.severity, step(one), one.title): one for one in short}.values())
    shown = every if asked else every[:SHORT_SHOWN]
    page.rows(
        [Column(min_width=7), Column(max_width=38), Column(wraps=True)], [line for one in shown for line in _line(one)]
    )
    if len(every) > len(shown):
        rest = count(len(every) - len(shown), "more clause")
        page.line(styled(f"and {rest}: --profile {row.profile} shows all", "dim"), indent=2)
    _way(page, row, way, board)
    _questions(page, row, told, asked=asked)


def _line(one: Shortfall) -> Iterator[tuple[Text, Text, str | Text]]:
    """What fails, and, where no stackup fixes it, what to do."""
    more = f" (and {one.more} similar)" if one.more else ""
    yield styled(LABELS[one.severity], SEVERITY_STYLE[one.severity]), styled(step(one), "bold"), one.title + more
    if one.severity is Severity.ERROR and not one.by_stackup:
        yield styled(""), styled(""), styled(f"fix: {one.fix}", "dim")


def _way(page: Page, row: Fitness, way: Way | None, board: Path) -> None:
    if way is None:
        return
    if way.how_to_give and not way.why_none:
        page.line(styled("no small change of the stackup is proven to do; declare this first:", "yellow"), indent=2)
        page.verbatim([styled(line, "cyan") for line in paste_lines([way.how_to_give])], 4)
        if way.needs_new:
            return
    if way.needs_new:
        page.line("no small change of the stackup will do; this searches a new one:", indent=2)
        page.verbatim([command_line("suggest", str(board), "--profile", row.profile)], indent=4)
        return
    if way.why_none:
        page.line(styled("no stackup can be worked out: ", "yellow"), way.why_none, indent=2)
        if way.how_to_give:
            page.verbatim([styled(line, "cyan") for line in paste_lines([way.how_to_give])], 4)
        if way.would_help:
            page.line(f"what would help, one at a time: {'; '.join(way.would_help)}", indent=4)
        return
    tier = f", {way.cost_tier}" if way.cost_tier else ""
    none = "" if way.how_to_give else "no small change will do; "
    what = "least change: " if way.is_change else f"{none}a new stackup: "
    page.line(styled(what, "bold"), "; ".join(way.words), indent=2)
    page.line(styled(f"cost {way.cost_index:.0f}{tier}: {', '.join(way.cost_drivers)}", "dim"), indent=4)
    if way.then is not None:
        left = f": still fails {some(way.still_fails)}" if way.still_fails else ""
        page.line("then ", styled(WORD[way.then], HEADLINE_STYLE[way.then]), left, indent=4)
    elif not way.is_change:
        page.line("meets the requirements for stackup, material and copper; layout decides the rest", indent=4)


def _questions(page: Page, row: Fitness, told: set[str], *, asked: bool) -> None:
    """Tell what error-tier clauses wait for, once; all of it where the user named this workload."""
    questions = [one for one in row.open if asked or one.errors]
    fresh = [one for one in questions if one.how_to_give not in told]
    if not fresh:
        page.rows([Column(wraps=True)], [(styled("not known: the same as above", "dim"),)] if questions else [])
        return
    shown = fresh if asked else fresh[:QUESTIONS_SHOWN]
    told.update(one.how_to_give for one in shown)
    clauses = {clause for one in shown for clause in one.clauses}
    waiting = f"{count(len(clauses), 'requirement waits', 'requirements wait')} for it"
    left = len(questions) - len(shown)
    more = f", {count(left, 'more fact')} besides" if left else ""
    page.line(styled("not known: ", "yellow"), f"{waiting}{more}", indent=2)
    lines = paste_lines(one.how_to_give or f"# {one.fact}" for one in shown)
    page.verbatim([styled(line, "cyan") for line in lines], 4)


def _meant(report: FitnessReport) -> list[Fitness]:
    """What to check next: the workload that the settings name, else the best; of equals what fits the interfaces."""
    declared = [row for row in report.rows if row.is_declared]
    if declared:
        return declared
    rows = [row for row in report.rows if not row.forbids_what_is_there] or list(report.rows)
    alike = [row for row in rows if _standing(row) == _standing(rows[0])]
    best = min(map(_mismatch, alike))
    return [row for row in alike if _mismatch(row) == best][:MEANT_SHOWN]


def _standing(row: Fitness) -> tuple[Headline, int, int]:
    return row.headline, row.count(Severity.ERROR), len(row.unproven)


def _mismatch(row: Fitness) -> tuple[int, int, int]:
    """How badly a workload goes with what the board carries: least first; then the number of remarks and warnings."""
    named, there = set(load_profile(row.profile).interfaces), {one.family for one in row.taken_as}
    return -len(named & there), len(named - there), len(row.short)


def _end(page: Page, meant: Sequence[Fitness], board: Path, settings: Path | None) -> None:
    page.gap()
    page.line("next:")
    page.verbatim(list(_commands(meant, board, ["--config", str(settings)] if settings else [])))


def _commands(meant: Sequence[Fitness], board: Path, settings: Sequence[str]) -> Iterator[str]:
    for row in meant:
        by_size = ["--form", row.form] if row.form and row.form_origin is FormOrigin.SIZE else []
        yield command_line("check", str(board), "--profile", row.profile, *by_size, *settings)
    for row in meant[:1]:
        if any(one.by_stackup and one.severity is Severity.ERROR for one in row.short):
            yield command_line("suggest", str(board), "--profile", row.profile, *settings)
