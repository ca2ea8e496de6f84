"""Counterbores and countersinks around holes (KiCad 10's post-machining), as drills that pass some layers each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from drc_rules.analysis.via.drilled_holes import DrilledHole
from drc_rules.facts.context import DECLARE_STACKUP, Context
from stackup_lib.board.board import Board, Drilling, PadKind
from stackup_lib.copper.shapes import Mask, copper_pads, pad_pieces
from stackup_lib.copper.shorts import piece_areas
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.plated_holes import Backdrill, Machining, PlatedHole, machinings_of, plated_holes

NO_NET = "a hole without a net"

ENTER_POST = "in KiCad, enter size, depth and angle under the hole's post-machining, and save the board"


def machined_plated(ctx: Context) -> tuple[DrilledHole, ...]:
    """Every counterbore and countersink of vias and plated holes, as one drill; next to nothing without any."""
    return tuple(_whole(ctx, hole, one) for hole in ctx.get(_plated) for one in hole.machinings)


def machined_by_width(ctx: Context) -> tuple[DrilledHole, ...]:
    """Those of all holes, unplated ones too, as drills of one width each: of a countersink one for each layer."""
    holes = (*ctx.get(_plated), *_unplated(ctx.board))
    return tuple(drill for hole in holes for one in hole.machinings for drill in _by_width(ctx, hole, one))


def _is_machined(drilling: Drilling) -> Mask:
    return np.asarray((drilling.front_post != "") | (drilling.back_post != ""))


def _plated(ctx: Context) -> tuple[PlatedHole, ...]:
    vias, pads = ctx.board.vias, ctx.board.pads
    through = _is_machined(pads.drilling) & (pads.kind == PadKind.THROUGH)
    nets = distinct(np.concatenate([vias.net[_is_machined(vias.drilling)], pads.net[through]]))
    return tuple(hole for hole in plated_holes(ctx.board, nets) if hole.machinings) if len(nets) else ()


def _unplated(board: Board) -> Iterator[PlatedHole]:
    """Holes without plating, as holes of the net that has a pad of their part around them."""
    pads = board.pads
    for row in np.flatnonzero(_is_machined(pads.drilling) & (pads.kind == PadKind.NON_PLATED)).tolist():
        yield PlatedHole(
            net=_net_around(board, row),
            x_mm=float(pads.x_mm[row]),
            y_mm=float(pads.y_mm[row]),
            uuid=str(pads.uuid[row]),
            is_via=False,
            top=0,
            bottom=board.layer_count - 1,
            drill_mm=float(np.fmin(pads.drill_x_mm[row], pads.drill_y_mm[row])),
            used=(),
            backdrills=(),
            machinings=machinings_of(pads.drilling, row, board.layer_count),
        )


def _net_around(board: Board, row: int) -> int:
    """The net of a pad that a hole of its part is drilled through, 0 for none."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with machined holes needs it

    pads = board.pads
    others = (pads.footprint == pads.footprint[row]) & (pads.net > 0) & copper_pads(board)
    pieces = pad_pieces(board, np.flatnonzero(others))
    inside = shapely.contains_xy(piece_areas(board, pieces), pads.x_mm[row], pads.y_mm[row])
    return int(pieces.net[inside][0]) if np.any(inside) else 0


def _whole(ctx: Context, hole: PlatedHole, of: Machining) -> DrilledHole:
    """One drill through all layers that are cut."""
    drills = _by_width(ctx, hole, of)
    last = max(drills, key=lambda one: abs(one.drill.must_cut - of.start))
    return replace(last, drill=Backdrill(of.start, last.drill.must_cut, of.size_mm))


def _by_width(ctx: Context, hole: PlatedHole, of: Machining) -> tuple[DrilledHole, ...]:
    """Drills of one width each; where depth or layers are not known, one through the first layer that says so."""
    first = DrilledHole(hole, Backdrill(of.start, of.start, of.size_mm or None), of.kind)
    depth, slope = _depth_and_slope(hole, of)
    if not (of.size_mm > hole.drill_mm and depth > 0):
        what = f"size and depth of the {of.kind} of {named(ctx, hole)}"
        return (replace(first, lacks=MissingFact(what, ENTER_POST)),)
    faces = _faces_mm(ctx)
    if len(faces) != ctx.board.layer_count:
        what = f"the layers that the {of.kind} of {named(ctx, hole)} reaches: the thickness of every stackup layer"
        return (replace(first, lacks=MissingFact(what, DECLARE_STACKUP)),)
    top = [face[0] if of.start == 0 else faces[-1][1] - face[1] for face in faces]
    cut = [layer for layer in range(len(faces)) if top[layer] < depth]
    if slope == 0.0:
        return (replace(first, drill=Backdrill(of.start, cut[-1] if of.start == 0 else cut[0], of.size_mm)),)
    wide = [(layer, of.size_mm - 2 * top[layer] * slope) for layer in cut]
    return tuple(replace(first, drill=Backdrill(layer, layer, round(size, 6))) for layer, size in wide)


def _faces_mm(ctx: Context) -> tuple[tuple[float, float], ...]:
    try:
        return ctx.copper_faces_mm()
    except MissingFact:
        return ()


def _depth_and_slope(hole: PlatedHole, of: Machining) -> tuple[float, float]:
    """How deep it cuts beyond the hole's wall, in mm, and by how much its radius falls in each; 0 if not stated."""
    if of.kind != "countersink":
        return of.depth_mm, 0.0
    slope = math.tan(math.radians(of.angle_deg) / 2)
    to_wall = (of.size_mm - hole.drill_mm) / 2 / slope if slope > 0 else 0.0
    return (min(of.depth_mm, to_wall) if of.depth_mm > 0 else to_wall), slope


def named(ctx: Context, hole: PlatedHole) -> str:
    """Return a hole by its net and place."""
    net = ctx.board.nets[hole.net] or NO_NET
    return f"{net} at {hole.x_mm:g}, {hole.y_mm:g} mm"
