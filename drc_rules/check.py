"""From a board file to a report: read, resolve, assemble the clauses, run the rules."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from drc_rules.backdrill_table import BackdrillTable, backdrill_table
from drc_rules.config import FILE_NAME, Config, load_config
from drc_rules.context import Context
from drc_rules.declared import CommandLine, gather
from drc_rules.engine import begin, coverage_of, headline_of
from drc_rules.facts_of_board import board_facts
from drc_rules.interfaces import assign_nets, interface_ids
from drc_rules.loss_table import loss_rows
from drc_rules.places import with_lines
from drc_rules.proofs import proofs
from drc_rules.rail_table import rail_rows
from drc_rules.report import Missing, Report
from drc_rules.requirements import Profile, Requirements, assemble, load_form, load_profile
from drc_rules.rule import all_rules, choose_rules
from drc_rules.stackup_of_board import stackup_view
from drc_rules.suppressions import accept
from stackup_lib.board import Board
from stackup_lib.facts import MissingFact
from stackup_lib.kicad import read_board


def check_board(
    path: Path,
    *,
    config_path: Path | None = None,
    command_line: CommandLine | None = None,
    text: bytes | None = None,
    today: date | None = None,
) -> Report:
    """Check one board and return the report; see `check_up`."""
    return check_up(path, config_path=config_path, command_line=command_line, text=text, today=today).report


@dataclass(frozen=True)
class CheckUp:
    """A checked board: the report, and the context that its rules worked with."""

    context: Context
    report: Report


def check_up(
    path: Path,
    *,
    config_path: Path | None = None,
    command_line: CommandLine | None = None,
    text: bytes | None = None,
    today: date | None = None,
) -> CheckUp:
    """Check one board.

    Args:
        path: the `.kicad_pcb`; its `.kicad_pro` and `stackwright.toml` are looked for beside it.
        config_path: another `stackwright.toml`.
        command_line: what the user said on the command line.
        text: the board's bytes in place of the file's, e.g. of a live board with unsaved changes.
        today: the day on which suppressions are judged; by default today, the same all over the world (UTC).

    Raises:
        StackwrightError: board, project or settings cannot be read; the message says what to do.
    """
    options = command_line or CommandLine()
    chosen = choose_rules(options.select, options.ignore)
    config = find_config(path, config_path)
    data = _bytes_of(path) if text is None else text
    beside = ThreadPoolExecutor(1)
    hashed = beside.submit(hashlib.sha256, data or b"")  # while the board is read: the other core has nothing to do
    beside.shutdown(wait=False)
    context, requirements, profile = prepare(read_board(path, text=data), config, options)
    rest = begin(context, requirements.clauses, all_rules(), chosen)
    drills, stackup, impedances = _backdrills(context), stackup_view(context), context.link_impedances
    outcome = rest()
    headline, why = headline_of(outcome.verdicts, profile=profile.name if profile else None)
    report = Report(
        board=board_facts(context, hashed.result().hexdigest()),
        profile=profile.name if profile else None,
        form=requirements.form,
        headline=headline,
        headline_why=why,
        findings=tuple(with_lines(outcome.findings, context.board, data or b"")),
        verdicts=tuple(outcome.verdicts),
        coverage=coverage_of(outcome.verdicts),
        taken_as=context.assignment.taken_as(),
        proofs=proofs(context, outcome),
        crashes=tuple(outcome.crashes),
        notes=(*context.board.warnings, *context.declarations.notes, *context.assignment.notes),
        stackup=stackup,
        impedances=impedances,
        losses=loss_rows(context, requirements.clauses),
        backdrills=drills.rows,
        backdrills_missing=drills.missing,
        rails=rail_rows(context),
    )
    if config.suppress and options.suppress:
        toml = config_file(path, config_path).read_text(encoding="utf-8")
        report = accept(report, config.suppress, today=today or datetime.now(UTC).date(), toml=toml)
    return CheckUp(context, report)


def prepare(board: Board, config: Config, options: CommandLine) -> tuple[Context, Requirements, Profile | None]:
    """Resolve what was declared and inferred about a board, and which clauses apply to it."""
    declarations = gather(board, config, options)
    profile = load_profile(declarations.profile.value) if declarations.profile.value else None
    form_name = declarations.form.value or (profile.form if profile else None)
    assignment = assign_nets(board, config, profile.interfaces if profile else {})
    requirements = assemble(
        profile,
        load_form(form_name) if form_name else None,
        {*assignment.interfaces(), *_declared(config)},
        assignment.families_without_generation(),
    )
    return Context(board, declarations, assignment), requirements, profile


def _backdrills(context: Context) -> BackdrillTable:
    """The backdrill table; a fact that all of it waits for is its only content."""
    try:
        return backdrill_table(context)
    except MissingFact as fact:
        return BackdrillTable(rows=(), missing=(Missing(fact=fact.name, how_to_give=fact.how_to_give),))


def _declared(config: Config) -> set[str]:
    """Interfaces that the user declares: their clauses apply even where a typing error matches no net."""
    return {row.is_ for row in config.interface} & set(interface_ids())


def config_file(board: Path, given: Path | None) -> Path:
    """Return where the settings of a board are, if there are any."""
    return given if given is not None else board.with_name(FILE_NAME)


def find_config(board: Path, given: Path | None) -> Config:
    """Load the given settings, else the `stackwright.toml` beside the board, else none."""
    path = config_file(board, given)
    if given is None and not path.exists():
        return Config()
    config = load_config(path)
    if config.profile and config.profile.endswith(".toml"):
        # A profile of the user's own lies beside the settings that name it, wherever the command is run.
        return config.model_copy(update={"profile": str(path.parent / config.profile)})
    return config


def _bytes_of(path: Path) -> bytes | None:
    """Read the file once, for the check and its hash; None leaves it to the reader to say what is wrong with it."""
    try:
        return path.read_bytes()
    except OSError:
        return None
