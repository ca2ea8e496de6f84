"""How narrow a space fabs etch on each copper layer: by copper weight inside, by the ordinary tiers outside."""

from __future__ import annotations

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.fab_limits import OWN, Bar, bar_of, own_fab
from drc_rules.fabs import Tier, TrackSpace, track_spaces
from drc_rules.fabs.limits import limit_of
from drc_rules.hole_gaps import REACH_MM
from stackup_lib.board import Board
from stackup_lib.copper_pieces import copper_pads
from stackup_lib.facts import MissingFact
from stackup_lib.materials import copper_weights, ounce_class
from stackup_lib.post_fills import PostFills
from stackup_lib.spaces import SpaceFinder

PRECISION_MM = 0.002
"""The sources state whole mils: 0.125 mm is drawn, and etched, where 5 mil (0.127 mm) are asked for."""

HEAVY_OUTER_OZ = 2.0
"""From this weight on outer copper is etched no finer than inner copper of that weight: what is stated is there."""

LEAST_OF_NOMINAL = 0.8
"""Finished copper keeps this much of its foil: the same share that tells ounce classes apart."""


def is_outer(board: Board, layer: int) -> bool:
    """Tell whether a layer is the top or the bottom one."""
    return layer in (0, board.layer_count - 1)


def weight_oz(ctx: Context, layer: int) -> float:
    """Return the copper weight of a layer; of an outer one no less than the stackup states.

    Raises:
        MissingFact: the thickness is not known, or on an inner layer is that of no weight.
    """
    thickness = ctx.need(ctx.copper_thickness_mm(layer))
    if not is_outer(ctx.board, layer):
        return ctx.need(ounce_class(thickness, outer=False))
    least = [w.oz for w in copper_weights() if w.nominal_um * LEAST_OF_NOMINAL <= thickness * 1000]
    return max(least, default=copper_weights()[0].oz)


def own_space_mm(ctx: Context, layer: int) -> float | None:
    """Return the least space that one's own fab states for a layer; None where it, or the weight, is not known."""
    own = own_fab(ctx)
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
    least = tier_space_mm(ctx, layer, tier)
    return None if least is None else Bar(least, f"{tier} fabs", tier)


def tier_space_mm(ctx: Context, layer: int, tier: Tier) -> float | None:
    """Return the least space of a tier on a layer; an outer layer of unknown thickness is taken for an ordinary one."""
    if not is_outer(ctx.board, layer):
        row = _row(weight_oz(ctx, layer))
        return None if row is None else row.least_mm(tier)
    ordinary = limit_of("outer_track_mm", tier)
    if ordinary is None or not ctx.copper_thickness_mm(layer).known:
        return ordinary
    weight = weight_oz(ctx, layer)
    row = _heaviest_up_to(weight) if weight >= HEAVY_OUTER_OZ else None
    return ordinary if row is None else max(ordinary, row.least_mm(tier))


def heavier_space_mm(ctx: Context, layer: int, tier: Tier) -> float | None:
    """Return the least space in the next heavier copper of which a source tells: lighter copper etches no coarser."""
    weight = weight_oz(ctx, layer)
    return next((row.least_mm(tier) for row in track_spaces() if row.copper_oz > weight), None)


def _row(copper_oz: float) -> TrackSpace | None:
    return next((row for row in track_spaces() if row.copper_oz == copper_oz), None)


def _heaviest_up_to(copper_oz: float) -> TrackSpace | None:
    return next((row for row in reversed(track_spaces()) if row.copper_oz <= copper_oz), None)


def layers_with_spaces(board: Board) -> tuple[int, ...]:
    """Return the layers with copper of more than one net."""
    vias, pads, tracks, zones = board.vias, board.pads, board.tracks, board.zones
    has_copper, found = copper_pads(board), []
    for layer in range(board.layer_count):
        nets = [
            tracks.net[tracks.layer == layer],
            vias.net[(vias.start_layer <= layer) & (vias.end_layer >= layer)],
            pads.net[has_copper & ((pads.layers >> np.uint64(layer)) & np.uint64(1) != 0)],
            zones.net[zones.fill_zone[zones.fill_layer == layer]],
            zones.net[(zones.is_rule_area == 0) & ((zones.layers >> np.uint64(layer)) & np.uint64(1) != 0)],
        ]
        there = [column for column in nets if len(column)]
        if there and min(int(column.min()) for column in there) != max(int(column.max()) for column in there):
            found.append(layer)
    return tuple(found)


def space_finder(ctx: Context) -> SpaceFinder:
    """Return what measures the spaces of the board as far as any clause asks about them."""
    reach = tuple(_widest_mm(ctx, layer) for layer in range(ctx.board.layer_count))
    return SpaceFinder(ctx.copper, reach, PostFills(ctx.copper, REACH_MM, reach))


def _widest_mm(ctx: Context, layer: int) -> float:
    """The widest space that any clause asks for on a layer, less the precision; 0 where none can be told."""
    with ctx.aside():
        try:
            own = own_space_mm(ctx, layer)
            least = own or tier_space_mm(ctx, layer, Tier.STANDARD) or heavier_space_mm(ctx, layer, Tier.STANDARD)
        except MissingFact:
            least = None
    return max((least or 0.0) - PRECISION_MM, 0.0)
