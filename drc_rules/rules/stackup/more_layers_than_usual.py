"""The board has more copper layers than usual for its kind.

What it checks
--------------
The number of copper layers against the upper end of the range in the requirement documents. Their ranges are open
("32+"), so this never fails a board.

Why it matters
--------------
Every pair of layers costs lamination, drilling depth and registration. More than usual may mean that the board
does more than its profile says.

How to fix
----------
Keep the layers if they are needed. Otherwise look for planes that can be shared.

What it cannot see
------------------
Why the layers are needed is unknown: depth of BGA breakouts, number of rails, crosstalk. Unused layers are
`unused-layers`'s.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board

FORMULA = """
n ≤ n_max

n: copper layers
n_max: usual maximum for the workload
"""


@rule("STK009", kinds=("layer_count_above",), over=whole_board, formula=FORMULA, by_stackup="decided")
def more_layers_than_usual(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding above the clause's count."""
    most = clause.limit.max
    if most is not None:
        ctx.shows("the board", n=board.layer_count, n_max=most)
    if most is not None and board.layer_count > most:
        yield DraftFinding(
            title=f"{board.layer_count} copper layers, usual maximum {most:g}",
            why="Every pair of layers costs lamination, drilling depth and registration",
            fix="Keep them if they are needed. Otherwise look for planes that can be shared",
            ids=("layers",),
            measured=Measured(value=board.layer_count, unit="layers"),
            limit_value=most,
        )
