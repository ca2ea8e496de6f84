"""No ground copper leads from a load of a declared rail back to its source.

What it checks
--------------
Whether the fills, tracks, pads, vias and plated holes of the ground net lead from the ground pads of every load of a
`[[rail]]` back to those of its source. It is not verifiable where the way back is not known, and says what to declare:
`ground_from` where the source has no ground pads of its own (a fuse, a connector of one net), `ground_to` where a load
has none (a switch, another inductor), `ground` where several nets might be it. For an inductor or shunt as source the
ground pads of the part that drives it are taken. Missing or stale fills make it not verifiable, too. Where it passes,
excess-ir-drop counts what the way back takes.

Why it matters
--------------
The current of a load comes back. Where its ground is not joined to that of its regulator, it goes through chassis,
cable shields and signal lines, or the board does not work.

How to fix
----------
Join the grounds by copper and vias, or fill the zones. Where a net tie, a ferrite or a connector lies between two
grounds, state with `ground_from` and `ground_to` where the current leaves and enters one of them.

What it cannot see
------------------
Joined means that copper touches, however little; what it takes is the business of excess-ir-drop. Ground is a matter of
names (GND, VSS, EARTH, CHASSIS, 0V with what usually surrounds them) unless `ground` names another. That the current
of a load really leaves by its ground pads, and not by a second rail, is taken for granted. The pads of a part are one
potential, so that a load and a source in one package are joined whatever the copper does. Standoffs, shields, cables
and copper drawn as graphics are not read, so that a ground which is joined by them alone is called broken; ground
copper of rails that nobody declares is not looked at.

Sources
-------
The board file itself: what KiCad stores of fills, tracks, pads, vias and holes of the ground net.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.report.model import Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.layer_roles import is_ground


def _rails(ctx: Context, _clause: Clause) -> Iterator[RailDeclaration]:
    return (row for row in PowerRails(ctx).declared if not is_ground(row.net))


@rule("PDN007", aliases=("broken-return",), kinds=("rail_return_joined",), over=_rails, reads_fills=True)
def open_ground_return(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[Draft]:
    """Yield one finding per rail whose loads have no way back."""
    back = PowerRails(ctx).returned(row)
    names = list(row.to)
    apart = [name for name, load in zip(names, back.loads, strict=True) if not load.joined]
    if not apart:
        return
    yield Draft(
        title=f"{row.net}: no copper of {back.net} leads from the ground pads of {', '.join(apart)} back to those of "
        "its source",
        why="the current comes back by a way that is not in the file, or not at all",
        fix="join the grounds by copper and vias, and fill the zones",
        ids=(row.net, back.net),
        places=(Place(net=back.net),),
        inferred=bool(back.inferred),
    )
