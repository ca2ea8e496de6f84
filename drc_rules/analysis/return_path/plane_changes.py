"""Where high-speed nets change from one plane to another, by the vias that join two of their layers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np

from drc_rules.analysis.return_path.return_paths import REAL_SHARE, HighSpeedGroup, ReturnPaths
from drc_rules.analysis.via.high_speed_vias import fast_holes
from drc_rules.facts.context import Context
from drc_rules.report.numbers import UNIT_MM
from drc_rules.requirements.interfaces import family
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.routing.routes import Crossing
from stackup_lib.return_path.layer_changes import LayerChange, layer_changes
from stackup_lib.vias.plated_holes import PlatedHole, plated_holes

LEAST_REACH_MM = 1.0
"""A via hardly fits closer: the pitch of a pair's vias, or of a BGA."""

NOWHERE_MM = float("inf")
"""Stands for "no via joins the planes"."""

_Shares = tuple[tuple[int, float], ...]
"""Planes, each with its share of the return current."""

_Place = tuple[int, float, float]
"""Net and place of a via."""


def layer_crossings(ctx: Context, group: HighSpeedGroup) -> tuple[Crossing, ...]:
    """Return the vias of a group's nets between layers on which they run for more than a lumped length."""
    routed = _routed_layers(ctx, group)
    is_fast = family(group.family).fast
    holes = ctx.get(fast_holes) if is_fast else plated_holes(ctx.board, np.array(group.nets, dtype=np.int64))
    return tuple(_crossings(ctx, routed, holes))


def breakout_runs_mm(ctx: Context, group: HighSpeedGroup) -> tuple[float, ...]:
    """Return, by via of a group, its net's length on the one of two layers that has no more than a lumped length."""
    runs = _longest_runs_mm(ctx, group)
    holes = plated_holes(ctx.board, np.array(group.nets, dtype=np.int64))
    shorter = (
        min(runs[net][one.entry_layer], runs[net][one.exit_layer])
        for one in _crossings(ctx, runs, holes)
        for net in (int(ctx.board.vias.net[one.via]),)
    )
    return tuple(length for length in shorter if length <= group.lumped_mm[-1])


def plane_changes(ctx: Context, group: HighSpeedGroup) -> tuple[LayerChange, ...]:
    """Return the layer changes of a group's nets between layers on which they are routed, not only broken out.

    Raises:
        MissingFact: fills are missing or stale, or the stackup does not tell which of two planes is nearer.
    """
    planes = _planes(ctx, group)
    alike: dict[tuple[tuple[int, _Shares], ...], list[Crossing]] = {}
    for crossing in layer_crossings(ctx, group):
        net = int(ctx.board.vias.net[crossing.via])
        key = tuple((layer, planes[net, layer]) for layer in (crossing.entry_layer, crossing.exit_layer))
        alike.setdefault(key, []).append(crossing)
    return tuple(
        one
        for key, rows in alike.items()
        for one in layer_changes(ctx.copper, rows, {layer: dict(shares) for layer, shares in key})
    )


def return_distance_mm(change: LayerChange) -> float:
    """Return how far the nearest hole is that joins the planes of a layer change; infinite where none does."""
    near = [mm for mm in (change.distance_mm, change.other_distance_mm) if mm is not None]
    return min(near, default=NOWHERE_MM)


def reach_mm(group: HighSpeedGroup) -> float:
    """Return how far a return via may be: a tenth of a wavelength of the fastest generation."""
    return max(group.lumped_mm[-1], LEAST_REACH_MM)


def far_changes(ctx: Context) -> Mapping[int, tuple[LayerChange, ...]]:
    """Return, by net, the layer changes without a return via in reach; no net whose planes are not known."""
    found: dict[int, list[LayerChange]] = {}
    for group in ReturnPaths(ctx).with_memories:
        try:
            changes = plane_changes(ctx, group)
        except MissingFact:
            continue
        for change in changes:
            joined = not change.keeps_plane and change.entry_nets and change.exit_nets
            if joined and return_distance_mm(change) > reach_mm(group) + UNIT_MM:
                found.setdefault(change.net, []).append(change)
    return {net: tuple(changes) for net, changes in found.items()}


def far_return_notes(ctx: Context, nets: Iterable[int]) -> Iterator[str]:
    """Yield at how many vias of some nets no return via is near: the S-parameters of vias have one next to them."""
    far = ctx.get(far_changes)
    changes = [change for net in nets for change in far.get(net, ())]
    if changes:
        worst = max(changes, key=return_distance_mm)
        distance = return_distance_mm(worst)
        layers = " and ".join(ctx.board.copper_layers[k].name for k in (worst.entry_layer, worst.exit_layer))
        nearest = f"{distance:.1f} mm away" if distance < NOWHERE_MM else "nowhere on the board"
        vias, are = (f"{len(changes)} vias have", "are") if len(changes) > 1 else ("1 via has", "is")
        yield f"{vias} no return via near (RET003: between {layers} it is {nearest}) and {are} counted as with one"


def _planes(ctx: Context, group: HighSpeedGroup) -> dict[tuple[int, int], _Shares]:
    """Return (net, layer) -> its planes there with a real share of the current, the one with most of it first."""
    found: dict[tuple[int, int], _Shares] = {}
    for part in ReturnPaths(ctx).referenced_with_memories:
        if part.group == group:
            ReturnPaths(ctx).need_fills(part)
            planes = dict.fromkeys(part.planes, 1.0) if len(part.planes) < 2 else ReturnPaths(ctx).shares(part)
            real = tuple((plane, share) for plane, share in planes.items() if share >= REAL_SHARE)
            found |= dict.fromkeys(((net, part.layer) for net in part.nets), real)
    return found


def _routed_layers(ctx: Context, group: HighSpeedGroup) -> dict[int, set[int]]:
    runs, least = _longest_runs_mm(ctx, group), group.lumped_mm[-1]
    long = {net: {layer for layer, length in on.items() if length > least} for net, on in runs.items()}
    return {net: layers for net, layers in long.items() if layers}


def _longest_runs_mm(ctx: Context, group: HighSpeedGroup) -> dict[int, dict[int, float]]:
    """Return, by net and layer, the most length that has the same planes."""
    found: dict[int, dict[int, float]] = {}
    for part in ReturnPaths(ctx).referenced_with_memories:
        if part.group == group:
            for net, length in ReturnPaths(ctx).lengths_of(part).items():
                on = found.setdefault(net, {})
                on[part.layer] = max(length, on.get(part.layer, 0.0))
    return found


def _crossings(ctx: Context, routed: Mapping[int, Collection[int]], holes: Iterable[PlatedHole]) -> Iterator[Crossing]:
    vias = ctx.board.vias
    rows = np.flatnonzero(np.isin(vias.net, sorted(routed)))
    rows = rows[np.argsort(vias.size_mm[rows], kind="stable")]  # of a stack the widest stands for it
    places = zip(vias.net[rows].tolist(), vias.x_mm[rows].tolist(), vias.y_mm[rows].tolist(), strict=True)
    row_at = dict(zip(places, rows.tolist(), strict=True))
    for place, layers in _stacks(holes, routed):
        for entry, out in pairwise(layer for layer in layers if layer in routed[place[0]]):
            yield Crossing(via=row_at[place], entry_layer=entry, exit_layer=out, at_mm=0.0)


def _stacks(every: Iterable[PlatedHole], routed: Mapping[int, Collection[int]]) -> Iterator[tuple[_Place, list[int]]]:
    """Yield net and place of every via of these nets, those that stand on one another as one, and its routed layers."""
    found: dict[_Place, list[PlatedHole]] = {}
    for hole in every:
        if hole.is_via and hole.net in routed:
            found.setdefault((hole.net, hole.x_mm, hole.y_mm), []).append(hole)
    for place, holes in found.items():
        layers: set[int] = set()
        bottom = 0
        for hole in sorted(holes, key=lambda hole: hole.top):
            if layers and hole.top > bottom:
                yield place, sorted(layers)
                layers = set()
            layers |= set(hole.routed)
            bottom = max(bottom, hole.bottom)
        yield place, sorted(layers)
