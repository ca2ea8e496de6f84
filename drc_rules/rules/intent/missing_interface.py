"""The profile's board type carries an interface of which no net is known.

What it checks
--------------
Whether at least one net is known for each interface that the profile says its type of board always has, such as
NVLink on a training baseboard.

Why it matters
--------------
Where no net is known, none of the interface's clauses can be decided: a board is not fit for training because
its NVLink nets have odd names.

How to fix
----------
Declare the nets: `[[interface]]` with their net class or a wildcard. If the board really has none, another
profile is the right one.

What it cannot see
------------------
One net that reads as the family is enough, and the question is gone: a baseboard with one lane out of eighteen, or with
a pair that only has such a name, is not noticed. It is about names and declarations, not circuits: whether the nets
lead from a GPU to a switch, and of which generation they are, is not asked here.

Sources
-------
Each clause names the document that says what the board type carries.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("NET002", aliases=("absent-interface",), kinds=("interface_present",), over=whole_board)
def missing_interface(ctx: Context, clause: Clause, _board: Board) -> Iterator[Draft]:
    """Never yields: without nets the clause is not verifiable."""
    ctx.nets_of_clause(clause)
    yield from ()
