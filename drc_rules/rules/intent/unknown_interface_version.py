"""A high-speed interface is on the board, but its generation is not specified.

What it checks
--------------
Families of high-speed links (PCIe, NVLink, Ethernet ...) that were found by net class or net name, and whose generation
neither `stackwright.toml` nor the profile nor a name states.

Why it matters
--------------
PCIe Gen3 works on any laminate, Gen5 on few: laminate, foil, backdrill and tolerance all depend on the generation.
Without it they are not verifiable, and none of them passes.

How to fix
----------
Paste the `[[interface]]` lines from the report into `stackwright.toml` and fill in the generation.

What it cannot see
------------------
Only recognised families are checked: high-speed nets with other names raise no question. A generation from a name or
the profile is believed, even where the link runs slower or faster. Families without requirements in the workload's
documents are skipped.

Sources
-------
A KiCad net has no field for its signalling standard; names such as `PCIE_TX0_P` give the family only.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("NET001", aliases=("undeclared-generation",), kinds=("interface_generation",), over=whole_board)
def unknown_interface_version(ctx: Context, clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Never yields: the clause stays not verifiable until the generation is declared."""
    raise generation_of(ctx, clause.interface or "")
    yield  # a generator like every rule
