"""Stackups for a board or a workload: what is asked, what is found, and what each changes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import Outcome, run
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Verdict
from drc_rules.rules.rule import all_rules
from drc_rules.stackup_design.goals import (
    BoardProject,
    GoalChoices,
    GoalsFound,
    Selection,
    goals_for,
    project_of,
    selection_for,
)
from drc_rules.stackup_design.goals_judge import DECIDED, CandidateJudge
from drc_rules.stackup_design.plan_file import Plan, plan_of
from drc_rules.stackup_design.routed_fit import routed_sizes, width_words
from drc_rules.stackup_design.stackup_candidate import candidate_of
from drc_rules.stackup_design.stackup_tg import with_tg
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.synthesis import Answers, CandidateStackup, Change, Evaluated, LeastChange, least_change, suggest
from stackwright.commands.apply.apply import PlanParts, Proposal, propose
from stackwright.commands.apply.new_plan import plan_of_answer
from stackwright.commands.request import BoardRequest
from stackwright.commands.suggest.words import shortened
from stackwright.results.stackup_choices import Count

FOUND, NOT_REACHED = 0, 1


@dataclass(frozen=True)
class SuggestRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        board: what the user typed; None asks for a stackup for the workload alone.
        choices: goals in place of those of the settings.
        limit: maximum number of stackups.
        plan: file to write one of them to.
        pick: number of the answer that `plan` is written of, as the table numbers them.
    """

    board: Path | None = None
    choices: GoalChoices = field(default_factory=GoalChoices)
    limit: int = 5
    plan: Path | None = None
    pick: int = 1


@dataclass(frozen=True)
class Suggested:
    """All that was found.

    Attributes:
        changes: changes of the board's own stackup, numbered first; their plans change nothing else.
        why_no_change: why the board's own stackup cannot be the base; "" where it can, or where there is no board.
        settings_path: the board's settings file where it is not the one beside it.
        checked: what the clauses say of the board now, and after each change.
    """

    selection: Selection
    found: GoalsFound
    answers: Answers
    board: Path | None = None
    change: LeastChange | None = None
    why_no_change: str = ""
    checked_now: Count | None = None
    checked_then: tuple[Count, ...] = ()
    plans: tuple[Plan, ...] = ()
    settings_path: Path | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changes of the board's own stackup."""
        return self.change.changes if self.change else ()

    @property
    def entries(self) -> tuple[Evaluated, ...]:
        """Every answer in the order of its number."""
        return (*(one.result for one in self.changes), *self.answers.ranked)


def project_for(board_path: Path, request: SuggestRequest) -> BoardProject:
    """Read a board with its settings, and what the command line says of it."""
    config = request.config_of(board_path)
    return project_of(read_board(board_path), config, request.overrides, request.choices.interfaces, request.config)


def names_of(request: SuggestRequest, project: BoardProject | None) -> tuple[str | None, str | None]:
    """Return profile and form factor; raises `ConfigError` where neither board nor command line names a workload."""
    if project is not None:
        return project.context.profile, project.context.form
    if request.overrides.profile is None:
        raise ConfigError("suggest", "knows neither a board nor a workload", "give --profile NAME, or a board")
    return request.overrides.profile, request.overrides.form


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
    if result.changes or result.why_no_change or not new:
        return result
    return replace(result, answers=suggest(found.goals, found.judge, 1))


def every_suggestion(board_path: Path, project: BoardProject, profile: str, form: str | None, limit: int) -> Suggested:
    """Return changes of a board's stackup for a workload, and at most `limit` new ones."""
    choices = project.config.goals
    selection = selection_for(profile, form, choices, project)
    return search(selection, goals_for(selection, project, choices), project, board_path, limit)


def search(
    selection: Selection, found: GoalsFound, project: BoardProject | None, board_path: Path | None, limit: int
) -> Suggested:
    """Return new stackups for the goals and, for a board, the least changes of its own."""
    answers = suggest(found.goals, found.judge, limit)
    if project is None or board_path is None:
        return Suggested(selection, found, answers, board_path)
    return _least_changes(selection, found, project, board_path, answers)


def _least_changes(
    selection: Selection, found: GoalsFound, project: BoardProject, board_path: Path, answers: Answers
) -> Suggested:
    now = _count(found.judge, _outcome(selection, project.context))
    try:
        current = candidate_of(project.context)
    except MissingFact as fact:
        why = f"{fact.name} is not known: {fact.how_to_give}"
        return Suggested(
            selection,
            found,
            answers,
            board_path,
            why_no_change=why,
            checked_now=now,
            settings_path=project.settings_path,
        )
    lifted, tg_words = with_tg(current, found.goals.tg_limit)
    least = least_change(lifted, found.goals)
    routed = routed_sizes(project.context, found.interfaces)
    changes: list[Change] = []
    plans: list[Plan] = []
    counts: list[Count] = []
    why_not = [*least.why_not]
    for one in least.changes:
        widths = width_words(one.result, found.goals, found.interfaces, routed)
        said = *(tg_words + one.words or ("nothing has to change",)), *widths
        judged = one.result.model_copy(update={"clauses": tuple(found.judge(one.result.candidate))})
        change = one.model_copy(update={"words": tuple(shortened(words) for words in said), "result": judged})
        plan = _plan_of_change(current, change, project, found)
        after = with_plan(selection, plan, board_path, project.settings_path)
        then = _count(found.judge, _outcome(selection, after))
        if objection := _objection(now, then):
            why_not.append(f"{'; '.join(change.words) or 'the stackup as it stands'}: {objection}")
            continue
        changes.append(change)
        plans.append(plan)
        counts.append(then)
    kept = LeastChange(changes=tuple(changes), faults_now=least.faults_now, why_not=tuple(why_not))
    return Suggested(
        selection, found, answers, board_path, kept, "", now, tuple(counts), tuple(plans), project.settings_path
    )


def _plan_of_change(current: CandidateStackup, change: Change, project: BoardProject, found: GoalsFound) -> Plan:
    """Return the board's own plan with the rows that change, so that nothing else is touched."""
    base = plan_of(project.board, project.config)
    new = plan_of_answer(change.result, found.goals, found.interfaces)
    was = {row.name: row for row in current.rows}
    changed = {
        planned.name: planned
        for planned, row in zip(new.rows, change.result.candidate.rows, strict=True)
        if row != was.get(row.name)
    }
    rows = []
    for row in base.rows:
        planned = changed.get(row.name)
        if planned is not None and row.kind == "copper":
            planned = row.model_copy(update={"foil": planned.foil})
        rows.append(planned or row)
    update: dict[str, object] = {"rows": tuple(rows), "note": "; ".join(change.words)}
    if any(" -> " in words for words in change.words):
        update |= {"net_class": new.net_class, "rule": new.rule}
    return base.model_copy(update=update)


def proposed_rows(plan: Plan, board_path: Path, settings_path: Path | None) -> Proposal:
    """Return what the rows of a plan alone make of a board's files."""
    only_rows = plan.model_copy(update={"net_class": (), "rule": ()})
    return propose(only_rows, board_path, PlanParts(), settings_path)


def with_plan(selection: Selection, plan: Plan, board_path: Path, settings_path: Path | None) -> Context:
    """Return the board with the rows of a plan, judged as the board was."""
    proposal = proposed_rows(plan, board_path, settings_path)
    names = selection.profile.name if selection.profile else None, selection.form.name if selection.form else None
    return prepare(proposal.after, proposal.settings_after, Overrides(*names))[0]


def _outcome(selection: Selection, context: Context) -> Outcome:
    clauses = [clause for clause in selection.clauses if clause.kind in DECIDED]
    return run(context, clauses, all_rules(), all_rules())


def _count(judge: CandidateJudge, outcome: Outcome) -> Count:
    def ids(verdict: Verdict) -> tuple[str, ...]:
        return tuple(one.clause.id for one in outcome.verdicts if one.verdict is verdict)

    counts = frozenset(one.clause.id for one in outcome.verdicts if judge.counts(one.clause))
    return Count(ids(Verdict.FAILED), ids(Verdict.NOT_VERIFIABLE), len(ids(Verdict.PASSED)), counts)


def _objection(now: Count, then: Count) -> str:
    """Return why a change is no answer; "" where it is one."""
    failed = [one for one in then.failed if one in then.rules_out]
    doubt = [one for one in then.not_verifiable if one in then.rules_out and one not in now.not_verifiable]
    if failed:
        return f"still fails {', '.join(failed)}"
    return f"would leave {', '.join(doubt)} not verifiable" if doubt else ""
