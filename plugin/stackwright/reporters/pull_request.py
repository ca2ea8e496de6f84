"""A change of a board as a comment on its pull request: deltas first, the cross-section last; board text stays text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.analysis.impedance.line_effects import LineEffect, LineState, changed
from drc_rules.engine.board_diff import BoardDiff, RowChange, counted
from drc_rules.report.model import Headline, Report
from stackwright.drawing.blocks import cross_section
from stackwright.reporters.markdown import MARKS, SHOWN, fenced, table
from stackwright.tables.counts import LABELS
from stackwright.tables.deltas import share
from stackwright.tables.finding_steps import stepped
from stackwright.tables.grouping import groups
from stackwright.text.markup import escape
from stackwright.text.words import some

MM_PER_INCH = 25.4


def render(diff: BoardDiff, after: Report) -> str:
    """Return the Markdown text of a diff, with the new state's cross-section."""
    return "\n".join(_parts(diff, after)) + "\n"


def _parts(diff: BoardDiff, after: Report) -> Iterator[str]:
    was, now = diff.headlines
    said = f"{now.capitalize()}, as before" if was == now else f"{was.capitalize()} → {now}"
    yield f"## {MARKS[Headline(now)]} {said}: {escape(diff.after)}"
    yield ""
    yield f"Against {escape(diff.before)}: {diff.counts}."
    if diff.changed_workload:
        yield ""
        yield f"Workload {escape(diff.changed_workload)}."
    yield from _findings(diff)
    yield from _rows(diff.rows)
    yield from _lines(changed(diff.lines))
    yield from _links(diff)
    if after.stackup:
        touched = {row.layer for row in diff.rows}
        yield ""
        yield "<details><summary>Cross-section</summary>"
        yield ""
        yield from fenced(cross_section(after.stackup, marked=touched))
        yield ""
        yield "</details>"


def _findings(diff: BoardDiff) -> Iterator[str]:
    rows = []
    for group in groups(diff.came):
        first = group.first
        more = f" and {len(group.findings) - 1} similar" if len(group.findings) > 1 else ""
        rows.append(
            (f"new {LABELS[first.severity]}", f"**{escape(first.title)}**{more}", escape(first.fix), first.code)
        )
    for one in diff.changed:
        found, word = one.finding, f"{'worse' if one.is_worse else 'better'} {LABELS[one.finding.severity]}"
        rows.append((word, f"**{escape(found.title)}** ({escape(stepped(one, '→'))})", escape(found.fix), found.code))
    rows += [("fixed", escape(one.title), "", one.code) for one in diff.fixed]
    if rows:
        yield from table(("", "Finding", "Fix", "Rule"), rows, "findings")


def _rows(rows: Sequence[RowChange]) -> Iterator[str]:
    if not rows:
        return
    cells = []
    for row in rows:
        if row.kind == "changed":
            cells += [
                (row.layer, one.what, one.before or "not stated", one.after or "not stated") for one in row.figures
            ]
        else:
            stated = ", ".join(figure.before or figure.after for figure in row.figures)
            cells.append(
                (row.layer, row.kind, "" if row.kind == "added" else stated, stated if row.kind == "added" else "")
            )
    yield ""
    yield "### Stackup"
    escaped = [tuple(escape(cell) for cell in row) for row in cells]
    yield from table(("Layer", "", "Before", "After"), escaped, "rows")


def _lines(effects: Sequence[LineEffect]) -> Iterator[str]:
    if not effects:
        return
    yield ""
    yield "### Lines"
    rows = []
    for one in effects:
        gap = "" if one.gap_mm is None else f"/{one.gap_mm:g}"
        before, after = (_state(state, one.target.tolerance_pct) for state in (one.before, one.after))
        where = f"{one.layer}, {one.width_mm:g}{gap} mm"
        rows.append(tuple(escape(cell) for cell in (one.target.title, where, before, after)))
    yield from table(("Target", "Where", "Before", "After"), rows, "lines")


def _state(state: LineState, tolerance_pct: float) -> str:
    loss = state.loss_db_per_mm
    parts = [
        "? ohm" if state.impedance_ohm is None else f"{state.impedance_ohm:.1f} ohm",
        "" if loss is None else f"{loss * MM_PER_INCH:.2f} dB/inch",
        "" if state.tolerance_yield_pct is None else f"{share(state)} in +-{tolerance_pct:g} %",
    ]
    return ", ".join(part for part in parts if part)


def _links(diff: BoardDiff) -> Iterator[str]:
    for target, rows in list(counted(diff.links).items())[:SHOWN]:
        worst = rows[0]
        a, b = (("?" if ohm is None else f"{ohm:.1f}") for ohm in (worst.before_ohm, worst.after_ohm))
        yield ""
        others = f"; also {escape(some((row.name for row in rows[1:]), 3))}" if rows[1:] else ""
        yield f"- {escape(target)}: {escape(worst.name)} {a} → {b} ohm along its route{others}"
