"""The page of `stackwright diff`: what changed first, then what it does, then what came and went."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from drc_rules.engine.board_diff import BoardDiff, LinkChange, RowChange, counted
from stackwright.commands.apply.effects_page import effects_block
from stackwright.tables.counts import LABELS, SEVERITY_STYLE
from stackwright.tables.finding_steps import stepped
from stackwright.tables.grouping import groups
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, some

SHOWN = 10


def page(diff: BoardDiff) -> Page:
    """Lay a diff out for the terminal."""
    out = Page()
    out.line(styled("Diff", "bold"))
    out.verbatim([diff.before, f"-> {diff.after}"])
    was, now = (word.upper() for word in diff.headlines)
    out.line(styled(f"{was} -> {now}" if was != now else f"{now}, as before", "bold"), indent=2)
    if diff.changed_workload:
        out.line(f"workload {diff.changed_workload}", indent=2)
    out.heading("Stackup", "" if diff.rows else "unchanged")
    columns = [Column(max_width=24), Column(), Column(max_width=30), Column(), Column(wraps=True)]
    out.rows(columns, [cells for row in diff.rows for cells in _row(row)])
    if diff.rows:
        effects_block(out, diff.lines, ("before", "after"))
    _links(out, diff.links)
    _verdicts(out, diff)
    _findings(out, diff)
    return out


def _row(row: RowChange) -> list[tuple[str | Text, ...]]:
    if row.kind != "changed":
        stated = ", ".join(figure.before or figure.after for figure in row.figures)
        style = "green" if row.kind == "added" else "red"
        return [(row.layer, styled(row.kind, style), stated, "", "")]
    return [
        (row.layer if k == 0 else "", one.what, one.before or "not stated", "->", one.after or "not stated")
        for k, one in enumerate(row.figures)
    ]


def _links(out: Page, links: Sequence[LinkChange]) -> None:
    if not links:
        return
    out.heading("links", "mean impedance along the route, before -> after")
    for target, rows in counted(links).items():
        worst = rows[0]
        others = f"; {count(len(rows) - 1, 'other')}: {some((row.name for row in rows[1:]), 3)}" if rows[1:] else ""
        out.line(f"{target}: {worst.name} {_ohm(worst.before_ohm)} -> {_ohm(worst.after_ohm)} ohm{others}", indent=2)


def _ohm(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"


def _verdicts(out: Page, diff: BoardDiff) -> None:
    if not diff.verdicts:
        return
    out.heading("Requirements", "whose verdict changed")
    rows = [(one.title, one.before_words, "->", one.after_words) for one in diff.verdicts]
    out.rows([Column(max_width=60, wraps=True), Column(), Column(), Column()], rows[: 3 * SHOWN])
    if len(rows) > 3 * SHOWN:
        out.line(f"and {len(rows) - 3 * SHOWN} more: see --format json", indent=2)


def _findings(out: Page, diff: BoardDiff) -> None:
    out.heading("Findings", diff.counts)
    new: list[tuple[str | Text, ...]] = []
    for group in groups(diff.came)[:SHOWN]:
        first = group.first
        more = f" and {len(group.findings) - 1} similar" if len(group.findings) > 1 else ""
        severity = styled(LABELS[first.severity], SEVERITY_STYLE[first.severity])
        new.append(("new", severity, first.code, f"{first.title}{more}"))
    for one in (*diff.worse[:SHOWN], *diff.better[:SHOWN]):
        found, word = one.finding, "worse" if one.is_worse else "better"
        severity = styled(LABELS[found.severity], SEVERITY_STYLE[found.severity])
        new.append((word, severity, found.code, f"{found.title} ({stepped(one)})"))
    gone = [("fixed", "", one.code, one.title) for one in diff.fixed[:SHOWN]]
    out.rows([Column(), Column(), Column(), Column(wraps=True)], [*new, *gone])
    for many, word in ((len(diff.worse), "worse"), (len(diff.better), "better")):
        if many > SHOWN:
            out.line(f"and {many - SHOWN} more {word}", indent=2)
    if len(diff.fixed) > SHOWN:
        out.line(f"and {len(diff.fixed) - SHOWN} more fixed", indent=2)
