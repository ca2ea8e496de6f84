"""The least change of a board's stackup that helps and worsens nothing, judged on the board itself."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from drc_rules.engine.check import prepare
from drc_rules.engine.missing_inputs import FOIL_OF_ALL
from drc_rules.engine.one_finding import of_clause
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import kinds_by_stackup
from drc_rules.stackup_design.change_effects import (
    ROUTED,
    JudgedStackup,
    is_of_stackup,
    judged,
    judged_at_once,
    lower_yields,
    worse_clauses,
)
from drc_rules.stackup_design.goals import BoardProject, GoalsFound, Selection
from drc_rules.stackup_design.goals_judge import SIZE_MM, is_of_rows
from drc_rules.stackup_design.new_plan import classes_of_goals, plan_of_answer, plan_row
from drc_rules.stackup_design.other_ways import other_ways
from drc_rules.stackup_design.plan_file import Plan, PlanRow, plan_of
from drc_rules.stackup_design.routed_fit import routed_sizes, width_words, with_kept_sizes
from drc_rules.stackup_design.stackup_candidate import candidate_of
from drc_rules.stackup_design.stackup_fixes import CURES, MOST, WITHOUT_LAMINATE, FailedClause, Fix, fixes, single_steps
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.new_board import empty_board
from stackup_lib.synthesis import CandidateStackup, Change, Evaluated, least_change
from stackup_lib.synthesis.evaluate import LOSES
from stackwright.commands.apply.apply import PlanParts, Proposal, planned_settings, propose
from stackwright.commands.suggest.words import shortened, what_changes
from stackwright.results.stackup_choices import Count

TRIAL = Path("change.kicad_pcb")

LIMIT = 3
"""Changes at most."""

PARTIAL = 0
"""What `--pick` calls the change that helps in part."""

NOTHING = "nothing has to change"
AS_IT_IS = "the stackup as it is"
NOTHING_OF_STACKUP = "nothing in the stackup has to change"
ONLY_TRACKS = "no row of the stackup changes"


@record
class OwnChange:
    """A change of a board's own stackup; nothing that counts is worse for it.

    Attributes:
        words: one phrase for each thing that changes, and for each routed width that stays.
        result: the stackup then.
        then: what the clauses say after it.
        plan: the board's own rows with those that change, and the widths that do.
        moves_rows: rows of the stackup change.
        moves_tracks: routed lines get another width or gap.
    """

    words: tuple[str, ...]
    result: Evaluated
    then: Count
    plan: Plan
    moves_rows: bool
    moves_tracks: bool

    @property
    def moves_nothing(self) -> bool:
        """The board stays as it is."""
        return not (self.moves_rows or self.moves_tracks)


@record
class PartialChange:
    """What helps a stackup that no change brings all the way; nothing that counts is worse for it.

    Attributes:
        words: one phrase per step.
        then: what the clauses say after it.
        still_open: ids of the clauses that count and that still fail or cannot be verified.
        plan: the rows that change.
    """

    words: tuple[str, ...]
    then: Count
    still_open: tuple[str, ...]
    plan: Plan


@record
class NoBase:
    """Why a board's own stackup cannot be the base of a change.

    Attributes:
        what: what is missing or wrong, e.g. `laminate of dielectric 1 is not known`.
        how: what to do about it.
    """

    what: str
    how: str

    def __str__(self) -> str:
        return f"{self.what}: {self.how}"


NOTHING_LAID_OUT = NoBase("what its layers carry is not known", "route tracks and fill zones first")


@record
class LeastFound:
    """What may be changed in a board's own stackup; of no board, nothing.

    Attributes:
        now: what the clauses say of the board as it is.
        why_none: why its stackup cannot be the base; None where it can.
        changes: those of the fewest rows first.
        faults_now: what the stackup as it is lacks.
        why_not: why others are no answer, one sentence each.
        partial: where no change meets all: what helps and worsens nothing.
        other_ways: what helps and what the layout has to follow, as text.
        undeclared: lines that state what stands between the board and a small change of its stackup; "" where nothing
            does, or a change will do.
    """

    now: Count | None = None
    why_none: NoBase | None = None
    changes: tuple[OwnChange, ...] = ()
    faults_now: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    partial: PartialChange | None = None
    other_ways: tuple[str, ...] = ()
    undeclared: str = ""


@dataclass
class _Work:
    """A board, its goals, what its stackup decides of it, and what was found so far."""

    selection: Selection
    found: GoalsFound
    project: BoardProject
    board_path: Path
    before: JudgedStackup
    base: Plan
    why_not: list[str] = field(default_factory=list)
    refused: list[CandidateStackup] = field(default_factory=list)

    @cached_property
    def whole(self) -> JudgedStackup:
        """The board as it is with all that a stackup may move; slow, and needed only once a change survives."""
        return self.judged(self.project.context)

    def after(self, plan: Plan) -> Context:
        """Return the board with the rows of a plan, in memory: large boards take seconds to write and read."""
        before, given = self.project.board, self.project.settings_path
        small = read_board(TRIAL, text=empty_board(plan.planned, size_mm=SIZE_MM, label="the change"))
        after = replace(before, stackup=small.stackup, thickness_mm=small.thickness_mm)
        _, settings, _ = planned_settings(plan, before, after, self.board_path, given)
        context = prepare(after, settings, _names(self.selection))[0]
        return context.under(context.purpose, self.project.context.assignment)

    def decided(self, context: Context) -> JudgedStackup:
        """Judge what a stackup alone decides: quick, and most changes end here."""
        return judged(context, filter(is_of_rows, self.selection.clauses), self.found.judge.counts)

    def judged(self, context: Context) -> JudgedStackup:
        """Judge all that a stackup may move."""
        return judged(context, self.selection.clauses, self.found.judge.counts)

    def to_fix(self) -> list[FailedClause]:
        """Return what counts and fails, and a Tg that cannot be proven."""
        found = [FailedClause(clause, tuple(findings)) for clause, findings in self.before.failing()]
        open_tg = [
            FailedClause(one.clause, ())
            for one in self.before.outcome.verdicts
            if one.verdict is Verdict.NOT_VERIFIABLE and one.clause.kind == "tg"
        ]
        return [one for one in (*found, *open_tg) if self.found.judge.counts(one.clause)]

    def named(self, clauses: Iterable[str]) -> str:
        """Return requirements of these ids as people read them."""
        return "; ".join(self.selection.titles(clauses))

    def harm(self, after: JudgedStackup) -> str:
        """Return what a change would make worse; "" where nothing is.

        A yield may fall, and is reported, where an error is fixed; no clause may fail that did not, or by more.
        """
        worse = worse_clauses(self.whole, after, self.found.judge.counts)
        if worse:
            return worse[0][1]
        fixed = _failed(self.whole, Severity.ERROR) - _failed(after, Severity.ERROR)
        return "" if fixed else next(iter(lower_yields(self.whole.context, after.context)), "")


def _count(stackup: JudgedStackup, found: GoalsFound) -> Count:
    """Count the verdicts by which new stackups are judged as well; that of routed lines stands apart."""
    judge = found.judge
    told = [one for one in stackup.outcome.verdicts if judge.counts(one.clause) or judge.tells(one.clause)]
    shown = [one for one in told if is_of_rows(one.clause)]
    lines = next((one for one in stackup.outcome.verdicts if one.clause.kind == ROUTED), None)

    def ids(verdict: Verdict) -> tuple[str, ...]:
        return tuple(one.clause.id for one in shown if one.verdict is verdict)

    counts = frozenset(one.clause.id for one in shown if judge.counts(one.clause))
    failed = [one for one in (*shown, *filter(None, [lines])) if one.verdict is Verdict.FAILED]
    not_met, remarks = (
        frozenset(one.clause.id for one in failed if one.worst is severity)
        for severity in (Severity.WARNING, Severity.INFO)
    )
    faulty = frozenset(
        finding.places[0].layer
        for one in failed
        if is_of_rows(one.clause) and one.worst is not Severity.INFO
        for finding in of_clause(one, stackup.outcome.findings)
        if finding.places and finding.places[0].layer
    )
    missed = tuple(one.clause.id for one in failed)
    words = "" if lines is None or lines.verdict in (Verdict.PASSED, Verdict.NOT_APPLICABLE) else lines.words
    return Count(missed, ids(Verdict.NOT_VERIFIABLE), len(ids(Verdict.PASSED)), counts, not_met, remarks, faulty, words)


def least_changes(selection: Selection, found: GoalsFound, project: BoardProject, board_path: Path) -> LeastFound:
    """Return what to change in a board's stackup: as few rows as will do, and nothing that does harm."""
    before = judged_at_once(project.context, selection.clauses, found.judge.counts)
    now = _count(before, found)
    if found.goals.lines and not any(use.track_mm or use.fill_mm2 for use in project.context.uses):
        return LeastFound(now, NOTHING_LAID_OUT)
    why, current = None, None
    try:
        current = candidate_of(project.context)
    except MissingFact as fact:
        why = NoBase(fact.what, fact.how_to_give)
    try:
        base = plan_of(project.board, project.config)
        work = _Work(selection, found, project, board_path, before, base)
        return _changes(work, current, now) if current else _without_laminates(work, LeastFound(now, why))
    except StackwrightError as error:  # a row, or a name in it, that no plan can state
        return LeastFound(now, why or NoBase(f"{error.where}: {error.what}", error.next_step))


def _changes(work: _Work, current: CandidateStackup, now: Count) -> LeastFound:
    changes, faults_now = _whole_changes(work, current)
    why_not = tuple(dict.fromkeys(work.why_not))
    partial = None if changes else _partial(work, current, CURES)
    ways = other_ways(current, work.to_fix(), work.project.context, work.found.goals)
    undeclared = "" if changes else _undeclared((*faults_now, *why_not), current)
    return LeastFound(now, None, tuple(changes), faults_now, why_not, partial, ways, undeclared)


def _undeclared(faults: Iterable[str], current: CandidateStackup) -> str:
    """Return the lines that state what the search took for the worst: the foil of a layer that loses too much."""
    unknown = [f" {row.name} {LOSES} " for row in current.copper if not row.foil]
    return FOIL_OF_ALL if any(words in why for why in faults for words in unknown) else ""


def _whole_changes(work: _Work, current: CandidateStackup) -> tuple[list[OwnChange], tuple[str, ...]]:
    """Return the changes after which nothing fails that a stackup decides, and what it lacks as it is."""
    goals = work.found.goals
    changes: list[OwnChange] = []
    faults: tuple[str, ...] = ()
    for fix in fixes(current, work.to_fix(), work.project.context, goals):
        least = least_change(fix.candidate, goals, LIMIT)
        faults = faults or (() if fix.words else least.faults_now)
        work.why_not += [_labelled(fix.words, why) for why in least.why_not[: 1 if fix.words else None]]
        for one in least.changes:
            change, objection = _own_change(work, current, fix, one)
            if objection:
                label = what_changes(change.words) if change.moves_rows else (AS_IT_IS,)
                work.why_not.append(_labelled(label, objection))
                work.refused.append(one.result.candidate)
            else:
                changes.append(change)
        if len(changes) >= LIMIT or (any(not one.words for one in least.changes) and changes):
            break
    return changes[:LIMIT], faults


def _own_change(work: _Work, current: CandidateStackup, fix: Fix, one: Change) -> tuple[OwnChange, str]:
    """Return a change of the board after a fix, and why it is no answer; "" where it is one."""
    goals, interfaces = work.found.goals, work.found.interfaces
    routed = routed_sizes(work.project.context, interfaces)
    widths = width_words(one.result, goals, interfaces, routed)
    steps, moves_tracks = (*fix.words, *one.words), not all(stays for _, stays in widths)
    rows = steps or (_nothing(work, moves_tracks=moves_tracks),)
    words = tuple(shortened(each) for each in (*rows, *fix.cautions, *(text for text, _ in widths)))
    kept = with_kept_sizes(one.result, goals, interfaces, routed)
    result = kept.model_copy(update={"clauses": tuple(work.found.judge(one.result.candidate))})
    plan = _plan_of_rows(current, result.candidate, work, words)
    if moves_tracks:
        classes = classes_of_goals(work.project.context, goals, interfaces)
        new = plan_of_answer(result, goals, interfaces, classes=classes)
        plan = plan.model_copy(update={"net_class": new.net_class, "rule": new.rule})
    after, objection = _judged_change(work, plan if steps else None)
    then = _count(after, work.found)
    return OwnChange(words, result, then, plan, moves_rows=bool(steps), moves_tracks=moves_tracks), objection


def _judged_change(work: _Work, plan: Plan | None) -> tuple[JudgedStackup, str]:
    """Return the board after a change, judged, and why it is no answer; without a plan nothing changes."""
    if plan is None:
        now = _count(work.before, work.found)
        return work.before, _objection(work, now)
    context = work.after(plan)
    quick = work.decided(context)
    if objection := _objection(work, _count(quick, work.found)):
        return quick, objection
    after = work.judged(context)
    return after, work.harm(after)


def _nothing(work: _Work, *, moves_tracks: bool) -> str:
    """Return how to say that no row changes: what else fails is another matter, and is not hidden."""
    if moves_tracks:
        return ONLY_TRACKS
    fails = [one for one, _ in work.whole.failing() if work.found.judge.counts(one)]
    stated = [one.title for one in fails if one.kind in kinds_by_stackup("stated")]
    others = [one.title for one in fails if one.kind not in kinds_by_stackup("stated")]
    words = f" but how its rows are stated: {'; '.join(stated)}" if stated else ""
    words += f"; what fails lies elsewhere: {'; '.join(others)}" if others else ""
    return f"{NOTHING_OF_STACKUP}{words}" if words else NOTHING


def _labelled(words: Sequence[str], why: str) -> str:
    return f"{'; '.join(words)}: {why}" if words else why


def _failed(stackup: JudgedStackup, severity: Severity) -> set[str]:
    return {one.id for one, _ in stackup.failing() if one.severity is severity}


def _objection(work: _Work, then: Count) -> str:
    """Return why a change is no answer; "" where it is one. One that meets what is required may miss a preference."""
    now = _count(work.before, work.found)
    failed = [one for one in then.failed if one in then.rules_out]
    doubt = [one for one in then.not_verifiable if one in then.rules_out and one not in now.not_verifiable]
    fixed = {one for one in now.failed if one in now.rules_out} - set(failed)
    if not set(failed) <= set(work.found.judge.wishes) or (failed and not fixed):
        return f"still fails: {work.named(failed)}"
    return f"would no longer be verifiable: {work.named(doubt)}" if doubt else ""


def _without_laminates(work: _Work, found: LeastFound) -> LeastFound:
    """Add what helps a board whose laminates are not all known; nothing where its rows are not known either."""
    context = work.project.context
    try:
        current = candidate_of(context, any_laminate=True)
    except MissingFact:
        return found
    ways = other_ways(current, work.to_fix(), context, work.found.goals)
    return replace(found, partial=_partial(work, current, WITHOUT_LAMINATE), other_ways=ways)


def _partial(work: _Work, current: CandidateStackup, kinds: Container[str]) -> PartialChange | None:
    """Try what may help each clause that fails, and keep what leaves fewer of them and worsens nothing."""
    stackup, best = current, None
    words: list[str] = []
    failing = [one for one in work.to_fix() if one.clause.kind in kinds]
    for failed, steps in single_steps(failing, work.project.context, work.found.goals):
        for step in islice(steps(stackup), MOST):
            if step.candidate is None:
                work.why_not.append(f"{failed.clause.title}: {step.words}")
            if step.candidate is None or not step.words or step.candidate in work.refused:
                continue
            said = tuple(shortened(each) for each in (*words, step.words, *step.cautions))
            plan = _plan_of_rows(current, step.candidate, work, said)
            context = work.after(plan)
            if failed.clause.id in _open(work, work.decided(context)):
                continue
            after = work.judged(context)
            if harm := work.harm(after):
                work.why_not.append(_labelled((step.words,), harm))
                continue
            stackup, words, left = step.candidate, [*words, step.words, *step.cautions], _open(work, after)
            best = PartialChange(said, _count(after, work.found), tuple(left), plan)
            break
    return best


def _open(work: _Work, stackup: JudgedStackup) -> list[str]:
    """Return the clauses that a stackup decides, or its lines, that count and that are not met."""
    return [
        one.clause.id
        for one in stackup.outcome.verdicts
        if one.verdict in (Verdict.FAILED, Verdict.NOT_VERIFIABLE)
        and (is_of_stackup(one.clause))
        and work.found.judge.counts(one.clause)
    ]


def _plan_of_rows(current: CandidateStackup, changed: CandidateStackup, work: _Work, words: Iterable[str]) -> Plan:
    """Return the board's own plan with the rows that change, so that nothing else is touched."""
    was = {row.name: row for row in current.rows}
    new = {row.name: row for row in changed.rows if row != was.get(row.name)}

    def planned(row: PlanRow) -> PlanRow:
        other = new.get(row.name)
        if other is None or row.kind != "copper":
            return plan_row(other) if other else row
        update: dict[str, object] = {}
        if other.foil != was[row.name].foil:
            update["foil"] = other.foil or None
        if other.thickness_mm != was[row.name].thickness_mm:
            update["thickness_mm"] = other.thickness_mm
            update["copper_oz"] = other.copper_oz if row.copper_oz is not None else None
        return row.model_copy(update=update)

    return work.base.model_copy(update={"rows": tuple(map(planned, work.base.rows)), "note": "; ".join(words)})


def proposed_rows(plan: Plan, board_path: Path, settings_path: Path | None) -> Proposal:
    """Return what the rows of a plan alone make of a board's files."""
    only_rows = plan.model_copy(update={"net_class": (), "rule": ()})
    return propose(only_rows, board_path, PlanParts(), settings_path)


def with_plan(selection: Selection, plan: Plan, board_path: Path, settings_path: Path | None) -> Context:
    """Return the board with the rows of a plan, judged as the board was."""
    proposal = proposed_rows(plan, board_path, settings_path)
    return prepare(proposal.after, proposal.settings_after, _names(selection))[0]


def _names(selection: Selection) -> Overrides:
    profile, form = selection.profile, selection.form
    return Overrides(profile.name if profile else None, form.name if form else None)
