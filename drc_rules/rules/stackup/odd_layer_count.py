"""The board has an odd number of copper layers.

What it checks
--------------
Whether the number of copper layers is even. A single layer is exempt.

Why it matters
--------------
Fabs laminate cores that carry copper on both sides: an odd count costs as much as the next even one and cannot be
symmetric, so it bows.

How to fix
----------
Add a ground plane, or remove a layer.

What it cannot see
------------------
Rows of the layer table count, not layers that will be built: an empty row can make an odd board even, and a board built
with one layer fewer passes. Rigid-flex boards have one count here.

Sources
-------
Design007 magazine, September 2021, p. 40 (balanced stackups).
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("STK007", kinds=("even_layer_count",), over=whole_board, by_stackup="decided")
def odd_layer_count(_ctx: Context, _clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding for 3, 5, 7 ... layers."""
    count = board.layer_count
    if count > 1 and count % 2:
        yield DraftFinding(
            title=f"{count} copper layers: an odd number cannot be symmetric",
            why="It costs as much as the next even count, and bows",
            fix="Add a ground plane or remove a layer",
            ids=("layers",),
            measured=Measured(value=count, unit="layers"),
        )
