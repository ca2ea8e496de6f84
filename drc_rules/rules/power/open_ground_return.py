"""No ground copper connects a load of a declared rail to its source.

What it checks
--------------
Whether the fills, tracks, pads, vias and plated holes of the ground net connect the ground pads of every load of a
`[[rail]]` to those of its source, by copper alone: neither its own parts nor those of other rails count as conductors.
It is not verifiable where only single pads are apart, or one of several sources, and says which. It is not verifiable
either where the return path is not known, and says what to declare:
`ground_from` where the source has no ground pads of its own (a fuse, a connector of one net), `ground_to` where a load
has none (a switch, another inductor), `ground` where several nets are candidates, and where only jumpers join it, pads
that KiCad 10 holds joined inside a part. For an inductor or shunt as source
the ground pads of the part that drives it count. Missing or stale fills make it not verifiable, too. Where it passes,
`excess-ir-drop` adds the drop of the return.

Why it matters
--------------
The current of a load returns. Where its ground is not connected to that of its regulator, it flows through chassis,
cable shields and signal lines, or the board does not work.

How to fix
----------
Connect the grounds by copper and vias, or fill the zones. Where a net tie, a ferrite or a connector joins two grounds,
state with `ground_from` and `ground_to` where the current leaves and enters one of them.

What it cannot see
------------------
Any touching copper connects. Ground is known by name unless `ground` states it. Pads joined inside a part count as
apart unless its footprint says so. Standoffs, shields and cables are not read: ground joined there is a false alarm.

Sources
-------
The board file itself: what KiCad stores of fills, tracks, pads, vias and holes of the ground net.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.layer_roles import is_ground


def _rails(ctx: Context, _clause: Clause) -> Iterator[RailDeclaration]:
    return (row for row in PowerRails(ctx).declared if not is_ground(row.net))


@rule(
    "PDN007",
    aliases=("broken-return",),
    kinds=("rail_return_joined",),
    over=_rails,
    reads_fills=True,
    by_stackup="unmoved",
)
def open_ground_return(ctx: Context, _clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding per rail whose loads have no way back."""
    back = PowerRails(ctx).returned(row)
    names = list(row.to)
    apart = [name for name, load in zip(names, back.loads, strict=True) if not load.joined]
    if not apart:
        return
    yield DraftFinding(
        title=(
            f"open ground return: {row.net}, no {back.net} copper from the ground pads of "
            f"{', '.join(apart)} to those of its source"
        ),
        why="The current returns by a path that is not in the file, or not at all",
        fix="Connect the grounds by copper and vias, and fill the zones",
        ids=(*PowerRails(ctx).ids_of(row), back.net),
        places=(Location(net=back.net),),
        inferred=bool(back.inferred),
    )
