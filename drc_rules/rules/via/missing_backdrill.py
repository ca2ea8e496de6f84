"""A via of an interface that requires backdrilling has a stub that is too long.

What it checks
--------------
Every via and plated pad on the interface's nets: the barrel beyond the last layer that uses it, at both ends. A layer
uses a hole where a track, a surface pad, a via, a graphic or the stored fill of a zone of the net touches it there. A
stub longer than the clause's length needs a backdrill from that side: KiCad 10's own, or one declared in
`stackwright.toml` for files that cannot hold it; where they disagree, the shallower counts. The remaining stub counts
against the same length: it starts between the must-cut layer and the next one, nominally half way. Where only a part of
that range is too long, and the nominal length with it, it is not verifiable; nor is it where the stub is gone only if a
backdrill no wider than the hole's own drill takes all plating away. A blind via or microvia that ends where it is used
has no stub.

Why it matters
--------------
A stub is an open line in parallel with the signal. At its quarter-wave frequency it shorts the signal, and well below
that it degrades the eye.

How to fix
----------
Set the backdrill in the via's properties (KiCad 10), with the must-cut layer next to the layer where the signal leaves.
Or route the pair on a layer near the far side, or use blind vias. Delete a via that the net leaves on no other layer.

What it cannot see
------------------
Signals that leave by copper graphics without a net give false alarms. Fills count as stored, even where
they lead nowhere. Declared drills and drill depth are believed. Nets not assigned to the interface are not checked.

Sources
-------
Each clause names document, table and row. Stubs shorter than what backdrilling itself leaves pass: 0.25 mm is the
common standard of fabs (Altium, NCAB's better class; its standard is 0.5 +-0.25).
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.stub_removal import doubt_of_drill, ways_out
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import told_apart
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import (
    Backdrill,
    PlatedHole,
    Stub,
    drill_from,
    plated_holes,
    residual_mm,
    stubs,
)


@record
class LeftStub:
    """A stub with the backdrill from its side, and what is left of it in mm; without a drill the whole stub."""

    stub: Stub
    drill: Backdrill | None
    length_mm: Interval


@record
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

L: longest stub of the net without a backdrill [mm]
L_max: maximum without a backdrill [mm]
"""


@rule("VIA001", kinds=("backdrill",), over=_nets_with_holes, formula=FORMULA, reads_fills=True)
def missing_backdrill(ctx: Context, clause: Clause, net: DrilledNet) -> Iterator[DraftFinding]:
    """Yield one finding per net with stubs that are not drilled away; the longest gives the number."""
    ctx.rests_on(ctx.assignment.confidence_of(net.index))
    unused = next((hole for hole in net.holes if not hole.used), None)
    if unused:
        where = f"{net.name} at {unused.x_mm:g}, {unused.y_mm:g} mm"
        raise MissingFact(f"the layers that use the hole of {where}", "route it, or delete the via")
    if any(hole.is_unsure for hole in net.holes):
        raise MissingFact(f"the layers that use the holes of {net.name}", FILL_ZONES)
    if all((hole.top, hole.bottom) == (hole.used[0], hole.used[-1]) for hole in net.holes):
        return
    allowed = clause.limit.max or 0.0
    standing = _left(ctx, stubs(net.holes, ctx.copper_heights_mm()))
    ctx.shows(net.name, L=max((one.length_mm.nominal for one in standing), default=0.0), L_max=allowed)
    stands = [one.length_mm.against(maximum=allowed) for one in standing]
    long = [one for one, stand in zip(standing, stands, strict=True) if stand is Standing.BEYOND]
    if long:
        yield _draft(ctx, net, sorted(long, key=lambda one: -one.length_mm.nominal), allowed)
    elif Standing.UNSURE in stands:
        raise _unsure(ctx, net, standing[stands.index(Standing.UNSURE)])
    for one in standing:
        doubt = doubt_of_drill(ctx, one.stub.hole, one.drill) if one.stub.length_mm > allowed else None
        if doubt:
            raise doubt


def _left(ctx: Context, found: tuple[Stub, ...]) -> list[LeftStub]:
    """What is left of each stub: a native or declared backdrill from its side takes the rest away."""
    faces, standing = ctx.copper_faces_mm(), []
    for stub in found:
        hole = stub.hole
        drill = drill_from(stub.side, hole.backdrills, ctx.declarations.backdrills_of(hole.net), hole.drill_mm)
        if drill is None or drill.must_cut == stub.side:
            whole = stub.length_mm
            standing.append(LeftStub(stub, None, Interval.exact(whole)))
        else:
            standing.append(LeftStub(stub, drill, residual_mm(stub, drill, faces)))
    return standing


def _draft(ctx: Context, net: DrilledNet, left: list[LeftStub], allowed_mm: float) -> DraftFinding:
    names = [layer.name for layer in ctx.board.copper_layers]
    worst = left[0]
    stub, drill, length = worst.stub, worst.drill, worst.length_mm.nominal
    count = f", and {len(left) - 1} more" if len(left) > 1 else ""
    shown = told_apart(length, allowed_mm)
    if drill is None:
        left_so = "of a via that joins nothing" if stub.hole.joins_nothing else "not backdrilled"
        size, where = f"{shown} mm", f"{names[stub.first]} to {names[stub.side]}, {left_so}"
        fix = ways_out(ctx, stub, f"Backdrill from {names[stub.side]} up to the layer next to {names[stub.first]}")
    else:
        size = f"{shown} mm ({worst.length_mm.low:.2f} to {worst.length_mm.high:.2f})"
        where = f"beyond {names[stub.first]}, left by the backdrill from {names[stub.side]} to {names[drill.must_cut]}"
        drilled = f"Set the must-cut layer next to {names[stub.first]}"
        fix = ways_out(ctx, stub, drilled) if stub.hole.joins_nothing else drilled
    return DraftFinding(
        title=f"via stub {size}, maximum {allowed_mm:g} mm: {net.name}, {where}{count}",
        why="The stub is an open line in parallel with the signal and degrades the eye long before it resonates",
        fix=fix,
        ids=(net.name,),
        measured=Measured(value=round(length, 4), unit="mm"),
        limit_value=allowed_mm,
        places=tuple(
            Location(
                layer=names[s.stub.side],
                net=net.name,
                uuid=s.stub.hole.uuid,
                x_mm=s.stub.hole.x_mm,
                y_mm=s.stub.hole.y_mm,
            )
            for s in left
        ),
        inferred=not ctx.assignment.is_declared(net.index),
    )


def _unsure(ctx: Context, net: DrilledNet, left: LeftStub) -> MissingFact:
    names = [layer.name for layer in ctx.board.copper_layers]
    stub, length = left.stub, left.length_mm
    must_cut = names[left.drill.must_cut] if left.drill else names[stub.side]
    return MissingFact(
        f"stub of {net.name} beyond {names[stub.first]} after the backdrill from {names[stub.side]} to {must_cut} "
        f"({length.low:.2f} to {length.high:.2f} mm)",
        f"in KiCad, set a must-cut layer closer to {names[stub.first]}, or a thinner dielectric between the two",
    )
