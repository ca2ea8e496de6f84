"""From a board file to a report: read, resolve, assemble the clauses, run the rules."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

from drc_rules.analysis.impedance.process_view import process_view
from drc_rules.analysis.loss.loss_shares import role_notes
from drc_rules.analysis.nets.coupled_nets import coupled_nets
from drc_rules.analysis.stackup.facts_of_board import board_facts, with_process
from drc_rules.analysis.targets.configured_geometries import bounds_notes
from drc_rules.analysis.targets.unknown_pairs import unjudged_pairs, unknown_pairs
from drc_rules.analysis.thermal.hot_parts import fill_notes
from drc_rules.engine.decide import begin
from drc_rules.engine.finding_lines import with_lines
from drc_rules.engine.headline import coverage_of, headline_of, not_laid_out
from drc_rules.engine.missing_inputs import proofs, with_open_values
from drc_rules.engine.one_clause import LeftOut, Outcome
from drc_rules.engine.suppressions import accept
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides, gather, looked_up, overruled_words, purpose_of, stated_workload
from drc_rules.facts.declared_nets import with_rails_of
from drc_rules.facts.declared_parts import part_notes
from drc_rules.facts.dielectric.against_sheet import understated_notes
from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.facts.unread_settings import unread_notes
from drc_rules.report.model import Report
from drc_rules.requirements.interfaces import interface_ids
from drc_rules.requirements.profiles.profile import Profile, Requirements, assemble, load_form, load_profile
from drc_rules.rules.rule import all_rules, choose_rules
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config, load_config
from stackup_lib.board.board import Board
from stackup_lib.core.background_thread import ThreadTask
from stackup_lib.core.files.plain_file import read_board_bytes
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board


def check_board(
    path: Path | str,
    *,
    config: Config | None = None,
    overrides: Overrides | None = None,
    text: bytes | None = None,
    today: date | None = None,
    tables: bool = True,
) -> Report:
    """Check one board and return the report; see `check_up`."""
    return check_up(Path(path), config=config, overrides=overrides, text=text, today=today, tables=tables).report


@record
class CheckUp:
    """A checked board: the report, and the context that its rules worked with."""

    context: Context
    report: Report


def check_up(
    path: Path,
    *,
    config: Config | None = None,
    overrides: Overrides | None = None,
    text: bytes | None = None,
    today: date | None = None,
    every_pair: bool = False,
    tables: bool = True,
) -> CheckUp:
    """Check one board.

    Args:
        path: the `.kicad_pcb`; its `.kicad_pro` is looked for next to it.
        config: the settings; by default those of the `stackwright.toml` next to the board.
        overrides: what the command line says in their place.
        text: the board's bytes in place of the file's, e.g. of a live board with unsaved changes.
        today: the day on which suppressions are judged; by default today, the same all over the world (UTC).
        every_pair: solve the impedance of pairs that no clause judges on large boards too, for who looks at them.
        tables: False leaves out what `report_tables` adds, and the file's hash; findings, verdicts and coverage are
            the same.

    Raises:
        StackwrightError: board, project or settings cannot be read; the message says what to do.
    """
    options = overrides or Overrides()
    chosen = choose_rules(options.select, options.ignore)
    config = find_config(path) if config is None else config
    data = _bytes_of(path) if text is None else text
    # while the board is read: the other core is idle
    hashed = ThreadTask(partial(hashlib.sha256, data or b"")) if tables else None
    context, requirements, profile = prepare(read_board(path, text=data), config, options)
    left = LeftOut(options.left_out_by, options.counts_left_out)
    rest = begin(context, requirements.clauses, all_rules(), chosen, left)
    shown: dict[str, Any] = {}
    if tables:
        from drc_rules.engine.report_tables import tables_before_rules  # noqa: PLC0415 - few who check look at them

        shown |= tables_before_rules(context)
    outcome = rest()
    process = process_view(context)
    if tables:
        from drc_rules.engine.report_tables import tables_after_rules  # noqa: PLC0415

        shown |= tables_after_rules(context, requirements.clauses, data or b"", every_pair=every_pair)
    name = profile.name if profile else None
    report = Report.model_construct(  # of parts that are checked: a validator of all of them takes long to build
        board=with_process(board_facts(context, hashed.result().hexdigest() if hashed else ""), process),
        profile=name,
        overruled=overruled_words(context.purpose.profile, stated_workload(context.board, config)),
        form=requirements.form,
        **_decided(context, outcome, (name, requirements.form), data or b""),
        taken_as=context.assignment.taken_as(),
        not_routed=context.assignment.taken_as(idle=True),
        proofs=with_open_values(proofs(context, outcome), config, options.profile),
        notes=tuple(_of_file(_notes(context, config, profile), _other_settings(path, config))),
        process=process,
        unknown_pairs=context.get(unknown_pairs).names,
        settings_file=_other_settings(path, config),
        **shown,
    )
    if config.suppress and options.suppress:
        where = str(config.path or FILE_NAME)
        report = accept(report, config.suppress, today=today or datetime.now(UTC).date(), toml=config.text, where=where)
    return CheckUp(context, report)


def _other_settings(board: Path, config: Config) -> str:
    """Return the file of the settings where it is not the one next to the board, else ""."""
    return "" if config.path in (None, board.with_name(FILE_NAME)) else str(config.path)


def _notes(context: Context, config: Config, profile: Profile | None) -> Iterator[str]:
    """Yield what the reader has to know of the board, the settings and what was made of both."""
    yield from context.board.warnings
    yield from _notes_on(profile)
    yield from context.declarations.notes
    yield from unread_notes(context)
    yield from part_notes(context.board, config)
    yield from understated_notes(one for ply in context.plies if (one := ply.df.understated))
    yield from role_notes(context)
    yield from bounds_notes(context)
    yield from fill_notes(context)
    yield from context.assignment.notes


def _of_file(notes: Iterable[str], settings: str) -> Iterator[str]:
    """Notes on settings name the file that was read, where it is not the one next to the board."""
    start = f"{FILE_NAME}, "
    for note in notes:
        yield f"{settings}, {note.removeprefix(start)}" if settings and note.startswith(start) else note


def _decided(context: Context, outcome: Outcome, purpose: tuple[str | None, str | None], data: bytes) -> dict[str, Any]:
    """Return what the rules decided for a profile and a form factor, by the report's fields.

    `data` is the board's text, for the lines of findings.
    """
    headline, why = headline_of(
        outcome.verdicts, profile=purpose[0], form=purpose[1], lacking=not_laid_out(context.board)
    )
    return {
        "headline": headline,
        "headline_why": why,
        "findings": tuple(with_lines(outcome.findings, context.board, data)),
        "verdicts": tuple(outcome.verdicts),
        "coverage": coverage_of(
            outcome.verdicts,
            unknown_pairs=len(context.get(unknown_pairs).names),
            unjudged_pairs=unjudged_pairs(context),
            coupled_mm=[pair.length_mm for pair in context.get(coupled_nets)],
        ),
        "crashes": tuple(outcome.crashes),
    }


def prepare(board: Board, config: Config, options: Overrides) -> tuple[Context, Requirements, Profile | None]:
    """Resolve what was declared and inferred about a board, and which clauses apply to it."""
    config = with_rails_of(board, config)
    declarations, purpose = gather(board, config, options), purpose_of(board, config, options)
    profile = looked_up(purpose.profile, _profile_that_rules_read, config)
    form = looked_up(purpose.form, load_form, config) or (load_form(profile.form) if profile and profile.form else None)
    assignment = assign_nets(board, config, profile.interfaces if profile else {})
    requirements = assemble(
        profile,
        form,
        {*assignment.interfaces(), *_declared(config)},
        assignment.families_without_generation(),
    )
    return Context(board, declarations, assignment, purpose), requirements, profile


def _profile_that_rules_read(name: str) -> Profile:
    """Load a profile; the words of one's own are those that the rules know."""
    profile = load_profile(name)
    if profile.is_own:
        from drc_rules.requirements.profiles.own_profile import refuse_other_choices  # noqa: PLC0415 - few have one

        words = {kind: rule.choices() for rule in all_rules() if rule.choices is not None for kind in rule.kinds}
        refuse_other_choices(profile, words)
    return profile


def _notes_on(profile: Profile | None) -> Iterable[str]:
    """What the reader has to know of a profile of one's own."""
    if profile is None or not profile.is_own:
        return ()
    from drc_rules.requirements.profiles.own_profile import notes_on  # noqa: PLC0415 - few have one

    return notes_on(profile)


def _declared(config: Config) -> set[str]:
    """Interfaces that the user declares: their clauses apply even where a typing error matches no net."""
    return {row.is_ for row in config.interface} & set(interface_ids())


def config_file(board: Path, given: Path | None) -> Path:
    """Return where the settings of a board are, if there are any."""
    return given if given is not None else board.with_name(FILE_NAME)


def find_config(board: Path, given: Path | None = None) -> Config:
    """Load the given settings, else the `stackwright.toml` next to the board, else none."""
    path = config_file(board, given)
    if given is None and not os.path.lexists(path):  # a link to nothing is not no settings
        return Config.model_construct()  # nothing to validate
    return with_own_profile(load_config(path), path.parent)


def with_own_profile(config: Config, folder: Path) -> Config:
    """Return the settings of a folder: a profile of the user's own lies there, wherever the command is run."""
    if config.profile and config.profile.endswith(".toml"):
        return config.model_copy(update={"profile": str(folder / config.profile)})
    return config


def _bytes_of(path: Path) -> bytes | None:
    """Read the file once, for the check and its hash; None leaves it to the reader to say what is wrong with it."""
    try:
        return read_board_bytes(path)
    except OSError:
        return None
