"""There is no `.kicad_pro` next to the board.

What it checks
--------------
Whether the project file is next to the board under the same name. Since KiCad 6 it holds net classes, their patterns
and the text variables, not the board file.

Why it matters
--------------
Without net classes only its name identifies a high-speed net, and its configured impedance is unknown.

How to fix
----------
Check in the `.kicad_pro` together with the board, or copy it next to the board before the check.

What it cannot see
------------------
A file of that name is enough: a project of an older revision, of another board, or without any net class passes.
`.kicad_dru` and schematic are not checked. Boards of KiCad 5 and older hold their own classes.

Sources
-------
KiCad 6 to 10: net_settings and text_variables are stored in the project file.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.advice import lacks_project
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.kicad.companions import companion


@rule("STK004", kinds=("project_present",), over=whole_board)
def missing_project(_ctx: Context, _clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding when the project file is missing."""
    if board.path is None or not lacks_project(board):
        return
    project = companion(board.path, ".kicad_pro")
    wanted, dangling = project.name, project.is_symlink()
    what = f"{wanted} is a link that leads nowhere" if dangling else f"no {wanted} next to the board"
    yield DraftFinding(
        title=f"{what}: net classes unknown",
        why="Only their names identify high-speed nets, and their configured impedance is unknown",
        fix=f"Put {wanted} next to the board and check in both together",
        ids=("project",),
    )
