"""A BGA is too fine-pitched for through vias, and has no microvias under it.

What it checks
--------------
Footprints with 36 or more round surface pads in a grid of five rows and columns or more, two fifths of it filled: where
their pitch is no larger than the clause's, whether any microvia, or blind via to the next layer, is among the balls.
Where there are some, and the pitch usually needs more microvia layers per side than the board has, a remark says so.
Where there are none, and every net of the part that joins another one has a track, via or zone, it is a remark, too.

Why it matters
--------------
Between balls at 0.5 mm a usual through via, 0.2 mm in a pad of 0.45 mm, leaves no room for a track: the inner rows
cannot be routed out. At 0.65 mm it leaves room for one of 0.065 mm with as much space on either side.

How to fix
----------
Use microvias in the pads, filled and capped; or a part with a wider pitch.

What it cannot see
------------------
Smaller BGAs, and land grids of square, oval or custom pads, are not detected. One microvia in the box around the balls
passes, whatever it serves. Whether copper of a net reaches each ball: KiCad's DRC does.

Sources
-------
Printed Circuit Design & Fab: 0.65 mm is the last pitch for through vias, the next one is 0.5 mm. The usual class (1-N-1
at 0.5 mm, 2-N-2 at 0.4 mm) is AtlasPCB's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.via.build_up import ROUNDING_MM, class_name, usual_build_ups
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board
from stackup_lib.vias.build_ups import Bga, any_inside, bgas, build_ups, microvias


def _bgas(ctx: Context, _clause: Clause) -> tuple[Bga, ...]:
    return bgas(ctx.board)


ROUTED = "Change nothing if every ball is routed"

FORMULA = """
p > p_fine or n > 0

p: pitch of the balls [mm]
p_fine: maximum pitch that needs microvias, with 0.01 mm for rounding [mm]
n: 1 where microvias lie among such balls
"""


@rule("VIA010", kinds=("bga_pitch_needs_hdi",), over=_bgas, formula=FORMULA)
def fine_pitch_without_microvias(ctx: Context, clause: Clause, bga: Bga) -> Iterator[DraftFinding]:
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
    is_routed = _is_routed(ctx.board, bga)
    needed = (
        f"usual at {finest:g} mm or less; all its nets have copper" if is_routed else f"needed at {finest:g} mm or less"
    )
    yield DraftFinding(
        title=f"{reference}: BGA with {bga.balls} balls at {bga.pitch_mm:g} mm pitch has no microvias, {needed}",
        why="A through via with its pad leaves no room for a track between such balls",
        fix=ROUTED if is_routed else f"Use microvias in the pads of {reference}, filled and capped",
        ids=(reference,),
        measured=Measured(value=bga.pitch_mm, unit="mm"),
        limit_value=finest,
        places=(_place(ctx, bga),),
        severity=Severity.INFO if is_routed else None,
    )


def _is_routed(board: Board, bga: Bga) -> bool:
    """Tell whether every net of a part that joins another one has copper."""
    pads, zones = board.pads, board.zones
    own, joined, copper = (np.zeros(len(board.nets), dtype=np.bool_) for _ in range(3))
    own[pads.net[pads.footprint == bga.footprint]] = True
    joined[pads.net[pads.footprint != bga.footprint]] = True
    for nets in (board.tracks.net, board.vias.net, zones.net[zones.is_rule_area == 0]):
        copper[nets] = True
    leads = own & joined
    leads[0] = False
    return bool(np.any(leads)) and bool(np.all(copper[leads]))


def _too_few(ctx: Context, bga: Bga, reference: str) -> Iterator[DraftFinding]:
    """Remark on a class below the one that the pitch usually takes."""
    built = build_ups(ctx.board)
    usual, source = usual_build_ups(bga.pitch_mm)
    if built.per_side < usual:
        yield DraftFinding(
            title=(
                f"{reference}: {bga.pitch_mm:g} mm pitch usually needs {class_name(usual)}; the "
                f"board is {built.name} ({source})"
            ),
            why="One layer of microvias serves the outer rows of balls; the inner rows need a further layer",
            fix=f"{ROUTED}; otherwise add a microvia layer",
            ids=(reference, "class"),
            measured=Measured(value=built.name),
            limit_value=class_name(usual),
            places=(_place(ctx, bga),),
            fails=False,
        )


def _place(ctx: Context, bga: Bga) -> Location:
    parts, row = ctx.board.footprints, bga.footprint
    return Location(uuid=str(parts.uuid[row]) or None, x_mm=float(parts.x_mm[row]), y_mm=float(parts.y_mm[row]))
