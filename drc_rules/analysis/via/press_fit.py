"""Connectors that are pressed in: told by the name or value of their footprint."""

from __future__ import annotations

from drc_rules.facts.context import Context
from stackup_lib.core.record import record

WORD = "pressfit"


@record
class PressFitPart:
    """A part with press-fit pins.

    Attributes:
        footprint: row of `Board.footprints`.
        reference: as on the board.
    """

    footprint: int
    reference: str


def press_fit_parts(ctx: Context) -> tuple[PressFitPart, ...]:
    """Return the parts whose footprint's name or value says press-fit, by reference; ask with `Context.get`."""
    board = ctx.board
    names = zip(board.footprints.library_id.tolist(), board.footprints.value.tolist(), strict=True)
    rows = [row for row, texts in enumerate(names) if any(WORD in _plain(text) for text in texts)]
    found = (PressFitPart(row, str(board.footprints.reference[row])) for row in rows)
    return tuple(sorted(found, key=lambda part: (part.reference, part.footprint)))


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "").replace(" ", "")
