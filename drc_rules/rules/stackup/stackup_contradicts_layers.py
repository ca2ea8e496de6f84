"""The stackup and the layer table name different copper layers.

What it checks
--------------
Whether the copper rows of the stackup are, in name and order, the copper layers of the board. KiCad does not compare
them: a six-layer board with the stackup of a four-layer board loads without a warning.

Why it matters
--------------
A layer without a stackup row has no height and no dielectric: nothing about it can be computed, and the fab gets two
different layer counts.

How to fix
----------
Open File > Board Setup > Physical Stackup, set the number of copper layers there, enter the dielectrics and
save.

What it cannot see
------------------
Only names and order of the copper rows are compared: a stackup with another board's heights or laminates passes. Where
it fails, material rules still count rows from the top, so layers below may get another layer's dielectric.

Sources
-------
Seen with KiCad 10: layers and stackup are stored apart and are not checked against each other when a board is
loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact

FORMULA = """
|m - n| ≤ 0

m: copper layers in the stackup
n: copper layers of the board
"""


@rule("STK002", kinds=("stackup_matches_layers",), over=whole_board, formula=FORMULA, by_stackup="decided")
def stackup_contradicts_layers(ctx: Context, _clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding when the copper rows are not the board's copper layers."""
    if board.stackup is None:
        raise MissingFact("the stackup", DECLARE_STACKUP)
    in_stackup = [row.name for row in board.stackup.copper]
    in_table = [layer.name for layer in board.copper_layers]
    odd = sorted(set(in_stackup) ^ set(in_table))
    if in_stackup == in_table or len(in_stackup) != len(in_table):
        ctx.shows("the stackup", m=len(in_stackup), n=len(in_table))
    if in_stackup == in_table:
        return
    what = f": {', '.join(odd)}" if odd else ", in another order"
    counts_differ = len(in_stackup) != len(in_table)
    yield DraftFinding(
        title=f"stackup has {len(in_stackup)} copper layers, board has {len(in_table)}{what}",
        why="A layer without a stackup row has no height and no dielectric, and the fab gets two layer counts",
        fix="Open File > Board Setup > Physical Stackup, set the copper layers, enter the dielectrics, save",
        ids=("stackup", *odd),
        measured=Measured(value=len(in_stackup), unit="layers") if counts_differ else None,
        limit_value=len(in_table) if counts_differ else None,
        places=tuple(Location(layer=name) for name in odd),
    )
