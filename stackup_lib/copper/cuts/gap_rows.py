"""Copper near what is cut without plating, as a table."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.board.columns import Columns, first_of_each
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.core.record import entity

EDGE = -1
"""In place of a pad: the cut is the board's edge."""

OUTSIDE = -2
"""In place of a pad: the copper lies beyond the board's edge from end to end."""

REACH_MM = 0.26
"""Copper further away from a cut than this is no fab's concern."""

DELIBERATE_MM = 1e-3
"""A pad that comes this near to the edge reaches over it: a castellated hole, an edge connector's finger, or a slip."""

ALIKE_DECIMALS = 9
"""Distances in mm that agree so far are the same: of two such places the first counts, however the board is turned."""


@entity
class CutGaps(Columns):
    """Every piece of copper within reach of a cut, one row per pair; mm.

    Attributes:
        gap_mm: from edge to edge; 0 or less where they meet, and outside the board as far as the copper reaches beyond.
        cut: row of the unplated hole among the pads, `EDGE` for the board's edge, `OUTSIDE` for what lies beyond it.
        kind, row: the copper (`CopperShape`) and its row in that table.
        drawn_by: footprint that draws the edge, -1 for none.
        at: point of the copper's core that is nearest.
    """

    gap_mm: Floats
    cut: Ints
    layer: Ints
    kind: Ints
    row: Ints
    net: Ints
    at: Complexes
    drawn_by: Ints

    def least_of(self, *columns: Ints) -> CutGaps:
        """Return the row with the least gap for each combination of the columns' values, in the order of these.

        Of two alike what lies outside counts.
        """
        gap, is_inside = np.round(self.gap_mm, ALIKE_DECIMALS), self.cut != OUTSIDE
        return self.where(first_of_each(np.lexsort((is_inside, gap, *columns)), *columns))
