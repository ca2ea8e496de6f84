"""Copper comes too near to the board's edge.

What it checks
--------------
The gap from every line, arc and shape on Edge.Cuts, cut-outs and slots included, to the tracks, vias, pads and filled
zones of each layer, against the clause's fab tier or your own fab's `[fab]` `edge_to_copper_mm`. Copper outside the
board, or in a cut-out, however far from the edge, is below every limit. Pads that reach over the edge and connector
pads (KiCad's pad type for edge connectors) near it are meant to be there, as is the copper of their net within 0.5 mm
of them.

Why it matters
--------------
The router wanders by a tenth of a millimetre, and a V-cut by more: it tears copper that lies at the edge, leaves burrs
that short layers to each other or to the case, and opens the laminate to moisture.

How to fix
----------
A copper to edge clearance in KiCad's Board Setup, Constraints; then fill the zones again and move what it reports.

What it cannot see
------------------
How an edge is cut no file tells: a V-cut needs 0.4 to 0.5 mm, which only `edge_to_copper_mm` asks for. What is outside
can be told only where the outline is closed, its ends within 0.01 mm of each other, no corner joining three lines;
where it is open, copper far from its lines passes. An area within another is a cut-out, unless more than half of the
vias and pads lie in such areas: then the ring around them is taken for a frame. Pads of free shape count as the circle
that fits into them, shapes and texts drawn on copper layers not at all. A finger of an edge connector that is drawn as
an ordinary surface pad and ends short of the edge is reported, a pad that crosses the edge by mistake is not.

Sources
-------
network PCB (0.25, 0.127 and 0.051 mm), Nanotech (0.25 mm milled) and Eurocircuits (0.25 mm on outer layers): past the
best and past advanced are warnings, past standard information. It is no error, for many a fab pulls planes back from
the edge by itself, and says so or not; but what `[fab]` states takes the place of all three, and is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.cuts import PLACES_SHOWN, at_edge, copper_place, nearest_first, need_fills
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, own_fab, untold
from drc_rules.analysis.fabrication.fab_size import DRAW_OUTLINE
from drc_rules.facts.context import Context
from drc_rules.report.model import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.copper.cut_gaps import OUTSIDE, CutGaps
from stackup_lib.core.facts import MissingFact


def _limits(ctx: Context, clause: Clause) -> Iterator[Bar]:
    least = bar(ctx, clause, "edge_to_copper_mm", own_fab(ctx).edge_to_copper_mm)
    if least is not None:
        yield least


FORMULA = """
g ≥ g_min - 0.001

g: least gap from the board's edge to copper; below 0 it crosses the edge or lies outside the board [mm]
g_min: the least that is held [mm]
"""


@rule("FAB018", kinds=("edge_to_copper",), over=_limits, formula=FORMULA, reads_fills=True)
def copper_near_edge(ctx: Context, _clause: Clause, least: Bar) -> Iterator[Draft]:
    """Yield one finding for all copper that is nearer to the edge than the limit."""
    if not len(ctx.board.outline.x_mm):
        raise MissingFact("the board's outline", DRAW_OUTLINE)
    found = at_edge(ctx)
    near = np.flatnonzero(found.gap_mm < least.value - TOLERANCE_MM)
    if len(found.gap_mm):
        ctx.shows(f"the edge, {least.who}", g=float(np.min(found.gap_mm)), g_min=least.value)
    if not len(near):
        need_fills(ctx)
        return
    near, is_told = untold(near, lambda limit: found.gap_mm < limit.value - TOLERANCE_MM, least)
    told = nearest_first(found.where(near))
    if told.gap_mm[0] > np.min(found.gap_mm):  # the nearest of all is told at a stricter tier
        ctx.shows(f"what no stricter tier tells, {least.who}", g=float(told.gap_mm[0]), g_min=least.value)
    yield _draft(ctx, told, least, is_told=is_told)


def _draft(ctx: Context, near: CutGaps, least: Bar, *, is_told: bool) -> Draft:
    board, gap = ctx.board, float(near.gap_mm[0])
    layer, net = board.copper_layers[int(near.layer[0])].name, board.nets[int(near.net[0])] or "copper of no net"
    nets = len(np.unique(near.net))
    layers = len(np.unique(near.layer))
    more = f" ({nets} net{'' if nets == 1 else 's'} on {layers} layer{'' if layers == 1 else 's'} in all)"
    if near.cut[0] == OUTSIDE:
        how = f"{net} on {layer} is outside the board"
    elif gap <= TOLERANCE_MM:
        how = f"{net} on {layer} reaches the board's edge"
    else:
        how = f"{net} on {layer} is {gap:.3f} mm from the board's edge"
    return Draft(
        title=f"{how}{more if len(near.net) > 1 else ''}; {least.says('hold')} {least.value:g} mm",
        why="the router wanders: it tears copper at the edge, and burrs short the layers",
        fix=f"a copper to edge clearance of {least.value:g} mm in Board Setup, then fill the zones again",
        ids=("edge", least.tier or least.who),
        measured=Measured(value=round(gap, 4), unit="mm"),
        limit_value=least.value,
        limit_unit="mm",
        places=tuple(copper_place(board, near, k) for k in range(min(len(near.net), PLACES_SHOWN))),
        is_told=is_told,
    )
