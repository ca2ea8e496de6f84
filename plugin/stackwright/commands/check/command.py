"""`stackwright check`: one report per board, one exit code for all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING

from drc_rules.analysis.targets.impedance_option import impedance_said
from drc_rules.engine.baseline import board_name, gate, load_baseline
from drc_rules.engine.board_diff import known_findings
from drc_rules.engine.check import CheckUp, check_board, check_up, find_config
from drc_rules.facts.declared import CommandLine
from drc_rules.report.kicad_drc import headline_why_with
from drc_rules.report.model import Report
from drc_rules.requirements.clauses import Severity
from drc_rules.settings.config import FILE_NAME, CheckOptions, Config
from stackup_lib.core.background_process import sharing_cores
from stackup_lib.core.errors import StackwrightError
from stackwright.drawing.board_map import board_map
from stackwright.reporters import text
from stackwright.reporters.json_ import Checked, Unchecked
from stackwright.run import revisions
from stackwright.run.data_digest import data_digest
from stackwright.run.kicad_drc import kicad_drc, require_kicad_cli
from stackwright.run.paths import find_board
from stackwright.run.processes import shared_out, worker_count
from stackwright.run.watched import shares_of, timing_lines, watched
from stackwright.text.output import check_target, complain, show, write_file
from stackwright.text.page import Page, terminal_console
from stackwright.text.words import count, number

if TYPE_CHECKING:
    from stackwright.commands.check.full import Full
    from stackwright.drawing.charts import Charts

CLEAN, FOUND, BROKEN = 0, 1, 2
LARGE_BYTES = 10_000_000
"""Boards whose check takes longer than the start of a second process is worth."""

TEXT = "text"
SHOW_PAIRS = ("json", "html", "markdown")
"""Formats that list every pair: of a large board the impedances that no rule asks for take a second."""

OF_A_CHECKED_BOARD = ("kicad",)
"""Formats that have no place for a board that could not be checked."""


@dataclass(frozen=True)
class CheckRequest:
    """A report that is asked for; without a file it goes to the terminal."""

    format: str = TEXT
    output: Path | None = None

    @property
    def is_read_here(self) -> bool:
        """True for the text that the terminal shows board by board."""
        return self.format == TEXT and self.output is None


@dataclass(frozen=True)
class Settings:
    """What the command line says; None or empty where it says nothing."""

    profile: str | None = None
    form: str | None = None
    config: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    impedance: tuple[str, ...] = ()
    fail_on: str | None = None
    min_coverage_pct: float | None = None
    wanted: tuple[CheckRequest, ...] = (CheckRequest(),)
    show_all: bool = False
    baseline: Path | None = None
    against: str | None = None
    jobs: int | None = None
    suppress: bool = True
    timing: bool = False
    full: bool = False
    kicad_drc: bool = False


@dataclass(frozen=True)
class Answer:
    """A board's outcome, why its exit code is not plainly about findings, and the code."""

    outcome: Checked | Unchecked
    code: int
    reason: str = ""


def check_boards(typed: Sequence[Path], settings: Settings) -> int:
    """Check every board, write the report or reports, and return the worst exit code."""
    inputs = [*typed, *(path for path in (settings.config, settings.baseline) if path)]
    for wanted in settings.wanted:
        if wanted.output:
            check_target(wanted.output, inputs)
    if settings.kicad_drc:
        require_kicad_cli()
    read_here = any(wanted.is_read_here for wanted in settings.wanted)
    answers = []
    for index, answer in enumerate(check_all(typed, settings)):
        answers.append(answer)
        if read_here:
            show(("\n\n" if index else "") + _as_text(answer, settings))
        _tell(answer, timing=not any(wanted.format == "json" for wanted in settings.wanted))
    _deliver(answers, settings)
    return max(answer.code for answer in answers)


def check_all(typed: Sequence[Path], settings: Settings) -> Iterator[Answer]:
    """Yield an answer per path, in order; several boards are checked at a time, in processes of their own."""
    workers = worker_count(len(typed), settings.jobs)
    if workers <= 1:
        yield from (check_typed(path, settings) for path in typed)
        return
    yield from shared_out(partial(check_typed, settings=settings), typed, workers)


def _tell(answer: Answer, *, timing: bool) -> None:
    """Write to the error stream what is no part of a report."""
    if isinstance(answer.outcome, Checked) and answer.outcome.timing and timing:
        sys.stdout.flush()
        sys.stderr.write(timing_lines(answer.outcome.timing, answer.outcome.beside_s))
    if isinstance(answer.outcome, Unchecked):
        complain(answer.outcome.error)
    elif answer.reason:
        sys.stdout.flush()
        complain(StackwrightError(answer.outcome.report.board.path, answer.reason, _next_step(answer)))


def exit_code(report: Report, options: CheckOptions) -> tuple[int, str]:
    """Return the exit code of a report, and the reason where the findings do not explain it."""
    if report.crashes:
        return BROKEN, f"rule {report.crashes[0].code} broke ({report.crashes[0].error})"
    if report.kicad_drc is not None and report.kicad_drc.failed:
        return BROKEN, f"KiCad DRC did not run: {report.kicad_drc.failed}"
    if not report.coverage.decided:
        return BROKEN, "nothing was checked"
    wanted = options.fail_on or "error"
    if wanted != "never" and any(f.severity.rank >= Severity(wanted).rank for f in report.findings):
        return FOUND, ""
    if wanted != "never" and report.kicad_drc is not None and report.kicad_drc.fails(Severity(wanted)):
        return FOUND, ""
    if wanted in ("warning", "info") and report.stale_suppressions:
        return FOUND, f"{count(len(report.stale_suppressions), 'suppression does', 'suppressions do')} nothing"
    if options.min_coverage_pct is not None and report.coverage.percent < options.min_coverage_pct:
        asked = number(options.min_coverage_pct)
        return FOUND, f"coverage is {report.coverage.percent:.1f} %, below the {asked} % that was asked for"
    return CLEAN, ""


def reporter(name: str) -> Callable[[Sequence[Checked | Unchecked]], str]:
    """Return the function that writes a format: `render` of the module of that name in `stackwright.reporters`."""
    module = import_module(f"stackwright.reporters.{'json_' if name == 'json' else name}")
    render: Callable[[Sequence[Checked | Unchecked]], str] = module.render
    return render


def check_one(
    board: Path, settings: Settings, *, live: bytes | None = None, draw: bool = False
) -> tuple[Checked, CheckOptions]:
    """Check one board as the command line does, with the options that its settings file gives.

    Args:
        board: the `.kicad_pcb`.
        settings: what the user said.
        live: the board's bytes where they are not the file's, e.g. from a running KiCad.
        draw: with the board from above and the charts, for a page.

    Raises:
        StackwrightError: the check could not be made.
    """
    config = find_config(board, settings.config)
    options = _merged(settings, config.check)
    said = CommandLine(
        settings.profile,
        settings.form,
        options.select,
        options.ignore,
        settings.suppress,
        tuple(map(impedance_said, settings.impedance)),
    )
    every_pair = draw or settings.show_all or any(wanted.format in SHOW_PAIRS for wanted in settings.wanted)
    checked = check_up(board, config_path=settings.config, command_line=said, text=live, every_pair=every_pair)
    report = checked.report
    if settings.baseline:
        known = load_baseline(settings.baseline).boards.get(board_name(board, settings.baseline), ())
        report = gate(report, known)
    if settings.against:
        report = _against(settings.against, board, report, settings, said)
    seen = board_map(checked.context, report.findings) if draw else None
    charts = _charts(checked) if draw else None
    outcome = Checked(
        report,
        _config_path(board, settings.config),
        data_digest(),
        options.fail_on or "error",
        map=seen,
        charts=charts,
        full=_full(board, checked, config, said, settings.config) if draw and settings.full else None,
    )
    return outcome, options


def _full(board: Path, checked: CheckUp, config: Config, said: CommandLine, settings_path: Path | None) -> Full:
    """Compute what takes as long as the check again; only who asks for it waits."""
    from stackwright.commands.check.full import in_full

    return in_full(board, checked, config, said, settings_path)


def _charts(checked: CheckUp) -> Charts:
    """Compute the charts; only pages load the physics behind them."""
    from stackwright.drawing.charts import charts_of

    return charts_of(checked)


def check_typed(typed: Path, settings: Settings) -> Answer:
    """Check the board that is meant by a path; what goes wrong is part of the answer."""
    try:
        board = find_board(typed)
        with watched(board.name) as watch, sharing_cores(on=_is_worth_two(board, settings)):
            outcome, options = check_one(board, settings, draw=any(one.format == "html" for one in settings.wanted))
            outcome = _with_kicad_drc(outcome, board) if settings.kicad_drc else outcome
        if settings.timing:
            outcome = replace(outcome, timing=shares_of(watch), beside_s=watch.beside_s)
    except StackwrightError as error:
        return Answer(Unchecked(str(typed), error), BROKEN)
    code, reason = exit_code(outcome.report, options)
    return Answer(outcome, code, reason)


def _with_kicad_drc(checked: Checked, board: Path) -> Checked:
    """Add what KiCad's own check says; it changes no verdict, and the headline's reason tells of it."""
    found = kicad_drc(board)
    why = headline_why_with(checked.report.headline_why, found)
    return replace(checked, report=checked.report.model_copy(update={"kicad_drc": found, "headline_why": why}))


def _is_worth_two(board: Path, settings: Settings) -> bool:
    """Tell whether a second process may work on one board: it is large, and no other boards keep the cores busy."""
    return settings.jobs != 1 and parent_process() is None and board.stat().st_size > LARGE_BYTES


def _against(commit: str, board: Path, report: Report, settings: Settings, said: CommandLine) -> Report:
    """Set apart what a commit already had; a board that is new in the repository has nothing to lean on."""
    if not revisions.has_board(commit, board):
        return report
    with revisions.board_at(commit, board) as path:
        former = check_board(path, config_path=settings.config, command_line=said)
    gated = gate(report, known_findings(former), reason=f"was there in {commit}")
    return gated.model_copy(update={"fixed": ()})  # no baseline to take them out of; `stackwright diff` shows them


def _merged(settings: Settings, defaults: CheckOptions) -> CheckOptions:
    """The command line's options, those left out from `[check]` of the settings file."""
    given = {
        "fail_on": settings.fail_on,
        "min_coverage_pct": settings.min_coverage_pct,
        "select": settings.select or None,
        "ignore": settings.ignore or None,
    }
    return defaults.model_copy(update={key: value for key, value in given.items() if value is not None})


def _config_path(board: Path, given: Path | None) -> str | None:
    beside = board.with_name(FILE_NAME)
    path = given or (beside if beside.exists() else None)
    return path.as_posix() if path else None


def _as_text(answer: Answer, settings: Settings) -> str:
    if isinstance(answer.outcome, Unchecked):
        return ""
    console = terminal_console()
    return text.page(answer.outcome.report, full=settings.show_all, width=console.width).text(console)


def _deliver(answers: Sequence[Answer], settings: Settings) -> None:
    """Write the reports that the terminal has not shown; of those in files, it shows one line per board."""
    files = []
    is_refused = len(answers) == 1 and isinstance(answers[0].outcome, Unchecked)
    for wanted in settings.wanted:
        if wanted.is_read_here or (is_refused and wanted.format in OF_A_CHECKED_BOARD):
            continue  # why the board was refused has been told
        written = _written(answers, wanted.format, settings)
        if wanted.output is None:
            show(written)
        else:
            write_file(wanted.output, written)
            files.append(wanted.output)
    if files and all(wanted.output for wanted in settings.wanted):
        lines = Page()
        lines.verbatim([text.summary(report) for report in _reports(answers)], indent=0)
        lines.verbatim([f"report written to {file}" for file in files], indent=0)
        show(lines.text(terminal_console()))


def _written(answers: Sequence[Answer], form: str, settings: Settings) -> str:
    if form != TEXT:
        return reporter(form)([answer.outcome for answer in answers])
    pages = [text.page(report, full=settings.show_all) for report in _reports(answers)]
    return "\n\n".join(page.text() for page in pages)


def _reports(answers: Sequence[Answer]) -> Iterator[Report]:
    for answer in answers:
        if isinstance(answer.outcome, Checked):
            yield answer.outcome.report


def _next_step(answer: Answer) -> str:
    if "suppression" in answer.reason:
        return f"remove it from {FILE_NAME}, or mend it"
    if "nothing was checked" in answer.reason:
        return "supply what is listed under Not proven, or select fewer rules away"
    if "coverage" in answer.reason:
        return "declare the facts listed under Not proven"
    drc = answer.outcome.report.kicad_drc if isinstance(answer.outcome, Checked) else None
    if drc is not None and drc.failed:
        return drc.next_step
    return "please report this board"
