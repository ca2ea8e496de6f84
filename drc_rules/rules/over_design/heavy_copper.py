"""Power planes of 2 oz or more where lighter copper meets the limits of the declared rails.

What it checks
--------------
Inner planes of 2 to 4 oz against the next lighter weight, where the workload requires no more than that and every net
that fills a good part of such a layer is ground or a declared `[[rail]]` with a drop limit. The drop of each of those
rails, supply and return, and of each rail that returns through such a ground, is scaled as if all of it grew with the
lighter foil, at the thinnest that a fab may deliver; so is the density where `max_a_per_mm2` is declared. A return
without copper on these planes keeps its drop. A declared `copper_oz` is the weight, else the thickness tells it. Where
a return is not known, a temperature rise is limited, a rail draws more than its `max_via_a` (lighter planes leave more
to the nearest via), or a rail cannot be solved, the rule gives no advice: following it never makes a declared limit
fail.

Why it matters
--------------
Heavy copper etches coarsely, takes resin to fill, and costs about a tenth of the board (judgement).

How to fix
----------
Use the lighter foil for the layers named, mirrored; check again afterwards, with the rails and the line widths.

What it cannot see
------------------
Declared limits alone scale the drop: target impedance, heat spreading and fault currents, which may need heavy copper,
are ignored, as are nets below 5 % of the board. Outer layers, and copper above 4 oz, are not judged.

Sources
-------
Drops: as for `excess-ir-drop`. The minimum weight is in the workload's clauses. It is information, never a requirement.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.analysis.power.rail_copper import CopperLoss
from drc_rules.analysis.power.rail_doubt import LEAST_SHARE
from drc_rules.facts.context import Context
from drc_rules.facts.copper_weight import weight_of
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.over_design._loss_margin import demands
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.copper.cuts.board_area import board_area_mm2
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.materials import copper_weights
from stackup_lib.power.rail_drop.spread import finished_range_mm

LIGHTER = {2.0: 1.0, 3.0: 2.0, 4.0: 3.0}
"""Weights in oz that count as heavy, each with the next lighter one."""

UNSURE = 1.1
"""As `overloaded-via` has it: a current up to a tenth below the limit of a via may exceed it."""

SHARE = 0.05
"""A net that fills less of the board's area on a layer than this is no reason for its copper."""


@record
class CopperNeed:
    """Heavy planes of one weight, and the drop of the rails on them with the next lighter one.

    Attributes:
        rail: the one that would use most of a declared limit, and how much of it.
    """

    layers: tuple[str, ...]
    weight_oz: float
    lighter_oz: float
    asked_oz: float
    rail: str
    used: float


def _need(ctx: Context, _clause: Clause) -> Iterator[CopperNeed]:
    clauses = demands(ctx)
    if clauses is None or not PowerRails(ctx).declared:
        return
    asked = max((c.limit.min for c in clauses if c.kind == "power_copper_oz" and c.limit.min), default=0.0)
    try:
        heavy = _heavy_layers(ctx)
        for weight in sorted(set(heavy.values())):
            layers = tuple(name for name, oz in heavy.items() if oz == weight)
            worst = _worst(ctx, layers, LIGHTER[weight])
            if worst is not None:
                yield CopperNeed(layers, weight, LIGHTER[weight], asked, *worst)
    except MissingFact:
        return


def _heavy_layers(ctx: Context) -> dict[str, float]:
    """Inner planes with their weight, of those that have a lighter one; raises `MissingFact` where it is not known."""
    found = {}
    for index, use in enumerate(ctx.filled_uses()):
        if use.is_plane and 0 < index < ctx.board.layer_count - 1:
            oz = ctx.need(weight_of(ctx, index))
            if oz in LIGHTER:
                found[use.name] = oz
    return found


def _worst(ctx: Context, layers: tuple[str, ...], lighter_oz: float) -> tuple[str, float] | None:
    """Return the rail that would use most of its limit with thinner copper, and how much; None where one is open."""
    area = board_area_mm2(ctx.board) or 1.0
    uses = [use for use in ctx.uses if use.name in layers]
    nets = {ctx.board.nets[net] for use in uses for net, mm2 in use.fill_mm2.items() if mm2 >= SHARE * area}
    grounds = {name for name in nets if is_ground(name)}
    rows = {row.net: row for row in PowerRails(ctx).declared}
    if not nets - grounds or not nets - grounds <= set(rows):
        return None
    used = []
    for name, row in sorted(rows.items()):
        if name in nets or grounds:
            share = _used(ctx, row, layers, lighter_oz)
            if share is None:
                return None
            used.append((share, name))
    most, name = max(used)
    return name, most


def _used(ctx: Context, row: RailDeclaration, layers: tuple[str, ...], lighter_oz: float) -> float | None:
    """Return the share of a rail's limits that it would use; None where it has none, or where one is open."""
    whole = PowerRails(ctx).whole(row)
    if row.max_drop_v is None or row.max_rise_c is not None or whole.back is None:
        return None
    if row.max_via_a is not None and whole.there.current_a * UNSURE > row.max_via_a:
        return None  # lighter planes leave more of the current to the nearest vias
    loads = range(len(whole.there.drop.loads))
    there = [_growth(whole.there.loss_of(load), layers, lighter_oz) for load in loads]
    back = [_growth(found.loss, layers, lighter_oz) for found in whole.back.loads]
    highs = ((whole.there.drop_of(load).high * there[load], whole.back.of(load).high * back[load]) for load in loads)
    shares = [max(sum(high) for high in highs) / row.max_drop_v]
    if row.max_a_per_mm2 is not None:
        peak = whole.there.peak
        thin, stated, _ = whole.there.range_of(peak.layer)
        shares.append(peak.a_per_mm2.high * stated / thin * max(there) / row.max_a_per_mm2)
    return max(shares)


def _growth(loss: CopperLoss, layers: tuple[str, ...], lighter_oz: float) -> float:
    """Return the maximum increase of a drop; not at all where next to nothing of it is lost on these layers.

    Its high end holds for copper as thin as the fab may deliver now, and then for the lighter foil as thin as that.
    """
    on_them = [name for name in layers if name in loss.layer_power_w]
    if sum(loss.layer_power_w[name] for name in on_them) <= LEAST_SHARE * loss.total_w:
        return 1.0
    nominal_um = next(weight.nominal_um for weight in copper_weights() if weight.oz == lighter_oz)
    thin, _ = finished_range_mm(nominal_um / 1000, outer=False)
    return max(loss.ranges[name][0] / thin for name in on_them)


FORMULA = """
u > 1 or W_asked > W_lighter

u: share of its limit that the worst rail would use with the lighter copper, supply and return
W: weight of the planes [oz]
W_lighter: next lighter weight [oz]
W_asked: minimum of the workload [oz]
"""


@rule("OVR004", kinds=("copper_needed",), over=_need, formula=FORMULA, reads_fills=True)
def heavy_copper(ctx: Context, _clause: Clause, need: CopperNeed) -> Iterator[DraftFinding]:
    """Yield one finding per weight whose next lighter one would do."""
    ctx.shows(
        f"{', '.join(need.layers)}, rail {need.rail}",
        u=need.used,
        W=need.weight_oz,
        W_lighter=need.lighter_oz,
        W_asked=need.asked_oz,
    )
    if need.used > 1.0 or need.lighter_oz < need.asked_oz:
        return
    yield DraftFinding(
        title=(
            f"{', '.join(need.layers)}: {need.weight_oz:g} oz copper, {need.lighter_oz:g} oz is enough: {need.rail} "
            f"would use at most {100 * need.used:.0f} % of its declared limit"
        ),
        why="Heavy copper etches coarsely and costs about a tenth of the board (judgement)",
        fix=f"Use {need.lighter_oz:g} oz foil there, mirrored, and check again",
        ids=need.layers,
        measured=Measured(value=need.weight_oz, unit="oz"),
        limit_value=need.lighter_oz,
        places=tuple(Location(layer=name) for name in need.layers),
    )
