"""The board has no stackup, or only KiCad's untouched default.

What it checks
--------------
Whether the board file holds an entered stackup. KiCad writes a stackup of its own into every new board: FR4 with Dk 4.5
everywhere, in equal heights that add up to the board thickness, or with prepregs of 0.1 mm once a layer count was
picked. Layers that were added to a new board of KiCad 6 or 7 have 1.51 mm each: four of them make 4.69 mm, which the
title says and `suggest` does not take for wanted, also where a layer count was picked later. No fab builds that board
with more than two layers.

Why it matters
--------------
Heights, materials and losses of the default are not the fab's. Every impedance and loss computed from them is wrong,
and the fab will choose a stackup of its own. All clauses on materials, impedance and loss are not verifiable.

How to fix
----------
Ask the fab for its stackup for this layer count and thickness, enter it under File > Board Setup > Physical
Stackup, and save the board.

What it cannot see
------------------
Any edit makes a stackup count as entered: defaults with one laminate renamed, or another project's stackup, pass. A
real FR4 board with Dk 4.5 in equal heights is reported until a laminate is named. KiCad 5 stores no stackup.

Sources
-------
The formula of the default: KiCad 6 to 10, seen in boards that they wrote. A two-layer default is only information: its
one core of 1.51 mm is what most fabs build.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.board.default_stackup import is_grown_default
from stackup_lib.core.words import count


@rule("STK001", kinds=("stackup_declared",), over=whole_board, by_stackup="decided")
def undeclared_stackup(ctx: Context, _clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding for a missing or default stackup."""
    if board.stackup is None:
        title = f"no stackup in the board file for its {count(board.layer_count, 'copper layer')}"
    elif ctx.is_default_stackup:
        title = f"the {board.layer_count}-layer stackup is KiCad's untouched default: FR4, Dk 4.5 throughout"
        if is_grown_default(board) and board.thickness_mm is not None:
            title += f", {board.thickness_mm:g} mm thick because every added layer brought 1.51 mm"
    else:
        return
    yield DraftFinding(
        title=title,
        why="It proves nothing about material, impedance or loss, and the fab will choose its own stackup",
        fix="Enter the fab's stackup in KiCad, File > Board Setup > Physical Stackup, and save the board",
        ids=("stackup",),
        measured=Measured(value="none" if board.stackup is None else "KiCad default"),
        severity=Severity.INFO if board.layer_count <= 2 else None,
    )
