"""Two states of a board as one HTML file: the cross-sections side by side, what changed, and what it does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import PurePath

from markupsafe import Markup

from drc_rules.analysis.impedance.line_effects import changed
from drc_rules.engine.board_diff import BoardDiff, counted, row_pairs
from drc_rules.engine.check import CheckUp
from drc_rules.report.link_rows import LinkLossRow
from drc_rules.report.model import Report
from stackup_lib.core.record import record
from stackwright.commands.diff.widths import width_changes
from stackwright.drawing import columns, words
from stackwright.reporters.cards import MOST_LISTED, shown_findings
from stackwright.reporters.pages import environment, labelled
from stackwright.tables import deltas, losses
from stackwright.tables.finding_steps import stepped

UNKNOWN = "?"


@record
class LossChange:
    """A link's loss from end to end, as text; `step` is empty where it does not move or is not known."""

    name: str
    interface: str
    nyquist_ghz: float
    before: str
    after: str
    step: str
    margin_before: str
    margin_after: str


def html_of(diff: BoardDiff, was: CheckUp, now: CheckUp) -> str:
    """Return the page of a diff of two checked states; the same states give the same bytes."""
    old, new, moved = was.report, now.report, changed(diff.lines)
    keys = {finding.key for finding in (*diff.new, *(one.finding for one in diff.better))}
    made = environment(most_listed=MOST_LISTED)
    return made.get_template("diff.html").render(
        diff=diff,
        old=old,
        new=new,
        asked=f"for {new.profile}" if new.profile else "",
        came=tuple(shown_findings(diff.came, "new-")),
        steps=[(one, stepped(one, "\u2192")) for one in (*diff.worse, *diff.better)],
        stayed=tuple(shown_findings([one for one in new.findings if one.key not in keys], "unchanged-")),
        fixed=diff.fixed,
        drawings=tuple(_drawings(diff, old, new)),
        moved=moved,
        widths=width_changes(moved, now.context, diff.after) if diff.rows else None,
        links=[one for rows in counted(diff.links).values() for one in rows],
        losses=tuple(_losses(old, new)),
        facts=tuple(_facts(old, new)),
        title=f"{PurePath(diff.after).name}: {' -> '.join(diff.headlines)}",
    )


def _drawings(diff: BoardDiff, old: Report, new: Report) -> Iterator[tuple[str, str, str, Markup]]:
    """Both cross-sections, row by row at equal heights."""
    if old.stackup is None or new.stackup is None or not (old.stackup.rows and new.stackup.rows):
        return
    different = frozenset(row.layer for row in diff.rows if row.kind == "changed")
    pair = columns.paired(tuple(row_pairs(old.stackup, new.stackup)), different)
    names = PurePath(diff.before).name, PurePath(diff.after).name
    titles = names if names[0] != names[1] else (diff.before, diff.after)
    for word, title, view, slots in zip(("Before", "After"), titles, (old.stackup, new.stackup), pair, strict=True):
        name = f"Cross-section {word.lower()}: {title}"
        drawn = columns.column(slots, columns.WIDE, title=name)
        yield word, title, words.total(view), Markup(drawn)  # noqa: S704 - column() escapes what comes from the board


def _losses(old: Report, new: Report) -> Iterator[LossChange]:
    """The worst link of each interface, in either state, and of those whose loss is not known any more."""
    was = {(one.name, one.interface): one for one in old.losses}
    now = {(one.name, one.interface): one for one in new.losses}
    worst = [
        (group.worst.name, group.worst.interface)
        for report in (new, old)
        for group in losses.by_interface(report.losses)
        if group.worst
    ]
    lost = [key for key, one in was.items() if _nominal(one) is not None and key in now and _nominal(now[key]) is None]
    lost.sort(key=lambda key: -(_nominal(was[key]) or 0.0))
    worst += {interface: (name, interface) for name, interface in reversed(lost)}.values()
    for key in dict.fromkeys(worst):
        a, b = was.get(key), now.get(key)
        one = b or a
        if one is not None:
            yield LossChange(
                name=one.name,
                interface=one.interface,
                nyquist_ghz=one.nyquist_ghz,
                before=_total(a),
                after=_total(b),
                step=deltas.step(_nominal(a), _nominal(b), 1),
                margin_before=losses.margin(a) if a else "",
                margin_after=losses.margin(b) if b else "",
            )


def _nominal(row: LinkLossRow | None) -> float | None:
    return row.total_db.nominal if row and row.total_db else None


def _total(row: LinkLossRow | None) -> str:
    loss = _nominal(row)
    return UNKNOWN if loss is None else f"{loss:.1f} dB"


def _facts(old: Report, new: Report) -> Iterator[tuple[str, str, str]]:
    """What the boards are, line by line; lines of one label in their order."""
    sides: list[dict[str, list[str]]] = [{}, {}]
    for side, report in zip(sides, (old, new), strict=True):
        for line in report.board.lines:
            label, text = labelled(line)
            side.setdefault(label, []).append(text)
    for label in dict.fromkeys([*sides[1], *sides[0]]):
        for one, other in zip_longest(*(side.get(label, []) for side in sides), fillvalue=""):
            yield label, one, other
