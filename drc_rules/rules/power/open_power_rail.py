"""No copper connects the source of a declared rail to one of its loads.

What it checks
--------------
Whether the fills, tracks, pads, vias and plated holes of the net, as stored in the file, connect the pads of `from` and
`to` by copper alone: no part counts as a conductor, not even between its own pads. It fails where no copper leads from
a source to a load, or from one of the sources to any load. It is not verifiable where only single pads of a part are
apart (name the pads that carry current, like `U1.2`), where only graphics without a net join it, where fills are
missing or stale, where a source or load is not fitted (DNP), or where only jumpers join it: pads that KiCad 10 holds
joined inside a part, such as the pins of a switch.

Why it matters
--------------
A rail that is not connected supplies nothing, or is joined by something that this check does not know, such as a part:
then it is two rails.

How to fix
----------
Route it, or fill the zones. Where a fuse, inductor, shunt or net tie is between, declare each net as a rail of its own.

What it cannot see
------------------
Any touching copper connects, however narrow. Pads joined inside a part count as apart unless its footprint says so.

Sources
-------
The board file itself: what KiCad stores of fills, tracks, pads, vias and holes of the net.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import declared_rails
from drc_rules.settings.config_power import RailDeclaration


@rule(
    "PDN003",
    aliases=("broken-rail",),
    kinds=("rail_joined",),
    over=declared_rails,
    reads_fills=True,
    by_stackup="unmoved",
)
def open_power_rail(ctx: Context, _clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding per rail that is not whole."""
    broken = PowerRails(ctx).broken(row)
    if broken:
        yield DraftFinding(
            title=f"open rail: {row.net}, {broken}",
            why="No current flows there, or it flows through something that is not in the file",
            fix="Route it and fill the zones. Where a part is between, declare two rails",
            ids=PowerRails(ctx).ids_of(row),
            places=(Location(net=row.net),),
        )
