"""A drilled hole comes nearer to an inner layer's copper than fabs hold.

What it checks
--------------
From the wall of every via and plated hole, finished as KiCad stores it, to tracks and filled zones of other nets on
inner layers, against the clause's fab tier or against your own fab's `[fab]` `hole_to_copper_mm`. Arcs count as their
chords, slots as round holes of their width; pads of other nets, microvias and non-plated holes are not looked at.

Why it matters
--------------
The drill wanders and the layers slip: nearer copper is touched, or joined years later by filaments that grow along the
glass.

How to fix
----------
A wider hole clearance in KiCad's design rules and fresh fills; unused pads kept hold planes off as well.

What it cannot see
------------------
Outer layers, pads of other nets, microvias, non-plated holes, the board's edge and another hole's wall are not looked
at: what is said of filaments between two holes, this rule does not see. Copper graphics are not read, and fills are
believed as they are stored, a stale one with the clearance it once had. The wall is that of the finished hole, where
the drill is some 0.05 mm wider on each side: the fabs' figures are taken to allow for that, so that one counted from
the drill would be judged too mildly. What was measured is the drawing, without registration.

Sources
-------
NextGIn's practice against filaments, Rush PCB's openings in planes (0.20 mm); network PCB (0.15 usual, 0.076 at the
finest). Past the best is an error, past advanced a warning, past standard information.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.context import FILL_ZONES, Context
from drc_rules.fab_limits import NANOMETRE, Bar, bar, own_fab
from drc_rules.hole_gaps import HoleGaps
from drc_rules.report import Measured
from drc_rules.rule import Draft, rule
from stackup_lib.copper_map import unfilled_zones
from stackup_lib.facts import MissingFact


def _gaps(ctx: Context, clause: Clause) -> Iterator[tuple[HoleGaps, Bar]]:
    least = bar(ctx, clause, "hole_to_copper_mm", own_fab(ctx).hole_to_copper_mm)
    if least is not None and ctx.hole_gaps is not None:
        ctx.filled_uses()
        yield ctx.hole_gaps, least


FORMULA = """
g ≥ g_min

g: least gap from a hole's wall to copper of another net on an inner layer [mm]
g_min: the least that is held [mm]
"""


@rule("FAB012", kinds=("hole_to_copper",), over=_gaps, formula=FORMULA, piece="holes and spaces")
def hole_near_copper(ctx: Context, _clause: Clause, subject: tuple[HoleGaps, Bar]) -> Iterator[Draft]:
    """Yield one finding for the holes that are nearer than the limit."""
    gaps, least = subject
    near = np.flatnonzero(gaps.gap_mm < least.value - NANOMETRE)
    if len(gaps.gap_mm):
        ctx.shows(f"holes and planes, {least.who}", g=float(np.min(gaps.gap_mm)), g_min=least.value)
    if not len(near):
        gaps.holes.need_diameters()
        _need_fills(ctx)
        return
    near = near[np.argsort(gaps.gap_mm[near], kind="stable")]
    worst = int(near[0])
    gap, name = float(gaps.gap_mm[worst]), ctx.board.copper_layers[int(gaps.layer[worst])].name
    whose = ctx.board.nets[int(gaps.net[worst])] or "copper of no net"
    yield Draft(
        title=(
            f"{gaps.holes.counted(near)}: down to {gap:.3f} mm from the hole's wall to {whose} on {name}; "
            f"{least.says('hold')} {least.value:g} mm"
        ),
        why="the drill wanders and the layers slip; filaments grow along the glass where little is left",
        fix=f"a hole clearance of {least.value:g} mm in KiCad's design rules, then fill the zones again",
        ids=("hole to copper", least.tier or least.who),
        measured=Measured(value=round(gap, 4), unit="mm"),
        limit_value=least.value,
        limit_unit="mm",
        places=gaps.holes.places(ctx.board, near),
    )


def _need_fills(ctx: Context) -> None:
    """Raise `MissingFact` where a zone on an inner layer has no stored fill: it may come too near a hole."""
    open_still = unfilled_zones(ctx.board, range(1, ctx.board.layer_count - 1))
    if len(open_still):
        name = ctx.board.nets[int(ctx.board.zones.net[open_still[0]])] or "a zone without a net"
        raise MissingFact(f"the filled copper of {name} on inner layers", FILL_ZONES)
