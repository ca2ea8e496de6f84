"""The cheapest stackup that brings a board to a workload, and what the check says of the board then."""

from pathlib import Path

from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline
from drc_rules.requirements.clauses import Severity
from drc_rules.settings.config import Config
from drc_rules.stackup_design.fitness import Fitness, FormOrigin, fitness_of
from drc_rules.stackup_design.goals import project_of
from stackup_lib.board.board import Board
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.frozen import Frozen
from stackup_lib.synthesis import Evaluated
from stackwright.commands.suggest.compare import cost_tier
from stackwright.commands.suggest.least import proposed_rows
from stackwright.commands.suggest.model import Suggested, suggestion_for

LAYERS = frozenset({"layer_count", "even_layer_count"})
"""Clauses that only another number of layers meets."""


class Way(Frozen):
    """A way to a workload, or why there is none.

    Attributes:
        words: what changes.
        is_change: of the board's own stackup, rows and tracks stay; else a new stackup.
        cost_index, cost_drivers: relative cost of the stackup then.
        cost_tier: against the cheapest of several answers; "" for an only one.
        then: headline after a change of the board's own stackup; None where it was not judged.
        short_then, still_fails: ids and titles of the clauses that fail with an error after it.
        why_none: why no way was found; "" where one was.
        how_to_give: lines that state the missing fact: without it there is no way, or no small one is proven.
        would_help: goals that could be eased, each alone, for a stackup to be found.
        needs_new: the board's own stackup cannot be the base, and no new one was requested.
    """

    profile: str
    words: tuple[str, ...] = ()
    is_change: bool = False
    cost_index: float | None = None
    cost_tier: str = ""
    cost_drivers: tuple[str, ...] = ()
    then: Headline | None = None
    short_then: tuple[str, ...] = ()
    still_fails: tuple[str, ...] = ()
    why_none: str = ""
    how_to_give: str = ""
    would_help: tuple[str, ...] = ()
    needs_new: bool = False


def way_to(
    row: Fitness, board_path: Path, board: Board, config: Config, *, new: bool, settings_path: Path | None = None
) -> Way | None:
    """Return the cheapest way to a workload that a stackup can open; None where no error is one of the stackup.

    Args:
        row: the board against that workload.
        board_path: its file.
        board: what is in it.
        config: its settings.
        settings_path: their file where it is not the one next to the board.
        new: where no change of the board's own stackup will do, search for a new one, which takes seconds.
    """
    failing = _failing(row)
    if not failing:
        return None
    if failing & LAYERS and not new:
        return Way(profile=row.profile, needs_new=True)
    form = _form(row)
    project = project_of(board, config, Overrides(row.profile, form), settings_path=settings_path)
    try:
        found = suggestion_for(board_path, project, row.profile, form, new=new)
    except StackwrightError as error:
        return Way(profile=row.profile, why_none=f"{error.what}; {error.next_step}")
    return way_of(row, found, board_path, new=new)


def way_of(row: Fitness, found: Suggested, board_path: Path, *, new: bool = True) -> Way | None:
    """Return what suggestions that are there make of a workload; `new` says that new stackups were searched."""
    if not _failing(row):
        return None
    if no_base := found.least.why_none:
        return Way(profile=row.profile, why_none=no_base.what, how_to_give=no_base.how)
    if found.changes:
        return _changed(row, found, board_path)
    if found.answers.ranked:
        best = found.answers.ranked[0]
        named = best.candidate
        words = f"{len(named.copper)} layers, {named.thickness_mm:.2f} mm, of {' and '.join(named.laminates)}"
        return _with_cost(Way(profile=row.profile, words=(words,), how_to_give=found.least.undeclared), best, found)
    if not new:
        return Way(profile=row.profile, needs_new=True, how_to_give=found.least.undeclared)
    would_help = tuple(one.words for one in found.answers.relaxations)
    return Way(profile=row.profile, why_none=_why_none(found), would_help=would_help)


def _failing(row: Fitness) -> set[str]:
    """Return the kinds of clauses that fail with an error and that a stackup decides."""
    return {one.kind for one in row.short if one.by_stackup and one.severity is Severity.ERROR}


def _form(row: Fitness) -> str | None:
    return None if row.form_origin is FormOrigin.SIZE else row.form


def _changed(row: Fitness, found: Suggested, board_path: Path) -> Way:
    change = found.changes[0]
    proposal = proposed_rows(change.plan, board_path, found.settings_path)
    judged = fitness_of(
        proposal.after, proposal.settings_after, Overrides(row.profile, _form(row)), profiles=(row.profile,)
    ).rows[0]
    failing = [one for one in judged.short if one.severity is Severity.ERROR]
    way = Way(
        profile=row.profile,
        words=change.words,
        is_change=True,
        then=judged.headline,
        short_then=tuple(one.clause for one in failing),
        still_fails=tuple(one.demand for one in failing),
    )
    return _with_cost(way, change.result, found)


def _with_cost(way: Way, result: Evaluated, found: Suggested) -> Way:
    cost = result.cost
    tier = cost_tier(result, found)
    return way.model_copy(update={"cost_index": cost.index, "cost_tier": tier, "cost_drivers": tuple(cost.drivers)})


def _why_none(found: Suggested) -> str:
    answers = found.answers
    if answers.fighting:
        return f"conflicting goals: {'; '.join(answers.fighting)}"
    reasons = (*answers.unreachable, *(found.least.why_not or found.least.faults_now))
    return reasons[0] if reasons else "no stackup meets the goals"
