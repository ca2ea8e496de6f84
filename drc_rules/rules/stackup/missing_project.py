"""There is no `.kicad_pro` beside the board.

What it checks
--------------
Whether the project file lies beside the board under the same name. Since KiCad 6 net classes, their patterns
and the text variables are kept there and not in the board.

Why it matters
--------------
Without net classes a fast net can only be told by its name, and its intended impedance not at all.

How to fix
----------
Check in the `.kicad_pro` together with the board, or copy it beside the board before the check.

What it cannot see
------------------
A file of that name is enough: a project of an older revision, of another board, or one without any net class passes.
Whether the `.kicad_dru` or the schematic is there is not asked; boards of KiCad 5 and older hold their classes
themselves and are never reported.

Sources
-------
KiCad 6 to 10: net_settings and text_variables are stored in the project file.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.advice import lacks_project
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("STK004", kinds=("project_present",), over=whole_board)
def missing_project(ctx: Context, clause: Clause, board: Board) -> Iterator[Draft]:
    """Yield one finding when the project file is missing."""
    if board.path is None or not lacks_project(board):
        return
    wanted = board.path.with_suffix(".kicad_pro").name
    yield Draft(
        title=f"there is no {wanted} beside the board, so its net classes are unknown",
        why="fast nets can only be told by their names, and their intended impedance not at all",
        fix=f"put {wanted} beside the board and check it in together with it",
        ids=("project",),
    )
