"""Stackups for a board or a workload: what is required, what is found, and what each changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from drc_rules.engine.check import with_own_profile
from drc_rules.settings.config import Config, load_config
from drc_rules.stackup_design.goals import (
    BoardProject,
    GoalChoices,
    GoalsFound,
    Selection,
    answers_for,
    goals_for,
    project_of,
    selection_for,
)
from drc_rules.stackup_design.new_plan import classes_of_goals
from drc_rules.stackup_design.routed_fit import UnsoughtSize, sought_lines, unsought_sizes
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackup_lib.kicad.read.reader import OLDEST_WRITTEN_VERSION
from stackup_lib.synthesis import Answers, Evaluated
from stackwright.commands.request import BoardRequest
from stackwright.commands.suggest.least import LeastFound, OwnChange, least_changes
from stackwright.text.command_line import command_line

FOUND, NOT_REACHED = 0, 1


@dataclass(frozen=True)
class SuggestRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        board: what the user typed; None for a stackup for the workload alone.
        choices: goals in place of those of the settings.
        limit: maximum number of stackups.
        plan: file to write one of them to.
        pick: number of the answer that `plan` is written of, as the table numbers them; `PARTIAL` for that in part.
        verbose: the text also lists requirements, goals with their sources, costs, and why others lost.
        typed: the words behind `stackwright suggest`, to ask again with one more.
    """

    board: Path | None = None
    choices: GoalChoices = field(default_factory=GoalChoices)
    limit: int = 5
    plan: Path | None = None
    pick: int = 1
    verbose: bool = False
    typed: tuple[str, ...] = ()

    def again(self, *more: str) -> str:
        """Return the command line that asks the same with more options; the last one of a kind counts."""
        end = self.typed.index("--") if "--" in self.typed else len(self.typed)
        return command_line("suggest", *self.typed[:end], *more, *self.typed[end:])


@record
class Suggested:
    """All that was found.

    Attributes:
        least: changes of the board's own stackup, numbered first; their plans change nothing else.
        settings_path: the board's settings file where it is not the one next to it.
        unsought: routed sizes of targets that no goal is for.
        board_layers: how many copper layers the board has; 0 without a board.
        is_routed_inside: tracks or zones lie on the board's inner layers: `apply` adds and removes none then.
        is_too_old: `apply` does not write files of the board's version.
        net_classes: those of the board that hold the nets of a line goal, by the goal's name.
    """

    selection: Selection
    found: GoalsFound
    answers: Answers
    board: Path | None = None
    least: LeastFound = LeastFound()
    settings_path: Path | None = None
    unsought: tuple[UnsoughtSize, ...] = ()
    board_layers: int = 0
    is_too_old: bool = False
    is_routed_inside: bool = False
    net_classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def changes(self) -> tuple[OwnChange, ...]:
        """Changes of the board's own stackup."""
        return self.least.changes

    @property
    def entries(self) -> tuple[Evaluated, ...]:
        """Every answer in the order of its number."""
        return (*(one.result for one in self.changes), *self.answers.ranked)


def project_for(board_path: Path, request: SuggestRequest) -> BoardProject:
    """Read a board with its settings, and what the command line says of it."""
    config = request.config_of(board_path)
    return project_of(read_board(board_path), config, request.overrides, request.choices.interfaces, request.config)


def config_for(request: SuggestRequest, project: BoardProject | None) -> Config:
    """Return the settings of the board; without a board those of `--config`, or none."""
    if project is not None:
        return project.config
    path = request.config
    return with_own_profile(load_config(path), path.parent) if path is not None else Config()


def names_of(request: SuggestRequest, project: BoardProject | None, config: Config) -> tuple[str | None, str | None]:
    """Return profile and form factor; raises `ConfigError` where nothing names a workload."""
    if project is not None:
        return project.context.profile, project.context.form
    profile, form = request.overrides.profile or config.profile, request.overrides.form or config.form
    if profile is None:
        raise ConfigError("suggest", "knows neither a board nor a workload", "give --profile NAME, or a board")
    return profile, form


def suggestion_for(
    board_path: Path, project: BoardProject, profile: str, form: str | None, *, new: bool = True
) -> Suggested:
    """Return the least change of a board's stackup for a workload; where there is none, with `new`, the best new one.

    Nothing new is searched where the board's own stackup is not known: to state it comes first.
    """
    choices = project.config.goals
    selection = selection_for(profile, form, choices, project)
    found = goals_for(selection, project, choices)
    result = _least_changes(selection, found, project, board_path, Answers(ranked=(), lost=()))
    if result.changes or result.least.why_none or not new:
        return result
    answers, met = answers_for(found, 1, project)
    return replace(result, answers=answers, found=met)


def every_suggestion(board_path: Path, project: BoardProject, profile: str, form: str | None, limit: int) -> Suggested:
    """Return changes of a board's stackup for a workload, and at most `limit` new ones."""
    choices = project.config.goals
    selection = selection_for(profile, form, choices, project)
    return search(selection, goals_for(selection, project, choices), project, board_path, limit)


def search(
    selection: Selection, found: GoalsFound, project: BoardProject | None, board_path: Path | None, limit: int
) -> Suggested:
    """Return new stackups for the goals and, for a board, the least changes of its own."""
    answers, met = answers_for(found, limit, project)
    if project is None or board_path is None:
        return Suggested(selection, met, answers, board_path)
    result = _least_changes(selection, found, project, board_path, answers)
    sought = sought_lines(result.entries[0], met.interfaces) if result.entries else ()
    unsought = unsought_sizes(project.context, sought)
    board = project.board
    is_too_old = board.format_version < OLDEST_WRITTEN_VERSION
    return replace(
        result,
        found=met,
        unsought=unsought,
        board_layers=board.layer_count,
        is_too_old=is_too_old,
        is_routed_inside=_is_routed_inside(board),
        net_classes=classes_of_goals(project.context, met.goals, met.interfaces),
    )


def _is_routed_inside(board: Board) -> bool:
    inner = range(1, board.layer_count - 1)
    return bool(np.isin(board.tracks.layer, inner).any() or np.isin(board.zones.fill_layer, inner).any())


def _least_changes(
    selection: Selection, found: GoalsFound, project: BoardProject, board_path: Path, answers: Answers
) -> Suggested:
    least = least_changes(selection, found.keeping(), project, board_path)
    return Suggested(selection, found, answers, board_path, least, project.settings_path)
