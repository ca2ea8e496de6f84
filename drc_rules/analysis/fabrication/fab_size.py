"""The size of a board: sides of its outline's bounding box, the shorter first."""

from __future__ import annotations

from drc_rules.facts.context import Context
from stackup_lib.copper.cuts.board_area import board_area
from stackup_lib.core.facts import MissingFact

DRAW_OUTLINE = "in KiCad, draw the board's outline on Edge.Cuts and save the board"
CLOSE_OUTLINE = "in KiCad, close the outline on Edge.Cuts; its design rule check shows where it is open"


def sides_mm(ctx: Context) -> tuple[float, float]:
    """Return the shorter and the longer side.

    Raises:
        MissingFact: nothing, or no area, is drawn on Edge.Cuts.
    """
    size = ctx.board.outline.size_mm
    if size is None or min(size) <= 0:
        raise MissingFact("board outline", DRAW_OUTLINE)
    return min(size), max(size)


def need_closed_outline(ctx: Context) -> None:
    """Raise `MissingFact` where it is open what is board."""
    if not len(ctx.board.outline.x_mm):
        raise MissingFact("board outline", DRAW_OUTLINE)
    if board_area(ctx.board.outline) is None:
        raise MissingFact("a closed board outline", CLOSE_OUTLINE)


def describe(sides: tuple[float, float]) -> str:
    """Return e.g. `180 x 100 mm`, the longer side first, to 0.01 mm."""
    return f"{round(sides[1], 2):g} x {round(sides[0], 2):g} mm"
