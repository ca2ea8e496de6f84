"""A track on an inner layer is too narrow to be etched in its copper weight.

What it checks
--------------
The narrowest track on each inner layer against the minimum width of the clause's fab tier for the layer's copper
weight, or your own fab's (`[fab.track_mm]`). A declared `copper_oz` is the weight, else the stackup's thickness tells
it. Outer layers are exempt: plating makes their weight uncertain.

Why it matters
--------------
The etch works sideways while it works down, longer in heavy copper: a narrow track comes out thin, open, or with walls
so sloped that its impedance is off.

How to fix
----------
Use a lighter foil on layers with narrow tracks, or wider tracks on heavy layers; keep signals off 2 oz planes.

What it cannot see
------------------
Only track width as drawn is measured: not spaces, necks of zones, pads, teardrops or copper graphics. Plating of inner
layers with buried vias is unknown. Tables are of usual fabs unless `[fab]` is set.

Sources
-------
Copper-weight tables of several fabs, three tiers: beyond the best is an error, beyond advanced a warning, beyond
standard information. A weight that no table lists passes where the next heavier one would and fails where the next
lighter one would, else it is not verifiable: heavier copper etches no finer. A width may be short by 0.001 mm, and by
0.002 mm where mils and millimetres differ by as little: 0.125 mm keeps 5 mil, 3.5 mil keeps 0.09 mm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import Bar, bar_of, is_replaced, precision_mm, your_fab
from drc_rules.facts.context import Context
from drc_rules.facts.copper_weight import weight_of
from drc_rules.report.findings import Measured
from drc_rules.report.places import track_place
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier, track_space, track_spaces
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class RoutedLayer:
    """An inner layer with tracks, and the row of its narrowest one."""

    index: int
    narrowest: int


def _inner_routed(ctx: Context, clause: Clause) -> Iterator[RoutedLayer]:
    tracks = ctx.board.tracks
    for index in range(1, ctx.board.layer_count - 1):
        rows = np.flatnonzero(tracks.layer == index)
        if len(rows) and not is_replaced(clause, _own_mm(ctx, index)):
            yield RoutedLayer(index, int(rows[np.argmin(tracks.width_mm[rows])]))


def _own_mm(ctx: Context, index: int) -> float | None:
    """Least width that one's own fab states for the layer's weight; None where either is not known."""
    own = your_fab(ctx)
    if not own.track_mm:
        return None
    weight = weight_of(ctx, index)
    return own.track_of(weight.value) if weight.known and weight.value is not None else None


FORMULA = """
w ≥ w_min - p

w: narrowest track of the layer [mm]
w_min: minimum width in copper of this weight [mm]
p: tolerance, 0.001; 0.002 where mils and mm differ by as little [mm]
m: copper weight [oz]
"""


@rule("CUP002", kinds=("copper_track_space",), over=_inner_routed, formula=FORMULA)
def fine_tracks_in_heavy_copper(ctx: Context, clause: Clause, layer: RoutedLayer) -> Iterator[DraftFinding]:
    """Yield one finding per layer whose narrowest track is below the tier."""
    weight_oz = ctx.need(weight_of(ctx, layer.index))
    tracks, name = ctx.board.tracks, ctx.board.copper_layers[layer.index].name
    width = float(tracks.width_mm[layer.narrowest])
    limit = _limit(ctx, clause, layer.index, weight_oz) or _missed_in_lighter(clause, weight_oz, width)
    if limit is None:
        _need_no_table(clause, weight_oz, width)
        return
    least = limit.value
    ctx.shows(f"{name}, {limit.who}", w=width, w_min=least, p=limit.precision_mm, m=weight_oz)
    if width < least - limit.precision_mm:
        yield DraftFinding(
            title=f"track {width:.3f} mm, minimum {least:g} mm in {weight_oz:g} oz copper ({limit.who}): {name}",
            why="A narrow track in heavy copper comes out thin or open",
            fix=f"Use lighter foil on {name}, or tracks of {least:g} mm or more",
            ids=(name,),
            measured=Measured(value=width, unit="mm"),
            limit_value=least,
            places=(track_place(ctx.board, layer.narrowest),),
        )


def _limit(ctx: Context, clause: Clause, index: int, weight_oz: float) -> Bar | None:
    """Return the least width; None where neither the own fab nor a table gives one for the weight."""
    own = _own_mm(ctx, index)
    if own is not None:
        return bar_of(ctx, clause, own)
    row = track_space(weight_oz)
    if row is None or clause.limit.at_least is None:
        return None
    tier = Tier(clause.limit.at_least)
    return Bar(row.least_mm(tier), f"{tier} fabs", tier)


def _missed_in_lighter(clause: Clause, weight_oz: float, width_mm: float) -> Bar | None:
    """Return the limit of the next lighter weight that a table has, where the track misses even that."""
    tier = Tier(clause.limit.at_least or Tier.BEST)
    row = next((row for row in reversed(track_spaces()) if row.copper_oz < weight_oz), None)
    if row is None or width_mm >= row.least_mm(tier) - precision_mm(row.least_mm(tier)):
        return None
    return Bar(row.least_mm(tier), f"{tier} fabs in {row.copper_oz:g} oz, which etches finer", tier)


def _need_no_table(clause: Clause, weight_oz: float, width_mm: float) -> None:
    """Raise `MissingFact` where a weight is in no table, unless the next heavier one would do: it etches no finer."""
    tier = Tier(clause.limit.at_least or Tier.BEST)
    heavier = next((row.least_mm(tier) for row in track_spaces() if row.copper_oz > weight_oz), None)
    if heavier is None or width_mm < heavier - precision_mm(heavier):
        how = f'[fab]\ntrack_mm = {{ "{weight_oz:g}" = "?" }}  # minimum track width that your fab etches, in mm'
        raise MissingFact(f"minimum track width of {tier} fabs in {weight_oz:g} oz copper", how)
