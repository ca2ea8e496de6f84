"""`stackwright suggest`: ranked stackups for a workload, or the least change of a board's, and a plan to build it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from drc_rules.check import find_config, prepare
from drc_rules.context import Context
from drc_rules.declared import CommandLine
from drc_rules.engine import Outcome, run
from drc_rules.goals import GoalChoices, GoalsFound, Project, Selection, goals_for, project_of, selection_for
from drc_rules.goals_judge import DECIDED, CandidateJudge
from drc_rules.plan_file import Plan, plan_of, write_plan
from drc_rules.report import Verdict
from drc_rules.routed_fit import routed_sizes, width_words
from drc_rules.rule import all_rules
from drc_rules.stackup_candidate import candidate_of
from drc_rules.stackup_tg import with_tg
from stackup_lib.errors import ConfigError
from stackup_lib.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.synthesis import Answers, CandidateStackup, Change, Evaluated, LeastChange, least_change, suggest
from stackwright.commands.apply import Parts, propose
from stackwright.commands.new_plan import plan_of_answer
from stackwright.commands.suggest_json import json_text
from stackwright.commands.suggest_page import page_of
from stackwright.commands.suggest_words import shortened
from stackwright.output import STDOUT, check_target, show, write_file
from stackwright.page import terminal_console
from stackwright.paths import find_board

FOUND, NOT_REACHED = 0, 1


@dataclass(frozen=True)
class Wanted:
    """What the command line says.

    Attributes:
        pick: number of the answer that `plan` is written of, as the table numbers them.
    """

    board: Path | None = None
    profile: str | None = None
    form: str | None = None
    choices: GoalChoices = field(default_factory=GoalChoices)
    limit: int = 5
    plan: Path | None = None
    pick: int = 1
    as_json: bool = False
    config: Path | None = None
    as_html: bool = False
    output: Path | None = None


@dataclass(frozen=True)
class Count:
    """Verdicts of the clauses that a stackup decides.

    Attributes:
        rules_out: ids of the clauses that are more than information, and that the user has not decided otherwise.
    """

    failed: tuple[str, ...]
    not_verifiable: tuple[str, ...]
    passed: int
    rules_out: frozenset[str] = frozenset()

    @property
    def in_words(self) -> str:
        """`2 failed, 1 not verifiable, 12 passed`."""
        return f"{len(self.failed)} failed, {len(self.not_verifiable)} not verifiable, {self.passed} passed"

    @property
    def in_short(self) -> str:
        """`2 failed, 12 passed`: without what there is none of."""
        counts = (len(self.failed), "failed"), (len(self.not_verifiable), "not verifiable"), (self.passed, "passed")
        return ", ".join(f"{many} {word}" for many, word in counts if many) or "nothing judged"


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


def suggest_stackups(wanted: Wanted) -> int:
    """Search, show the answers, write the plan of one of them on demand; exit code 1 where nothing meets the goals.

    Raises:
        StackwrightError: the board cannot be read, an option makes no sense, or the plan cannot be written.
    """
    board_path = find_board(wanted.board) if wanted.board is not None else None
    for target in (wanted.plan, wanted.output):
        if target is not None and target != STDOUT:
            check_target(target, [path for path in (wanted.board, board_path) if path is not None])
    project = _project(board_path, wanted) if board_path else None
    choices = wanted.choices.over(project.config.goals) if project else wanted.choices
    selection = selection_for(*_names(wanted, project), choices, project)
    found = goals_for(selection, project, choices)
    with _progress(found):
        result = _search(selection, found, project, board_path, max(wanted.limit, wanted.pick))
    if wanted.plan is not None:
        _write(result, wanted)
    _deliver(_written(result, project, wanted), wanted.output)
    return FOUND if result.entries else NOT_REACHED


def _written(result: Suggested, project: Project | None, wanted: Wanted) -> str:
    if wanted.as_json:
        return json_text(result)
    if wanted.as_html:
        from stackwright.commands.suggest_html import html_of

        return html_of(result, project)
    page = page_of(result, wanted.pick, wanted.plan, wanted.board)
    return page.text(terminal_console() if wanted.output in (None, STDOUT) else None)


def _deliver(text: str, output: Path | None) -> None:
    if output is None or output == STDOUT:
        show(text)
        return
    write_file(output, text)
    show(f"suggestions written to {output}\n")


def _project(board_path: Path, wanted: Wanted) -> Project:
    options = CommandLine(profile=wanted.profile, form=wanted.form)
    config = find_config(board_path, wanted.config)
    return project_of(read_board(board_path), config, options, wanted.choices.interfaces, wanted.config)


def _names(wanted: Wanted, project: Project | None) -> tuple[str | None, str | None]:
    if project is not None:
        declared = project.context.declarations
        return declared.profile.value, declared.form.value
    if wanted.profile is None:
        raise ConfigError("suggest", "knows neither a board nor a workload", "give --profile NAME, or a board")
    return wanted.profile, wanted.form


def _progress(found: GoalsFound) -> AbstractContextManager[object]:
    """Say on a terminal what takes so long; the error stream, so that a pipe gets nothing of it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    return console.status(f"searching stackups of {found.goals.layer_count} layers")


def suggestion_for(
    board_path: Path, project: Project, profile: str, form: str | None, *, new: bool = True
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


def every_suggestion(board_path: Path, project: Project, profile: str, form: str | None, limit: int) -> Suggested:
    """Return changes of a board's stackup for a workload, and at most `limit` new ones."""
    choices = project.config.goals
    selection = selection_for(profile, form, choices, project)
    return _search(selection, goals_for(selection, project, choices), project, board_path, limit)


def _search(
    selection: Selection, found: GoalsFound, project: Project | None, board_path: Path | None, limit: int
) -> Suggested:
    answers = suggest(found.goals, found.judge, limit)
    if project is None or board_path is None:
        return Suggested(selection, found, answers, board_path)
    return _least_changes(selection, found, project, board_path, answers)


def _least_changes(
    selection: Selection, found: GoalsFound, project: Project, board_path: Path, answers: Answers
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
        then = _count(found.judge, _after(selection, plan, board_path, project.settings_path))
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


def _plan_of_change(current: CandidateStackup, change: Change, project: Project, found: GoalsFound) -> Plan:
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


def _after(selection: Selection, plan: Plan, board_path: Path, settings_path: Path | None) -> Outcome:
    only_rows = plan.model_copy(update={"net_class": (), "rule": ()})
    proposal = propose(only_rows, board_path, Parts(), settings_path)
    names = selection.profile.name if selection.profile else None, selection.form.name if selection.form else None
    context, _, _ = prepare(proposal.after, proposal.settings_after, CommandLine(*names))
    return _outcome(selection, context)


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


def _write(result: Suggested, wanted: Wanted) -> None:
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
    write_file(wanted.plan, write_plan(plan, title=title))
