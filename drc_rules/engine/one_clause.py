"""What a rule makes of one clause. Honesty is in the mechanism: what needs an unknown fact cannot pass."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from dataclasses import field

from drc_rules.engine.one_finding import Left, Tiered, tiered
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import guesses
from drc_rules.report.findings import Finding, FindingLimit
from drc_rules.report.model import RuleCrash
from drc_rules.report.verdicts import ClauseVerdict, Missing, Verdict, left_out
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.documents import cite
from drc_rules.rules.rule import DraftFinding, Rule
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import Confidence, MissingFact, least
from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.core.record import record, workpiece
from stackup_lib.core.stopwatch import span

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


def decided(context: Context, clause: Clause, decider: Rule | None, on: Set[Rule], left: LeftOut) -> Outcome:
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
