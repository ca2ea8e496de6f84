"""What a change of the stackup does to a board: every clause before and after it, and the yield of its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from drc_rules.analysis.impedance.board_targets import board_targets
from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.impedance.line_effects import line_state
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import FILLS_UP_TO_DATE, Outcome
from drc_rules.engine.one_finding import of_clause
from drc_rules.facts.context import Context
from drc_rules.report.findings import Finding
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import all_rules, kinds_by_stackup
from drc_rules.stackup_design.goals_judge import is_of_rows
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

ROUTED = "routed_impedance"

SAME_MISS = 1e-3
"""A miss that grows by less than this share of its limit is rounding."""

SAME_OHM = 0.05
"""Impedances this far apart are one."""

SAME_YIELD_PCT = 1.0
"""Yields this far apart are one: the production they are computed for is an assumption."""


@record
class JudgedStackup:
    """A board with one stackup, and what the clauses say of it."""

    context: Context
    outcome: Outcome

    def by_id(self) -> dict[str, ClauseVerdict]:
        """Return the verdicts by clause."""
        return {one.clause.id: one for one in self.outcome.verdicts}

    def failing(self) -> Iterator[tuple[Clause, list[Finding]]]:
        """Yield the clauses that fail, with their findings."""
        for one in self.outcome.verdicts:
            if one.verdict is Verdict.FAILED:
                yield one.clause, of_clause(one, self.outcome.findings)


def judged(context: Context, clauses: Iterable[Clause], counts: Callable[[Clause], bool]) -> JudgedStackup:
    """Decide what a stackup decides, and every other clause that counts and that a stackup may move."""
    unmoved = kinds_by_stackup("unmoved")
    return _run(context, [c for c in clauses if is_of_stackup(c) or (counts(c) and c.kind not in unmoved)])


def judged_at_once(context: Context, clauses: Iterable[Clause], counts: Callable[[Clause], bool]) -> JudgedStackup:
    """Decide what a stackup decides, and whether the fills that this reads are up to date: quick, as links are not."""
    return _run(context, [c for c in clauses if is_of_stackup(c) or (counts(c) and c.kind == FILLS_UP_TO_DATE)])


def is_of_stackup(clause: Clause) -> bool:
    """Tell whether the rows of a stackup decide a clause, or they and the widths of the lines routed in it."""
    return is_of_rows(clause) or clause.kind == ROUTED


def _run(context: Context, clauses: Iterable[Clause]) -> JudgedStackup:
    return JudgedStackup(context, run(context, clauses, all_rules(), all_rules()))


def worse_clauses(
    before: JudgedStackup, after: JudgedStackup, counts: Callable[[Clause], bool]
) -> tuple[tuple[Severity, str], ...]:
    """Return what fails that did not, misses by more than it did, or can no longer be verified."""
    was = before.by_id()
    return tuple(
        (one.clause.severity, f"{one.clause.title}: {words}")
        for one in after.outcome.verdicts
        if counts(one.clause) and (old := was.get(one.clause.id)) is not None
        for words in _worse(before, after, old, one)
    )


def _worse(before: JudgedStackup, after: JudgedStackup, old: ClauseVerdict, new: ClauseVerdict) -> Iterator[str]:
    if new.verdict is Verdict.NOT_VERIFIABLE and old.verdict in (Verdict.PASSED, Verdict.NOT_APPLICABLE):
        yield "would not be verifiable" + (f" ({new.missing[0].fact})" if new.missing else "")
    if new.verdict is not Verdict.FAILED:
        return
    former = {one.key: one for one in of_clause(old, before.outcome.findings)}
    found = of_clause(new, after.outcome.findings)
    if old.verdict is not Verdict.FAILED and not found:
        yield "would fail"
    for one in found:
        was = former.get(one.key)
        if was is None:
            yield f"would fail: {one.title}"
        elif _miss(one) > _miss(was) + SAME_MISS:
            yield f"would miss by more: {one.title}"


def _miss(finding: Finding) -> float:
    """Return how far a measured number is from its limit, as a share of that; 0 where either is no number."""
    value, limit = finding.numbers or (0.0, 0.0)
    return abs(value / limit - 1) if limit else 0.0


def lower_yields(before: Context, after: Context) -> tuple[str, ...]:
    """Return the routed geometries of which a typical production would have fewer within 10 % of their target.

    Only what moves away from its target is computed: the yield of the rest does not fall.
    """
    old, new = Lines(before), Lines(after)
    found = []
    for target in board_targets(before):
        plain = target.model_copy(update={"routed": ()})
        sizes = dict.fromkeys((one.layer, one.width_mm, one.gap_mm, one.references) for one in target.routed)
        for index, width, gap, planes in sizes:
            if not _moves_away(old, new, target, (index, width, gap, planes)):
                continue
            layer = before.board.copper_layers[index].name
            was, then = (line_state(lines, layer, plain, width, gap, planes=planes).yield_pct for lines in (old, new))
            if was is None or then is None or then >= was - SAME_YIELD_PCT:
                continue
            size = f"{width:g}" + (f"/{gap:g}" if gap is not None else "")
            what = f"yield of {target.title} on {layer}, {size} mm"
            found.append(f"{what}, would fall from {was:.0f} to {then:.0f} %")
    return tuple(found)


def _moves_away(
    old: Lines, new: Lines, target: LineTarget, line: tuple[int, float, float | None, tuple[int | None, int | None]]
) -> bool:
    traces = target.traces(line[2])
    try:
        was, then = (abs(traces * lines.solved(*line).impedance_ohm - target.target.ohm) for lines in (old, new))
    except (MissingFact, StackwrightError):
        return False
    return then > was + SAME_OHM
