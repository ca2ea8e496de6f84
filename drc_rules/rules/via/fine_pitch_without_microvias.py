"""A ball grid array is finer than through vias can serve, and has no microvias under it.

What it checks
--------------
Footprints with round surface pads in a well-filled grid of five rows and columns or more: where their pitch is no
wider than the clause's, whether any microvia, or blind via to the next layer, lies among the balls.

Why it matters
--------------
Between balls of 0.65 mm a through via with its pad leaves no room for a track: the inner rows cannot get out.

How to fix
----------
Microvias in the pads, filled and capped; or a part with a wider pitch.

Sources
-------
Each clause names its document; the 0.65 mm is engineering knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.build_ups import Bga, any_inside, bgas, microvias

ROUNDING_MM = 0.005


def _bgas(ctx: Context, _clause: Clause) -> tuple[Bga, ...]:
    return bgas(ctx.board)


@rule("VIA010", kinds=("bga_pitch_needs_hdi",), over=_bgas)
def fine_pitch_without_microvias(ctx: Context, clause: Clause, bga: Bga) -> Iterator[Draft]:
    """Yield a finding for a fine-pitch BGA without microvias."""
    finest = clause.limit.max or 0.0
    rows, vias = microvias(ctx.board), ctx.board.vias
    if bga.pitch_mm > finest + ROUNDING_MM or any_inside(vias.x_mm[rows], vias.y_mm[rows], bga.box_mm):
        return
    parts = ctx.board.footprints
    reference = str(parts.reference[bga.footprint])
    yield Draft(
        title=f"{reference}: {bga.balls} balls every {bga.pitch_mm:g} mm without a microvia",
        why="between such balls a through via with its pad leaves no room for a track",
        fix=f"microvias in the pads of {reference}, filled and capped",
        ids=(reference,),
        measured=Measured(value=bga.pitch_mm, unit="mm"),
        limit_value=finest,
        limit_unit="mm",
        places=(
            Place(
                uuid=str(parts.uuid[bga.footprint]) or None,
                x_mm=float(parts.x_mm[bga.footprint]),
                y_mm=float(parts.y_mm[bga.footprint]),
            ),
        ),
    )
