"""A high-speed track changes planes without a return via near it.

What it checks
--------------
Every via by which a net of a high-speed interface, or data or address of DDR4, LPDDR4 or later, changes from one routed
layer to another: whether three tenths of the return current stay on planes that both layers share, and if not, the
distance to the nearest via or plated pad that joins a plane of one with a plane of the other. The maximum is a tenth of
a wavelength at Nyquist, or 1 mm, whichever is more; a via whose net runs no farther than a tenth of a wavelength on one
of the layers, a breakout, needs none. Planes of two different nets are joined by capacitors alone: that is information.
The stackup is needed only of a layer between two planes.

Why it matters
--------------
The return current changes planes where the signal does. Without a stitching via nearby it takes the nearest one and
spreads between the planes until there: the via gains inductance, and the planes carry the noise to every other via.

How to fix
----------
Place a ground via next to the signal via, or one on each side of a pair. Between planes of different nets place a
capacitor next to the via, or change to a layer that is referenced to ground.

What it cannot see
------------------
Plated pins, return vias of breakouts, and vias without a plane within 1.6 mm are skipped. One via of the planes' net is
enough, however many signals share it. Capacitors are not read: planes of two nets are always reported.

Sources
-------
Physics: a detour shorter than a tenth of a wavelength does not matter, and one counts with the square of the current
in it: with three tenths on shared planes less than half of it is left. NVIDIA's DG-10931 requires less than the pitch
of the pair's vias (PCIe up to Gen4), which 1 mm stands for.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.return_path.plane_changes import (
    LEAST_REACH_MM,
    NOWHERE_MM,
    breakout_runs_mm,
    layer_crossings,
    plane_changes,
    reach_mm,
    return_distance_mm,
)
from drc_rules.analysis.return_path.return_paths import PLACES_SHOWN, HighSpeedGroup, ReturnPaths, in_all, too_long
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured, ObjectRows
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.words import count
from stackup_lib.return_path.layer_changes import LayerChange


def _groups(ctx: Context, _clause: Clause) -> tuple[HighSpeedGroup, ...]:
    groups = ReturnPaths(ctx).with_memories
    return tuple(group for group in groups if layer_crossings(ctx, group) or breakout_runs_mm(ctx, group))


FORMULA = """
d ≤ d_max
l ≤ d_max

d: from vias that change planes to the next via that joins those planes; infinite where none does, 0 without any [mm]
d_max: maximum: a tenth of a wavelength at Nyquist, at least 1 mm [mm]
l: longest run that counts as a breakout, 0 where no via leads to one [mm]
"""


@rule(
    "RET003",
    aliases=("far-return-via",),
    kinds=("return_via",),
    over=_groups,
    formula=FORMULA,
    reads_fills=True,
    by_stackup="unmoved",
)
def missing_return_via(ctx: Context, _clause: Clause, group: HighSpeedGroup) -> Iterator[DraftFinding]:
    """Yield one finding for the vias between two layers whose planes nothing joins near them."""
    ctx.rests_on(ctx.assignment.confidence_of(group.nets[0]))
    far: dict[tuple[int, int], list[LayerChange]] = {}
    apart: dict[tuple[int, int], list[LayerChange]] = {}
    distances: list[float] = []
    for change in plane_changes(ctx, group) if layer_crossings(ctx, group) else ():
        if change.keeps_plane or not change.entry_nets or not change.exit_nets:
            continue
        layers = change.entry_layer, change.exit_layer
        distances.append(return_distance_mm(change))
        if change.shared_net is None and change.other_planes is None:
            apart.setdefault(layers, []).append(change)
        elif too_long(ctx, group, return_distance_mm(change), LEAST_REACH_MM):
            far.setdefault(layers, []).append(change)
    breakouts = breakout_runs_mm(ctx, group)
    if distances or breakouts:
        told = [f"{count(len(distances), 'via')} that change planes"] if distances else []
        told += [f"{count(len(breakouts), 'via')} to breakouts, which require no return via"] if breakouts else []
        ctx.shows(
            f"{group.title}: {'; '.join(told)}",
            d=max(distances, default=0.0),
            l=max(breakouts, default=0.0),
            d_max=reach_mm(group),
        )
    yield from (_far(ctx, group, changes) for changes in far.values())
    yield from (_apart(ctx, group, changes) for changes in apart.values())


def _far(ctx: Context, group: HighSpeedGroup, changes: list[LayerChange]) -> DraftFinding:
    worst = max(changes, key=lambda change: (return_distance_mm(change), -change.via))
    distance = return_distance_mm(worst)
    reach = reach_mm(group)
    there_is = distance < NOWHERE_MM
    how_far = f"return via {distance:.1f} mm away" if there_is else "no return via on the board"
    return DraftFinding(
        title=(
            f"{how_far}, maximum {reach:.1f} mm: {group.title}, {_vias(changes)} between {_layers(ctx, worst)}, "
            f"planes {_planes(ctx, worst)}, worst {ctx.board.nets[worst.net]}"
        ),
        why=f"The return current changes planes there. Up to {reach:.1f} mm would not matter{in_all(group)}",
        fix=f"Place a {_joining(ctx, worst)} via next to each of them, for a pair one on each side",
        ids=(group.id, _layers(ctx, worst), "far"),
        measured=Measured(value=round(distance, 2) if there_is else "none", unit="mm" if there_is else ""),
        limit_value=round(reach, 2),
        limit_unit="mm",
        places=_places(ctx, sorted(changes, key=lambda change: (-return_distance_mm(change), change.via))),
        every=_rows(changes),
        inferred=not group.declared,
    )


def _apart(ctx: Context, group: HighSpeedGroup, changes: list[LayerChange]) -> DraftFinding:
    one = changes[0]
    entry, out = ("/".join(ctx.board.nets[net] for net in nets) for nets in (one.entry_nets, one.exit_nets))
    return DraftFinding(
        title=(
            f"reference plane changes from {entry} to {out}: {group.title}, {_vias(changes)} "
            f"between {_layers(ctx, one)}"
        ),
        why="Only capacitors join planes of different nets, and none is as close and as fast as a via",
        fix="Change to a layer referenced to ground, or place a capacitor next to the vias",
        ids=(group.id, _layers(ctx, one), "apart"),
        places=_places(ctx, changes),
        every=_rows(changes),
        severity=Severity.INFO,
        inferred=not group.declared,
    )


def _vias(changes: list[LayerChange]) -> str:
    return f"{len(changes)} via{'s' if len(changes) > 1 else ''}"


def _layers(ctx: Context, change: LayerChange) -> str:
    return " and ".join(ctx.board.copper_layers[k].name for k in (change.entry_layer, change.exit_layer))


def _planes(ctx: Context, change: LayerChange) -> str:
    planes = change.entry_plane, change.exit_plane
    if change.distance_mm is None and change.other_planes is not None:
        planes = change.other_planes
    return " and ".join(ctx.board.copper_layers[k].name for k in planes)


def _joining(ctx: Context, change: LayerChange) -> str:
    return ctx.board.nets[change.shared_net] if change.shared_net is not None else "ground"


def _places(ctx: Context, changes: list[LayerChange]) -> tuple[Location, ...]:
    vias = ctx.board.vias
    return tuple(
        Location(net=ctx.board.nets[one.net], uuid=str(vias.uuid[one.via]) or None, x_mm=one.x_mm, y_mm=one.y_mm)
        for one in changes[:PLACES_SHOWN]
    )


def _rows(changes: list[LayerChange]) -> ObjectRows:
    return ObjectRows(vias=tuple(one.via for one in changes))
