"""Connectors that are pressed in: told by the name or value of their footprint, and their plated holes."""

from __future__ import annotations

import numpy as np

from drc_rules.facts.context import Context
from stackup_lib.board.board import PadKind
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record

WORD = "pressfit"


@record
class PressFitPart:
    """A part with press-fit pins.

    Attributes:
        footprint: row of `Board.footprints`.
        reference: as on the board.
        holes_mm: finished diameters of its plated holes, smallest first.
    """

    footprint: int
    reference: str
    holes_mm: tuple[float, ...]


def press_fit_parts(ctx: Context) -> tuple[PressFitPart, ...]:
    """Return the parts whose footprint's name or value says press-fit, by reference; ask with `Context.get`."""
    board = ctx.board
    names = zip(board.footprints.library_id.tolist(), board.footprints.value.tolist(), strict=True)
    rows = [row for row, texts in enumerate(names) if any(WORD in _plain(text) for text in texts)]
    found = (PressFitPart(row, str(board.footprints.reference[row]), _holes_mm(ctx, row)) for row in rows)
    return tuple(sorted(found, key=lambda part: (part.reference, part.footprint)))


def _holes_mm(ctx: Context, footprint: int) -> tuple[float, ...]:
    pads = ctx.board.pads
    rows = (pads.footprint == footprint) & (pads.drill_x_mm > 0) & (pads.kind != PadKind.NON_PLATED)
    return tuple(distinct(np.round(pads.drill_x_mm[rows], 3)).tolist())


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "").replace(" ", "")
