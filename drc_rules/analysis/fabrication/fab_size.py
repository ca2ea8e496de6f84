"""The size of a board: sides of its outline's bounding box, the shorter first."""

from __future__ import annotations

from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact

DRAW_OUTLINE = "in KiCad, draw the board's outline on Edge.Cuts and save the board"


def sides_mm(ctx: Context) -> tuple[float, float]:
    """Return the shorter and the longer side.

    Raises:
        MissingFact: nothing, or no area, is drawn on Edge.Cuts.
    """
    size = ctx.board.outline.size_mm
    if size is None or min(size) <= 0:
        raise MissingFact("board outline", DRAW_OUTLINE)
    return min(size), max(size)


def describe(sides: tuple[float, float]) -> str:
    """Return e.g. `180 x 100 mm`, the longer side first, to 0.01 mm."""
    return f"{round(sides[1], 2):g} x {round(sides[0], 2):g} mm"
