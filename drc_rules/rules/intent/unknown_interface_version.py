"""A fast interface is on the board, but nobody has said of which generation.

What it checks
--------------
Families of fast links (PCIe, NVLink, Ethernet ...) that were found by net class or net name, and whose
generation neither `stackwright.toml` nor the profile nor a name states.

Why it matters
--------------
PCIe Gen3 runs on any laminate, Gen5 on few: laminate, foil, backdrill and tolerance all hang on the generation.
Without it they are not verifiable, and nothing about them is passed.

How to fix
----------
Paste the `[[interface]]` lines from the report into `stackwright.toml` and fill in the generation.

What it cannot see
------------------
Only what was recognised is asked about: fast nets whose names and classes read as nothing raise no question, and none
of their clauses exist. A generation that a name spells out, or that the profile brings, is believed without asking,
also where the link is run slower or faster. A family of which the workload's documents demand nothing is not asked
about either.

Sources
-------
A KiCad net has no field for its signalling standard; names such as `PCIE_TX0_P` give the family only.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact


@rule("NET001", aliases=("undeclared-generation",), kinds=("interface_generation",), over=whole_board)
def unknown_interface_version(ctx: Context, clause: Clause, _board: Board) -> Iterator[Draft]:
    """Never yields: the clause stays not verifiable until the generation is declared."""
    family = clause.interface or ""
    how = f'[[interface]]\nis = "?"  # {", ".join(clause.limit.choices)}\n{ctx.assignment_lines(family)}'
    raise MissingFact(f"the generation of {family}", how)
    yield  # a generator like every rule
