"""The exposed pad of a package has no via.

What it checks
--------------
The exposed pads of fitted integrated circuits that no `[[hot_part]]` declares: a surface pad in the middle of at least
eight others, six times their usual area and 2 mm² or more, with a net. A via of that net, or a plated hole, has its
centre in the pad, or between the pieces of one that is drawn as several.

Why it matters
--------------
The exposed pad is the way of the heat, and often the only ground of the chip. Without vias both end in the outer
copper.

How to fix
----------
Add vias to the planes, as the part's data sheet draws them. Ignore the remark where the part gives off next to nothing
and its ground leaves by the outer layer.

What it cannot see
------------------
The power of the part: some data sheets of low-power parts need no via. Copper on the outer layer that leads to vias
around the part. How many vias are enough.

Sources
-------
Data sheets of parts with an exposed pad draw vias in it; some makers allow none on boards with planes. Hence never more
than information.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.thermal.exposed_pads import ExposedPad, exposed_pads
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule

FORMULA = """
n ≥ 1

n: vias and plated holes in the exposed pad
"""


def _undeclared(ctx: Context, _clause: Clause) -> Iterator[ExposedPad]:
    """The exposed pads that belong to no declared high-power component."""
    declared = {ref for part in ctx.declarations.config.hot_part for ref in part.refs}
    yield from (one for one in ctx.get(exposed_pads) if one.reference not in declared)


@rule("THM006", kinds=("bare_exposed_pad",), over=_undeclared, formula=FORMULA)
def bare_exposed_pad(ctx: Context, _clause: Clause, pad: ExposedPad) -> Iterator[DraftFinding]:
    """Yield one finding per exposed pad without a via."""
    ctx.shows(pad.reference, n=pad.vias)
    if pad.vias:
        return
    board, net = ctx.board, ctx.board.nets[pad.net]
    width, height = pad.size_mm
    yield DraftFinding(
        title=f"{pad.reference}: no via in its exposed pad, {width:.1f} x {height:.1f} mm on {net}",
        why="Heat and ground current of the chip end in the outer copper",
        fix="Add vias to the planes as the data sheet draws them; ignore this where it needs none",
        ids=(pad.reference, pad.number),
        measured=Measured(value=0, unit="vias"),
        limit_value=1,
        places=tuple(
            Location(
                layer=board.copper_layers[-1 if board.footprints.back[pad.footprint] else 0].name,
                net=net,
                uuid=str(board.pads.uuid[row]),
                x_mm=float(board.pads.x_mm[row]),
                y_mm=float(board.pads.y_mm[row]),
            )
            for row in pad.rows
        ),
    )
