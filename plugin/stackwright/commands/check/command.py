"""`stackwright check`: one report per board, one exit code for all.

NumPy is imported here, before what needs it: Python 3.11 keeps frames in pieces of 16 KB, and deep inside nested
imports every call across the end of a piece maps and unmaps memory. While NumPy defined its types, 3,000 did.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np  # noqa: F401 - for its time, see above

from drc_rules.engine.check import CheckUp, check_board, check_up, find_config
from drc_rules.facts.declared import Overrides
from drc_rules.report.known_findings import Remembered
from drc_rules.report.model import Report
from drc_rules.settings.config import CheckOptions, Config
from stackup_lib.core.background_process import sharing_cores
from stackup_lib.core.errors import StackwrightError
from stackwright.commands.check.answers import Answer, verdict_table
from stackwright.commands.check.exit_reasons import exit_reasons
from stackwright.commands.check.left_out import tell_left_out
from stackwright.commands.check.request import CheckRequest
from stackwright.commands.request import HTML, JSON, TEXT, needs_page_file, page_file
from stackwright.reporters import text
from stackwright.results.board_identity import BoardIdentity
from stackwright.results.checked import Checked, Unchecked
from stackwright.results.exit_reason import BROKEN, CLEAN, untold
from stackwright.run.data_digest import data_digest
from stackwright.run.paths import boards_of, boards_touched, find_board
from stackwright.run.processes import is_one_of_several, shared_out, worker_count
from stackwright.run.watched import counted, shares_of, timing_lines, watched
from stackwright.text.output import check_ending, check_target, complain, show, write_file
from stackwright.text.page import PLAIN_WIDTH, Page, terminal_console

if TYPE_CHECKING:
    from drc_rules.fab_exchange.ordered import OrderedStackup
    from stackwright.drawing.board_map import BoardMap
    from stackwright.drawing.charts import Charts
    from stackwright.results.full import Full

LARGE_BYTES = 10_000_000
"""Boards whose check takes longer than the start of a second process is worth."""

LET_GO_BYTES = 10_000_000
"""A board's memory is 2.5 to 3.5 times its file; of smaller ones Python itself finds the garbage soon enough."""

OF_ONE_BOARD = ("kicad",)
"""Formats that hold one board, and have no place for one that could not be checked."""


def check_boards(typed: Sequence[Path], request: CheckRequest) -> int:
    """Check every board, write the report or reports, and return the worst exit code."""
    boards = boards_of(boards_touched(typed, request.shared_files()) if request.touched else typed)
    if not request.touched:
        tell_left_out(typed)
    if not boards:
        show("no board belongs to these files\n")
        return CLEAN
    if needs_page_file(open_page=request.open_page):
        request = request.with_page_file(page_file(boards[0] if len(boards) == 1 else None))
    inputs = [*boards, *(path for path in (request.config, request.baseline) if path)]
    for report in request.reports:
        if report.format in OF_ONE_BOARD and len(boards) > 1:
            step = "check the boards one by one, or use --format json"
            raise StackwrightError(f"--format {report.format}", f"holds one board, not {len(boards)}", step)
        if report.file:
            check_target(report.file, inputs)
            check_ending(report.file, report.format)
    if request.kicad_drc:
        from stackwright.run.kicad_drc import require_kicad_cli

        require_kicad_cli()
    read_here = any(report.is_read_here for report in request.reports)
    answers, gap = [], ""
    for answer in check_all(boards, request):
        answers.append(answer)
        if read_here and (page := _as_text(answer, request)):
            show(gap + page)
            gap = "" if request.quiet else "\n\n"
        _tell(answer, timing=JSON not in request.formats)
    if read_here and len(answers) > 1 and not request.quiet:
        console = terminal_console()
        show(gap + verdict_table(answers, console.width).text(console))
    _deliver(answers, request)
    return max(answer.code for answer in answers)


def check_all(boards: Sequence[Path], request: CheckRequest) -> Iterator[Answer]:
    """Yield an answer per path, in order; several boards are checked in parallel, in processes of their own."""
    workers = worker_count(len(boards), request.jobs)
    if workers <= 1:
        check = check_typed if len(boards) == 1 else _check_one_of_many
        yield from (check(path, request) for path in boards)
        return
    done = shared_out(partial(_check_one_of_many, request=request), boards, workers)
    is_covered = any(report.is_read_here for report in request.reports)
    yield from done if is_covered else counted(done, len(boards))


def _tell(answer: Answer, *, timing: bool) -> None:
    """Write to the error stream what is no part of a report."""
    outcome = answer.outcome
    if isinstance(outcome, Checked) and outcome.timing and timing:
        sys.stdout.flush()
        sys.stderr.write(timing_lines(outcome.timing, outcome.background_s, outcome.background_failures))
    if isinstance(answer.outcome, Unchecked):
        complain(answer.outcome.error)
    else:
        for reason in untold(answer.outcome.exit_reasons):
            sys.stdout.flush()
            complain(StackwrightError(answer.outcome.report.board.path, reason.text, reason.next_step))


def reporter(name: str) -> Callable[[Sequence[Checked | Unchecked]], str]:
    """Return the function that writes a format: `render` of the module of that name in `stackwright.reporters`."""
    module = import_module(f"stackwright.reporters.{'json_' if name == 'json' else name}")
    render: Callable[[Sequence[Checked | Unchecked]], str] = module.render
    return render


def check_one(
    board: Path, request: CheckRequest, *, live: bytes | None = None, draw: bool = False, tables: bool = True
) -> tuple[Checked, CheckOptions]:
    """Check one board as the command line does, with the options that its settings file gives.

    Args:
        board: the `.kicad_pcb`.
        request: what to check.
        live: the board's bytes where they are not the file's, e.g. from a running KiCad.
        draw: with the board from above and the charts, for a page.
        tables: with what `report_tables` adds to the report.

    Raises:
        StackwrightError: the check could not be made.
    """
    outcome, options, _ = check_in_context(board, request, live=live, draw=draw, tables=tables)
    return outcome, options


def check_in_context(
    board: Path, request: CheckRequest, *, live: bytes | None = None, draw: bool = False, tables: bool = True
) -> tuple[Checked, CheckOptions, CheckUp]:
    """Check one board like `check_one`; return the context of its rules as well."""
    config = find_config(board, request.config)
    defaults = request.overrides.counting(config.check)
    options, overrides = request.options(defaults), request.overrides.with_defaults(defaults)
    every_pair = draw or request.solves_every_pair
    checked = check_up(board, config=config, overrides=overrides, text=live, every_pair=every_pair, tables=tables)
    report = checked.report
    if request.baseline:
        report = _above(request.baseline, board, report)
    if request.against:
        report = _against(request.against, board, report, request.config, overrides)
    outcome = Checked(
        report,
        config.path.as_posix() if config.path else None,
        "" if set(request.formats) == {TEXT} else data_digest(),  # people do not read it
        options.fail_on or "error",
        map=_map(checked, report) if draw else None,
        charts=_charts(checked) if draw else None,
        ordered=_ordered(checked) if config.order.stackup else None,
        identity=_identity(board, checked, report) if draw else BoardIdentity(),
        full=_full(board, checked, config, overrides, request.config) if draw and request.full else None,
    )
    return outcome, options, checked


def _full(board: Path, checked: CheckUp, config: Config, overrides: Overrides, settings_path: Path | None) -> Full:
    """Compute what takes as long as the check again; only its reports wait."""
    from stackwright.commands.check.full import in_full

    return in_full(board, checked, config, overrides, settings_path)


def _above(baseline: Path, board: Path, report: Report) -> Report:
    """Set apart what a baseline knows already."""
    from drc_rules.engine.baseline import board_name, gate, load_baseline

    return gate(report, load_baseline(baseline).boards.get(board_name(board, baseline), ()))


def _map(checked: CheckUp, report: Report) -> BoardMap | None:
    """Draw the board from above; only pages load what draws it."""
    from stackwright.drawing.board_map import board_map

    return board_map(checked.context, report.findings)


def _identity(board: Path, checked: CheckUp, report: Report) -> BoardIdentity:
    """Tell which board and revision it is, by its title block and Git; only pages say so."""
    from stackwright.results.board_identity import identity_of

    return identity_of(board, checked.context.board.project, report.findings)


def _charts(checked: CheckUp) -> Charts:
    """Compute the charts; only pages load the physics behind them."""
    from stackwright.drawing.charts import charts_of

    return charts_of(checked)


def _ordered(checked: CheckUp) -> OrderedStackup | None:
    """Compare with the fab's stackup that is ordered; only settings that name one load the fabs' lists."""
    from drc_rules.fab_exchange.ordered import ordered_stackup

    return ordered_stackup(checked.context)


def check_typed(typed: Path, request: CheckRequest) -> Answer:
    """Check the board that is meant by a path; what goes wrong is part of the answer."""
    try:
        board = find_board(typed)
        with watched(board.name) as watch, sharing_cores(on=_is_worth_two(board, request)):
            outcome, options = check_one(board, request, draw=HTML in request.formats, tables=request.shows_tables)
            outcome = _with_kicad_drc(outcome, board) if request.kicad_drc else outcome
        if request.timing:
            outcome = replace(
                outcome,
                timing=shares_of(watch),
                background_s=watch.background_s,
                background_failures=tuple(watch.failures),
            )
    except StackwrightError as error:
        return Answer(Unchecked(str(typed), error), BROKEN)
    outcome = replace(outcome, exit_reasons=exit_reasons(outcome.report, options))
    return Answer(outcome, outcome.exit_code)


def _check_one_of_many(typed: Path, request: CheckRequest) -> Answer:
    """Check like `check_typed`, and let go of a large board: it and its results hold each other."""
    answer = check_typed(typed, request)
    if isinstance(answer.outcome, Checked) and find_board(typed).stat().st_size > LET_GO_BYTES:
        gc.collect()
    return answer


def _with_kicad_drc(checked: Checked, board: Path) -> Checked:
    """Add what KiCad's own check says; it changes no verdict, and the headline's reason tells of it."""
    from drc_rules.report.kicad_drc import headline_why_with
    from stackwright.run.kicad_drc import kicad_drc

    found = kicad_drc(board)
    why = headline_why_with(checked.report.headline_why, found)
    return replace(checked, report=checked.report.model_copy(update={"kicad_drc": found, "headline_why": why}))


def _is_worth_two(board: Path, request: CheckRequest) -> bool:
    """Tell whether a second process may work on one board: it is large, and no other boards keep the cores busy."""
    return request.jobs != 1 and board.stat().st_size > LARGE_BYTES and not is_one_of_several()


def _against(commit: str, board: Path, report: Report, config: Path | None, overrides: Overrides) -> Report:
    """Set apart what a commit already had; a board that is new in the repository has nothing to lean on.

    What the commit accepts by `[[suppress]]` counts again when the table expires or goes.
    """
    from drc_rules.engine.baseline import gate
    from drc_rules.engine.suppressions import never_suppressed
    from stackwright.run import revisions

    if not revisions.has_board(commit, board):
        return report
    with revisions.board_at(commit, board) as path:
        settings = find_config(path, config)
        former = check_board(path, config=settings, overrides=overrides, tables=False)
    known = never_suppressed(former, settings.suppress if overrides.suppress else ())
    gated = gate(report, [Remembered.of(finding) for finding in known], reason=f"already in {commit}")
    return gated.model_copy(update={"fixed": ()})  # no baseline to take them out of; `stackwright diff` shows them


def _as_text(answer: Answer, request: CheckRequest) -> str:
    if isinstance(answer.outcome, Unchecked):
        return ""
    report, console = answer.outcome.report, terminal_console()
    if request.quiet:
        page = Page()
        page.verbatim([text.summary(report)], indent=0)
    else:
        page = _page(report, request, console.width)
    return page.text(console)


def _page(report: Report, request: CheckRequest, width: int = PLAIN_WIDTH) -> Page:
    return text.page(report, verbose=request.verbose, clauses=request.clauses, full=request.full, width=width)


def _deliver(answers: Sequence[Answer], request: CheckRequest) -> None:
    """Write the reports that the terminal has not shown; of those in files, it shows one line per board."""
    files = []
    is_refused = len(answers) == 1 and isinstance(answers[0].outcome, Unchecked)
    for report in request.reports:
        if report.is_read_here or (is_refused and report.format in OF_ONE_BOARD):
            continue  # why the board was refused has been reported
        written = _written(answers, report.format, request)
        if report.file is None:
            show(written)
        else:
            write_file(report.file, written)
            files.append(report.file)
    if files and all(report.file for report in request.reports):
        lines = Page()
        lines.verbatim([text.summary(report) for report in _reports(answers)], indent=0)
        lines.verbatim([f"report written to {file}" for file in files], indent=0)
        show(lines.text(terminal_console()))
    if request.open_page:
        from stackwright.run.browser import open_in_browser

        for page in (report.file for report in request.reports if report.format == HTML and report.file):
            open_in_browser(page.resolve())


def _written(answers: Sequence[Answer], form: str, request: CheckRequest) -> str:
    if form != TEXT:
        return reporter(form)([answer.outcome for answer in answers])
    checked = [answer.outcome for answer in answers if isinstance(answer.outcome, Checked)]
    return "\n\n".join(_file_page(one, request).text() for one in checked)


def _file_page(checked: Checked, request: CheckRequest) -> Page:
    """Lay out the text for a file: it also holds what the terminal shows on the error stream."""
    page = _page(checked.report, request)
    page.verbatim([f"exit code {one.code}: {one.text}" for one in untold(checked.exit_reasons)], indent=0)
    return page


def _reports(answers: Sequence[Answer]) -> Iterator[Report]:
    for answer in answers:
        if isinstance(answer.outcome, Checked):
            yield answer.outcome.report
