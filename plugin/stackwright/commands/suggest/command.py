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
from drc_rules.stackup_design.plan_file import write_plan
from stackup_lib.core.errors import ConfigError
from stackwright.commands.apply.new_plan import plan_of_answer
from stackwright.commands.suggest.json import json_text
from stackwright.commands.suggest.model import Suggested, SuggestRequest, names_of, project_for, search
from stackwright.commands.suggest.page import page_of
from stackwright.run.paths import find_board
from stackwright.text.output import STDOUT, check_target, former_of, show, write_file, write_over
from stackwright.text.page import terminal_console

FOUND, NOT_REACHED = 0, 1


def suggest_stackups(wanted: SuggestRequest) -> int:
    """Search, show the answers, write the plan of one of them on demand; exit code 1 where nothing meets the goals.

    Raises:
        StackwrightError: the board cannot be read, an option makes no sense, or the plan cannot be written.
    """
    board_path = find_board(wanted.board) if wanted.board is not None else None
    for target in (wanted.plan, wanted.output):
        if target is not None and target != STDOUT:
            check_target(target, [path for path in (wanted.board, board_path) if path is not None])
    former = former_of(wanted.plan) if wanted.plan is not None else None
    project = project_for(board_path, wanted) if board_path else None
    choices = wanted.choices.over(project.config.goals) if project else wanted.choices
    selection = selection_for(*names_of(wanted, project), choices, project)
    found = goals_for(selection, project, choices)
    with _progress(found):
        result = search(selection, found, project, board_path, max(wanted.limit, wanted.pick))
    if wanted.plan is not None:
        _write(result, wanted, former)
    _deliver(_written(result, project, wanted), wanted.output)
    return FOUND if result.entries else NOT_REACHED


def _progress(found: GoalsFound) -> AbstractContextManager[object]:
    """Say on a terminal what takes so long; the error stream, so that a pipe gets nothing of it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    return console.status(f"searching stackups of {found.goals.layer_count} layers")


def _written(result: Suggested, project: BoardProject | None, wanted: SuggestRequest) -> str:
    if wanted.as_json:
        return json_text(result)
    if wanted.as_html:
        from stackwright.commands.suggest.html import html_of

        return html_of(result, project)
    page = page_of(result, wanted.pick, wanted.plan, wanted.board)
    return page.text(terminal_console() if wanted.output in (None, STDOUT) else None)


def _deliver(text: str, output: Path | None) -> None:
    if output is None or output == STDOUT:
        show(text)
        return
    write_file(output, text)
    show(f"suggestions written to {output}\n")


def _write(result: Suggested, wanted: SuggestRequest, former: bytes | None) -> None:
    if wanted.plan is None:
        return
    if not result.entries:
        return
    if wanted.pick > len(result.entries):
        raise ConfigError(f"--pick {wanted.pick}", f"there are {len(result.entries)} answers", "pick one of them")
    index = wanted.pick - 1
    if index < len(result.plans):
        plan = result.plans[index]
    else:
        plan = plan_of_answer(result.entries[index], result.found.goals, result.found.interfaces)
    title = result.board.name if result.board else (result.selection.profile.name if result.selection.profile else "")
    write_over(wanted.plan, write_plan(plan, title=title), former=former)
