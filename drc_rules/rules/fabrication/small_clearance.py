"""The clearance between nets is smaller than the copper weight can be etched to.

What it checks
--------------
The clearances on each layer between tracks, arcs, vias, pads of every shape, graphics with a net and filled zones of
different nets, edge to edge, against the minimum of the clause's fab tier: on inner layers for the copper weight, as
declared (`copper_oz`) or in the stackup, on outer layers the tiers of ordinary outer copper, and from two ounces on at
least the minimum of inner copper of that weight. `[fab]` `space_mm` (by weight) and `outer_space_mm` take their place.
Pads of one part count as well. Where unused pads are removed, a via's pad counts on a layer that a track or fill of its
net reaches. The smallest clearance of each pair of nets is a place. While fills are out of date (FAB014) none is
measured.

Why it matters
--------------
Etching goes down and sideways at once: in a gap too narrow for its copper the foot is not cleared, and the nets stay
joined or nearly so. Fabs ask, thin the copper, or refuse.

How to fix
----------
Move tracks, vias and pads apart. Where a fill is too close, raise the clearance of these nets in KiCad's design rules
and refill the zones. Or use lighter foil on the layer; or choose a fab that etches it.

What it cannot see
------------------
Text is not read. Fills are believed as stored. Within 1 mm of a net tie, a short, or copper without a net that joins
two nets, these are not separated. Other graphics without a net are not measured.

Sources
-------
Copper-weight tables of several fabs (Multi-CB, PCBasic, Optima) inside; Rush PCB and network PCB with 4, 3 and 2 mil
outside: beyond the best is an error, beyond advanced a warning, beyond standard information. A clearance may be short
by 0.001 mm, and by 0.002 mm where a source states whole mils: 0.125 mm keeps 5 mil, and 3.5 mil keeps 0.09 mm. Of your
own fab's whole mils, and of most round millimetres, it is 0.001 mm. Stored fills keep their clearances to 0.001 mm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import between, more_pairs, one_per_nets, place
from drc_rules.analysis.fabrication.fab_clearances import (
    heavier_space_mm,
    is_outer,
    layers_with_spaces,
    least_space,
    own_space_mm,
    space_finder,
    weight_oz,
)
from drc_rules.analysis.fabrication.fab_limits import Bar, is_replaced, not_covered, precision_mm
from drc_rules.analysis.fabrication.spacing_fixes import space_fix
from drc_rules.facts.context import DECLARE_STACKUP, FILL_ZONES, Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import UNIT_MM, clearance_text, rounded_mm
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.shapes import Mask
from stackup_lib.copper.stale_fills import fills_out_of_date
from stackup_lib.core.facts import MissingFact

PLACES_SHOWN = 20

TOUCHES_FIX = "Move the two apart, give both the same net, or join the nets with a net tie"
WHY = "A gap too narrow for its copper is not etched clear: the nets stay joined, or nearly so"


def _layers(ctx: Context, clause: Clause) -> Iterator[int]:
    for layer in layers_with_spaces(ctx.board):
        if not is_replaced(clause, own_space_mm(ctx, layer)):
            yield layer


FORMULA = """
s ≥ s_min - p

s: smallest clearance on the layer [mm]
s_min: minimum for its copper [mm]
p: tolerance, 0.001; 0.002 where mils and mm differ by as little [mm]
"""


@rule("FAB013", aliases=("narrow-space",), kinds=("copper_space",), over=_layers, formula=FORMULA)
def small_clearance(ctx: Context, clause: Clause, layer: int) -> Iterator[DraftFinding]:
    """Yield one finding for the spaces of a layer that are narrower than the limit."""
    name, limit, spaces = (
        ctx.board.copper_layers[layer].name,
        least_space(ctx, clause, layer),
        ctx.get(space_finder).on(layer),
    )
    if len(ctx.get(space_finder).other_net):
        spaces = spaces.where(~spaces.at_fill)
    if limit is None:
        _need_no_table(ctx, clause, layer, spaces)
        _need_all_known(ctx, layer)
        return
    narrow = spaces.where(_miss(limit, spaces))
    if not len(narrow):
        _need_all_known(ctx, layer)
        return
    narrow = narrow.where(one_per_nets(ctx.board, narrow))  # once per two nets, at the strictest tier they miss
    ctx.shows(f"{name}, {limit.who}", s=float(narrow.gap_mm[0]), s_min=limit.value, p=limit.precision_mm)
    rest, is_covered = not_covered(np.arange(len(narrow)), lambda one: _miss(one, narrow), limit)
    told = narrow.where(rest)
    if told.gap_mm[0] > narrow.gap_mm[0]:  # the narrowest of all is reported at a stricter tier
        ctx.shows(
            f"{name}, what no stricter tier reports, {limit.who}",
            s=float(told.gap_mm[0]),
            s_min=limit.value,
            p=limit.precision_mm,
        )
    yield replace(_draft(ctx, layer, limit, told), is_covered=is_covered)


def _miss(limit: Bar, spaces: Spaces) -> Mask:
    return np.asarray(spaces.gap_mm < limit.value - limit.precision_mm)


def _draft(ctx: Context, layer: int, limit: Bar, narrow: Spaces) -> DraftFinding:
    board, name, gap = ctx.board, ctx.board.copper_layers[layer].name, float(narrow.gap_mm[0])
    pairs, is_short = narrow.where(one_per_nets(board, narrow)), gap < UNIT_MM
    what = f"short: {clearance_text(gap)}" if is_short else clearance_text(gap)
    copper = "outer copper" if is_outer(board, layer) else f"{weight_oz(ctx, layer):g} oz copper"
    return DraftFinding(
        title=(
            f"{what}, minimum {limit.value:g} mm in {copper} ({limit.who}): "
            f"{name}, {between(board, pairs)}{more_pairs(pairs)}"
        ),
        why="The nets are joined on the finished board" if is_short else WHY,
        fix=TOUCHES_FIX if is_short else space_fix(ctx, limit, narrow),
        ids=(name,),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=limit.value,
        places=tuple(place(ctx.copper, pairs, row) for row in range(min(len(pairs), PLACES_SHOWN))),
        counted=len(pairs),
    )


def _need_no_table(ctx: Context, clause: Clause, layer: int, spaces: Spaces) -> None:
    """Raise `MissingFact` where a weight is in no table, unless the next heavier one would do: it etches no finer."""
    tier = Tier(clause.limit.at_least or Tier.BEST)
    heavier, weight = heavier_space_mm(ctx, layer, tier), weight_oz(ctx, layer)
    if heavier is None or np.any(spaces.gap_mm < heavier - precision_mm(heavier)):
        how = f'[fab]\nspace_mm = {{ "{weight:g}" = "?" }}  # minimum clearance that your fab etches, in mm'
        raise MissingFact(f"minimum clearance of {tier} fabs in {weight:g} oz copper", how)


def _need_all_known(ctx: Context, layer: int) -> None:
    """Raise `MissingFact` where a narrow space may still hide: in fills that are not stored or out of date.

    An outer layer is judged as an ordinary one as long as its thickness is not stated.
    """
    board, name = ctx.board, ctx.board.copper_layers[layer].name
    if len(unfilled_zones(board, (layer,))):
        raise MissingFact(f"the zone fills on {name}", FILL_ZONES)
    if len(ctx.get(space_finder).other_net):
        raise fills_out_of_date()
    if is_outer(board, layer) and own_space_mm(ctx, layer) is None and not ctx.copper_thickness_mm(layer).known:
        raise MissingFact(f"copper thickness of {name}", DECLARE_STACKUP)
