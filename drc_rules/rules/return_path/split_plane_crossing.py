"""A high-speed track crosses a gap in the plane that carries its return current.

What it checks
--------------
Under (and over) every track of a high-speed interface, and of data and address of DDR4, LPDDR4 and later, the stored
fills of the planes that carry at least a tenth of its return current: where the plane is missing for more than a tenth
of a wavelength at Nyquist, along the track or, for a narrow slot or merged antipads, to both sides of it; wherever the
track crosses from one net's copper to another's; and tracks without any plane, or over a fill that floats, for as long:
one without a net, or that no via, pad or track joins to its net, where that or another ground has vias. The antipad of
one hole, cut-outs under pads of the net and shorter voids are ignored, and so is what of a void copper of a layer
between covers. Tracks next to a hatched fill for as long are not verifiable: the way of the current in a mesh is not
modelled.

Why it matters
--------------
The return current has to flow around the gap: the line gains inductance, reflects, radiates, and couples into whatever
else crosses the same gap. Across a split it has no path of its own at all.

How to fix
----------
Route around the gap, close the slot, or move the split away from the tracks. Where a split is unavoidable, bridge it
with capacitors next to the tracks.

What it cannot see
------------------
Slots are followed in straight lines; antipad rows below about 1.5 mm and slots under own pads pass. Pours nearer than
most of a net's plane, planes without zones, coplanar ground, capacitors and slower memories are not read.

Sources
-------
Physics: the share of a plane goes with the distances to both planes (Shockley 1938); below a tenth of a wavelength a
line is lumped. TI SPRABI1D (stack up) and Efinix (routing DDR signals): no split under the tracks of a memory. No
document states a length for all interfaces, so this is a warning at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drc_rules.analysis.lines.hatched_planes import FILL_SOLID, hatched_mm
from drc_rules.analysis.return_path.return_paths import (
    PLACES_SHOWN,
    REAL_SHARE,
    Referenced,
    ReturnPaths,
    count_of,
    in_all,
    too_long,
)
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.copper.copper_map import FLOATING, NO_COPPER
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.return_path.gap_kinds import GapKind
from stackup_lib.return_path.plane_gaps import Gap
from stackup_lib.return_path.slot_length import detour_mm

Crossing = tuple[int, GapKind, tuple[int, ...]]
"""Plane, kind, and nets on its sides: gaps that are one slot or split to a user."""

FOLLOWED = 2.0
"""A slot is followed to this multiple of the length that does not matter."""

BETWEEN_NETS = "Between two nets no length is harmless: the current has to find a way from one plane to the other"


@record
class Crossed:
    """A gap and what the current goes for it: along the track over void, or aside to a slot's nearer end."""

    gap: Gap
    way_mm: float


def _tracks(ctx: Context, _clause: Clause) -> tuple[Referenced, ...]:
    return ReturnPaths(ctx).referenced_with_memories


FORMULA = """
L ≤ L_max

L: longest crossing of a gap of the plane, detour to a slot's nearer end, or length of a net over a floating fill [mm]
L_max: maximum: a tenth of a wavelength at Nyquist; 0 for a split between two nets [mm]
"""


@rule(
    "RET001",
    aliases=("gap-under-fast-track",),
    kinds=("return_path_gap",),
    over=_tracks,
    formula=FORMULA,
    reads_fills=True,
    by_stackup="unmoved",
)
def split_plane_crossing(ctx: Context, _clause: Clause, part: Referenced) -> Iterator[DraftFinding]:
    """Yield one finding for each slot, split or edge that tracks of an interface cross on a layer."""
    ctx.rests_on(ctx.assignment.confidence_of(part.nets[0]))
    ReturnPaths(ctx).need_fills(part)
    shares = ReturnPaths(ctx).shares(part)
    unsure, undecided = [*_over_a_mesh(ctx, part)], list[Crossed]()
    if not shares:
        if unsure:
            raise unsure[0]
        yield from _without_plane(ctx, part)
        return
    found: dict[Crossing, list[Crossed]] = {}
    for plane in [plane for plane, share in shares.items() if share >= REAL_SHARE]:
        try:
            yield from _over_floating(ctx, part, plane)
        except MissingFact as fact:
            unsure.append(fact)
        for crossed in _counted(ctx, part, plane, (unsure, undecided)):
            found.setdefault((plane, crossed.gap.kind, crossed.gap.plane_nets), []).append(crossed)
    _show(ctx, part, [one for gaps in found.values() for one in gaps] or undecided)
    for (plane, _, _), crossed_there in found.items():
        yield _draft(ctx, part, crossed_there, shares[plane])
    if unsure:
        raise unsure[0]


def _over_a_mesh(ctx: Context, part: Referenced) -> Iterator[MissingFact]:
    """Yield what is not known where a net has more than a harmless length next to a hatched fill."""
    hatched = ctx.get(hatched_mm)
    length, net = max((hatched.get((part.layer, net), 0.0), -net) for net in part.nets)
    try:
        if not too_long(ctx, part.group, length):
            return
    except MissingFact:  # the generation would not settle it
        pass
    where = f"{part.group.title} on {ctx.board.copper_layers[part.layer].name}, {ctx.board.nets[-net]}"
    yield MissingFact(f"return path of {where}: the plane next to it is hatched for {length:.1f} mm", FILL_SOLID)


def _counted(
    ctx: Context, part: Referenced, plane: int, open_ones: tuple[list[MissingFact], list[Crossed]]
) -> list[Crossed]:
    """Return the gaps of a plane that matter.

    What is missing to judge others is appended, and these gaps: it unsays none of the first.
    """
    counted = []
    unsure, undecided = open_ones
    try:
        gaps = ReturnPaths(ctx).gaps(part, plane)
    except MissingFact as fact:
        unsure.append(fact)
        return []
    for gap in gaps:
        crossed = _crossed(ctx, part, gap)
        try:
            if gap.kind is GapKind.SPLIT or too_long(ctx, part.group, crossed.way_mm):
                counted.append(crossed)
        except MissingFact as fact:
            unsure.append(fact)
            undecided.append(crossed)
    return counted


def _crossed(ctx: Context, part: Referenced, gap: Gap) -> Crossed:
    """Return a gap with the way around it: none around a hole and under pads, its own length where that is enough."""
    slowest, is_crossed = part.group.lumped_mm[0], NO_COPPER not in gap.plane_nets
    if gap.kind is GapKind.PAD or (gap.kind is GapKind.RING and not is_crossed):
        return Crossed(gap, 0.0)
    if gap.kind is GapKind.RING:
        # the antipads of a row of holes across the track: void goes on farther than one ring does
        least = max(part.group.lumped_mm[-1], 2 * gap.ring_mm)
        aside = detour_mm(ctx.copper.planes, gap, FOLLOWED * max(slowest, least))
        merged = replace(gap, kind=GapKind.MERGED)
        return Crossed(merged, aside) if aside > least else Crossed(gap, 0.0)
    if gap.kind in (GapKind.SLOT, GapKind.MERGED) and is_crossed and gap.length_mm <= slowest:
        return Crossed(gap, max(gap.length_mm, detour_mm(ctx.copper.planes, gap, FOLLOWED * slowest)))
    return Crossed(gap, gap.length_mm)


def _show(ctx: Context, part: Referenced, counted: list[Crossed]) -> None:
    """Show the longest of some gaps, of splits where there are any: those count whatever their length."""
    splits = [one.gap.length_mm for one in counted if one.gap.kind is GapKind.SPLIT]
    ctx.shows(
        f"{part.group.title} on {ctx.board.copper_layers[part.layer].name}",
        L=max(splits or (one.way_mm for one in counted), default=0.0),
        L_max=0.0 if splits else part.group.lumped_mm[-1],
    )


def _draft(ctx: Context, part: Referenced, crossed: list[Crossed], share: float) -> DraftFinding:
    board, group = ctx.board, part.group
    widest = max(crossed, key=lambda one: (round(one.way_mm, 4), -one.gap.net))
    worst, gaps = widest.gap, [one.gap for one in crossed]
    layer, plane = (board.copper_layers[k].name for k in (worst.layer, worst.plane))
    names = [board.nets[worst.net], *sorted({board.nets[gap.net] for gap in gaps} - {board.nets[worst.net]})]
    delay = worst.delay_ps(ReturnPaths(ctx).dk(worst.layer, worst.plane))
    limit_mm = 0.0 if worst.kind is GapKind.SPLIT else group.lumped_mm[-1]
    harmless = f"Up to {limit_mm:.1f} mm would not matter at {group.nyquist_ghz[-1]:g} GHz{in_all(group)}"
    return DraftFinding(
        title=(
            f"{group.title}: {count_of(names)} on {layer} {'cross' if len(names) > 1 else 'crosses'} "
            f"{_what(ctx, worst)}, {board.nets[worst.net]} for {worst.length_mm:.1f} mm ({delay:.0f} ps)"
            f"{_aside(widest)}"
        ),
        why=(
            f"{plane} carries {100 * share:.0f} % of the return current, which has to take a detour. "
            f"{harmless if limit_mm else BETWEEN_NETS}"
        ),
        fix=f"Route around it, or close {plane} under the tracks",
        ids=(group.id, layer, plane, worst.kind.value, *(board.nets[n] for n in worst.plane_nets if n != NO_COPPER)),
        measured=Measured(value=round(widest.way_mm, 2), unit="mm"),
        limit_value=round(limit_mm, 2),
        places=tuple(
            Location(layer=layer, net=board.nets[gap.net], x_mm=round(gap.x_mm, 4), y_mm=round(gap.y_mm, 4))
            for gap in sorted(gaps, key=lambda gap: (gap is not worst, -gap.length_mm, board.nets[gap.net]))[
                :PLACES_SHOWN
            ]
        ),
        inferred=not group.declared,
    )


def _without_plane(ctx: Context, part: Referenced) -> Iterator[DraftFinding]:
    length, net = ReturnPaths(ctx).longest_of(part)
    if not too_long(ctx, part.group, length):
        return
    board, layer = ctx.board, ctx.board.copper_layers[part.layer].name
    names = [board.nets[net], *sorted({board.nets[one] for one in part.nets} - {board.nets[net]})]
    ctx.shows(f"{part.group.title} on {layer} without a plane", L=length, L_max=part.group.lumped_mm[-1])
    yield DraftFinding(
        title=f"no plane for {length:.1f} mm, maximum {part.group.lumped_mm[-1]:.1f} mm: "
        f"{part.group.title}, {count_of(names)} on {layer}, worst {names[0]}",
        why="No filled copper is above or below them, so their return current has no defined path",
        fix="Add a ground plane on the next layer",
        ids=(part.group.id, layer, "no plane"),
        measured=Measured(value=round(length, 2), unit="mm"),
        limit_value=round(part.group.lumped_mm[-1], 2),
        places=tuple(Location(layer=layer, net=name) for name in names[:PLACES_SHOWN]),
        inferred=not part.group.declared,
    )


def _over_floating(ctx: Context, part: Referenced, plane: int) -> Iterator[DraftFinding]:
    if not ctx.copper.floating(plane):
        return
    over = ReturnPaths(ctx).paths.plane_nets_mm(part.rows, plane)
    length, net = max(((mm, -net) for (net, under), mm in over.items() if under == FLOATING), default=(0.0, 0))
    if not too_long(ctx, part.group, length):
        return
    board, (layer, other) = ctx.board, (ctx.board.copper_layers[k].name for k in (part.layer, plane))
    names = [board.nets[-net], *sorted({board.nets[one] for one, under in over if under == FLOATING and one != -net})]
    ctx.shows(
        f"{part.group.title} on {layer} over a floating fill on {other}", L=length, L_max=part.group.lumped_mm[-1]
    )
    yield DraftFinding(
        title=f"floating fill on {other}: {part.group.title}, {count_of(names)} on {layer}, worst for {length:.1f} mm",
        why="No via, plated hole, pad or track joins this fill to the rest of a net",
        fix=f"Join the fill on {other} to its net by vias, and fill the zones",
        ids=(part.group.id, layer, other, "floating"),
        measured=Measured(value=round(length, 2), unit="mm"),
        limit_value=round(part.group.lumped_mm[-1], 2),
        places=tuple(Location(layer=layer, net=name) for name in names[:PLACES_SHOWN]),
        inferred=not part.group.declared,
    )


def _aside(crossed: Crossed) -> str:
    """Say how long a slot is whose width would not matter."""
    if crossed.way_mm <= crossed.gap.length_mm:
        return ""
    return f", {crossed.way_mm:.1f} mm or more from its nearer end"


def _what(ctx: Context, gap: Gap) -> str:
    plane = ctx.board.copper_layers[gap.plane].name
    names = (ctx.board.nets[net] or "copper without a net" for net in gap.plane_nets if net != NO_COPPER)
    nets = sorted(names, key=lambda name: (not is_ground(name), name))
    if gap.kind is GapKind.SPLIT:
        return f"the split between {' and '.join(nets)} on {plane}"
    if gap.kind is GapKind.MERGED:
        return f"merged antipads in {' and '.join(nets) or 'no copper'} on {plane}"
    if gap.kind is GapKind.SLOT:
        return f"a slot in {' and '.join(nets)} on {plane}"
    return f"the end of the plane on {plane}"
