"""A via of an interface that demands backdrilling keeps its stub.

What it checks
--------------
Every via and plated pad on the interface's nets: the barrel beyond the last layer that uses it, at both ends. A layer
uses a hole where a track, a surface pad, a via or the stored fill of a zone of the net touches it there. A stub longer
than the clause's length needs a backdrill from that side: KiCad 10's own, or one declared in `stackwright.toml` for
files that cannot hold it. A blind or micro via that ends where it is used has no stub.

Why it matters
--------------
A stub is an open line beside the signal: at the frequency at which it is a quarter wave long it shorts the
signal out, and well below that it already eats the eye.

How to fix
----------
Set the backdrill in the via's properties (KiCad 10), with the must-cut layer next to the layer that the signal
leaves on; or route the pair on a layer near the far side; or use blind vias.

What it cannot see
------------------
Arcs count as their chords and pads as the circle around their size: a signal that leaves by copper graphics or by the
free part of a custom pad alone gives a false alarm. Fills are taken as they are stored, and one that touches a hole
uses it even where it leads nowhere from there. A declared drill is believed for every hole of its nets; how deep the
fab really goes, and what a press-fit pin fills, no file tells. Nets that nobody took for the interface are not looked
at, and one hole that nothing reaches leaves its whole net open.

Sources
-------
Each clause names document, table and row. The length below which nothing is asked for is what backdrilling
itself leaves behind: 0.25 mm is the common standard of fabs. A backdrill that leaves more than 0.5 mm standing,
the most that NCAB names as its standard, does not count as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drc_rules.clauses import Clause
from drc_rules.context import DECLARE_STACKUP, FILL_ZONES, Context
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.facts import MissingFact
from stackup_lib.holes import PlatedHole, Stub, copper_heights_mm, plated_holes, stubs

LEFT_STANDING_MM = 0.5
"""Longest stub that fabs leave as standard above the layer that must not be cut (NCAB: 0.5 +-0.25 mm)."""


@dataclass(frozen=True)
class DrilledNet:
    """A net of the interface and its plated holes."""

    index: int
    name: str
    holes: tuple[PlatedHole, ...]


def _nets_with_holes(ctx: Context, clause: Clause) -> Iterator[DrilledNet]:
    if clause.limit.required is not True:
        return
    nets = ctx.nets_of_clause(clause)
    by_net: dict[int, list[PlatedHole]] = {}
    for hole in plated_holes(ctx.board, nets):
        by_net.setdefault(hole.net, []).append(hole)
    for net in sorted(by_net, key=lambda index: ctx.board.nets[index]):
        yield DrilledNet(net, ctx.board.nets[net], tuple(by_net[net]))


FORMULA = """
L ≤ L_max

L: longest stub of the net that no backdrill takes away [mm]
L_max: longest that needs no backdrill [mm]
"""


@rule("VIA001", kinds=("backdrill",), over=_nets_with_holes, formula=FORMULA)
def missing_backdrill(ctx: Context, clause: Clause, net: DrilledNet) -> Iterator[Draft]:
    """Yield one finding per net with stubs that nobody drills away; the longest gives the number."""
    ctx.rests_on(ctx.assignment.confidence_of(net.index))
    unused = next((hole for hole in net.holes if not hole.used), None)
    if unused:
        where = f"{net.name} at {unused.x_mm:g}, {unused.y_mm:g} mm"
        raise MissingFact(f"which layers use the hole of {where}", "route it, or take it away")
    if any(hole.is_unsure for hole in net.holes):
        raise MissingFact(f"which layers use the holes of {net.name}", FILL_ZONES)
    if all((hole.top, hole.bottom) == (hole.used[0], hole.used[-1]) for hole in net.holes):
        return
    heights = copper_heights_mm(ctx.stackup())
    if len(heights) != ctx.board.layer_count:
        raise MissingFact("a stackup with a thickness for every layer of the board", DECLARE_STACKUP)
    allowed = clause.limit.max or 0.0
    standing = [s for s in stubs(net.holes, heights) if not _drilled(ctx, s, heights)]
    ctx.shows(net.name, L=max((s.length_mm for s in standing), default=0.0), L_max=allowed)
    left = sorted((s for s in standing if s.length_mm > allowed), key=lambda s: -s.length_mm)
    if not left:
        return
    worst = left[0]
    names = [layer.name for layer in ctx.board.copper_layers]
    span = f"from {names[worst.first]} to {names[worst.side]}"
    count = f", and {len(left) - 1} more" if len(left) > 1 else ""
    yield Draft(
        title=f"{net.name}: {worst.length_mm:.2f} mm stub {span}, not backdrilled{count}",
        why="the stub is an open line beside the signal and eats the eye long before it resonates",
        fix=f"backdrill from {names[worst.side]} up to the layer next to {names[worst.first]}",
        ids=(net.name,),
        measured=Measured(value=round(worst.length_mm, 4), unit="mm"),
        limit_value=allowed,
        limit_unit="mm",
        places=tuple(
            Place(layer=names[s.side], net=net.name, uuid=s.hole.uuid, x_mm=s.hole.x_mm, y_mm=s.hole.y_mm) for s in left
        ),
        inferred=not ctx.assignment.is_declared(net.index),
    )


def _drilled(ctx: Context, stub: Stub, heights_mm: tuple[float, ...]) -> bool:
    """A native or declared backdrill from the stub's side that takes it away but for what fabs leave standing."""
    declared = [drill for drill, nets in ctx.declarations.backdrills if stub.hole.net in nets]
    return any(
        drill.start == stub.side and abs(heights_mm[drill.must_cut] - heights_mm[stub.first]) <= LEFT_STANDING_MM
        for drill in (*stub.hole.backdrills, *declared)
    )
