"""No copper joins the source of a declared rail to one of its loads.

What it checks
--------------
Whether the fills, tracks, pads, vias and plated holes of the net, as the file holds them, lead from the pads of
`from` to every one of `to`. Missing or stale fills make it not verifiable. Copper drawn as graphics, and custom pads
beyond their anchor, are not read.

Why it matters
--------------
A rail that is not joined feeds nothing, or is joined by something that this check does not know, such as a part: then
it is two rails.

How to fix
----------
Route it, or fill the zones. Where a fuse, inductor, shunt or net tie lies between, declare each net as a rail of its
own.

What it cannot see
------------------
Joined means that copper touches: a bridge a few micrometres wide joins a rail as a plane does, and how much it bears is
other rules' question. Copper drawn as graphics and the free part of a custom pad are not read, so that a rail which
leads through them alone is called broken. What a via's barrel, a press-fit pin or a solder joint is really worth is not
in the file, and rails that nobody declares are not looked at at all.

Sources
-------
The board file itself: what KiCad stores of fills, tracks, pads, vias and holes of the net.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.report.model import Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.settings.config_power import RailDeclaration


def _rails(ctx: Context, _clause: Clause) -> tuple[RailDeclaration, ...]:
    return PowerRails(ctx).declared


@rule("PDN003", aliases=("broken-rail",), kinds=("rail_joined",), over=_rails, reads_fills=True)
def open_power_rail(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[Draft]:
    """Yield one finding per rail that is not whole."""
    broken = PowerRails(ctx).broken(row)
    if broken:
        yield Draft(
            title=f"{row.net}: {broken}",
            why="no current flows there, or it flows through something that is not in the file",
            fix="route it and fill the zones; where a part lies between, declare two rails",
            ids=(row.net,),
            places=(Place(net=row.net),),
        )
