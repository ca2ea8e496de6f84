"""A backdrill is too close to copper of another net.

What it checks
--------------
On every layer that a backdrill passes: the distance from its edge to tracks, vias, pads and filled zones of other nets,
against the clause's fab tier. Connector pins adjacent to it count with their pads on inner layers, surface pads on the
side where the drill enters. The commonest fault is a plane opening made for the hole's pad instead of the wider drill.
Where a zone on those layers has no stored fill, the clearance is not verifiable. Arcs count as their chords; a pad that
is not a circle, oval or rectangle counts as its inscribed circle.

Why it matters
--------------
A backdrill is wider than its hole and wanders. It can nick or cut an adjacent track, or smear plane copper into the
hole, on layers where no one expects a hole that wide.

How to fix
----------
Move the track or the via, on the drilled layers only. Or give the via's class or the zone a wider clearance and refill
the zones. Or use a smaller via and drill.

What it cannot see
------------------
Misregistration is not added; the tier's value should cover it. Stored fills are believed. A neighbouring via without
unused pads counts as its bare barrel, a backdrilled one still as copper (false alarm). Copper graphics are ignored.

Sources
-------
Multi-CB: 0.15 mm at best; 0.20 mm is the practice against conductive anodic filaments, CAF (NextGIn); 0.25 mm is
engineering knowledge. Past the best is an error, past 0.20 mm a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM
from drc_rules.analysis.via.drilled_holes import DECLARE_SIZE, SIZE, DrilledHole, drilled_holes, place_of
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.model import Measured
from drc_rules.report.numbers import distance_text, rounded_mm
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import backdrill_clearance_mm
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.via._drilled_pads import pads_near
from stackup_lib.board.board import Board
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.core.facts import MissingFact

NANOMETRE = 1e-6


def _drilled(ctx: Context, _clause: Clause) -> Iterator[DrilledHole]:
    yield from drilled_holes(ctx)


FORMULA = """
g ≥ g_min - 0.001

g: smallest gap from the backdrill's edge to copper of another net [mm]
g_min: minimum of the fab tier [mm]
D: diameter of the backdrill [mm]
"""


@rule("VIA007", kinds=("backdrill_clearance",), over=_drilled, formula=FORMULA, reads_fills=True)
def backdrill_near_copper(ctx: Context, clause: Clause, drilled: DrilledHole) -> Iterator[DraftFinding]:
    """Yield one finding per drill whose nearest neighbour is nearer than the tier allows."""
    if not drilled.drill.size_mm:
        raise MissingFact(SIZE, DECLARE_SIZE)
    least = backdrill_clearance_mm(Tier(clause.limit.at_least or Tier.BEST))
    nearest = _nearest(ctx, drilled, least)
    if nearest is not None:
        what = f"{ctx.board.nets[drilled.hole.net]}, {ctx.board.nets[nearest[2]] or 'copper'} next to it"
        ctx.shows(what, g=nearest[0], g_min=least, D=drilled.drill.size_mm)
    if nearest is None or nearest[0] >= least - TOLERANCE_MM:
        _need_fills(ctx, drilled)
        return
    gap, layer, net = nearest
    board, hole, drill = ctx.board, drilled.hole, drilled.drill
    start, name = board.copper_layers[drill.start].name, board.copper_layers[layer].name
    how = f"cuts {distance_text(-gap)} into copper" if gap < 0 else f"to copper {distance_text(gap)}"
    yield DraftFinding(
        title=(
            f"backdrill {how}, minimum {least:g} mm ({clause.limit.at_least} fabs): {board.nets[hole.net]}, "
            f"{drill.size_mm:g} mm drill from {start}, {board.nets[net] or 'copper'} on {name}"
        ),
        why="A backdrill is wider than its hole and wanders: it can cut the copper next to it",
        fix=f"Move {board.nets[net] or 'the copper'} away on {name}, or use a smaller via and backdrill",
        ids=(hole.uuid or f"{hole.x_mm:g},{hole.y_mm:g}", start),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=least,
        places=(place_of(ctx, drilled, layer),),
    )


def _nearest(ctx: Context, drilled: DrilledHole, reach_mm: float) -> tuple[float, int, int] | None:
    """Least gap to copper of another net within reach on the drilled layers, its layer and net."""
    board = ctx.board
    found = [*_tracks(board, drilled, reach_mm), *_vias(board, drilled, reach_mm), *_fills(ctx, drilled, reach_mm)]
    return min([*found, *pads_near(board, drilled, reach_mm)], default=None)


def _fills(ctx: Context, drilled: DrilledHole, reach_mm: float) -> Iterator[tuple[float, int, int]]:
    hole, radius = drilled.hole, (drilled.drill.size_mm or 0.0) / 2
    for layer in drilled.passed:
        for distance, net in ctx.copper.gaps_at(layer, hole.x_mm, hole.y_mm, radius + reach_mm):
            if net != hole.net:
                yield distance - radius, layer, net


def _need_fills(ctx: Context, drilled: DrilledHole) -> None:
    """Raise `MissingFact` where a zone of another net on a drilled layer has no stored fill: it may come too near."""
    net_of = ctx.board.zones.net
    other_net = [net for net in net_of[unfilled_zones(ctx.board, drilled.passed)].tolist() if net != drilled.hole.net]
    if other_net:
        names = sorted({ctx.board.nets[net] or "no net" for net in other_net})
        raise MissingFact(f"the zone fills of {names[0]} around the backdrills", FILL_ZONES)


def _tracks(board: Board, drilled: DrilledHole, reach_mm: float) -> Iterator[tuple[float, int, int]]:
    tracks, hole, passed = board.tracks, drilled.hole, drilled.passed
    radius = (drilled.drill.size_mm or 0.0) / 2
    reach = radius + reach_mm + tracks.width_mm / 2
    near = (tracks.layer >= passed.start) & (tracks.layer < passed.stop) & (tracks.net != hole.net)
    near &= (np.fmin(tracks.start_x_mm, tracks.end_x_mm) - reach <= hole.x_mm) & (
        np.fmax(tracks.start_x_mm, tracks.end_x_mm) + reach >= hole.x_mm
    )
    rows = np.flatnonzero(near)
    x, y = tracks.start_x_mm[rows], tracks.start_y_mm[rows]
    dx, dy = tracks.end_x_mm[rows] - x, tracks.end_y_mm[rows] - y
    squared = np.maximum(dx**2 + dy**2, NANOMETRE**2)
    along = np.clip(((hole.x_mm - x) * dx + (hole.y_mm - y) * dy) / squared, 0.0, 1.0)
    gaps = np.hypot(x + along * dx - hole.x_mm, y + along * dy - hole.y_mm) - tracks.width_mm[rows] / 2 - radius
    for row, gap in zip(rows.tolist(), gaps.tolist(), strict=True):
        if gap < reach_mm:
            yield gap, int(tracks.layer[row]), int(tracks.net[row])


def _vias(board: Board, drilled: DrilledHole, reach_mm: float) -> Iterator[tuple[float, int, int]]:
    """Vias of other nets on the drilled layers: pads, or barrels where unused pads are removed but for the ends."""
    vias, hole, passed = board.vias, drilled.hole, drilled.passed
    radius = (drilled.drill.size_mm or 0.0) / 2
    starts, ends = np.isin(vias.start_layer, passed), np.isin(vias.end_layer, passed)
    has_pad = (vias.remove_unused == 0) | ((vias.keep_end == 1) & (starts | ends))
    copper = np.where(has_pad, vias.size_mm, vias.drill_mm) / 2
    gaps = np.hypot(vias.x_mm - hole.x_mm, vias.y_mm - hole.y_mm) - copper - radius
    shared = (vias.start_layer < passed.stop) & (vias.end_layer >= passed.start) & (vias.net != hole.net)
    for row in np.flatnonzero(shared & (gaps < reach_mm)).tolist():
        first = max(passed.start, int(vias.start_layer[row]))
        is_at_end = vias.remove_unused[row] == 1 and ends[row] and not starts[row]
        yield float(gaps[row]), int(vias.end_layer[row]) if is_at_end else first, int(vias.net[row])
