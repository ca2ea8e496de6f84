"""The scorecard: a board against every workload, a row each, with the cheapest step towards those it is not fit for."""

from __future__ import annotations

from collections.abc import Mapping

from drc_rules.report.model import Headline
from drc_rules.requirements.clauses import Severity
from drc_rules.stackup_design.fitness import Fitness, FitnessReport
from stackwright.commands.fit.changes import LAYERS, Way
from stackwright.commands.fit.words import to_go
from stackwright.commands.suggest.words import what_changes
from stackwright.results.full import ScoreRow
from stackwright.text.command_line import command_line
from stackwright.text.words import count


def scorecard(report: FitnessReport, ways: Mapping[str, Way], *, anchors: bool = False) -> tuple[ScoreRow, ...]:
    """Return the rows, best first; with `anchors` each links to the section of its workload."""
    return tuple(_row(row, ways.get(row.profile), report.board.path, anchors=anchors) for row in report.rows)


def anchor(row: Fitness) -> str:
    """Return the id of a workload's section."""
    return "workload-" + "".join(char if char.isalnum() else "-" for char in row.profile)


def _row(row: Fitness, way: Way | None, board: str, *, anchors: bool) -> ScoreRow:
    return ScoreRow(
        profile=row.profile,
        form=row.form or "any form",
        is_declared=row.is_declared,
        headline=row.headline.value,
        fails=row.count(Severity.ERROR),
        open=len(row.unproven),
        warns=row.count(Severity.WARNING),
        met=row.passed,
        between=to_go(row),
        next_step=_next_step(row, way, board),
        then=way.then.value if way and way.then else "",
        anchor=anchor(row) if anchors else "",
    )


def _next_step(row: Fitness, way: Way | None, board: str) -> str:
    if row.headline is Headline.FIT:
        return ""
    if row.headline is Headline.NOT_PROVEN:
        first = next((one for one in row.open if one.errors), None)
        if first:
            return f"state {first.fact}: settles {count(first.errors, 'requirement')}"
        return "" if row.unproven else "finish the layout"
    if way and way.words:
        what = "" if way.is_change else "a new stackup: "
        tier = f", {way.cost_tier}" if way.cost_tier else ""
        price = f" (cost {way.cost_index:.0f}{tier})" if way.cost_index is not None else ""
        left = f"; {'; '.join(way.still_fails)} would still fail" if way.still_fails else ""
        return f"{what}{'; '.join(what_changes(way.words) or way.words)}{price}{left}"
    failing = [one for one in row.short if one.severity is Severity.ERROR]
    if way and way.needs_new and way.how_to_give:
        return "declare the copper foil: without it no small change of the stackup is proven to do"
    if (way and way.needs_new) or any(one.kind in LAYERS for one in failing):
        return f"a new stackup: {command_line('suggest', board, '--profile', row.profile)}"
    if way and way.why_none:
        if way.how_to_give:
            return f"state {way.why_none.removesuffix(' is not known')}"
        return f"no stackup can be worked out: {way.why_none}"
    more = f"; and {count(len(failing) - 1, 'more requirement')}" if len(failing) > 1 else ""
    return f"{failing[0].fix}{more}" if failing else ""
