"""The annular ring is smaller than the registration tolerance.

What it checks
--------------
The ring around the drilled hole, of every via and plated hole of a board with four layers or more, against the
registration tolerance of the workload's clause, or your own fab's (`[fab]` `registration_mm`), at the precision of the
clause. IPC-2221 (9.2.2) measures an inner layer's ring from the drilled hole: 0.1 mm wider than the finished hole that
KiCad stores, or as far as the pad leaves room (0.1 mm wider than the drill). The hole of a pad
has the ring in all copper of its net, as in `small-annular-ring`. Microvias are exempt: lasers aim at the layer that
they open. Holes without any copper around them are left to `small-annular-ring`.

Why it matters
--------------
Boards of many layers shrink and shift in lamination. Where a layer shifts by more than the ring, the drill leaves the
pad: an open joint, or a short to the adjacent plane, found when the board has cost thousands.

How to fix
----------
Widen the pads on inner layers, use smaller holes, or a fab with better registration.

What it cannot see
------------------
One tolerance stands for every layer, hole and direction, whatever the board's size, laminates and lamination cycles.
Breakout that IPC-6012 class 2 allows is reported. Teardrops are ignored.

Sources
-------
Rush PCB and HIC: 5 mil between layers. The clause compares in hundredths of a millimetre. IPC-2221 as quoted, and
Eurocircuits, which takes the inner ring from the tool, 0.10 mm wider than the finished plated hole.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_RING_MM, HoleSet, holes_of
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, your_fab
from drc_rules.analysis.fabrication.joined_rings import joined_rings
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import at_precision
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs.holes import drilled_one_mm
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Floats

LEAST_LAYERS = 4
"""Boards with fewer layers have a single core."""


def _drilled(ctx: Context, _clause: Clause) -> Iterator[HoleSet]:
    for holes in ctx.get(holes_of) if ctx.board.layer_count >= LEAST_LAYERS else ():
        if not holes.is_micro:
            yield holes


FORMULA = """
r = R - (d - d_f) / 2
r_n ≥ m_n - 0.001

R: ring around the finished hole, as drawn [mm]
d: drilled diameter [mm]
d_f: finished diameter, as KiCad stores it [mm]
r: smallest ring around the drilled hole [mm]
r_n: the same at the precision of the limit [mm]
m_n: registration tolerance [mm]
"""


@rule("FAB009", aliases=("ring-lost-to-misregistration",), kinds=("registration",), over=_drilled, formula=FORMULA)
def annular_ring_breakout(ctx: Context, clause: Clause, holes: HoleSet) -> Iterator[DraftFinding]:
    """Yield one finding for the holes of a kind whose ring around the drill is too narrow."""
    own = your_fab(ctx).registration_mm
    asked = own if own is not None else clause.limit.max or 0.0
    decimals = None if own is not None else clause.limit.decimals
    least = at_precision(asked, decimals) - TOLERANCE_MM
    small = np.flatnonzero((holes.ring_mm >= NO_RING_MM) & (_rounded(holes.drilled_ring_mm, decimals) < least))
    holes = ctx.get(joined_rings).of(holes, small) if len(small) else holes
    rings = holes.drilled_ring_mm
    ringed = np.flatnonzero(holes.ring_mm >= NO_RING_MM)
    narrow = ringed[_rounded(rings[ringed], decimals) < least]
    if not len(ringed):
        holes.need_diameters()
        return
    worst = int(ringed[np.argmin(rings[ringed])])
    ring, drawn = float(rings[worst]), float(holes.ring_mm[worst])
    finished, drilled = float(holes.drill_mm[worst]), round(float(holes.drilled_mm[worst]), 6)
    ctx.shows(
        f"{holes.noun}s",
        R=drawn,
        d=drilled,
        d_f=finished,
        r=drawn - (drilled - finished) / 2,
        r_n=at_precision(round(ring, 6), decimals),
        m_n=at_precision(asked, decimals),
    )
    if not len(narrow):
        holes.need_diameters()
        return
    several = "down to " if np.ptp(rings[narrow]) > TOLERANCE_MM else ""
    yield DraftFinding(
        title=(
            f"annular ring {several}{ring:.4g} mm, minimum {asked:g} mm (registration): {holes.counted(narrow)}, "
            f"{drilled:g} mm drill ({drawn:.4g} mm around finished {finished:g} mm)"
        ),
        why="Where a layer shifts by more than the ring, the drill leaves the pad",
        fix=f"Make the pads {2 * asked + drilled_one_mm(finished) - finished:.2f} mm wider than their finished hole",
        ids=(holes.noun,),
        measured=Measured(value=round(ring, 4), unit="mm"),
        limit_value=asked,
        places=holes.places(ctx.board, narrow),
        every=holes.object_rows(narrow),
    )


def _rounded(rings_mm: Floats, decimals: int | None) -> Floats:
    """Round half up; the few different rings of a board once each."""
    unique, inverse = np.unique(np.round(rings_mm, 6), return_inverse=True)
    return np.array([at_precision(ring, decimals) for ring in unique.tolist()])[inverse]
