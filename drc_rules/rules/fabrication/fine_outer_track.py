"""Tracks on an outer layer are narrower than fabs etch.

What it checks
--------------
The tracks on the top and on the bottom layer against the clause's fab tier, or against your own fab's `[fab]`
`outer_track_mm`. Outer copper is foil and plating together, whose weight a stackup does not tell apart: the tiers are
those of ordinary outer layers. Inner layers are judged by their copper weight (CUP002).

Why it matters
--------------
Outer layers are etched through the plating as well: what is too fine comes out thin, open, or with an impedance of its
own.

How to fix
----------
Wider tracks, or fine ones on inner layers of half-ounce copper; order a fab that etches it.

What it cannot see
------------------
Only widths are compared, of tracks and arcs as they are drawn: the spaces between them, pads, the necks of fills and
copper drawn as graphics are not. The tiers hold for ordinary outer copper of about an ounce with its plating: on two
ounces outside, or after a second plating for filled vias, the same width cannot be etched and passes. Short neckdowns
in a BGA, which some fabs wave through, count like any other length.

Sources
-------
Rush PCB, network PCB: 4, 3 and 2 mil. Past the best is an error, past advanced a warning, past standard information.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, own_fab, untold
from drc_rules.facts.context import Context
from drc_rules.report.model import Measured, Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.board.board import Ints

PLACES_SHOWN = 20


def _outer(ctx: Context, clause: Clause) -> Iterator[tuple[Ints, Bar]]:
    """Rows of the tracks on outer layers, and the limit."""
    least = bar(ctx, clause, "outer_track_mm", own_fab(ctx).outer_track_mm)
    tracks, last = ctx.board.tracks, ctx.board.layer_count - 1
    rows = np.flatnonzero(((tracks.layer == 0) | (tracks.layer == last)) & (tracks.width_mm > 0))
    if least and len(rows):
        yield rows, least


FORMULA = """
w ≥ w_min - 0.001

w: narrowest track on an outer layer [mm]
w_min: the narrowest that is etched [mm]
"""


@rule("FAB006", kinds=("outer_track",), over=_outer, formula=FORMULA)
def fine_outer_track(ctx: Context, _clause: Clause, subject: tuple[Ints, Bar]) -> Iterator[Draft]:
    """Yield one finding for the tracks of the outer layers that are below the limit."""
    rows, least = subject
    tracks = ctx.board.tracks
    ctx.shows(f"outer layers, {least.who}", w=float(np.min(tracks.width_mm[rows])), w_min=least.value)
    fine = rows[tracks.width_mm[rows] < least.value - TOLERANCE_MM]
    if not len(fine):
        return
    fine, is_told = untold(fine, lambda limit: tracks.width_mm < limit.value - TOLERANCE_MM, least)
    by_width = fine[np.argsort(tracks.width_mm[fine], kind="stable")]
    names = [ctx.board.copper_layers[layer].name for layer in np.unique(tracks.layer[fine]).tolist()]
    width, length = float(tracks.width_mm[by_width[0]]), float(np.sum(tracks.length_mm[fine]))
    where = " and ".join(names)
    yield Draft(
        title=f"{where}: {length:.0f} mm of track down to {width:.3g} mm wide; {least.says('etch')} {least.value:g} mm",
        why="outer layers are etched through foil and plating",
        fix=f"tracks of {least.value:g} mm and more on {where}",
        ids=("outer", least.tier or least.who),
        measured=Measured(value=width, unit="mm"),
        limit_value=least.value,
        limit_unit="mm",
        places=tuple(_place(ctx, row) for row in by_width[:PLACES_SHOWN].tolist()),
        is_told=is_told,
    )


def _place(ctx: Context, row: int) -> Place:
    tracks = ctx.board.tracks
    return Place(
        layer=ctx.board.copper_layers[int(tracks.layer[row])].name,
        net=ctx.board.nets[int(tracks.net[row])] or None,
        uuid=str(tracks.uuid[row]) or None,
        x_mm=float(tracks.start_x_mm[row]),
        y_mm=float(tracks.start_y_mm[row]),
    )
