"""`stackwright compare`: the fab's stackup next to the board's, and what each difference does to the lines."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict
from rich.text import Text

from drc_rules.analysis.impedance.line_effects import LineEffect, line_effects
from drc_rules.engine.check import prepare
from drc_rules.fab_exchange.answer.stackup_text import read_fab_file
from drc_rules.fab_exchange.comparison.compare import (
    BARE_DF,
    Compared,
    CompareOutcome,
    LayerMatch,
    Matched,
    match_stackups,
)
from drc_rules.fab_exchange.comparison.judged import TotalJudged, WidthJudged, judge_totals, judge_widths
from drc_rules.fab_exchange.comparison.verdict import ClauseChange, FabVerdict, fab_verdict
from drc_rules.facts.context import Context
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.files.plain_file import MOST_BYTES
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad import read_board
from stackwright.commands.apply.effects_page import effects_block
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.fab.compare_reply import alike_rows, reply_text
from stackwright.commands.request import JSON, BoardRequest, document_text
from stackwright.run.paths import find_board
from stackwright.text.output import STDOUT
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, together

CLEAN, FOUND = 0, 1
LEAST_FALL_PCT = 5.0
"""A share of the production in tolerance that falls by less is not told: the model knows it no better."""
_STYLE = {CompareOutcome.ACCEPT: "", CompareOutcome.DIFFERS: "bold yellow", CompareOutcome.OPEN: "yellow"}


class ComparisonDocument(Frozen):
    """What `stackwright compare --json` writes; lengths in mm, loss in dB/mm, shares in percent."""

    model_config = ConfigDict(title="Stackwright comparison, version 1")

    format: Literal["stackwright-comparison"] = "stackwright-comparison"
    version: Literal[1] = 1
    board: dict[str, str]
    layers: tuple[LayerMatch, ...]
    lines: tuple[LineEffect, ...]
    widths: tuple[WidthJudged, ...]
    totals: tuple[TotalJudged, ...] = ()
    notes: tuple[str, ...] = ()
    verdict: FabVerdict | None = None


def compare_tables(typed: Path, table: Path, request: BoardRequest, *, reply: bool = False) -> int:
    """Show how a fab's table differs from a board; exit code 1 when something differs or cannot be compared.

    Raises:
        StackwrightError: the board or the table cannot be read, or they do not match.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path, table)
    where = "the pasted table" if table == STDOUT else str(table)
    content = read_bytes(board_path)
    context, _, _ = prepare(read_board(board_path, text=content), request.config_of(board_path), request.overrides)
    own = None if context.is_default_stackup or context.board.stackup is None else context.board.stackup.thickness_mm
    data = sys.stdin.buffer.read(MOST_BYTES) if table == STDOUT else read_bytes(table)
    fab = read_fab_file(data, where, board_mm=own)
    try:
        matched = match_stackups(context, fab, content, where)
    except MissingFact as missing:
        step = "bring the fab's stackup into the board first: " + " ".join(missing.how_to_give.split())
        raise StackwrightError(
            str(board_path), f"{missing.name} is not known, so there is nothing to compare", step
        ) from None
    theirs, _, _ = prepare(matched.board, matched.config, request.overrides)
    effects = tuple(one for one in line_effects(context, theirs) if one.layer not in matched.unstated_layers)
    widths = judge_widths(theirs, fab.widths, where)
    totals = judge_totals(fab)
    verdict = fab_verdict(board_path, content, matched, request.config_of(board_path), request.overrides)
    fallen = _fallen(board_path, matched, verdict, context, request=request, widths=widths)
    if request.format == JSON:
        document = ComparisonDocument(
            board={"path": board_path.as_posix(), "sha256": hashlib.sha256(content).hexdigest()},
            layers=matched.layers,
            lines=effects,
            widths=widths,
            totals=totals,
            notes=(*matched.notes, *([f"not judged: {matched.not_judged}"] if matched.not_judged else [])),
            verdict=verdict,
        )
        text = document_text(document)
    elif reply:
        text = reply_text(board_path.stem, matched.layers, widths, totals, verdict, fallen=fallen)
    else:
        page = _page(board_path.name, where, matched, effects, widths)
        _judgement(page, totals, verdict, matched.not_judged, fallen)
        text = request.laid_out(page)
    request.deliver(text, "comparison")
    said = {match.outcome for match in matched.layers if match.lines or match.figures}
    said |= {one.outcome for one in widths} | {one.outcome for one in totals}
    if any(one.meets_target is False for one in widths):
        return FOUND
    return CLEAN if said == {CompareOutcome.ACCEPT} else FOUND


def _fallen(
    path: Path,
    matched: Matched,
    verdict: FabVerdict | None,
    own: Context,
    *,
    request: BoardRequest,
    widths: Sequence[WidthJudged],
) -> tuple[LineEffect, ...]:
    """Return the lines of which, with the rows that are not refused, fewer are within the tolerance of the target.

    A line whose width the fab has adjusted to the target is none.
    """
    taken = (*verdict.accept, *verdict.ask) if verdict else ()
    if not taken:
        return ()
    text, settings = matched.with_rows(taken)
    theirs, _, _ = prepare(read_board(path, text=text), settings, request.overrides)
    adjusted = {one.layer for one in widths if one.meets_target}
    shares = ((one, one.before.tolerance_yield_pct, one.after.tolerance_yield_pct) for one in line_effects(own, theirs))
    return tuple(
        one
        for one, before, after in shares
        if before is not None and after is not None and before - after >= LEAST_FALL_PCT and one.layer not in adjusted
    )


def _judgement(
    page: Page,
    totals: tuple[TotalJudged, ...],
    verdict: FabVerdict | None,
    not_judged: str,
    fallen: Sequence[LineEffect],
) -> None:
    for total in totals:
        if total.outcome is not CompareOutcome.ACCEPT:
            sums = f"states {total.stated_mm:.4g} mm, the rows add up to {total.sum_mm:.4g} mm"
            page.line(styled(f"line {total.line}: {sums}", "yellow"), indent=2)
    if verdict is None:
        page.heading("verdict", f"not judged, {not_judged}")
        page.line("--reply prints the answer to the fab", indent=2)
        return
    before, after = verdict.before.value, verdict.after.value
    moves = f"{before}, as before" if before == after else f"{before} -> {after} with the fab's stackup"
    page.heading("verdict", moves)
    if not verdict.changes:
        page.line("no verdict of a requirement changes", indent=2)
    columns = [Column(), Column(wraps=True), Column(wraps=True)]
    page.rows(columns, [_change(change) for change in verdict.changes])
    words = (("accept", "accept"), ("ask", "ask first"), ("refuse", "refuse"), ("together", "refuse together"))
    for part, word in words:
        if rows := getattr(verdict, part):
            page.line(styled(word, "bold"), f"  {together(rows)}", indent=2)
    if fallen:
        lines = dict.fromkeys(f"{one.layer} {one.target.title}" for one in fallen)
        page.line(styled("adjust widths", "bold"), f"  {', '.join(lines)}: fewer boards in tolerance", indent=2)
    page.line("--reply prints the answer to the fab", indent=2)


def _change(change: ClauseChange) -> tuple[str | Text, ...]:
    now = change.after_words
    moved = now if now == change.before_words else f"{change.before_words} -> {now}"
    more = f" (and {len(change.findings) - 1} more)" if len(change.findings) > 1 else ""
    told = f"{change.findings[0]}{more}" if change.findings else ""
    return styled(moved, "bold yellow" if change.is_worse else ""), change.title, told


def _page(
    name: str, where: str, matched: Matched, effects: tuple[LineEffect, ...], widths: tuple[WidthJudged, ...]
) -> Page:
    page = Page()
    page.line(styled("Fab's stackup", "bold"), f"  {where} compared with {name}")
    page.gap()
    head = ("layer", "", "figure", "board", "fab", "")
    columns = [
        Column(max_width=20), Column(), Column(), Column(max_width=22), Column(max_width=22), Column(wraps=True)
    ]  # fmt: skip
    rows = [cells for names, odd in alike_rows(matched.layers) for cells in _layer(names, odd)]
    page.rows(columns, rows, head=head)
    accepted = [m.layer for m in matched.layers if m.outcome is CompareOutcome.ACCEPT]
    silent = [m.layer for m in matched.layers if not m.figures]
    page.line(f"{count(len(accepted), 'row')} of {len(matched.layers)} as the board states them", indent=2)
    for note in matched.notes:
        page.line(styled(note, "yellow"), indent=2)
    if silent:
        page.line(styled(f"not compared, for the table says nothing of it: {', '.join(silent)}", "yellow"), indent=2)
    effects_block(page, effects, ("board", "fab"))
    if any(one.remark == BARE_DF for m in matched.layers for one in m.figures):
        page.line("loss is from the laminates' own data: a bare Df states no frequency", indent=2)
    if widths:
        _widths(page, widths)
    return page


def _layer(names: Sequence[str], odd: Sequence[Compared]) -> list[tuple[str | Text, ...]]:
    return [_figure(together(names) if k == 0 else "", one) for k, one in enumerate(odd)]


def _figure(layer: str, one: Compared) -> tuple[str | Text, ...]:
    fab = one.fab or "not stated"
    return layer, styled(one.outcome.value, _STYLE[one.outcome]), one.what, one.board, fab, one.remark


def _widths(page: Page, widths: tuple[WidthJudged, ...]) -> None:
    page.heading("the fab's lines", "solved in the fab's stackup; widths taken at the base of the trace")
    head = ("layer", "", "width/gap", "fab says", "we solve", "known to")
    rows = []
    for one in widths:
        gap = "" if one.gap_mm is None else f"/{one.gap_mm:.4g}"
        stated = "" if one.stated_ohm is None else f"{one.stated_ohm:g} ohm"
        solved = one.problem or f"{one.solved_ohm:.1f} ohm"
        known = "" if one.model_pct is None else f"+-{one.model_pct:.1f} %"
        verdict = styled(one.outcome.value, _STYLE[one.outcome])
        rows.append((one.layer, verdict, f"{one.width_mm:.4g}{gap}", stated, solved, known))
    page.rows([Column(), Column(), Column(), Column(), Column(wraps=True), Column()], rows, head=head)
