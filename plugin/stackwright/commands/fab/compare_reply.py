"""The answer to the fab as plain text: what is accepted, what has to change, what is still open."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from drc_rules.analysis.impedance.line_effects import LineEffect
from drc_rules.fab_exchange.comparison.compare import Compared, CompareOutcome, LayerMatch
from drc_rules.fab_exchange.comparison.judged import TotalJudged, WidthJudged
from drc_rules.fab_exchange.comparison.verdict import FabVerdict
from stackwright.tables import deltas
from stackwright.text.words import together

_WIDTH = 78


def reply_text(
    name: str,
    layers: Sequence[LayerMatch],
    widths: Sequence[WidthJudged],
    totals: Sequence[TotalJudged],
    verdict: FabVerdict | None,
    *,
    fallen: Sequence[LineEffect] = (),
) -> str:
    """Return the reply; a part without a line is left out, and nothing is accepted that was not compared.

    `fallen` are the lines of which, with the rows that are not refused, a smaller share is within the tolerance.
    """
    refused = {*verdict.refuse, *verdict.together} if verdict else set()
    taken = verdict.accept if verdict else ()
    asked = verdict.ask if verdict else ()
    accepted = list(_rows([m for m in layers if m.layer in taken], "{what} {fab} in place of {board}"))
    waiting = list(_rows([m for m in layers if m.layer in asked], "{what} {fab} in place of {board}"))
    wrong = list(_rows([m for m in layers if m.layer in refused], "{what} {board}, you state {fab}"))
    unjudged = [] if verdict else list(_rows(layers, "{what} {board}, you state {fab}"))
    changes = [
        f"{change.title}: {change.findings[0] if change.findings else change.after_words}"
        for change in (verdict.changes if verdict else ())
        if change.is_worse and not change.is_open
    ]
    parts = (
        ("We accept:", accepted),
        ("We accept once you have answered below:", waiting),
        ("Please adjust the widths of these lines to their targets; as drawn:", _fallen(fallen)),
        ("Please change:", wrong + list(_wrong_widths(widths))),
        ("Why: with your stackup", changes),
        ("Differs, and not judged until you state every row:", unjudged),
        ("Please answer:", [*_unproven(verdict), *_questions(layers), *_totals(totals), *_open_widths(widths)]),
    )
    found = [f"Your stackup for {name}, compared with the board's.", ""]
    if not any(lines for _, lines in parts):
        found.append("It agrees in every value that you state. Please go on.")
    for head, lines in parts:
        if lines:
            found += [head, *(_bullet(line) for line in dict.fromkeys(lines)), ""]
    return "\n".join(found).rstrip() + "\n"


def _bullet(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="- ", subsequent_indent="  ")


def alike_rows(layers: Iterable[LayerMatch]) -> list[tuple[list[str], tuple[Compared, ...]]]:
    """Return what the table states otherwise or leaves open, with the names of the rows of which it does so alike."""
    found: dict[tuple[Compared, ...], list[str]] = {}
    for match in layers:
        odd = tuple(one for one in match.figures if one.outcome is not CompareOutcome.ACCEPT)
        if odd:
            found.setdefault(odd, []).append(match.layer)
    return [(names, odd) for odd, names in found.items()]


def _rows(layers: Iterable[LayerMatch], form: str) -> Iterator[str]:
    """Yield what differs, rows that differ alike in one line; what only one side states is a question."""
    for names, odd in alike_rows(layers):
        differs = [f for f in odd if f.outcome is CompareOutcome.DIFFERS and f.fab and f.what != "row"]
        if differs:
            words = "; ".join(form.format(what=f.what, fab=f.fab, board=f.board) for f in differs)
            yield f"{together(names)}: {words}"


def _questions(layers: Sequence[LayerMatch]) -> Iterator[str]:
    remarks: dict[str, list[str]] = {}
    asked: dict[str, list[str]] = {}
    for match in layers:
        for figure in match.figures:
            if figure.what == "row":
                remarks.setdefault(figure.remark, []).append(match.layer)
            elif figure.outcome is CompareOutcome.OPEN:
                stated = f"you state {figure.fab}" if figure.fab else "you state none"
                asked.setdefault(f"{figure.what}, {stated}, the board {figure.board}", []).append(match.layer)
    for words, names in asked.items():
        yield f"{together(names)}: {words}"
    for remark, names in remarks.items():
        yield f"{remark.replace('the table', 'your table')}: {together(names)}"


def _unproven(verdict: FabVerdict | None) -> Iterator[str]:
    """Yield what is not proven any more, and the data that prove it."""
    for change in verdict.changes if verdict and verdict.ask else ():
        if change.is_open:
            lacks = f"; please state what is missing: {'; '.join(change.lacks)}" if change.lacks else ""
            yield f"{change.title} is not proven with your stackup{lacks}"


def _fallen(effects: Sequence[LineEffect]) -> list[str]:
    return [
        f"{one.layer}, {deltas.size(one)} mm, {one.target.title}: {deltas.ohm(one.after)} ohm in place of "
        f"{deltas.ohm(one.before)} ohm; {deltas.share(one.after)} of a typical production within "
        f"+-{one.target.tolerance_pct:g} % of {one.target.target.ohm:g} ohm, now {deltas.share(one.before)}"
        for one in effects
    ]


def _totals(totals: Sequence[TotalJudged]) -> Iterator[str]:
    for total in totals:
        if total.outcome is CompareOutcome.DIFFERS:
            yield f"line {total.line} states {total.stated_mm:.4g} mm, your rows add up to {total.sum_mm:.4g} mm"


def _line(width: WidthJudged) -> str:
    gap = "" if width.gap_mm is None else f"/{width.gap_mm:.4g}"
    return f"{width.layer}, {width.width_mm:.4g}{gap} mm"


def _wrong_widths(widths: Sequence[WidthJudged]) -> Iterator[str]:
    for width in widths:
        if width.meets_target is False:
            yield (
                f"{_line(width)}: we solve {width.solved_ohm:.1f} ohm, outside {width.target_ohm:g} ohm "
                f"+-{width.tolerance_pct:g} %"
            )


def _open_widths(widths: Sequence[WidthJudged]) -> Iterator[str]:
    for width in widths:
        if width.outcome is CompareOutcome.DIFFERS:
            yield f"{_line(width)}: you state {width.stated_ohm:g} ohm, we solve {width.solved_ohm:.1f} ohm"
        elif width.problem:
            yield f"{_line(width)}: {width.problem}"
