"""What all verdicts of a board come to: its headline, the reason for it, and how much was decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from drc_rules.report.model import Headline
from drc_rules.report.verdicts import ClauseVerdict, Coverage, Verdict
from drc_rules.requirements.clauses import Severity
from stackup_lib.board.board import Board
from stackup_lib.core.words import count

NO_WORKLOAD = "no workload given: only what holds for every board was checked"
NO_WORKLOAD_IN_FORM = "no workload given: only the form factor and what holds for every board were checked"

NOTHING_PLACED, NOTHING_ROUTED = "nothing is placed or routed", "nothing is routed"
"""Why a board whose requirements are all met can still not be called fit."""

ANSWER = "whether "
"""Begins a missing fact that is what the rule would tell, and no input."""


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
    undecided = [v for v in counted if v.clause.severity is Severity.ERROR and not v.is_proven]
    applies = [v for v in counted if v.verdict is not Verdict.NOT_APPLICABLE]
    met = sum(v.clause.severity is Severity.ERROR for v in applies)
    reasons = [lacking] if lacking else []
    if undecided:
        titles = _some([v.clause.title for v in undecided])
        reasons.append(f"{count(len(undecided), 'mandatory requirement')} not proven{_without(undecided)}: {titles}")
    elif not met:
        reasons.append(f"no mandatory requirement of {profile} applies")
    if reasons:
        return Headline.NOT_PROVEN, "; ".join(reasons)
    if met == 1:
        return Headline.FIT, f"the one mandatory requirement of {profile} that applies is met"
    return Headline.FIT, f"all {met} mandatory requirements of {profile} that apply are met"


def _without(undecided: Sequence[ClauseVerdict]) -> str:
    """Name the input that half of several requirements and more wait for, `, 4 without the stackup`; "" for none.

    Facts that are given in the same way are one input; the shortest is its name.
    """
    left_out = [v.left_out_by for v in undecided if v.left_out_by]
    if left_out and 2 * len(left_out) >= len(undecided):
        return f", {len(left_out)} left out by {left_out[0]}"
    facts: dict[str, set[str]] = {}
    waiting: Counter[str] = Counter()
    for verdict in undecided:
        inputs = [one for one in (*verdict.missing, *verdict.guesses) if not one.fact.startswith(ANSWER)]
        waiting.update({one.how_to_give for one in inputs})
        for one in inputs:
            facts.setdefault(one.how_to_give, set()).add(re.split(r"; | \(", one.fact)[0])
    how, lacking = min(waiting.items(), key=lambda one: (-one[1], one[0]), default=("", 0))
    if lacking < 2 or 2 * lacking < len(undecided):
        return ""
    of = min(facts[how], key=lambda fact: (len(fact), fact))
    return f" without {of}" if lacking == len(undecided) else f", {lacking} without {of}"


def not_laid_out(board: Board) -> str:
    """Say that nothing is placed or routed yet, or how many nets are not routed; "" where all nets have copper."""
    if board.is_blank:
        return NOTHING_PLACED
    if board.is_unrouted:
        return NOTHING_ROUTED
    routed, joined = board.routed_nets
    return f"{joined - routed} of {count(joined, 'net')} not routed" if routed < joined else ""


def _some(titles: list[str], shown: int = 2) -> str:
    return "; ".join(titles[:shown]) + (f"; and {len(titles) - shown} more" if len(titles) > shown else "")
