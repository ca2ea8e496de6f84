"""A via of a declared rail carries more current than its limit allows.

What it checks
--------------
The current in the barrel of every via and plated hole of each `[[rail]]` that states `max_via_a`, from the solution of
the rail: the vias closest to source and load carry most. So it is for those of the ground by which its current returns;
where the ground pads of source and loads are not known, and ground has vias, it is not verifiable, nor is it past the
limit where graphics of ground take a part. In a ground via that several rails share, what the others send through it
counts as well where it raises the current and none of them sends more than twice as much; where one does, and states no
limit of its own, a current past the limit is not verifiable. One finding for each, with the number of vias and the
worst. Less than 10 % above the limit it is not verifiable: the share of a single via is
known no better. Without the loads that other tables of its net declare, no rail passes: one table has them all.

Why it matters
--------------
Ten vias in a row do not carry a tenth each. The first carries most, heats up most, and its plating ages first.

How to fix
----------
Place vias around the pad instead of in a row behind it, distribute source and load over more of them, or use larger
holes.

What it cannot see
------------------
Plated pins of sources and loads are not judged. Plating is one value for all holes; fill, caps and thin walls are
unknown. Near a load a via may carry more. Signals and undeclared rails return by ground vias.

Sources
-------
The limit is the one declared: the temperature of a barrel depends on the copper around it. A barrel alone hardly heats
up: it drops millivolts, and conduction along the copper bounds the rise by V2/(8 k rho) (F. Kohlrausch, 1900). Currents
in ground vias agree with finite elements within 5 % where they are largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.analysis.power.rail_doubt import need_whole_return, unsure, zones_for_graphics
from drc_rules.analysis.power.rail_inputs import part_pads
from drc_rules.analysis.power.rail_modes import need_all_loads
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.rail_models import HoleCurrent

UNSURE = 1.1
"""The solved share of a single via is known to about 10 %."""


@record
class _Way:
    """The holes through which a rail's current goes, on the supply or on its return."""

    title: str
    ids: tuple[str, ...]
    holes: tuple[HoleCurrent, ...]
    confidence: Confidence


def _rails(ctx: Context, _clause: Clause) -> Iterator[RailDeclaration]:
    return (row for row in PowerRails(ctx).declared if row.max_via_a is not None)


FORMULA = """
I ≤ I_max

I: highest via current, solved [A]
I_max: declared limit [A]
n: vias and plated holes of the rail
"""


@rule("PDN005", kinds=("rail_via_current",), over=_rails, formula=FORMULA, reads_fills=True)
def overloaded_via(ctx: Context, _clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding for a rail with vias past its limit, and one for the ground by which its current returns."""
    whole = PowerRails(ctx).whole(row)
    there, back = whole.there, whole.back
    unknown: MissingFact | None = None
    ids = PowerRails(ctx).ids_of(row)
    ways = [_Way(row.net, ids, there.drop.holes, there.confidence)]
    if back is not None:
        sure = Confidence.MEDIUM if back.inferred else there.confidence
        ways.append(_Way(f"{back.net}, return of {row.net}", (*ids, back.net), back.holes, sure))
        if back.drawn and _most_a(back.holes) > (row.max_via_a or 0.0):
            what = f"current of the vias of {back.net}, to which graphics are parallel"
            unknown = MissingFact(what, zones_for_graphics(row, back))
            ways.pop()
    elif _has_ground_vias(ctx, row):
        missing = whole.return_missing
        unknown = MissingFact(f"current of the ground vias of {row.net}: {missing.name}", missing.how_to_give)
    for way in ways:
        try:
            yield from _overloaded(ctx, row, way)
        except MissingFact as doubt:
            unknown = unknown or doubt
    if unknown is not None:
        raise unknown
    need_whole_return(whole)


def _of_others(hole: HoleCurrent) -> str:
    """Return what of a current is that of other rails, as text."""
    return f", {figure(hole.others_a)} A of it from other rails" if hole.others_a else ""


def _need_limit_of_others(ctx: Context, row: RailDeclaration, way: _Way) -> None:
    """Raise `MissingFact` where rails without a limit send far more than this one through a via, and past its limit."""
    past = [hole for hole in way.holes if hole.left_a and hole.current_a + hole.left_a > (row.max_via_a or math.inf)]
    if past and (others := [one.net for one in PowerRails(ctx).declared if one.max_via_a is None]):
        most = max(past, key=lambda hole: hole.left_a)
        what = f"whether a via of {way.title} may carry {figure(most.left_a)} A of other rails"
        raise MissingFact(what, in_table(others[0], 'max_via_a = "?"  # its ground vias are shared'))


def _most_a(holes: Sequence[HoleCurrent]) -> float:
    return max((hole.current_a for hole in holes), default=0.0)


def _has_ground_vias(ctx: Context, row: RailDeclaration) -> bool:
    """Tell whether the return may have vias: where no pad is on a net called ground, it is another net of the loads."""
    board = ctx.board
    grounds = [k for k, name in enumerate(board.nets) if is_ground(name) or name == row.ground]
    if np.isin(board.pads.net, grounds).any():
        return bool(np.isin(board.vias.net, grounds).any())
    of_loads = np.any([part_pads(board, one.partition(".")[0]) for one in row.to], axis=0)
    nets = board.pads.net[of_loads & (board.pads.net > 0) & (board.pads.net != board.net_index[row.net])]
    return bool(np.isin(board.vias.net, nets).any())


def _overloaded(ctx: Context, row: RailDeclaration, way: _Way) -> Iterator[DraftFinding]:
    limit, holes = row.max_via_a or float("inf"), way.holes
    most = _most_a(holes)
    ctx.shows(f"vias of {way.title}", I=most, I_max=limit, n=len(holes))
    found = Interval(low=most / UNSURE, nominal=most, high=most * UNSURE)
    standing = found.against(maximum=limit)
    if standing is Standing.WITHIN:
        need_all_loads(PowerRails(ctx).declared, row)
        _need_limit_of_others(ctx, row, way)
        return
    if standing is Standing.UNSURE:
        raise unsure(
            row.net,
            f"highest via current of {way.title} in A",
            found,
            f"maximum {limit:g} A",
            in_table(row.net, "add vias around source and load, or raise max_via_a"),
        )
    over = [hole for hole in holes if hole.current_a > limit]
    worst = over[0]
    what = "via" if worst.is_via else "plated hole"
    many = f", {len(over)} of {len(holes)} holes exceed it" if len(over) > 1 else ""
    yield DraftFinding(
        title=f"{what} current {figure(worst.current_a)} A, maximum {limit:g} A: {way.title}, "
        f"{worst.from_layer} to {worst.to_layer}{_of_others(worst)}{many}",
        why="Current concentrates in the closest vias instead of sharing equally",
        fix="Add vias around the pad where the current enters, or use larger holes",
        ids=way.ids,
        measured=Measured(value=round(worst.current_a, 4), unit="A"),
        limit_value=limit,
        places=tuple(
            Location(layer=hole.from_layer, net=way.ids[-1], uuid=hole.uuid or None, x_mm=hole.x_mm, y_mm=hole.y_mm)
            for hole in over
        ),
        inferred=way.confidence is not Confidence.HIGH,
    )
