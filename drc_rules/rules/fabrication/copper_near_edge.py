"""Copper is too close to the board edge.

What it checks
--------------
The gap from every line, arc and shape on Edge.Cuts, cut-outs and slots included, to the tracks, vias, pads and filled
zones of each layer, against the clause's fab tier or your own fab's `[fab]` `edge_to_copper_mm`. Copper outside the
board, or in a cut-out, is below every limit. An area within another is a cut-out, unless more than half of the vias and
pads are in such areas: then the outer ring counts as a panel frame. Exempt are plated holes that the edge cuts open,
which count as castellated, vias among them from a hole of 0.6 mm on, edge-connector pads near it, a part's
surface-mount pads there if it has some on both sides, or no other pin elsewhere and its pads end flush with the edge or
are three or more over it, and within 0.5 mm of all these other pads of their pin and the copper of their net. So are
pads around a cut-out that their footprint draws, and what you excluded in KiCad, other than zones. While fills are out
of date (FAB014) they do not count. With such fills, or an open outline, a clause without a finding is not verifiable.

Why it matters
--------------
The router wanders by a tenth of a millimetre, and a V-cut by more. It tears copper at the edge, leaves burrs that short
layers to each other or to the case, and opens the laminate to moisture.

How to fix
----------
Move tracks, vias and pads away from the edge; from a cut-out that their own footprint draws, in the footprint. Fills
keep the copper to edge clearance of KiCad's Board Setup, Constraints: set it to no less than your fab's minimum, then
refill the zones. Parts outside the outline are usually not placed yet: place them, or delete them.

What it cannot see
------------------
A V-cut needs 0.4 to 0.5 mm; only `edge_to_copper_mm` says so. An open outline hides outside copper. Graphics
without a net do not count. Ordinary pads drawn as edge fingers on one side only are reported.

Sources
-------
network PCB (0.25, 0.127 and 0.051 mm), Nanotech (0.25 mm milled) and Eurocircuits (0.25 mm on outer layers): beyond the
best and beyond advanced are warnings, beyond standard information. It is no error, because many fabs pull planes back
from the edge by themselves; but what `[fab]` states takes the place of all three, and is. The least hole of a
castellated via is JLCPCB's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from drc_rules.analysis.fabrication.cuts import (
    PLACES_SHOWN,
    all_nearer,
    at_edge,
    copper_name,
    copper_place,
    nearest_first,
    need_fills,
)
from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, not_covered, your_fab
from drc_rules.analysis.fabrication.fab_size import DRAW_OUTLINE, need_closed_outline
from drc_rules.analysis.fabrication.spacing_fixes import edge_fix
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import distance_text, rounded_mm
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.copper.cuts.gap_rows import OUTSIDE, CutGaps
from stackup_lib.copper.stale_fills import Item, fills_out_of_date
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact


def _limits(ctx: Context, clause: Clause) -> Iterator[Bar]:
    least = bar(ctx, clause, "edge_to_copper_mm", your_fab(ctx).edge_to_copper_mm)
    if least is not None:
        yield least


_TOO_NEAR = "The router wanders: it tears copper at the edge, and burrs short the layers"
_OUTSIDE = "The fab makes nothing outside the outline: this copper is missing from the board, or cut at its edge"
_MOVE = "Move these parts, tracks and zones inside the outline on Edge.Cuts, or delete them; then refill the zones"

FORMULA = """
g ≥ g_min - 0.001

g: smallest gap from the board's edge to copper; below 0 it crosses the edge or is outside the board [mm]
g_min: minimum of the fab [mm]
"""


@rule("FAB018", kinds=("edge_to_copper",), over=_limits, formula=FORMULA, by_stackup="unmoved")
def copper_near_edge(ctx: Context, _clause: Clause, least: Bar) -> Iterator[DraftFinding]:
    """Yield one finding for all copper that is nearer to the edge than the limit."""
    if not len(ctx.board.outline.x_mm):
        raise MissingFact("board outline", DRAW_OUTLINE)
    # fills that only go on over the edge are what this rule measures
    are_old = bool(np.any(ctx.get(space_finder).other_net.kind != Item.EDGE))
    found = at_edge(ctx, with_fills=not are_old)
    near = np.flatnonzero(found.gap_mm < least.value - TOLERANCE_MM)
    if len(found.gap_mm):
        ctx.shows(f"the edge, {least.who}", g=float(np.min(found.gap_mm)), g_min=least.value)
    if not len(near):
        if are_old:
            raise fills_out_of_date()
        need_fills(ctx)
        need_closed_outline(ctx)
        return
    near, is_covered = not_covered(near, lambda limit: found.gap_mm < limit.value - TOLERANCE_MM, least)
    told = nearest_first(found.where(near))
    if told.gap_mm[0] > np.min(found.gap_mm):  # the nearest of all is reported at a stricter tier
        ctx.shows(f"what no stricter tier reports, {least.who}", g=float(told.gap_mm[0]), g_min=least.value)
    every = all_nearer(ctx, least.value - TOLERANCE_MM, with_fills=not are_old)
    yield replace(_draft(ctx, told, least, every), is_covered=is_covered)


def _draft(ctx: Context, near: CutGaps, least: Bar, every: CutGaps) -> DraftFinding:
    board, gap = ctx.board, float(near.gap_mm[0])
    nets = len(distinct(near.net))
    layers = len(distinct(near.layer))
    more = f" ({nets} net{'' if nets == 1 else 's'} on {layers} layer{'' if layers == 1 else 's'} in all)"
    is_outside = bool(near.cut[0] == OUTSIDE)
    limit = f"{least.value:g} mm ({least.who})"
    if is_outside:
        how = "copper outside the board"
    elif gap <= TOLERANCE_MM:
        how = f"copper reaches the board edge, minimum distance {limit}"
    else:
        how = f"copper to board edge {distance_text(gap)}, minimum {limit}"
    return DraftFinding(
        title=f"{how}: {copper_name(board, near, 0)}{more if len(near.net) > 1 else ''}",
        why=_OUTSIDE if is_outside else _TOO_NEAR,
        fix=_MOVE if is_outside else edge_fix(ctx, least, every),
        ids=("edge", least.tier or least.who),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=least.value,
        places=tuple(copper_place(board, near, k) for k in range(min(len(near.net), PLACES_SHOWN))),
        names_tiers=not is_outside,
    )
