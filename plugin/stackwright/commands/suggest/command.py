"""`stackwright suggest`: ranked stackups for a workload, or the least change of a board's, and a plan to build it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from rich.console import Console

from drc_rules.stackup_design.goals import (
    BoardProject,
    GoalsFound,
    goals_for,
    selection_for,
)
from drc_rules.stackup_design.plan_file import Plan, write_plan
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.words import count
from stackwright.commands.request import HTML, JSON
from stackwright.commands.suggest.json import json_text
from stackwright.commands.suggest.least import PARTIAL
from stackwright.commands.suggest.model import Suggested, SuggestRequest, config_for, names_of, project_for, search
from stackwright.commands.suggest.page import page_of
from stackwright.commands.suggest.plans import plan_of_pick
from stackwright.run.paths import find_board
from stackwright.text.output import STDOUT, check_target, former_of, write_over

FOUND, NOT_REACHED = 0, 1


def suggest_stackups(request: SuggestRequest) -> int:
    """Search, show the answers, write the plan of one of them on demand; exit code 1 where nothing meets the goals.

    Raises:
        StackwrightError: the board cannot be read, an option makes no sense, or the plan cannot be written.
    """
    board_path = find_board(request.board) if request.board is not None else None
    inputs = [path for path in (request.board, board_path) if path is not None]
    if request.plan is not None and request.plan != STDOUT:
        check_target(request.plan, inputs)
    request.check_file(*inputs, board=board_path)
    former = former_of(request.plan) if request.plan is not None else None
    project = project_for(board_path, request) if board_path else None
    config = config_for(request, project)
    choices = request.choices.over(config.goals)
    selection = selection_for(*names_of(request, project, config), choices, project)
    found = goals_for(selection, project, choices, config)
    with _progress(found):
        result = search(selection, found, project, board_path, max(request.limit, request.pick))
    if request.pick > (found_count := len(result.entries)) > 0:
        what = f"there {'is' if found_count == 1 else 'are'} {count(found_count, 'answer')}"
        raise ConfigError(f"--pick {request.pick}", what, "give 1" if found_count == 1 else f"give 1 to {found_count}")
    if request.plan is not None:
        _write(result, request, former)
    request.deliver(_written(result, project, request), "suggestions", board=board_path)
    return FOUND if result.entries else NOT_REACHED


def _progress(found: GoalsFound) -> AbstractContextManager[object]:
    """Say on a terminal what takes so long; the error stream, so that a pipe gets nothing of it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    return console.status(f"searching stackups of {found.goals.layer_count} layers")


def _written(result: Suggested, project: BoardProject | None, request: SuggestRequest) -> str:
    if request.format == JSON:
        return json_text(result)
    if request.format == HTML:
        from stackwright.commands.suggest.html import html_of

        return html_of(result, project)
    return request.laid_out(page_of(result, request))


def _write(result: Suggested, request: SuggestRequest, former: bytes | None) -> None:
    if request.plan is None:
        return
    if request.pick == PARTIAL:
        if result.least.partial is None:
            raise ConfigError(f"--pick {PARTIAL}", "there is no change that helps in part", "pick one of the answers")
        _write_plan(request.plan, result.least.partial.plan, result, former)
        return
    if not result.entries:
        return
    _write_plan(request.plan, plan_of_pick(result, request.pick), result, former)


def _write_plan(path: Path, plan: Plan, result: Suggested, former: bytes | None) -> None:
    title = result.board.name if result.board else (result.selection.profile.name if result.selection.profile else "")
    own = plan.model_copy(update={"board": result.board.name if result.board else ""})
    write_over(path, write_plan(own, title=title), former=former)
