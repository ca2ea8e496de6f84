"""Runs the rules over the clauses. Honesty is in the mechanism: what needs an unknown fact cannot pass."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field

from drc_rules.clauses import Clause, Severity
from drc_rules.context import Context, Gathered
from drc_rules.documents import cite
from drc_rules.report import ClauseVerdict, Coverage, Finding, FindingLimit, Headline, Missing, RuleCrash, Verdict
from drc_rules.rule import Draft, Rule
from stackup_lib.facts import Confidence, MissingFact, least
from stackup_lib.meanwhile import Meanwhile, Tray
from stackup_lib.stopwatch import stretch

NO_RULE = Missing(fact="no rule yet", how_to_give="a later version decides this clause")


@dataclass
class Outcome:
    """What came out of all clauses."""

    findings: list[Finding] = field(default_factory=list)
    verdicts: list[ClauseVerdict] = field(default_factory=list)
    crashes: list[RuleCrash] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Append what came out of other clauses."""
        self.findings += other.findings
        self.verdicts += other.verdicts
        self.crashes += other.crashes


@dataclass
class _Tally:
    """Running count over the objects of one clause."""

    passed: int = 0
    failed: int = 0
    undecided: int = 0
    worst: Severity | None = None
    confidence: Confidence = Confidence.HIGH
    missing: dict[tuple[str, str], Missing] = field(default_factory=dict)

    def lacks(self, fact: MissingFact) -> None:
        self.undecided += 1
        self.missing.setdefault((fact.name, fact.how_to_give), Missing(fact=fact.name, how_to_give=fact.how_to_give))

    @property
    def verdict(self) -> Verdict:
        if self.failed:
            return Verdict.FAILED
        if self.undecided:
            return Verdict.NOT_VERIFIABLE
        return Verdict.PASSED if self.passed else Verdict.NOT_APPLICABLE


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
    context: Context, clauses: Iterable[Clause], rules: Iterable[Rule], chosen: Iterable[Rule]
) -> Callable[[], Outcome]:
    """Decide what is decided in this process, and return what waits for the rest; arguments as of `run`."""
    by_kind = {kind: r for r in rules for kind in r.kinds}
    on = set(chosen)
    todo = [(clause, by_kind.get(clause.kind)) for clause in clauses]
    late, pieces, own = _shared_out([decider if decider in on else None for _, decider in todo])
    tray = Tray(len(pieces))

    def decide(rows: Iterable[int]) -> dict[int, Outcome]:
        return {k: _decided(context, *todo[k], on) for k in rows}

    def decide_late() -> tuple[dict[int, Outcome], Gathered]:
        found = decide(late)
        for piece in tray:
            found |= decide(pieces[piece])
        return found, context.gathered()

    beside = Meanwhile(decide_late, when=bool(late or pieces))
    parts = decide(own)
    if beside.is_beside:
        for piece in tray:
            parts |= decide(pieces[piece])

    def finish_all() -> Outcome:
        answers, gathered = beside.result()
        tray.close()
        context.adopt(gathered)
        parts.update(answers)
        parts.update(decide(sorted(set(range(len(todo))).difference(parts))))  # what a copy took with it when it failed
        outcome = Outcome()
        for k in range(len(todo)):
            outcome.add(parts[k])
        outcome.findings.sort(key=_impact)
        return outcome

    return finish_all


def _shared_out(deciders: Sequence[Rule | None]) -> tuple[list[int], list[list[int]], list[int]]:
    """Return which clauses another process decides, the pieces that either may, and what is decided here."""
    late, own, pieces = list[int](), list[int](), dict[str, list[int]]()
    for k, decider in enumerate(deciders):
        if decider is not None and decider.piece:
            pieces.setdefault(decider.piece, []).append(k)
        else:
            (late if decider is not None and decider.beside else own).append(k)
    return late, list(pieces.values()), own


def _decided(context: Context, clause: Clause, decider: Rule | None, on: Set[Rule]) -> Outcome:
    """Decide one clause; what has no rule, or none that is on, stays undecided."""
    outcome = Outcome()
    if decider is None:
        outcome.verdicts.append(_undecided(clause, NO_RULE, code="", has_rule=False))
    elif decider not in on:
        missing = Missing(fact=f"rule {decider.code}, which --select or --ignore leaves out", how_to_give="")
        outcome.verdicts.append(_undecided(clause, missing, code=decider.code))
    else:
        _decide(context, clause, decider, outcome)
    return outcome


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
        with stretch(decider.code):
            _check_objects(context, clause, decider, tally, outcome.findings)
    except Exception as error:  # a rule that raises is reported by name, the others still run
        crash = RuleCrash(code=decider.code, name=decider.name, error=f"{type(error).__name__}: {error}")
        outcome.crashes.append(crash)
        missing = Missing(fact=f"rule {decider.code} broke ({crash.error})", how_to_give="please report this board")
        outcome.verdicts.append(_undecided(clause, missing, code=decider.code))
        return
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
        )
    )


def _check_objects(context: Context, clause: Clause, decider: Rule, tally: _Tally, findings: list[Finding]) -> None:
    with context.recording() as used_for_choice:
        try:
            objects = list(decider.over(context, clause))
        except MissingFact as fact:
            tally.lacks(fact)
            return
    chosen_with = least(Confidence.HIGH, *used_for_choice)
    for subject in objects:
        with context.recording() as used:
            try:
                drafts = list(decider.check(context, clause, subject))
            except MissingFact as fact:
                tally.lacks(fact)
                continue
        confidence = least(chosen_with, *used)
        tally.confidence = least(tally.confidence, confidence)
        new = [finish(draft, clause, decider, confidence) for draft in drafts]
        findings.extend(new)
        failing = [f for f, d in zip(new, drafts, strict=True) if d.fails]
        if failing:
            tally.failed += 1
            ranks = [f.severity for f in failing] + ([tally.worst] if tally.worst else [])
            tally.worst = max(ranks, key=lambda s: s.rank)
        else:
            tally.passed += 1


def finish(draft: Draft, clause: Clause, decider: Rule, confidence: Confidence) -> Finding:
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
        limit=FindingLimit(value=draft.limit_value, unit=draft.limit_unit, source=cite(clause.source)),
        places=draft.places,
        objects=tuple(sorted(draft.ids)),
        key=_key(decider.code, clause.id, draft.ids),
    )


def _key(code: str, clause: str, ids: tuple[str, ...]) -> str:
    """Hash of rule, clause and sorted object ids: it survives moves and edits elsewhere."""
    return f"{code}-" + hashlib.sha256("\0".join((code, clause, *sorted(ids))).encode()).hexdigest()[:16]


def _impact(finding: Finding) -> tuple[int, int, str, str, float, str]:
    """Order of the report: severity, confidence, rule, clause, how far past the limit, then stable text."""
    ranks = -finding.severity.rank, -finding.confidence.rank
    return *ranks, finding.code, finding.clause, -_excess(finding), finding.title + finding.key


def _excess(finding: Finding) -> float:
    """How far a number is past its limit, as a ratio of at least 1; 0 where either is no number."""
    measured = finding.measured.value if finding.measured else None
    limit = finding.limit.value if finding.limit else None
    if not isinstance(measured, float | int) or not isinstance(limit, float | int) or not measured or not limit:
        return 0.0
    ratio = abs(measured / limit)
    return round(max(ratio, 1 / ratio), 6)


def coverage_of(verdicts: Iterable[ClauseVerdict]) -> Coverage:
    """Count the pairs of clause and object that were decided, among those that a rule could decide."""
    judged = list(verdicts)
    with_rule = [v for v in judged if v.has_rule]
    return Coverage(
        decided=sum(v.checked for v in with_rule),
        total=sum(v.checked + v.undecided for v in with_rule),
        clauses_without_rule=len(judged) - len(with_rule),
    )


def headline_of(verdicts: Iterable[ClauseVerdict], *, profile: str | None) -> tuple[Headline, str]:
    """Return the headline and the reason for it in one sentence.

    `not fit` needs an error; `fit` needs every error-tier clause passed (or not applicable) on facts of better than low
    confidence. Clauses without a rule do not count.
    """
    counted = [v for v in verdicts if v.has_rule]
    broken = [v.clause.id for v in counted if v.worst is Severity.ERROR]
    if broken:
        return Headline.NOT_FIT, f"{_number(len(broken), 'clause')} failed: {_some(broken)}"
    if profile is None:
        return Headline.NOT_PROVEN, "no workload is stated, so nothing is demanded of the board yet"
    open_ids = [v.clause.id for v in counted if v.clause.severity is Severity.ERROR and not _proven(v)]
    if open_ids:
        return Headline.NOT_PROVEN, f"{_number(len(open_ids), 'clause')} not proven: {_some(open_ids)}"
    return Headline.FIT, f"every error-tier clause of {profile} that has a rule is met"


def _proven(verdict: ClauseVerdict) -> bool:
    if verdict.verdict is Verdict.NOT_APPLICABLE:
        return True
    return verdict.verdict is Verdict.PASSED and verdict.confidence is not Confidence.LOW


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _some(ids: list[str], shown: int = 4) -> str:
    return ", ".join(ids[:shown]) + (f" and {len(ids) - shown} more" if len(ids) > shown else "")
