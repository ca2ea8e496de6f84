"""`stackwright fit`: one board against every workload."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from drc_rules.engine.check import find_config
from drc_rules.facts.declared import CommandLine
from drc_rules.report.model import Headline
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings.config import Config
from drc_rules.stackup_design.fitness import Fitness, FitnessReport, fitness_of
from stackup_lib.board.board import Board
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.fit.changes import Way, way_to
from stackwright.commands.fit.json import json_text
from stackwright.commands.fit.page import page_of
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.output import STDOUT, check_target, complain, show, write_file
from stackwright.text.page import terminal_console

NEAREST = 2
"""Workloads that are told in detail where the user names none."""

JUDGED, BROKEN = 0, 2


@dataclass(frozen=True)
class FitRequest:
    """What the command line says.

    Attributes:
        profiles: workloads to tell in detail; none stands for the nearest.
        suggest: None looks for a small change of the stackup, for the workloads that were named or the first that is
            told of; True for all that are told of, and for new stackups where no change will do; False for none.
    """

    profiles: tuple[str, ...] = ()
    form: str | None = None
    suggest: bool | None = None
    as_json: bool = False
    as_html: bool = False
    config: Path | None = None
    output: Path | None = None


def show_fitness(typed: Path, wanted: FitRequest) -> int:
    """Judge a board against every workload, and print what it is fit for; exit code 0 when that could be done.

    Raises:
        StackwrightError: the board or its settings cannot be read, or there is no such workload.
    """
    board_path = find_board(typed)
    target = wanted.output if wanted.output != STDOUT else None
    if target:
        check_target(target, [typed, board_path, *([wanted.config] if wanted.config else [])])
    for name in wanted.profiles:
        load_profile(name)
    with watched(board_path.name):
        content = read_bytes(board_path)
        board, config = read_board(board_path, text=content), find_config(board_path, wanted.config)
        sha256 = hashlib.sha256(content).hexdigest()
        own = tuple(name for name in wanted.profiles if name.endswith(".toml"))
        report = fitness_of(board, config, CommandLine(form=wanted.form), also=own, sha256=sha256)
        shown = _shown(report, wanted.profiles)
        ways = _ways(shown, wanted, board_path, board, config)
    if wanted.as_json:
        text = json_text(report, ways)
    elif wanted.as_html:
        from stackwright.commands.fit.html import html_of

        text = html_of(report, ways)
    else:
        page = page_of(report, shown, ways, board=typed, asked=bool(wanted.profiles))
        text = page.text(None if target else terminal_console())
    if target:
        write_file(target, text)
    else:
        show(text)
    return _code(report)


def _code(report: FitnessReport) -> int:
    if not report.crashes:
        return JUDGED
    first = report.crashes[0]
    what = f"rule {first.code} broke ({first.error}): its clauses are not known"
    complain(StackwrightError(report.board.path, what, "please report this board"))
    return BROKEN


def _shown(report: FitnessReport, profiles: tuple[str, ...]) -> tuple[Fitness, ...]:
    """The workloads to tell of: those that were named, else what the settings name and the nearest, if not met."""
    if profiles:
        return tuple(row for name in profiles for row in report.rows if row.profile == load_profile(name).name)
    unmet = [row for row in report.rows if row.headline is not Headline.FIT]
    return tuple(sorted(unmet, key=lambda row: not row.is_declared)[:NEAREST])


def _ways(
    shown: tuple[Fitness, ...], wanted: FitRequest, board_path: Path, board: Board, config: Config
) -> dict[str, Way]:
    if wanted.suggest is False:
        return {}
    short = [row for row in shown if row.headline is Headline.NOT_FIT]
    asked = short if wanted.suggest or wanted.profiles else short[:1]
    new = bool(wanted.suggest)
    found = (
        (row.profile, way_to(row, board_path, board, config, new=new, settings_path=wanted.config)) for row in asked
    )
    return {profile: way for profile, way in found if way is not None}
