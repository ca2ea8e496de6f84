"""`stackwright baseline`: writes down the findings that are there; from then on the file only shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drc_rules.engine.baseline import Rewritten, board_name, load_baseline, missing_boards, rewrite
from drc_rules.report.model import Report
from stackup_lib.core.errors import StackwrightError
from stackwright.commands.check.command import check_one
from stackwright.commands.check.request import CheckRequest
from stackwright.results.exit_reason import BROKEN, CLEAN, FOUND
from stackwright.run.paths import boards_of, find_board
from stackwright.run.watched import watched
from stackwright.text.output import check_target, complain, former_of, show, write_over
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import count


def write_baseline(typed: Sequence[Path], target: Path, request: CheckRequest, *, update: bool) -> int:
    """Check every board and write the baseline; return 1 when new findings were refused, 2 when nothing was written."""
    boards = boards_of(typed)
    former = former_of(target)
    old = load_baseline(target) if target.exists() else None
    check_target(target, [*boards, *([request.config] if request.config else [])])
    reports: dict[str, Report] = {}
    broken = False
    for path in boards:
        try:
            board = find_board(path)
            with watched(board.name):
                checked, _ = check_one(board, request)
            reports[board_name(board, target)] = _complete(checked.report)
        except StackwrightError as error:
            complain(error)
            broken = True
    if broken:
        return BROKEN
    done = rewrite(old, reports, grow=update, missing=missing_boards(old, target) if old else ())
    write_over(target, done.baseline.text(), former=former)
    show(_page(target, done).text(terminal_console()))
    return FOUND if done.refused else CLEAN


def _complete(report: Report) -> Report:
    if report.crashes:
        crash = report.crashes[0]
        raise StackwrightError(
            report.board.path,
            f"internal error in rule {crash.code} ({crash.error})",
            "please report this board; nothing is written",
        )
    return report


def _page(target: Path, done: Rewritten) -> Page:
    out = Page()
    removed = len(done.removed) + sum(done.missing.values())
    out.verbatim([f"{target}: {count(done.kept, 'finding')} known, {removed} gone and removed"], indent=0)
    rows = [
        (styled("no board", "green"), f"{name} is not there any more: {count(many, 'finding')}")
        for name, many in done.missing.items()
    ]
    rows += [(styled("fixed", "green"), f"{one.code} {one.title}") for one in done.removed]
    rows += [(styled("new", "bold red"), f"{one.code} {one.title}") for one in done.refused]
    out.rows([Column(), Column(wraps=True)], rows)
    if done.refused:
        out.line(f"{count(len(done.refused), 'new finding')} not added: fix what is new, or add it with --update")
    return out
