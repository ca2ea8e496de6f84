"""The board has fewer copper layers than boards of its kind.

What it checks
--------------
The number of copper layers in the board's layer table against the least that the requirement documents give for
the workload or board type.

Why it matters
--------------
Fast links need layers between ground planes, and high currents need planes of their own. With fewer layers one
of them is given up.

How to fix
----------
Check that the profile is the right one for this board (`stackwright profiles`). If it is, plan the stackup
anew: adding layers late moves every stripline.

What it cannot see
------------------
A layer counts because it is in the table, even where nothing is on it, so empty layers can make up the number. The
limit is what documents call usual for a kind of board; it is not derived from this board's links, rails and packages: a
small board that does with fewer fails, and a dense one that would need more passes.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.model import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board

FORMULA = """
n ≥ n_min

n: copper layers
n_min: the least for the workload
"""


@rule("STK008", kinds=("layer_count",), over=whole_board, formula=FORMULA)
def too_few_layers(ctx: Context, clause: Clause, board: Board) -> Iterator[Draft]:
    """Yield one finding below the clause's count."""
    least = clause.limit.min
    if least is not None:
        ctx.shows("the board", n=board.layer_count, n_min=least)
    if least is not None and board.layer_count < least:
        yield Draft(
            title=f"{board.layer_count} copper layers; {clause.title}",
            why="fast links need layers between ground planes and high currents planes of their own",
            fix=f"plan a stackup of at least {least:g} layers, or choose the profile that this board is for",
            ids=("layers",),
            measured=Measured(value=board.layer_count, unit="layers"),
            limit_value=least,
            limit_unit="layers",
        )
