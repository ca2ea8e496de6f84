"""What a change of the stackup does to the lines, as a block of a page; shared by `apply` and `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.impedance.line_effects import LineEffect, PlannedLine, changed
from stackwright.tables import deltas
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count


def effects_block(page: Page, effects: Sequence[LineEffect], names: tuple[str, str]) -> None:
    """Add a table per target: ohm, loss and yield in two stackups, called by `names`."""
    page.heading("lines", f"as routed, {names[0]} -> {names[1]}; yield within the tolerance of the target")
    if not effects:
        page.line("no net with a target impedance is routed long enough to count: nothing to compare", indent=2)
        return
    moved = changed(effects)
    if not moved:
        page.line(f"{count(len(effects), 'geometry', 'geometries')} solved: none changes", indent=2)
    for target, rows in groupby(moved, key=lambda e: e.target):
        _block(page, target, list(rows))
    still = len(effects) - len(moved)
    if moved and still:
        page.line(f"{count(still, 'other geometry', 'other geometries')} of the board's targets: unchanged", indent=2)


def _block(page: Page, target: LineTarget, rows: Sequence[LineEffect]) -> None:
    nyquist = f", dB/inch at {target.nyquist_ghz:g} GHz" if target.nyquist_ghz else ""
    page.line(f"{target.title}: {target.target}{nyquist}", indent=2)
    head = ("layer", "width/gap", "ohm", "off target", "dB/inch", f"in +-{target.tolerance_pct:g} %")
    columns = [Column(), Column(), Column(), Column(right=True), Column(), Column()]
    page.rows(columns, [_cells(row) for row in rows], indent=4, head=head)
    for row in rows:
        for problem in deltas.problems(row):
            page.line(styled(row.layer, "yellow"), f": {problem}", indent=4)


def _cells(row: LineEffect) -> tuple[str | Text, ...]:
    a, b = row.before, row.after
    off = deltas.off_pct(row)
    style = "yellow" if off is not None and abs(off) > deltas.FAR_PCT else ""
    return (
        row.layer,
        deltas.size(row),
        f"{deltas.ohm(a)} -> {deltas.ohm(b)}",
        styled("" if off is None else f"{off:+.1f} %", style),
        f"{deltas.db_per_inch(a)} -> {deltas.db_per_inch(b)}" if row.target.nyquist_ghz else "",
        f"{deltas.share(a)} -> {deltas.share(b)}",
    )


def planned_block(page: Page, lines: Sequence[PlannedLine]) -> None:
    """Add what the widths of the plan's rules have in the planned stackup."""
    page.heading("rules", "the plan's widths, solved in the planned stackup")
    head = ("net class", "layer", "width/gap", "ohm", "target", "dB/inch", "yield")
    rows: list[tuple[str | Text, ...]] = []
    for one in lines:
        rule, state = one.rule, one.state
        gap = "" if rule.gap_mm is None else f"/{rule.gap_mm:g}"
        asked = f"{one.target.target.ohm:g} +-{one.target.tolerance_pct:g} %" if one.target else "no target"
        db = deltas.db_per_inch(state) if one.target and one.target.nyquist_ghz else ""
        share = deltas.share(state) if one.target else ""
        rows.append((rule.net_class, rule.layer, f"{rule.width_mm:g}{gap}", deltas.ohm(state), asked, db, share))
    page.rows([Column(max_width=26), *[Column()] * 6], rows, head=head)
    for one in lines:
        if one.state.problem:
            page.line(styled(one.rule.layer, "yellow"), f": {one.state.problem}", indent=2)
