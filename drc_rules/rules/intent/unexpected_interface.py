"""The board has an interface that boards of its profile do not have.

What it checks
--------------
Families of interfaces on the board that the profile's documents rule out, such as NVLink on a PCIe card.

Why it matters
--------------
Either the profile is not the board's, and its requirements are too mild, or the nets are misnamed.

How to fix
----------
Choose the profile that fits (`stackwright profiles`), or declare the nets' interface.

What it cannot see
------------------
Only names count: an interface under names of its own passes, and nets that merely match (an unused connector, a debug
header) are reported until declared otherwise. Nets count whether routed or not; control and clock nets do not.

Sources
-------
Each clause names document, table and row.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import families
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board

SHOWN = 5


FORMULA = """
n ≤ 0

n: nets assigned to a family that such a board does not have
"""


def _families() -> list[str]:
    return [one.id for one in families()]


@rule("NET003", kinds=("unexpected_interface",), over=whole_board, formula=FORMULA, choices=_families)
def unexpected_interface(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding per family that should not be there."""
    for family in clause.limit.choices:
        nets = ctx.nets_of(family)
        ctx.shows(family, n=len(nets))
        if not len(nets):
            continue
        rest_on_assignment(ctx, nets)
        first = [board.nets[net] for net in nets[:SHOWN].tolist()]
        yield DraftFinding(
            title=f"{len(nets)} nets are assigned to {family} ({first[0]} ...); required: {clause.title}",
            why="Either the board is judged by the wrong profile, or the nets are misnamed",
            fix="Choose the profile that fits, or declare the nets' interface",
            ids=(family,),
            measured=Measured(value=len(nets), unit="nets"),
            limit_value=0,
            places=tuple(Location(net=name) for name in first),
            inferred=not any(ctx.assignment.is_declared(net) for net in nets.tolist()),
        )
