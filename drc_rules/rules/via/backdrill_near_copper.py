"""A backdrill, counterbore or countersink is too close to copper of another net.

What it checks
--------------
On every layer that a backdrill passes: the distance from its edge to tracks, vias, pads and filled zones of other nets,
against the clause's fab tier. Connector pins adjacent to it count with their pads on inner layers, surface pads on the
side where the drill enters. The commonest fault is a plane opening made for the hole's pad instead of the wider drill.
Where a zone on those layers has no stored fill, the clearance is not verifiable. Graphics count where they have a net.
KiCad 10's counterbores and countersinks of all holes count like backdrills, on the layers whose upper face they reach,
a countersink with its width there.

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
Misregistration is not added; the tier's value should cover it. Stored fills are believed. A backdrilled neighbour
counts as copper still (false alarm). Copper graphics without a net are ignored.

Sources
-------
Multi-CB: 0.15 mm at best; 0.20 mm is the practice against conductive anodic filaments, CAF (NextGIn); 0.25 mm is
engineering knowledge. Past the best is an error, past 0.20 mm a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM
from drc_rules.analysis.via.drilled_holes import BACKDRILL, DECLARE_SIZE, SIZE, DrilledHole, drilled_holes, place_of
from drc_rules.analysis.via.machined_holes import NO_NET, machined_by_width
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import distance_text, rounded_mm
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import backdrill_clearance_mm
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.via._drilled_pads import nearest_to_drills
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.core.facts import MissingFact


def _drilled(ctx: Context, _clause: Clause) -> Iterator[DrilledHole]:
    yield from drilled_holes(ctx)
    yield from ctx.get(machined_by_width)


FORMULA = """
g ≥ g_min - 0.001

g: smallest gap from the backdrill's edge to copper of another net [mm]
g_min: minimum of the fab tier [mm]
D: diameter of the backdrill [mm]
"""


@rule("VIA007", kinds=("backdrill_clearance",), over=_drilled, formula=FORMULA, reads_fills=True)
def backdrill_near_copper(ctx: Context, clause: Clause, drilled: DrilledHole) -> Iterator[DraftFinding]:
    """Yield one finding per drill whose nearest neighbour is nearer than the tier allows."""
    if drilled.lacks:
        raise drilled.lacks
    if not drilled.drill.size_mm:
        raise MissingFact(SIZE, DECLARE_SIZE)
    least = backdrill_clearance_mm(Tier(clause.limit.at_least or Tier.BEST))
    nearest = ctx.get(nearest_to_drills, least).get(drilled)
    if nearest is not None:
        what = f"{ctx.board.nets[drilled.hole.net] or NO_NET}, {ctx.board.nets[nearest[2]] or 'copper'} next to it"
        ctx.shows(what, g=nearest[0], g_min=least, D=drilled.drill.size_mm)
    if nearest is None or nearest[0] >= least - TOLERANCE_MM:
        _need_fills(ctx, drilled)
        return
    gap, layer, net = nearest
    board, hole, drill = ctx.board, drilled.hole, drilled.drill
    start, name = board.copper_layers[drill.start].name, board.copper_layers[layer].name
    is_backdrill, whose = drilled.kind == BACKDRILL, board.nets[hole.net] or NO_NET
    width, smaller = (f"drill from {start}", "via and backdrill") if is_backdrill else ("wide there", drilled.kind)
    how = f"cuts {distance_text(-gap)} into copper" if gap < 0 else f"to copper {distance_text(gap)}"
    yield DraftFinding(
        title=(
            f"{drilled.kind} {how}, minimum {least:g} mm ({clause.limit.at_least} fabs): {whose}, "
            f"{drill.size_mm:g} mm {width}, {board.nets[net] or 'copper'} on {name}"
        ),
        why=f"A {drilled.kind} is wider than its hole and wanders: it can cut the copper next to it",
        fix=f"Move {board.nets[net] or 'the copper'} away on {name}, or use a smaller {smaller}",
        ids=(hole.uuid or f"{hole.x_mm:g},{hole.y_mm:g}", start, *([] if is_backdrill else [drilled.kind])),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=least,
        places=(place_of(ctx, drilled, layer),),
    )


def _need_fills(ctx: Context, drilled: DrilledHole) -> None:
    """Raise `MissingFact` where a zone of another net on a drilled layer has no stored fill: it may come too near."""
    net_of = ctx.board.zones.net
    other_net = [net for net in net_of[unfilled_zones(ctx.board, drilled.passed)].tolist() if net != drilled.hole.net]
    if other_net:
        names = sorted({ctx.board.nets[net] or "no net" for net in other_net})
        raise MissingFact(f"the zone fills of {names[0]} around the backdrills", FILL_ZONES)
