"""A track on an outer layer is narrower than fabs can etch.

What it checks
--------------
The tracks on the top and bottom layers against the clause's fab tier, or your own fab's `[fab]` `outer_track_mm`. Outer
copper is foil and plating together, which a stackup does not tell apart: the tiers apply to ordinary outer layers.
Inner layers are judged by their copper weight (CUP002).

Why it matters
--------------
Outer layers are etched through the plating as well. Tracks that are too narrow come out thin, open, or off their
impedance.

How to fix
----------
Widen the tracks, move narrow ones to inner layers of half-ounce copper, or order from a fab that etches them.

What it cannot see
------------------
Only track widths count: not spaces, pads, necks of fills or copper graphics. Tiers assume about one ounce with plating;
on heavier outer copper the same width passes though it cannot be etched. BGA neckdowns count like any length.

Sources
-------
Rush PCB, network PCB: 4, 3 and 2 mil. Beyond the best is an error, beyond advanced a warning, beyond standard
information. A width may be short by 0.001 mm, and by 0.002 mm where mils and millimetres differ by as little: 3.5 mil
keeps 0.09 mm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import Bar, bar, not_covered, your_fab
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured, ObjectRows
from drc_rules.report.places import track_place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.core.arrays import distinct

PLACES_SHOWN = 20


def _outer(ctx: Context, clause: Clause) -> Iterator[tuple[Ints, Bar]]:
    """Rows of the tracks on outer layers, and the limit."""
    least = bar(ctx, clause, "outer_track_mm", your_fab(ctx).outer_track_mm)
    tracks, last = ctx.board.tracks, ctx.board.layer_count - 1
    rows = np.flatnonzero((tracks.layer == 0) | (tracks.layer == last))
    if least and len(rows):
        yield rows, least


FORMULA = """
w ≥ w_min - p

w: narrowest track on an outer layer [mm]
w_min: minimum of the fab [mm]
p: tolerance, 0.001; 0.002 where mils and mm differ by as little [mm]
"""


@rule("FAB006", kinds=("outer_track",), over=_outer, formula=FORMULA)
def fine_outer_track(ctx: Context, _clause: Clause, subject: tuple[Ints, Bar]) -> Iterator[DraftFinding]:
    """Yield one finding for the tracks of the outer layers that are below the limit."""
    rows, least = subject
    tracks = ctx.board.tracks
    ctx.shows(
        f"outer layers, {least.who}", w=float(np.min(tracks.width_mm[rows])), w_min=least.value, p=least.precision_mm
    )
    fine = rows[tracks.width_mm[rows] < least.value - least.precision_mm]
    if not len(fine):
        return
    fine, is_covered = not_covered(fine, lambda limit: tracks.width_mm < limit.value - limit.precision_mm, least)
    by_width = fine[np.argsort(tracks.width_mm[fine], kind="stable")]
    names = [ctx.board.copper_layers[layer].name for layer in distinct(tracks.layer[fine]).tolist()]
    width, length = float(tracks.width_mm[by_width[0]]), float(np.sum(tracks.length_mm[fine]))
    where = " and ".join(names)
    yield DraftFinding(
        title=(
            f"outer track {width:.3g} mm, minimum {least.value:g} mm ({least.who}): {length:.0f} mm of track on {where}"
        ),
        why="Outer layers are etched through foil and plating",
        fix=f"Widen the tracks on {where} to {least.value:g} mm or more",
        ids=("outer", least.tier or least.who),
        measured=Measured(value=width, unit="mm"),
        limit_value=least.value,
        places=tuple(track_place(ctx.board, row) for row in by_width[:PLACES_SHOWN].tolist()),
        every=ObjectRows(tracks=tuple(fine.tolist())),
        is_covered=is_covered,
    )
