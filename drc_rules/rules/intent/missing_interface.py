"""The profile's board type has an interface to which no net is assigned.

What it checks
--------------
Whether at least one net is assigned to each interface that the profile says its type of board always has, such as
NVLink on a training baseboard.

Why it matters
--------------
Where no net is assigned, none of the interface's clauses can be decided: otherwise a board would be fit for training
because its NVLink nets have unusual names.

How to fix
----------
Declare the nets: `[[interface]]` with their net class or a wildcard. If the board really has none, choose another
profile.

What it cannot see
------------------
One net of the family is enough: a baseboard with one lane out of eighteen, or with one pair of such a name, passes.
Names and declarations decide, not circuits: ends and generation of the nets are not checked.

Sources
-------
Each clause names the document that says what the board type carries.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("NET002", aliases=("absent-interface",), kinds=("interface_present",), over=whole_board)
def missing_interface(ctx: Context, clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Never yields: without nets the clause is not verifiable."""
    ctx.nets_of_clause(clause)
    yield from ()
