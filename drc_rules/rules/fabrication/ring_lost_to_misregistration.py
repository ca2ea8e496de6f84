"""Annular rings are narrower than the layers may lie off one another.

What it checks
--------------
The ring as it is drawn, pad less finished hole, halved, of every via and plated hole of a board with four layers or
more, against the registration that the workload's clause names, or that your own fab states (`[fab]`
`registration_mm`), at the precision of the clause. Microvias are left out: lasers aim at the layer that they open. The
hole is drilled 0.1 mm wider than it is finished; a ring that holds the finished hole but not the drilled one is
information. Holes with no copper around them at all are narrow-ring's.

Why it matters
--------------
Boards of many layers shrink and slip in the press. Where a layer lies off by more than the ring, the drill leaves the
pad: an open joint, or a short to the plane beside it, found when the board has cost thousands.

How to fix
----------
Wider pads on inner layers, smaller holes, or a fab that states a better registration.

What it cannot see
------------------
One figure stands for every layer, hole and direction: how far this board's layers really move depends on its size, its
laminates and the number of presses, and the blind and buried vias of a later press see other shifts. That IPC-6012
class 2 lets a hole leave its pad by a quarter of its rim is not taken into account, nor is what it then touches.
Teardrops, which keep the joint where it matters, are not read as ring; pads of free shape and drills off their middle
are not measured.

Sources
-------
Rush PCB and HIC: 5 mil between layers. The clause compares in hundredths of a millimetre.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.fab_holes import NO_RING_MM, HoleSet, hole_sets
from drc_rules.fab_limits import NANOMETRE, own_fab
from drc_rules.fabs.holes import PLATING_ALLOWANCE_MM
from drc_rules.numbers import at_precision
from drc_rules.report import Measured
from drc_rules.rule import Draft, rule
from stackup_lib.board import Floats

LEAST_LAYERS = 4
"""With fewer, nothing is pressed onto anything."""


def _drilled(ctx: Context, _clause: Clause) -> Iterator[HoleSet]:
    for holes in hole_sets(ctx.board) if ctx.board.layer_count >= LEAST_LAYERS else ():
        if not holes.is_micro:
            yield holes


FORMULA = """
r_n ≥ m_n

r: narrowest ring around the finished hole [mm]
r_n: the same at the precision of the limit [mm]
m_n: how far layers may lie off [mm]
"""


@rule("FAB009", kinds=("registration",), over=_drilled, formula=FORMULA)
def ring_lost_to_misregistration(ctx: Context, clause: Clause, holes: HoleSet) -> Iterator[Draft]:
    """Yield one finding for the rings of a kind that are too narrow; a remark where only plating makes them so."""
    own = own_fab(ctx).registration_mm
    asked = own if own is not None else clause.limit.max or 0.0
    decimals = None if own is not None else clause.limit.decimals
    least = at_precision(asked, decimals) - NANOMETRE
    has_ring = holes.ring_mm >= NO_RING_MM
    if np.any(has_ring):
        ring = float(np.min(holes.ring_mm[has_ring]))
        ctx.shows(
            f"{holes.noun}s", r=ring, r_n=at_precision(round(ring, 6), decimals), m_n=at_precision(asked, decimals)
        )
    narrow = np.flatnonzero(has_ring & (_rounded(holes.ring_mm, decimals) < least))
    doubtful = np.flatnonzero(has_ring & (_rounded(holes.ring_mm - PLATING_ALLOWANCE_MM / 2, decimals) < least))
    chosen = narrow if len(narrow) else doubtful
    if not len(chosen):
        holes.need_diameters()
        return
    worst = float(np.min(holes.ring_mm[chosen]))
    drilled = "" if len(narrow) else f", {worst - PLATING_ALLOWANCE_MM / 2:.3f} around the hole as it is drilled"
    yield Draft(
        title=f"{holes.counted(chosen)}: a ring of {worst:.4g} mm{drilled}; layers may lie off by {asked:g} mm",
        why="where a layer lies off by more than the ring, the drill leaves the pad",
        fix=f"pads that are {2 * asked + (0.0 if len(narrow) else PLATING_ALLOWANCE_MM):.2f} mm wider than their hole",
        ids=(holes.noun,),
        measured=Measured(value=round(worst, 4), unit="mm"),
        limit_value=asked,
        limit_unit="mm",
        places=holes.places(ctx.board, chosen),
        fails=bool(len(narrow)),
    )


def _rounded(rings_mm: Floats, decimals: int | None) -> Floats:
    """Round half up; the few different rings of a board once each."""
    unique, inverse = np.unique(np.round(rings_mm, 6), return_inverse=True)
    return np.array([at_precision(ring, decimals) for ring in unique.tolist()])[inverse]
