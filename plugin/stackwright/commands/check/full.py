"""What `stackwright check --full` adds to a page: the board against every workload, and stackups that would fix it."""

from __future__ import annotations

from pathlib import Path

from drc_rules.engine.check import CheckUp
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.settings.config import Config
from drc_rules.stackup_design.fitness import Fitness, FitnessReport, fitness_of
from drc_rules.stackup_design.goals import BoardProject, project_of
from drc_rules.stackup_design.goals_judge import is_of_rows
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.stopwatch import span
from stackwright.commands.fit.changes import Way, way_of, way_to
from stackwright.commands.fit.scorecard import scorecard
from stackwright.commands.suggest.model import Suggested, every_suggestion
from stackwright.commands.suggest.side_by_side import side_by_side
from stackwright.results.full import Full

LIMIT = 5
"""As `stackwright suggest` has it, so that its numbers are the same."""

NEAREST = 2
"""Maximum number of workloads, besides the declared one, for which changes are searched."""


def in_full(
    board_path: Path, checked: CheckUp, config: Config, said: Overrides, settings_path: Path | None = None
) -> Full:
    """Judge a checked board against every workload, and look for stackups where its own is at fault.

    `settings_path` is the file of `config` where it is not the one next to the board.

    Raises:
        StackwrightError: a workload that the settings name is not there any more.
    """
    board = checked.context.board
    with span("workloads"):
        fitness = fitness_of(board, config, said)
    with span("stackups"):
        project = project_of(board, config, said, settings_path=settings_path)
        why_none = _why_no_search(checked.report)
        found, failure = (None, "") if why_none else _suggested(board_path, checked, project)
        ways = _ways(fitness, found, board_path, project)
        stackups = side_by_side(found, project) if found else None
    return Full(scorecard(fitness, ways), stackups, why_none or failure)


def _why_no_search(report: Report) -> str:
    """Return why no stackup is looked for; "" where one is."""
    if report.profile is None:
        return "No workload is stated, so nothing is known that a stackup should meet: --profile names one."
    if not _stackup_fails(report):
        return "No requirement fails that another stackup would meet."
    return ""


def _stackup_fails(report: Report) -> bool:
    """Tell whether a clause fails that a stackup decides."""
    return any(
        verdict.verdict is Verdict.FAILED and is_of_rows(verdict.clause) and verdict.worst is not Severity.INFO
        for verdict in report.verdicts
    )


def _suggested(board_path: Path, checked: CheckUp, project: BoardProject) -> tuple[Suggested | None, str]:
    profile = checked.report.profile or ""
    try:
        return every_suggestion(board_path, project, profile, checked.report.form, LIMIT), ""
    except StackwrightError as error:
        return None, f"No stackup can be worked out: {error.what}; {error.next_step}"


def _ways(fitness: FitnessReport, found: Suggested | None, board_path: Path, project: BoardProject) -> dict[str, Way]:
    """Return ways to the declared workload and the nearest others."""
    short = [row for row in fitness.rows if row.headline is Headline.NOT_FIT]
    ways: dict[str, Way | None] = {}
    for row in _asked(short):
        own = found if row.is_declared else None
        ways[row.profile] = (
            way_of(row, own, board_path)
            if own
            else way_to(row, board_path, project.board, project.config, new=False, settings_path=project.settings_path)
        )
    return {profile: way for profile, way in ways.items() if way is not None}


def _asked(short: list[Fitness]) -> list[Fitness]:
    own = [row for row in short if row.is_declared]
    return [*own, *[row for row in short if not row.is_declared][:NEAREST]]
