"""Decides all clauses of a board, family by family of rules, in two processes where that pays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from drc_rules.analysis.nets.board_links import board_links
from drc_rules.engine.one_clause import LeftOut, Outcome, decided
from drc_rules.engine.one_finding import left_over, once_per_defect, yielded
from drc_rules.facts.context import Context
from drc_rules.facts.results import Kept, Key
from drc_rules.report.findings import Finding
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Rule
from stackup_lib.core.background_process import BackgroundTask, WorkQueue, may_copy
from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.core.stopwatch import span


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
    decision = _Decision(context, clauses, rules, chosen, left)
    return decision.begin()


class _Decision:
    """The clauses of one board, each with the rule that decides it, and what came of them so far."""

    def __init__(
        self,
        context: Context,
        clauses: Iterable[Clause],
        rules: Iterable[Rule],
        chosen: Iterable[Rule],
        left: LeftOut,
    ) -> None:
        by_kind = {kind: r for r in rules for kind in r.kinds}
        self.context, self.on, self.left = context, set(chosen), left
        self.todo = [(clause, by_kind.get(clause.kind)) for clause in clauses]
        self.families = _by_family([decider if decider in self.on else None for _, decider in self.todo])
        self.queue = WorkQueue(len(self.families))
        self.parts: dict[int, Outcome] = {}

    def begin(self) -> Callable[[], Outcome]:
        """Decide what falls to this process while a copy decides the rest; what is returned waits for the copy."""
        context = self.context
        if any(decider in self.on and decider.reads_fills for _, decider in self.todo if decider is not None):
            with span("comparing fills"):
                _ = context.copper.other_net  # before this process is copied: both need it
        is_copied = len(self.families) > 1 and may_copy()
        if is_copied:
            _know_what_both_need(context)
        known = context.results.keys if is_copied else None

        def in_copy() -> tuple[dict[int, Outcome], dict[Key, Kept]]:
            return self._of_families(backwards=False), {} if known is None else context.results.new_since(known)

        background = BackgroundTask(in_copy, when=is_copied)
        if background.is_running:
            self.parts = self._of_families(backwards=True)

        def finish() -> Outcome:
            answers, found = background.result()
            self.queue.close()
            context.results.adopt(found)
            self.parts |= answers
            return self._complete()

        return finish

    def _of(self, rows: Iterable[int]) -> dict[int, Outcome]:
        return {k: decided(self.context, *self.todo[k], self.on, self.left) for k in rows}

    def _of_families(self, *, backwards: bool) -> dict[int, Outcome]:
        """Decide family by family from one end, until both processes together have had all."""
        found: dict[int, Outcome] = {}
        for turn, _ in enumerate(self.queue):
            found |= self._of(self.families[-1 - turn if backwards else turn])
        return found

    def _complete(self) -> Outcome:
        """Decide what a copy took with it when it failed, and again what rests on fills that proved old; sum up."""
        rows = range(len(self.todo))
        self.parts |= self._of(sorted(set(rows).difference(self.parts)))
        if not self.context.fills_are_old and any(self.parts[k].says_fills_are_old for k in rows):
            self.context.call_fills_old()
            self.parts |= self._of(k for k in rows if (by := self.todo[k][1]) is not None and by.reads_fills)
        outcome = Outcome()
        for k in rows:
            outcome.add(self.parts[k])
        rest = left_over(outcome.left, outcome.findings)
        outcome.findings += [one.finding for one in rest if one.at_tier is None]
        outcome.tiered += [one.at_tier for one in rest if one.at_tier is not None]
        outcome.findings = yielded([*outcome.findings, *once_per_defect(outcome.tiered)], self.on)
        outcome.findings.sort(key=_impact)
        return outcome


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
