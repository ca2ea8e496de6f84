"""How narrow a space or outer track fabs etch on each layer: by weight inside, by the ordinary tiers outside."""

from __future__ import annotations

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import OWN, TOLERANCE_MM, Bar, bar_of, bar_of_tier, your_fab
from drc_rules.analysis.fabrication.hole_gaps import REACH_MM, HoleGaps, hole_gaps
from drc_rules.facts.context import Context
from drc_rules.facts.copper_weight import weight_of
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier, TrackSpace, track_space, track_spaces
from drc_rules.requirements.fabs.limits import limit_of
from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.board.project import Project
from stackup_lib.copper.clearances import SpaceFinder
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.copper.shapes import copper_pads
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad.design_rules.board_minimums import CLEARANCE, board_minimums
from stackup_lib.materials import copper_weights

HEAVY_OUTER_OZ = 2.0
"""From this weight on outer copper is etched no finer than inner copper of that weight: what is stated is there."""

LEAST_OF_NOMINAL = 0.8
"""Finished copper keeps this much of its foil: the same share that tells ounce classes apart."""


def is_outer(board: Board, layer: int) -> bool:
    """Tell whether a layer is the top or the bottom one."""
    return layer in (0, board.layer_count - 1)


def weight_oz(ctx: Context, layer: int) -> float:
    """Return the copper weight of a layer; of an outer one no less than its finished copper or its declared foil.

    The finished copper is as `[process]` states it, else as the stackup does.

    Raises:
        MissingFact: the thickness is not known, or on an inner layer is that of no weight.
    """
    if not is_outer(ctx.board, layer):
        return ctx.need(weight_of(ctx, layer))
    thickness = ctx.copper_thickness_mm(layer)
    foil = ctx.declarations.copper_weight(ctx.board.copper_layers[layer].name)
    declared = [foil.value] if foil is not None and foil.known and foil.value is not None else []
    finished = ctx.process.outer_copper_mm(layer)
    if finished is None and declared and not thickness.known:
        return declared[0]
    um = 1000 * (ctx.need(thickness) if finished is None else finished.value)
    least = [w.oz for w in copper_weights() if w.nominal_um * LEAST_OF_NOMINAL <= um]
    return max([*least, *declared], default=copper_weights()[0].oz)


def heavy_outer_oz(ctx: Context, layer: int) -> float | None:
    """Return the weight of an outer layer whose copper is heavier than ordinary; None for ordinary, or not known."""
    try:
        weight = weight_oz(ctx, layer)
    except MissingFact:
        return None
    return weight if weight >= HEAVY_OUTER_OZ else None


def own_space_mm(ctx: Context, layer: int) -> float | None:
    """Return the least space that one's own fab states for a layer; None where it, or the weight, is not known."""
    own = your_fab(ctx)
    if is_outer(ctx.board, layer):
        return own.outer_space_mm
    try:
        return own.space_of(weight_oz(ctx, layer)) if own.space_mm else None
    except MissingFact:
        return None


def least_space(ctx: Context, clause: Clause, layer: int) -> Bar | None:
    """Return the least space of a clause on a layer; None where no source states one for its weight.

    Raises:
        MissingFact: the weight of an inner layer is not known.
    """
    own = own_space_mm(ctx, layer)
    if own is not None or clause.limit.at_least == OWN:
        return bar_of(ctx, clause, own)
    tier = Tier(clause.limit.at_least or Tier.BEST)
    return bar_of_tier(lambda one: tier_space_mm(ctx, layer, one), tier)


def tier_space_mm(ctx: Context, layer: int, tier: Tier) -> float | None:
    """Return the minimum clearance, and outer track, of a tier; outer copper of unknown weight counts as ordinary."""
    if not is_outer(ctx.board, layer):
        row = track_space(weight_oz(ctx, layer))
        return None if row is None else row.least_mm(tier)
    ordinary, weight = limit_of("outer_track_mm", tier), heavy_outer_oz(ctx, layer)
    row = None if weight is None else _heaviest_up_to(weight)
    return ordinary if row is None or ordinary is None else max(ordinary, row.least_mm(tier))


def heavier_space_mm(ctx: Context, layer: int, tier: Tier) -> float | None:
    """Return the least space in the next heavier copper of which a source tells: lighter copper etches no coarser."""
    weight = weight_oz(ctx, layer)
    return next((row.least_mm(tier) for row in track_spaces() if row.copper_oz > weight), None)


def _heaviest_up_to(copper_oz: float) -> TrackSpace | None:
    return next((row for row in reversed(track_spaces()) if row.copper_oz <= copper_oz), None)


def layers_with_spaces(board: Board) -> tuple[int, ...]:
    """Return the layers with copper of more than one net."""
    vias, pads, tracks, zones = board.vias, board.pads, board.tracks, board.zones
    has_copper, drawn, found = copper_pads(board), board.drawings, list[int]()
    plated = pads.net[(pads.kind == PadKind.THROUGH) & (np.fmin(pads.drill_x_mm, pads.drill_y_mm) > 0)]
    for layer in range(board.layer_count):
        nets = [
            tracks.net[tracks.layer == layer],
            vias.net[(vias.start_layer <= layer) & (vias.end_layer >= layer)],
            pads.net[has_copper & holds_layer(pads.layers, layer)],
            plated,
            zones.net[zones.fill_zone[zones.fill_layer == layer]],
            zones.net[(zones.is_rule_area == 0) & holds_layer(zones.layers, layer)],
            drawn.net[(drawn.net > 0) & holds_layer(drawn.layers, layer)],
        ]
        there = [column for column in nets if len(column)]
        if there and min(int(column.min()) for column in there) != max(int(column.max()) for column in there):
            found.append(layer)
    return tuple(found)


def space_finder(ctx: Context) -> SpaceFinder:
    """Return what measures the spaces of the board as far as any clause asks about them."""
    reach = tuple(_widest_mm(ctx, layer) for layer in range(ctx.board.layer_count))
    return SpaceFinder(ctx.copper, reach, PostFills(ctx.copper, REACH_MM, reach))


def holes_to_copper(ctx: Context) -> HoleGaps | None:
    """Return how near drilled holes come to copper of other nets on inner layers; not to fills that are out of date."""
    spaces = ctx.get(space_finder)
    return hole_gaps(ctx.copper, fills=spaces.posts, to_fills=not len(spaces.other_net))


def _widest_mm(ctx: Context, layer: int) -> float:
    """The largest clearance that any clause requires on a layer, a tier's less its tolerance; 0 where none is known."""
    with ctx.aside():
        try:
            own = own_space_mm(ctx, layer)
            least = own or tier_space_mm(ctx, layer, Tier.STANDARD) or heavier_space_mm(ctx, layer, Tier.STANDARD)
        except MissingFact:
            least = None
    return max((least or 0.0) - TOLERANCE_MM, own_minimum_mm(ctx.board.project), 0.0)


def own_minimum_mm(project: Project) -> float:
    """Return Board Setup's minimum clearance; 0 where it has none."""
    return next((one.value_mm for one in board_minimums(project) if one.key == CLEARANCE.key), 0.0)
