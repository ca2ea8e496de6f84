"""`stackwright fit`: one board against every workload."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

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
from stackwright.commands.request import HTML, JSON, BoardRequest
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.output import complain

NEAREST = 2
"""Workloads that are reported in full where the user names none."""

JUDGED, BROKEN = 0, 2


@dataclass(frozen=True)
class FitRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        profiles: workloads to tell in detail; none stands for the nearest.
        suggest: None looks for a small change of the stackup, for the workloads that were named or the first that is
            reported; True for all that are reported, and for new stackups where no change will do; False for none.
        verbose: a row for every workload.
    """

    profiles: tuple[str, ...] = ()
    suggest: bool | None = None
    verbose: bool = False


def show_fitness(typed: Path, request: FitRequest) -> int:
    """Judge a board against every workload, and print what it is fit for; exit code 0 when that could be done.

    Raises:
        StackwrightError: the board or its settings cannot be read, or there is no such workload.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path, request.config, board=board_path)
    for name in request.profiles:
        load_profile(name)
    with watched(board_path.name):
        content = read_bytes(board_path)
        board, config = read_board(board_path, text=content), request.config_of(board_path)
        sha256 = hashlib.sha256(content).hexdigest()
        own = tuple(name for name in request.profiles if name.endswith(".toml"))
        report = fitness_of(board, config, request.overrides, also=own, sha256=sha256)
        shown = _shown(report, request.profiles)
        ways = _ways(shown, request, board_path, board, config)
    if request.format == JSON:
        text = json_text(report, ways)
    elif request.format == HTML:
        from stackwright.commands.fit.html import html_of

        text = html_of(report, ways)
    else:
        asked = bool(request.profiles)
        page = page_of(report, shown, ways, board=typed, asked=asked, every=request.verbose, settings=request.config)
        text = request.laid_out(page)
    request.deliver(text, "report", board=board_path)
    return _code(report)


def _code(report: FitnessReport) -> int:
    if not report.crashes:
        return JUDGED
    first = report.crashes[0]
    what = f"rule {first.code} crashed ({first.error}): its requirements are not known"
    complain(StackwrightError(report.board.path, what, "please report this board"))
    return BROKEN


def _shown(report: FitnessReport, profiles: tuple[str, ...]) -> tuple[Fitness, ...]:
    """The workloads to tell of: those that were named, else what the settings name and the nearest, if not met."""
    if profiles:
        return tuple(row for name in profiles for row in report.rows if row.profile == load_profile(name).name)
    unmet = [row for row in report.rows if row.headline is not Headline.FIT]
    return tuple(sorted(unmet, key=lambda row: not row.is_declared)[:NEAREST])


def _ways(
    shown: tuple[Fitness, ...], request: FitRequest, board_path: Path, board: Board, config: Config
) -> dict[str, Way]:
    if request.suggest is False:
        return {}
    short = [row for row in shown if row.headline is Headline.NOT_FIT]
    asked = short if request.suggest or request.profiles else short[:1]
    new = bool(request.suggest)
    found = (
        (row.profile, way_to(row, board_path, board, config, new=new, settings_path=request.config)) for row in asked
    )
    return {profile: way for profile, way in found if way is not None}
