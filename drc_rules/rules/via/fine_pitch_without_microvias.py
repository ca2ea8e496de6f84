"""A ball grid array is finer than through vias can serve, and has no microvias under it.

What it checks
--------------
Footprints with round surface pads in a well-filled grid of five rows and columns or more: where their pitch is no
wider than the clause's, whether any microvia, or blind via to the next layer, lies among the balls. Where there are
some, and such a pitch usually takes more layers of them per side than the board has, a remark says so.

Why it matters
--------------
Between balls of 0.65 mm a through via with its pad leaves no room for a track: the inner rows cannot get out.

How to fix
----------
Microvias in the pads, filled and capped; or a part with a wider pitch.

What it cannot see
------------------
A BGA is 36 round surface pads or more in five rows and columns, two fifths of the grid filled: smaller ones, and land
grids of square, oval or custom pads, are not seen. One microvia anywhere in the box around the balls is enough to pass,
be it on the other side of the board or of another part; whether every ball gets out is not asked. Where only the outer
two rows are connected no microvia is needed, and the finding is a false alarm.

Sources
-------
Each clause names its document; the 0.65 mm is engineering knowledge. The usual class (1-N-1 at 0.5 mm, 2-N-2 at
0.4 mm) is AtlasPCB's.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.build_up import ROUNDING_MM, class_name, usual_build_ups
from drc_rules.facts.context import Context
from drc_rules.report.model import Measured, Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.vias.build_ups import Bga, any_inside, bgas, build_ups, microvias


def _bgas(ctx: Context, _clause: Clause) -> tuple[Bga, ...]:
    return bgas(ctx.board)


FORMULA = """
p > p_fine or n > 0

p: pitch of the balls [mm]
p_fine: finest pitch that through vias serve, with 0.01 mm for rounding [mm]
n: 1 where microvias lie among such balls
"""


@rule("VIA010", kinds=("bga_pitch_needs_hdi",), over=_bgas, formula=FORMULA)
def fine_pitch_without_microvias(ctx: Context, clause: Clause, bga: Bga) -> Iterator[Draft]:
    """Yield a finding for a fine-pitch BGA without microvias."""
    finest = clause.limit.max or 0.0
    rows, vias = microvias(ctx.board), ctx.board.vias
    reference = str(ctx.board.footprints.reference[bga.footprint])
    is_fine = bga.pitch_mm <= finest + ROUNDING_MM
    has_microvias = is_fine and any_inside(vias.x_mm[rows], vias.y_mm[rows], bga.box_mm)
    ctx.shows(reference, p=bga.pitch_mm, p_fine=finest + ROUNDING_MM, n=int(has_microvias))
    if not is_fine:
        return
    if has_microvias:
        yield from _too_few(ctx, bga, reference)
        return
    yield Draft(
        title=f"{reference}: {bga.balls} balls every {bga.pitch_mm:g} mm without a microvia",
        why="between such balls a through via with its pad leaves no room for a track",
        fix=f"microvias in the pads of {reference}, filled and capped",
        ids=(reference,),
        measured=Measured(value=bga.pitch_mm, unit="mm"),
        limit_value=finest,
        limit_unit="mm",
        places=(_place(ctx, bga),),
    )


def _too_few(ctx: Context, bga: Bga, reference: str) -> Iterator[Draft]:
    """Remark on a class below the one that the pitch usually takes."""
    built = build_ups(ctx.board)
    usual, source = usual_build_ups(bga.pitch_mm)
    if built.per_side < usual:
        yield Draft(
            title=(
                f"{reference}: a pitch of {bga.pitch_mm:g} mm usually takes {class_name(usual)}; "
                f"the board is {built.name} ({source})"
            ),
            why="one layer of microvias serves the outer rows of balls; the inner ones need a further layer to get out",
            fix="nothing where every ball is routed",
            ids=(reference, "class"),
            measured=Measured(value=built.name),
            limit_value=class_name(usual),
            places=(_place(ctx, bga),),
            fails=False,
        )


def _place(ctx: Context, bga: Bga) -> Place:
    parts, row = ctx.board.footprints, bga.footprint
    return Place(uuid=str(parts.uuid[row]) or None, x_mm=float(parts.x_mm[row]), y_mm=float(parts.y_mm[row]))
