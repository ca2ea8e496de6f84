"""Pads without a net that are on a pad of another part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import uuid_in
from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.fabrication.shorts.joined import PLACES_SHOWN, shows_overlap
from drc_rules.rules.fabrication.shorts.own_copper import pad_words
from drc_rules.rules.rule import DraftFinding
from stackup_lib.board.board import Board
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.shapes import CopperShape, pad_rows
from stackup_lib.copper.shorts import narrow_side_mm, piece_areas
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.record import record

WHY = "The finished board joins the pin to the net, or the two parts stand in each other's place; no netlist says so"
FIX = "Move one of the two parts, or give the pad the net that it is on"


@record
class PadOnPad:
    """A pad without a net and the pad that it overlaps, as indices into `Board.pads`."""

    loose: int
    named: int
    layer: int
    overlap_mm: float


def of_pads_on_pads(ctx: Context, layers: Sequence[int]) -> Iterator[DraftFinding]:
    """Yield one finding for all pads without a net that are on a pad of another part."""
    board, finder = ctx.board, ctx.get(space_finder)
    found: dict[tuple[int, int], PadOnPad] = {}
    for layer in layers:
        for one in _on_layer(board, finder.netless(layer)):
            found.setdefault((one.loose, one.named), one)
    if not found:
        return
    worst, *others = sorted(found.values(), key=lambda one: (-round(one.overlap_mm, 5), one.loose, one.named))
    net, more = board.nets[int(board.pads.net[worst.named])], f" (and {len(others)} more)" if others else ""
    what = f"{pad_words(board, worst.loose)}, which has no net, overlaps {pad_words(board, worst.named)} ({net})"
    shows_overlap(ctx, (pad_words(board, worst.loose), net), worst.overlap_mm)
    yield DraftFinding(
        title=f"{what} by {worst.overlap_mm:.3f} mm on {board.copper_layers[worst.layer].name}{more}",
        why=WHY,
        fix=FIX,
        ids=("pads without a net",),
        severity=Severity.WARNING,
        measured=Measured(value=round(worst.overlap_mm, 4), unit="mm"),
        limit_value=0.0,
        places=tuple(_place(board, one) for one in (worst, *others)[:PLACES_SHOWN]),
        counted=len(found),
    )


def _on_layer(board: Board, found: Spaces) -> Iterator[PadOnPad]:
    """Yield the pads of a layer without a net, of parts that have nets elsewhere, on a pad of another part."""
    pads, part = board.pads, board.pads.footprint
    for side, other in ((found.one, found.other), (found.other, found.one)):
        loose, named = pad_rows(board, side), pad_rows(board, other)
        rows = np.flatnonzero((loose >= 0) & (named >= 0) & (side.net == 0) & (other.net > 0))
        rows = rows[(part[loose[rows]] != part[named[rows]]) & (pads.number[loose[rows]] != "")]
        areas = (piece_areas(board, some.where(rows)) for some in (side, other))
        for row, one, two in zip(rows.tolist(), *areas, strict=True):
            pad, wide_mm = int(loose[row]), narrow_side_mm(one.intersection(two))
            if wide_mm >= TOUCH_MM and np.any(pads.net[part == part[pad]] > 0):
                yield PadOnPad(pad, int(named[row]), found.layer, wide_mm)


def _place(board: Board, one: PadOnPad) -> Location:
    pads = board.pads
    return Location(
        layer=board.copper_layers[one.layer].name,
        net=board.nets[int(pads.net[one.named])],
        uuid=uuid_in(board, CopperShape.PAD, one.loose),
        x_mm=round(float(pads.x_mm[one.loose]), 6),
        y_mm=round(float(pads.y_mm[one.loose]), 6),
    )
