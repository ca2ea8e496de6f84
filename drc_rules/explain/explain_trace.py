"""What a rule or a clause makes of one board, object by object: numbers, facts, verdict; for `explain CODE --board X`.

Only the chosen clauses are decided, with the rules' own functions: the answer is what a check finds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from drc_rules.engine.check import prepare
from drc_rules.engine.one_clause import FILLS_UP_TO_DATE, finish
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.report.formula import Formula, Value
from drc_rules.report.verdicts import Missing, Verdict, verdict_words
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.profiles.profile import Profile
from drc_rules.rules.rule import DraftFinding, Rule, all_rules
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, least
from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.core.record import record
from stackup_lib.materials import Laminate, Spread, Tg

T = TypeVar("T")
_ROW = re.compile(r"^stackup row ([^;]+)")


@record
class CalculationStep:
    """The numbers with which one thing was judged, by the symbols of the rule's formula."""

    what: str
    numbers: dict[str, Value]


@record
class FactUsed:
    """A fact that a verdict rests on, as text."""

    name: str
    value: str
    origin: Origin
    source: str
    confidence: Confidence


@record
class Decided:
    """One object of a clause.

    Attributes:
        verdict: failed, not verifiable or passed.
        findings: what is wrong, and remarks.
        missing: the missing fact that keeps it open, or the rest of what fails.
        confidence: of the least sure fact that it rests on.
    """

    verdict: Verdict
    steps: tuple[CalculationStep, ...] = ()
    findings: tuple[Finding, ...] = ()
    missing: Missing | None = None
    facts: tuple[FactUsed, ...] = ()
    confidence: Confidence = Confidence.HIGH

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        return verdict_words(self.verdict, worst_of(self.findings))


@record
class ClauseTrace:
    """One clause and its objects: those that fail, those that are open, and those that pass.

    Attributes:
        rule: None for a clause that no rule decides yet.
        facts: by which its objects were chosen.
    """

    clause: Clause
    rule: Rule | None
    objects: tuple[Decided, ...]
    facts: tuple[FactUsed, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of the clause, in the engine's order of precedence."""
        if self.rule is None:
            return Verdict.NOT_VERIFIABLE
        found = {one.verdict for one in self.objects}
        return next((verdict for verdict in Verdict if verdict in found), Verdict.NOT_APPLICABLE)

    @property
    def is_guess(self) -> bool:
        """True for a clause that passed on facts of low confidence."""
        return self.verdict is Verdict.PASSED and any(one.confidence is Confidence.LOW for one in self.objects)

    @property
    def words(self) -> str:
        """The verdict as `stackwright check` words it."""
        worst = worst_of(finding for one in self.objects for finding in one.findings)
        return verdict_words(self.verdict, worst, is_guess=self.is_guess)


def worst_of(findings: Iterable[Finding]) -> Severity | None:
    """Return the highest severity of some findings, None without any."""
    return max((finding.severity for finding in findings), key=lambda severity: severity.rank, default=None)


@record
class BoardTrace:
    """What a check asks of one board, and the answers to some of it."""

    context: Context
    profile: Profile | None
    form: str | None
    clauses: tuple[Clause, ...]
    answers: tuple[ClauseTrace, ...]


@dataclass
class TracedContext(Context):
    """A context that remembers which numbers were shown and which facts were needed."""

    steps: list[CalculationStep] = field(default_factory=list, repr=False)
    facts: list[FactUsed] = field(default_factory=list, repr=False)

    def shows(self, what: str, **numbers: Value) -> None:
        """Remember the numbers."""
        self.steps.append(CalculationStep(what, numbers))

    def need(self, fact: Fact[T]) -> T:
        """Remember the fact."""
        value = super().need(fact)
        self.facts.append(_in_words(self.board, fact))
        return value

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Forget what is looked at inside the block."""
        kept = list(self.steps), list(self.facts)
        with super().aside():
            yield
        self.steps, self.facts = kept

    def told(self) -> tuple[tuple[CalculationStep, ...], tuple[FactUsed, ...]]:
        """Return what was remembered since the last call."""
        found = tuple(self.steps), tuple(dict.fromkeys(self.facts))
        self.steps, self.facts = [], []
        return found


def trace_clauses(board: Board, config: Config, options: Overrides, wanted: Callable[[Clause], bool]) -> BoardTrace:
    """Decide the wanted ones of the clauses that apply to a board, and keep how.

    Args:
        board: as it was read.
        config: its settings.
        options: what was said on the command line.
        wanted: tells which clauses are chosen.

    Raises:
        StackwrightError: profile, form or settings name what does not exist.
    """
    plain, requirements, profile = prepare(board, config, options)
    context = TracedContext(plain.board, plain.declarations, plain.assignment, plain.purpose)
    deciders = {kind: rule for rule in all_rules() for kind in rule.kinds}
    chosen = [(clause, deciders.get(clause.kind)) for clause in requirements.clauses if wanted(clause)]
    if any(rule is not None and rule.reads_fills for _, rule in chosen):
        fills = [clause for clause in requirements.clauses if clause.kind == FILLS_UP_TO_DATE]
        if any(_decided(context, clause, deciders.get(clause.kind)).verdict is Verdict.FAILED for clause in fills):
            context.call_fills_old()
    answers = [_decided(context, clause, rule) for clause, rule in chosen]
    return BoardTrace(context, profile, requirements.form, requirements.clauses, tuple(answers))


def _decided(context: TracedContext, clause: Clause, rule: Rule | None) -> ClauseTrace:
    if rule is None:
        return ClauseTrace(clause, None, ())
    context.told()
    with context.recording() as used:
        try:
            subjects = list(rule.over(context, clause))
        except (MissingFact, StackwrightError) as fact:
            _, facts = context.told()
            return ClauseTrace(clause, rule, (Decided(Verdict.NOT_VERIFIABLE, missing=_missing(fact)),), facts)
    _, facts = context.told()
    chosen_with = used.confidence
    objects = [_object(context, clause, rule, subject, chosen_with) for subject in subjects]
    return ClauseTrace(clause, rule, tuple(_sorted(objects, rule.formula)), facts)


def _object(context: TracedContext, clause: Clause, rule: Rule, subject: object, chosen_with: Confidence) -> Decided:
    drafts, missing = list[DraftFinding](), None
    with context.recording() as used:
        try:
            if rule.reads_fills:
                context.need_true_fills()
            for draft in rule.check(context, clause, subject):
                drafts.append(draft)
        except (MissingFact, StackwrightError) as fact:
            missing = _missing(fact)
        except Exception as error:  # an internal error is reported by name, as in a check
            raise_if_interrupted()
            name = f"internal error in rule {rule.code} ({type(error).__name__}: {error})"
            return Decided(Verdict.NOT_VERIFIABLE, missing=Missing(fact=name, how_to_give="please report this board"))
    shown, facts = context.told()
    is_failed = any(draft.fails for draft in drafts)
    if missing is not None and not is_failed:  # what failed before stands
        return Decided(Verdict.NOT_VERIFIABLE, shown, missing=missing, facts=facts)
    confidence = least(chosen_with, used.confidence)
    findings = tuple(finish(draft, clause, rule, confidence) for draft in drafts)
    verdict = Verdict.FAILED if is_failed else Verdict.PASSED
    return Decided(verdict, shown, findings, missing, facts, confidence)


def _sorted(objects: Iterable[Decided], formula: Formula | None) -> list[Decided]:
    """What fails first, then what is open, then what passes; each with the least to spare first."""
    order = list(Verdict)

    def rank(one: Decided) -> tuple[int, bool, float]:
        spare = [formula.spare(shown.numbers) for shown in one.steps] if formula else []
        return order.index(one.verdict), not one.steps, min(spare, default=0.0)

    return sorted(objects, key=rank)


def _missing(fact: MissingFact | StackwrightError) -> Missing:
    name, how = (fact.name, fact.how_to_give) if isinstance(fact, MissingFact) else (fact.what, fact.next_step)
    return Missing(fact=name, how_to_give=how)


def _in_words(board: Board, fact: Fact[T]) -> FactUsed:
    return FactUsed(fact.name, _value(fact.value), fact.origin, _with_line(board, fact.source), fact.confidence)


def _value(value: object) -> str:
    match value:
        case float():
            return f"{value:.4g}"
        case Tg():
            return f"{value.value_c:g} C by {value.method.value}"
        case Laminate():
            return value.family
        case Spread():
            return f"{value.low:.4g} to {value.high:.4g}"
    return str(getattr(value, "label", value))


def _with_line(board: Board, source: str) -> str:
    """Add the line of the board file where a stackup row stands."""
    match = _ROW.match(source)
    row = next((row for row in board.stackup.layers if match and row.name == match[1]), None) if board.stackup else None
    if match is None or row is None or not row.offset or board.path is None:
        return source
    return source.replace(match[0], f"{match[0]}, line {board.line_of(row.offset)}")
