"""Copper next to the board's edge and next to unplated holes, as the fab clauses require."""

from __future__ import annotations

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import NO_NET, pad_name, uuid_in
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Location
from stackup_lib.board.board import Board, Ints
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.cuts.cut_gaps import cut_gaps, made_area
from stackup_lib.copper.cuts.gap_rows import REACH_MM, CutGaps
from stackup_lib.copper.cuts.severed_tracks import SeveredTrack, severed_tracks
from stackup_lib.copper.shapes import CopperShape, Mask
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad.design_rules.board_minimums import EDGE

PLACES_SHOWN = 20
"""Places listed with one finding."""


def _cut_gaps(ctx: Context) -> CutGaps:
    own_mm = ctx.declarations.config.fab.edge_to_copper_mm or 0.0
    return cut_gaps(ctx.copper, max(REACH_MM, own_mm))


def at_edge(ctx: Context, *, with_fills: bool) -> CutGaps:
    """Return what comes near the edge or lies outside: the nearest piece of each net and layer; fills on request."""
    found = _all_at_edge(ctx, with_fills=with_fills)
    return found.least_of(found.layer, found.net)


def all_nearer(ctx: Context, below_mm: float, *, with_fills: bool) -> CutGaps:
    """Return all copper that comes nearer to the edge than a distance."""
    found = _all_at_edge(ctx, with_fills=with_fills)
    return found.where(found.gap_mm < below_mm)


def at_own_cut_out(board: Board, found: CutGaps) -> Ints:
    """Return the part of each pad that is near a cut-out which its own footprint draws; -1 for all other copper."""
    part = np.append(board.pads.footprint, -1)[np.where(found.kind == CopperShape.PAD, found.row, -1)]
    return np.where(part == found.drawn_by, part, -1)


def _all_at_edge(ctx: Context, *, with_fills: bool) -> CutGaps:
    found = ctx.get(_cut_gaps)
    found = found.where((found.cut < 0) & (with_fills | (found.kind != CopperShape.FILL)))
    return found.where(~_is_excluded(ctx.board, found))


def _is_excluded(board: Board, found: CutGaps) -> Mask:
    """Tell which copper the user excluded from KiCad's check of the edge: KiCad reports one violation per item."""
    excluded = {uuid for check, uuids in board.project.exclusions if check == EDGE.check for uuid in uuids}
    if not excluded:
        return np.zeros(len(found), dtype=np.bool_)
    items = zip(found.kind.tolist(), found.row.tolist(), strict=True)
    return np.array([uuid_in(board, CopperShape(kind), row) in excluded for kind, row in items], dtype=np.bool_)


def severed(ctx: Context) -> tuple[SeveredTrack, ...]:
    """Return the tracks that the board's edge or a cut-out severs; none where the outline is open."""
    found = ctx.get(_cut_gaps)
    crosses = found.where((found.cut < 0) & (found.kind == CopperShape.TRACK) & (found.gap_mm <= 0))
    area = made_area(ctx.board) if len(crosses) else None
    if area is None:
        return ()
    layers = distinct(crosses.layer).tolist()
    return tuple(
        one for layer in layers for one in severed_tracks(ctx.board, area, layer, crosses.row[crosses.layer == layer])
    )


def at_holes(ctx: Context, *, with_fills: bool) -> CutGaps:
    """Return what comes near unplated holes: the nearest piece of each hole; fills are left out on request."""
    found = ctx.get(_cut_gaps)
    found = found.where((found.cut >= 0) & (with_fills | (found.kind != CopperShape.FILL)))
    return found.least_of(found.cut)


def drilled_into(ctx: Context, hole: int, *, with_fills: bool) -> CutGaps:
    """Return what an unplated hole is drilled into: the deepest place of each net; fills are left out on request."""
    found = ctx.get(_cut_gaps)
    found = found.where((found.cut == hole) & (found.gap_mm <= 0) & (with_fills | (found.kind != CopperShape.FILL)))
    return nearest_first(found.least_of(found.net))


def copper_name(board: Board, found: CutGaps, row: int) -> str:
    """Return the net of one piece of copper and its layer; of a pad without a net the part and the pad."""
    layer, name = board.copper_layers[int(found.layer[row])].name, board.nets[int(found.net[row])]
    if not name and found.kind[row] == CopperShape.PAD:
        name = pad_name(board, int(found.row[row]))
    return f"{name or NO_NET} on {layer}"


def copper_place(board: Board, found: CutGaps, row: int) -> Location:
    """Return where one piece of copper comes near a cut."""
    kind, item = int(found.kind[row]), int(found.row[row])
    at = complex(found.at[row])
    return Location(
        layer=board.copper_layers[int(found.layer[row])].name,
        net=board.nets[int(found.net[row])] or None,
        uuid=uuid_in(board, CopperShape(kind), item),
        x_mm=round(at.real, 6),
        y_mm=round(at.imag, 6),
    )


def nearest_first(found: CutGaps) -> CutGaps:
    """Return the rows by gap, the least first."""
    return found.where(np.argsort(found.gap_mm, kind="stable"))


def need_fills(ctx: Context) -> None:
    """Raise `MissingFact` where a zone has no stored fill: it may come too near a cut."""
    open_still = unfilled_zones(ctx.board, range(ctx.board.layer_count))
    if len(open_still):
        name = ctx.board.nets[int(ctx.board.zones.net[open_still[0]])] or "a zone without a net"
        raise MissingFact(f"the zone fills of {name}", FILL_ZONES)
