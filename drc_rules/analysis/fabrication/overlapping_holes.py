"""Round holes that are drilled into one another: those of vias, and the plated or the unplated ones of parts."""

from __future__ import annotations

import numpy as np

from drc_rules.analysis.fabrication.board_minimums import HOLE_EPSILON_MM, BoardHoles, Mask, board_holes
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.columns import Columns
from stackup_lib.core.record import entity


@entity
class HolePairs(Columns):
    """Two holes that overlap.

    Attributes:
        one, other: positions among the holes.
        depth_mm: how far one reaches into the other.
        is_twice: they have one middle.
    """

    one: Ints
    other: Ints
    depth_mm: Floats
    is_twice: Mask


def overlapping_holes(board: Board) -> tuple[BoardHoles, HolePairs]:
    """Return all drilled holes, and which overlap; get them with `Context.get`.

    A chain of holes within one part makes a slot. Microvias on one another, and on a via of other layers, are stacked.
    Two parts may share the unplated hole of a peg.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with holes needs it

    holes = board_holes(board)
    part = np.where(
        holes.is_via, -1, board.pads.footprint[np.where(holes.is_via, 0, holes.row)] if len(board.pads) else -1
    )
    rows = np.flatnonzero(holes.is_round & ~holes.is_micro)
    x, y, radius = holes.x_mm[rows], holes.y_mm[rows], holes.drill_mm[rows] / 2
    boxes = shapely.box(x - radius, y - radius, x + radius, y + radius)
    one, other = shapely.STRtree(boxes).query(boxes)
    one, other = one[one < other], other[one < other]
    apart = np.hypot(x[one] - x[other], y[one] - y[other])
    depth = np.minimum(radius[one] + radius[other] - apart, 2 * np.minimum(radius[one], radius[other]))
    first, second = rows[one], rows[other]
    together = np.minimum(holes.end[first], holes.end[second]) > np.maximum(holes.start[first], holes.start[second])
    alike = holes.is_plated[first] == holes.is_plated[second]
    own = (part[first] >= 0) & (part[first] == part[second])
    is_twice = apart <= HOLE_EPSILON_MM
    is_peg = is_twice & ~holes.is_plated[first]
    kept = np.flatnonzero((depth > HOLE_EPSILON_MM) & together & alike & ~own & ~is_peg)
    return holes, HolePairs(first[kept], second[kept], depth[kept], is_twice[kept])
