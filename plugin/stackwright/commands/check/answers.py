"""What came of each board, and the table of several."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from drc_rules.requirements.clauses import Severity
from stackup_lib.core.record import record
from stackwright.reporters.text import HEADLINE_STYLE
from stackwright.results.checked import Checked, Unchecked
from stackwright.text.page import Page, styled
from stackwright.text.words import clean, count

INDENT = 2
HEAD = ("board", "verdict", "errors", "warnings", "exit code")
NOT_CHECKED = "NOT CHECKED"


@record
class Answer:
    """A board's outcome, and its exit code."""

    outcome: Checked | Unchecked
    code: int


def verdict_table(answers: Sequence[Answer], width: int) -> Page:
    """Lay out the verdict of each board, its findings counted, and why its exit code is what it is.

    A table that is wider than the terminal has two lines for each board in place of one; paths are never broken.
    """
    rows = [tuple(map(clean, _cells(answer))) for answer in answers]
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    page = Page()
    page.heading("Boards")
    if INDENT + sum(widths) + 2 * (len(widths) - 1) > width:
        for row, answer in zip(rows, answers, strict=True):
            _two_lines(page, row, widths[1], _style(answer))
        return page
    lines = [_line(row, widths, _style(answer)) for row, answer in zip(rows, answers, strict=True)]
    page.verbatim([_line(HEAD, widths, "dim", "dim"), *lines])
    return page


def _line(cells: Sequence[str], widths: Sequence[int], style: str, others: str = "") -> Text:
    board, verdict, errors, warnings, reason = cells
    counts = f"  {errors.rjust(widths[2])}  {warnings.rjust(widths[3])}  {reason}"
    return Text.assemble(
        styled(f"{board.ljust(widths[0])}  ", others), styled(verdict.ljust(widths[1]), style), styled(counts, others)
    )


def _two_lines(page: Page, cells: Sequence[str], width: int, style: str) -> None:
    board, verdict, errors, warnings, reason = cells
    counts = f"{count(int(errors), 'error')}, {count(int(warnings), 'warning')}, " if errors else ""
    page.verbatim([board], INDENT)
    page.line(styled(verdict.ljust(width), style), f"  {counts}exit code {reason}", indent=2 * INDENT)


def _style(answer: Answer) -> str:
    return "bold red" if isinstance(answer.outcome, Unchecked) else HEADLINE_STYLE[answer.outcome.report.headline]


def _cells(answer: Answer) -> tuple[str, str, str, str, str]:
    outcome = answer.outcome
    if isinstance(outcome, Unchecked):
        return outcome.path, NOT_CHECKED, "", "", f"{answer.code}: {outcome.error.what}"
    report = outcome.report
    severities = [finding.severity for finding in report.findings]
    reason = "; ".join(one.text for one in outcome.exit_reasons or ())
    return (
        report.board.path,
        report.headline.value.upper(),
        str(severities.count(Severity.ERROR)),
        str(severities.count(Severity.WARNING)),
        f"{answer.code}: {reason}" if reason else str(answer.code),
    )
