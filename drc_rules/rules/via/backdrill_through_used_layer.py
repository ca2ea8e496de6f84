"""A backdrill, counterbore or countersink cuts a layer that its net uses.

What it checks
--------------
Every backdrill, KiCad 10's own or declared, against the layers on which a track, a surface pad, a graphic or the
filled copper of the same net meets the hole: none of them may lie between the drill's start and its must-cut layer.
KiCad 10's counterbores and countersinks of plated holes count as drills through each layer whose face they reach.

Why it matters
--------------
The drill removes the plating: the track on that layer is disconnected, and the net is open.

How to fix
----------
End the drill before the layer that is used: its must-cut layer is the last one that the net does not use. Or drill from
the other side.

What it cannot see
------------------
Copper graphics without a net do not count as use, so such a layer is cut unnoticed. The fab's depth tolerance is not
judged.

Sources
-------
KiCad's file format: a backdrill starts at an outer layer and passes every layer up to and including its must-cut one.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.drilled_holes import BACKDRILL, DrilledHole, drilled_holes, place_of
from drc_rules.analysis.via.high_speed_vias import unknown_use
from drc_rules.analysis.via.machined_holes import machined_plated
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule


def _drilled(ctx: Context, _clause: Clause) -> Iterator[DrilledHole]:
    yield from drilled_holes(ctx)
    yield from ctx.get(machined_plated)


@rule("VIA005", kinds=("backdrill_spares_used",), over=_drilled, reads_fills=True)
def backdrill_through_used_layer(ctx: Context, _clause: Clause, drilled: DrilledHole) -> Iterator[DraftFinding]:
    """Yield one finding per drill that passes used layers."""
    hole, drill, kind = drilled.hole, drilled.drill, drilled.kind
    is_backdrill = kind == BACKDRILL
    # a pin alone is none for what is milled around its hole
    cut = [layer for layer in drilled.passed if layer in hole.used and (is_backdrill or layer != hole.pin_side)]
    if not cut:
        if drilled.lacks:
            raise drilled.lacks
        if (is_backdrill or hole.is_unsure) and (missing := unknown_use(ctx, hole)):
            raise missing
        return
    names = [layer.name for layer in ctx.board.copper_layers]
    words = ", ".join(names[layer] for layer in cut)
    yield DraftFinding(
        title=(
            f"{kind} cuts {words}, used by its net: {ctx.board.nets[hole.net] or 'no net'}, "
            f"{kind} from {names[drill.start]} to {names[drill.must_cut]}"
        ),
        why="The drill removes the plating, and the net is open there",
        fix=f"End the drill before {names[min(cut, key=lambda layer: abs(layer - drill.start))]}"
        if is_backdrill
        else f"Route the net on a layer that the {kind} does not reach, or make the {kind} shallower",
        ids=(
            hole.uuid or f"{hole.x_mm:g},{hole.y_mm:g}",
            names[drill.start],
            *([names[drill.must_cut]] if is_backdrill else [kind]),
        ),
        places=(place_of(ctx, drilled, cut[0]),),
    )
