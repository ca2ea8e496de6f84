"""The board has fewer copper layers than its workload requires.

What it checks
--------------
The number of copper layers in the board's layer table against the minimum in the requirement documents for the workload
or board type. A routed board with no copper on any inner layer is not verifiable: its planes are still to be drawn.

Why it matters
--------------
High-speed links need layers between ground planes, and high currents need planes of their own. With too few layers one
of them is missing.

How to fix
----------
Check that the profile is the right one for this board (`stackwright profiles`). If it is, plan a new stackup: adding
layers late moves every stripline.

What it cannot see
------------------
Single inner layers without copper, and whether copper makes a plane. The limit is usual for a kind of board, not
derived from this board's links, rails and packages: a small board may need fewer layers, a dense one more.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.words import count, listed

DRAW_PLANES = "in KiCad, draw the planes of the empty layers, fill all zones and save the board"

FORMULA = """
n ≥ n_min

n: copper layers
n_min: minimum for the workload
"""


@rule("STK008", kinds=("layer_count",), over=whole_board, formula=FORMULA, by_stackup="decided")
def too_few_layers(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding below the clause's count."""
    least = clause.limit.min or 0.0
    ctx.shows("the board", n=board.layer_count, n_min=least)
    if board.layer_count < least:
        yield DraftFinding(
            title=(
                f"{count(board.layer_count, 'copper layer')}, "
                f"{'' if clause.severity is Severity.ERROR else 'preferred '}minimum {least:g}"
            ),
            why="High-speed links need layers between ground planes, and high currents planes of their own",
            fix=f"Plan a stackup of {least:g} layers or more, or choose the profile that fits this board",
            ids=("layers",),
            measured=Measured(value=board.layer_count, unit="layers"),
            limit_value=least,
        )
        return
    if empty := _undrawn(board):
        raise MissingFact(f"copper on {listed(empty)}", DRAW_PLANES)


def _undrawn(board: Board) -> list[str]:
    """Return the inner layers of a routed board where none of them has a track, a zone or a graphic."""
    inner = board.copper_layers[1:-1]
    if not board.has_joining_copper:  # the headline says so
        return []
    drawn = np.concatenate([board.zones.layers[board.zones.is_rule_area == 0], board.drawings.layers])
    used = (np.any(board.tracks.layer == k) or np.any(holds_layer(drawn, k)) for k in range(1, len(inner) + 1))
    return [] if any(used) else [layer.name for layer in inner]
