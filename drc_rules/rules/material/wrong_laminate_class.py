"""A dielectric beside a fast layer is of a lossier class than the workload asks for.

What it checks
--------------
The loss class of each ply that touches a layer with fast nets against the least class of the clause: standard,
mid, low, very-low, ultra-low, super-ultra-low, by Df near 10 GHz. A laminate that the requirement names meets
it by name.

Why it matters
--------------
The class is how laminates are chosen and quoted long before lengths are known. One class too low is rarely
mended later: it changes every height and width on the board.

How to fix
----------
Choose a laminate of the class for the plies beside the fast layers (`stackwright materials very-low`). Power
and ground layers that no fast layer touches may stay in FR4.

What it cannot see
------------------
A family has one class, from its Df near 10 GHz: resin-rich spread glass and standard weave of it are alike here, a Df
declared in `stackwright.toml` does not change it, and how Df rises toward Nyquist is excess-link-loss's question. Two
laminates on either side of a border may differ by a few per cent in Df. A named laminate meets the row in whatever
construction it is bought.

Sources
-------
Each clause names document, table and row. The class borders are Stackwright's own, because makers use the same
words for different losses: `stackwright materials` prints class and Df.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.over import FastPly, fast_plies
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from drc_rules.rules.material._named import is_named
from stackup_lib.materials import LossClass


@rule("MAT002", kinds=("laminate_class",), over=fast_plies)
def wrong_laminate_class(ctx: Context, clause: Clause, fast: FastPly) -> Iterator[Draft]:
    """Yield one finding per ply below the class."""
    ply = fast.ply
    if is_named(ctx, ply, clause):
        return
    wanted = LossClass(clause.limit.at_least)
    found = ctx.need(ply.loss_class)
    if found < wanted:
        yield Draft(
            title=f"{ply.label} ({ply.stated}) beside {fast.touching} is {found.label} loss; {clause.title}",
            why="one class too lossy changes every height and width when it is mended late",
            fix=f"choose {wanted.label}-loss laminate for the plies beside {fast.touching}",
            ids=(ply.label,),
            measured=Measured(value=found.label, unit="loss class"),
            limit_value=wanted.label,
            limit_unit="loss class",
            places=(Place(layer=ply.row), *(Place(layer=layer.name) for layer in fast.layers)),
            inferred=fast.inferred,
        )
