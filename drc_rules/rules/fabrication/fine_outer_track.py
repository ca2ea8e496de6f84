"""A track on an outer layer is narrower than fabs can etch.

What it checks
--------------
The tracks on the top and bottom layers against the clause's fab tier, or your own fab's `[fab]` `outer_track_mm`. Where
the stackup, `copper_oz` or `[process]` states two ounces of outer copper or more, at least the minimum of inner copper
of that weight applies: plating only adds to it. Inner layers are judged by their copper weight (CUP002).

Why it matters
--------------
Outer layers are etched through the plating as well. Tracks that are too narrow come out thin, open, or off their
impedance.

How to fix
----------
Widen the tracks, move narrow ones to inner layers of half-ounce copper, or order from a fab that etches them.

What it cannot see
------------------
Only track widths count: not spaces, pads, necks of fills or copper graphics. Below two ounces tiers assume about one
ounce with plating, whose share a stackup does not tell. BGA neckdowns count like any length.

Sources
-------
Rush PCB, network PCB: 4, 3 and 2 mil; Multi-CB's table is of inner and outer copper alike, PCBasic's outer one asks for
as much or more. Beyond the best is an error, beyond advanced a warning, beyond standard
information. A width may be short by 0.001 mm, and by 0.002 mm where mils and millimetres differ by as little: 3.5 mil
keeps 0.09 mm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_clearances import heavy_outer_oz, tier_space_mm
from drc_rules.analysis.fabrication.fab_limits import Bar, bar_of, bar_of_tier, is_replaced, not_covered, your_fab
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured, ObjectRows
from drc_rules.report.places import track_place
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

PLACES_SHOWN = 20


@entity
class OuterTracks:
    """The tracks of outer layers that have one limit.

    Attributes:
        rows: indices into `Board.tracks`.
        heavy_oz: the copper weight where it is two ounces or more.
    """

    rows: Ints
    least: Bar
    heavy_oz: float | None


def _outer(ctx: Context, clause: Clause) -> Iterator[OuterTracks]:
    own = your_fab(ctx).outer_track_mm
    if is_replaced(clause, own):
        return
    layers: dict[tuple[Bar, float | None], list[int]] = {}
    for layer in dict.fromkeys((0, ctx.board.layer_count - 1)):
        weight = heavy_outer_oz(ctx, layer) if own is None else None
        if least := bar_of(ctx, clause, own) or _of_tier(ctx, clause, layer):
            layers.setdefault((least, weight), []).append(layer)
    for (least, weight), here in layers.items():
        rows = np.flatnonzero(np.isin(ctx.board.tracks.layer, here))
        if len(rows):
            yield OuterTracks(rows, least, weight)


def _of_tier(ctx: Context, clause: Clause, layer: int) -> Bar | None:
    return bar_of_tier(lambda tier: tier_space_mm(ctx, layer, tier), Tier(clause.limit.at_least or Tier.BEST))


FORMULA = """
w ≥ w_min - p

w: narrowest track on an outer layer [mm]
w_min: minimum of the fab [mm]
p: tolerance, 0.001; 0.002 where mils and mm differ by as little [mm]
"""


@rule("FAB006", kinds=("outer_track",), over=_outer, formula=FORMULA)
def fine_outer_track(ctx: Context, _clause: Clause, outer: OuterTracks) -> Iterator[DraftFinding]:
    """Yield one finding for the tracks of outer layers that are below their limit."""
    rows, least, tracks = outer.rows, outer.least, ctx.board.tracks
    weight = "" if outer.heavy_oz is None else f" in {outer.heavy_oz:g} oz copper"
    ctx.shows(
        f"outer layers{weight}, {least.who}",
        w=float(np.min(tracks.width_mm[rows])),
        w_min=least.value,
        p=least.precision_mm,
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
            f"outer track {width:.3g} mm, minimum {least.value:g} mm{weight} ({least.who}): "
            f"{length:.0f} mm of track on {where}"
        ),
        why="Outer layers are etched through foil and plating",
        fix=f"Widen the tracks on {where} to {least.value:g} mm or more",
        ids=("outer", least.tier or least.who, *([] if outer.heavy_oz is None else names)),
        measured=Measured(value=width, unit="mm"),
        limit_value=least.value,
        places=tuple(track_place(ctx.board, row) for row in by_width[:PLACES_SHOWN].tolist()),
        every=ObjectRows(tracks=tuple(fine.tolist())),
        is_covered=is_covered,
    )
