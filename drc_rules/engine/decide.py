"""Runs the rules over the clauses. Honesty is in the mechanism: what needs an unknown fact cannot pass."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import field

from drc_rules.analysis.nets.board_links import board_links
from drc_rules.engine.one_finding import Left, Tiered, left_over, once_per_defect, tiered, yielded
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import guesses
from drc_rules.facts.results import Kept, Key
from drc_rules.report.model import (
    ClauseVerdict,
    Coverage,
    Finding,
    FindingLimit,
    Headline,
    Missing,
    RuleCrash,
    Verdict,
    left_out,
)
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.documents import cite
from drc_rules.rules.rule import DraftFinding, Rule
from stackup_lib.board.board import Board
from stackup_lib.core.background_process import BackgroundTask, WorkQueue, may_copy
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import Confidence, MissingFact, least
from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.core.record import record, workpiece
from stackup_lib.core.stopwatch import span
from stackup_lib.core.words import count

NO_WORKLOAD = "no workload given: only what holds for every board was checked"
NO_WORKLOAD_IN_FORM = "no workload given: only the form factor and what holds for every board were checked"

NOTHING_PLACED, NOTHING_ROUTED = "nothing is placed or routed", "nothing is routed"
"""Why a board whose requirements are all met can still not be called fit."""

NO_RULE = Missing(fact="no rule yet", how_to_give="a later version will decide this requirement")


FILLS_UP_TO_DATE = "fills_up_to_date"
"""Kind of the clause without which no verdict rests on stored fills."""


@workpiece
class Outcome:
    """What came out of all clauses; findings that others may speak for are apart until all of them are there."""

    findings: list[Finding] = field(default_factory=list)
    tiered: list[Tiered] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    verdicts: list[ClauseVerdict] = field(default_factory=list)
    crashes: list[RuleCrash] = field(default_factory=list)

    @property
    def says_fills_are_old(self) -> bool:
        """True where the clause on fills failed: what was decided by fills before that is to be decided again."""
        return any(v.clause.kind == FILLS_UP_TO_DATE and v.verdict is Verdict.FAILED for v in self.verdicts)

    def add(self, other: Outcome) -> None:
        """Append what came out of other clauses."""
        self.findings += other.findings
        self.tiered += other.tiered
        self.left += other.left
        self.verdicts += other.verdicts
        self.crashes += other.crashes


@workpiece
class _Tally:
    """Running count over the objects of one clause."""

    passed: int = 0
    failed: int = 0
    undecided: int = 0
    worst: Severity | None = None
    is_unsure: bool = False
    """Whether something failed that rests on what is only inferred."""
    confidence: Confidence = Confidence.HIGH
    missing: dict[tuple[str, str], Missing] = field(default_factory=dict)
    doubts: dict[tuple[str, str], MissingFact] = field(default_factory=dict)

    def lacks(self, fact: MissingFact | StackwrightError) -> None:
        """Count an object that cannot be decided: a fact is missing, or what it rests on cannot exist."""
        name, how = (fact.name, fact.how_to_give) if isinstance(fact, MissingFact) else (fact.what, fact.next_step)
        self.undecided += 1
        self.missing.setdefault((name, how), Missing(fact=name, how_to_give=how))

    @property
    def verdict(self) -> Verdict:
        if self.failed:
            return Verdict.FAILED
        if self.undecided:
            return Verdict.NOT_VERIFIABLE
        return Verdict.PASSED if self.passed else Verdict.NOT_APPLICABLE


@record
class LeftOut:
    """What is told of clauses whose rule the user has left out.

    Attributes:
        by: what leaves it out, e.g. `--ignore VIA`.
        is_counted: with how many objects it would judge, where these are found quickly; else each clause is one.
    """

    by: str = ""
    is_counted: bool = True


def run(context: Context, clauses: Iterable[Clause], rules: Iterable[Rule], chosen: Iterable[Rule]) -> Outcome:
    """Decide every clause.

    Args:
        context: the board and all that is known of it.
        clauses: the clauses that apply, in the order of the report.
        rules: every rule there is.
        chosen: those that `--select` and `--ignore` leave on.
    """
    return begin(context, clauses, rules, chosen)()


def begin(
    context: Context,
    clauses: Iterable[Clause],
    rules: Iterable[Rule],
    chosen: Iterable[Rule],
    left: LeftOut = LeftOut(),  # noqa: B008 - it is frozen
) -> Callable[[], Outcome]:
    """Decide what is decided in this process, and return what waits for the rest; arguments as of `run`."""
    by_kind = {kind: r for r in rules for kind in r.kinds}
    on = set(chosen)
    todo = [(clause, by_kind.get(clause.kind)) for clause in clauses]
    if any(decider in on and decider.reads_fills for _, decider in todo if decider is not None):
        with span("comparing fills"):
            _ = context.copper.other_net  # before this process is copied: both need it
    families = _by_family([decider if decider in on else None for _, decider in todo])
    is_copied = len(families) > 1 and may_copy()
    if is_copied:
        _know_what_both_need(context)
    known, queue = context.results.keys if is_copied else None, WorkQueue(len(families))

    def decide(rows: Iterable[int]) -> dict[int, Outcome]:
        return {k: _decided(context, *todo[k], on, left) for k in rows}

    def decide_families(*, backwards: bool) -> dict[int, Outcome]:
        """Decide family by family from one end, until both processes together have had all."""
        found: dict[int, Outcome] = {}
        for turn, _ in enumerate(queue):
            found |= decide(families[-1 - turn if backwards else turn])
        return found

    def decide_in_copy() -> tuple[dict[int, Outcome], dict[Key, Kept]]:
        return decide_families(backwards=False), {} if known is None else context.results.new_since(known)

    background = BackgroundTask(decide_in_copy, when=is_copied)
    parts = decide_families(backwards=True) if background.is_running else {}

    def finish_all() -> Outcome:
        answers, found = background.result()
        queue.close()
        context.results.adopt(found)
        parts.update(answers)
        parts.update(decide(sorted(set(range(len(todo))).difference(parts))))  # what a copy took with it when it failed
        if not context.fills_are_old and any(parts[k].says_fills_are_old for k in range(len(todo))):
            context.call_fills_old()
            parts.update(
                decide(k for k, (_, decider) in enumerate(todo) if decider is not None and decider.reads_fills)
            )
        outcome = Outcome()
        for k in range(len(todo)):
            outcome.add(parts[k])
        rest = left_over(outcome.left, outcome.findings)
        outcome.findings += [one.finding for one in rest if one.at_tier is None]
        outcome.tiered += [one.at_tier for one in rest if one.at_tier is not None]
        outcome.findings = yielded([*outcome.findings, *once_per_defect(outcome.tiered)], on)
        outcome.findings.sort(key=_impact)
        return outcome

    return finish_all


def _know_what_both_need(context: Context) -> None:
    """Compute what rules of most families request; whatever goes wrong here is said by the rule that needs it."""
    with context.aside(), suppress(Exception):
        _ = context.plies, context.uses, context.get(board_links)
    raise_if_interrupted()


def _by_family(deciders: Sequence[Rule | None]) -> list[list[int]]:
    """Return which clauses each family of rules decides: those of a family share most of what they compute."""
    families: dict[str, list[int]] = {}
    for k, decider in enumerate(deciders):
        families.setdefault(decider.family if decider is not None else "", []).append(k)
    return [families[name] for name in sorted(families)]


def _decided(context: Context, clause: Clause, decider: Rule | None, on: Set[Rule], left: LeftOut) -> Outcome:
    """Decide one clause; what has no rule, or none that is on, stays undecided."""
    outcome = Outcome()
    if decider is None:
        outcome.verdicts.append(_undecided(clause, NO_RULE, code="", has_rule=False))
    elif decider not in on:
        many = _how_many(context, clause, decider) if left.is_counted and not decider.slow_objects else 1
        undecided = _undecided(clause, left_out(decider.code, left.by), code=decider.code)
        outcome.verdicts.append(undecided.model_copy(update={"undecided": many}))
    else:
        _decide(context, clause, decider, outcome)
    return outcome


def _how_many(context: Context, clause: Clause, decider: Rule) -> int:
    """Count the objects that a rule which is left out would judge; 1 where there are none, or that is not known."""
    try:
        with context.aside():
            return max(1, sum(1 for _ in decider.over(context, clause)))
    except Exception:  # the clause is open in any case
        raise_if_interrupted()
        return 1


def _undecided(clause: Clause, missing: Missing, *, code: str, has_rule: bool = True) -> ClauseVerdict:
    return ClauseVerdict(
        clause=clause,
        code=code,
        verdict=Verdict.NOT_VERIFIABLE,
        confidence=Confidence.LOW,
        undecided=1,
        missing=(missing,),
        source=cite(clause.source),
        has_rule=has_rule,
    )


def _decide(context: Context, clause: Clause, decider: Rule, outcome: Outcome) -> None:
    tally = _Tally()
    try:
        with span(decider.code):
            _check_objects(context, clause, decider, tally, outcome)
    except Exception as error:  # a rule that raises is reported by name, the others still run
        raise_if_interrupted()
        crash = RuleCrash(code=decider.code, name=decider.name, error=f"{type(error).__name__}: {error}")
        outcome.crashes.append(crash)
        missing = Missing(
            fact=f"internal error in rule {decider.code} ({crash.error})", how_to_give="please report this board"
        )
        outcome.verdicts.append(_undecided(clause, missing, code=decider.code))
        return
    is_guess = tally.verdict is Verdict.PASSED and tally.confidence is Confidence.LOW
    if tally.is_unsure and clause.severity is Severity.ERROR and tally.worst is not Severity.ERROR:
        is_guess = True  # it would be an error if what it rests on were sure
    outcome.verdicts.append(
        ClauseVerdict(
            clause=clause,
            code=decider.code,
            verdict=tally.verdict,
            confidence=tally.confidence,
            checked=tally.passed + tally.failed,
            undecided=tally.undecided,
            missing=tuple(tally.missing.values()),
            source=cite(clause.source),
            worst=tally.worst,
            guesses=guesses(context, clause, decider.code, tally.doubts.values()) if is_guess else (),
        )
    )


def _check_objects(context: Context, clause: Clause, decider: Rule, tally: _Tally, outcome: Outcome) -> None:
    with context.recording() as used_for_choice:
        try:
            objects = list(decider.over(context, clause))
        except (MissingFact, StackwrightError) as fact:
            tally.lacks(fact)
            return
    chosen_with = used_for_choice.confidence
    if objects:
        tally.doubts |= used_for_choice.doubts
    for subject in objects:
        drafts: list[DraftFinding] = []
        with context.recording() as used:
            try:
                if decider.reads_fills:
                    context.need_true_fills()
                for draft in decider.check(context, clause, subject):
                    drafts.append(draft)
            except (MissingFact, StackwrightError) as fact:
                if not any(draft.fails for draft in drafts):  # what failed before stands
                    tally.lacks(fact)
                    continue
        tally.doubts |= used.doubts
        confidence = least(chosen_with, used.confidence)
        tally.confidence = least(tally.confidence, confidence)
        new = [finish(draft, clause, decider, confidence) for draft in drafts]
        for finding, draft in zip(new, drafts, strict=True):
            at_tier = tiered(finding, clause, draft)
            if draft.left_to is not None:
                outcome.left.append(Left(finding, at_tier, draft.left_to))
                continue
            outcome.findings += [] if at_tier else [finding]
            outcome.tiered += [at_tier] if at_tier else []
        failing = [f for f, d in zip(new, drafts, strict=True) if d.fails]
        if failing:
            tally.failed += 1
            tally.is_unsure |= confidence is Confidence.LOW or any(d.inferred for d in drafts if d.fails)
            ranks = [f.severity for f in failing] + ([tally.worst] if tally.worst else [])
            tally.worst = max(ranks, key=lambda s: s.rank)
        else:
            tally.passed += 1


def finish(draft: DraftFinding, clause: Clause, decider: Rule, confidence: Confidence) -> Finding:
    """Turn a draft into a finding: severity capped by the clause and by inference, key from code and object ids."""
    severity = draft.severity or clause.severity
    cap = Severity.INFO if not draft.fails else Severity.WARNING if draft.inferred else clause.severity
    severity = min(severity, cap, clause.severity, key=lambda s: s.rank)
    return Finding(
        code=decider.code,
        name=decider.name,
        clause=clause.id,
        severity=severity,
        confidence=confidence,
        basis=clause.basis,
        title=draft.title,
        why=draft.why,
        fix=draft.fix,
        measured=draft.measured,
        limit=FindingLimit(
            value=draft.limit_value, unit=draft.unit_of_limit, source=draft.source or cite(clause.source)
        ),
        places=draft.places,
        every=draft.every,
        counted=draft.counted,
        objects=tuple(sorted(draft.ids)),
        key=_key(decider.code, clause.id, draft.ids),
    )


def _key(code: str, clause: str, ids: tuple[str, ...]) -> str:
    """Hash of rule, clause and sorted object ids: it survives moves and edits elsewhere."""
    return f"{code}-" + hashlib.sha256("\0".join((code, clause, *sorted(ids))).encode()).hexdigest()[:16]


def _impact(finding: Finding) -> tuple[int, int, str, str, float, bool, str]:
    """Order of the report: severity, confidence, rule, clause, how far past the limit, then stable text.

    What counts the rest of many findings has no number of its own, and comes after them.
    """
    ranks = -finding.severity.rank, -finding.confidence.rank
    is_of_the_rest = finding.measured is None
    return *ranks, finding.code, finding.clause, -_excess(finding), is_of_the_rest, finding.title + finding.key


def _excess(finding: Finding) -> float:
    """How far a number is past its limit, as a ratio of at least 1; 0 where either is 0 or no number."""
    measured, limit = finding.numbers or (0.0, 0.0)
    if not measured or not limit:
        return 0.0
    ratio = abs(measured / limit)
    return round(max(ratio, 1 / ratio), 6)


def coverage_of(
    verdicts: Iterable[ClauseVerdict],
    *,
    unknown_pairs: int = 0,
    unjudged_pairs: int = 0,
    coupled_mm: Collection[float] = (),
) -> Coverage:
    """Count the pairs of clause and object that were decided, among those that a rule could decide.

    A differential pair of unknown interface is one more that was not: its clauses would apply if it were known. So is
    a pair with a target that is too short for any rule. Nets that only run like a pair, for `coupled_mm` each, are told
    and count nowhere: they may be data and clock.
    """
    judged = list(verdicts)
    with_rule = [v for v in judged if v.has_rule]
    return Coverage(
        decided=sum(v.checked for v in with_rule),
        total=sum(v.checked + v.undecided for v in with_rule) + unknown_pairs + unjudged_pairs,
        clauses_without_rule=len(judged) - len(with_rule),
        unknown_pairs=unknown_pairs,
        unjudged_pairs=unjudged_pairs,
        coupled_pairs=len(coupled_mm),
        coupled_mm=round(sum(coupled_mm), 1),
    )


def headline_of(
    verdicts: Iterable[ClauseVerdict], *, profile: str | None, form: str | None = None, lacking: str = ""
) -> tuple[Headline, str]:
    """Return the headline and the reason for it in one sentence.

    `not fit` needs an error; `fit` needs every error-tier clause passed (or not applicable) on facts of better than low
    confidence. Clauses without a rule do not count. Without a workload a board without errors is neither. Where no
    error-tier clause applies, nothing is proven. With nothing placed or routed (`lacking`) no board is fit: most
    clauses have had nothing to look at.
    """
    counted = [v for v in verdicts if v.has_rule]
    broken = [v.clause.title for v in counted if v.worst is Severity.ERROR]
    if broken:
        return Headline.NOT_FIT, f"{count(len(broken), 'requirement')} failed: {_some(broken)}"
    if profile is None:
        return Headline.NO_WORKLOAD, NO_WORKLOAD_IN_FORM if form else NO_WORKLOAD
    undecided = [v.clause.title for v in counted if v.clause.severity is Severity.ERROR and not v.is_proven]
    applies = [v for v in counted if v.verdict is not Verdict.NOT_APPLICABLE]
    met = sum(v.clause.severity is Severity.ERROR for v in applies)
    reasons = [lacking] if lacking else []
    if undecided:
        reasons.append(f"{count(len(undecided), 'mandatory requirement')} not proven: {_some(undecided)}")
    elif not met:
        reasons.append(f"no mandatory requirement of {profile} applies")
    if reasons:
        return Headline.NOT_PROVEN, "; ".join(reasons)
    return Headline.FIT, f"all {count(met, 'mandatory requirement')} of {profile} that apply are met"


def not_laid_out(board: Board) -> str:
    """Say that nothing is placed or routed yet; "" for a board with copper to look at, or with nothing to join."""
    if board.is_blank:
        return NOTHING_PLACED
    return NOTHING_ROUTED if board.is_unrouted else ""


def _some(titles: list[str], shown: int = 2) -> str:
    return "; ".join(titles[:shown]) + (f"; and {len(titles) - shown} more" if len(titles) > shown else "")
