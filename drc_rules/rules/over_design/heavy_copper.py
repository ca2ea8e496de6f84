"""Power planes of 2 oz or more where the declared rails would do with less.

What it checks
--------------
Inner planes of 2 oz or more against the next lighter weight, where the workload asks for no more than that and every
net that fills a good part of such a layer is ground or a declared `[[rail]]` with a limit of its drop. The drop of each
of those rails, solved over its copper, is taken as if all of it grew with the thinner foil, at its high end; so is the
density where `max_a_per_mm2` is declared. Where a rise of temperature is limited, or a rail cannot be solved, there is
nothing to say.

Why it matters
--------------
Heavy copper etches coarsely, takes resin to fill, and costs about a tenth of the board (judgement).

How to fix
----------
Take the lighter foil for the layers named, mirrored; check again afterwards, with the rails and the line widths.

What it cannot see
------------------
The drop is scaled, as if all of it fell on the planes that get thinner, and only against declared limits of supplies:
the return through ground planes of the same weight, target impedance, heat that the planes spread away from parts, and
fault currents have no say, though heavy copper may be there for them. A net below 5 % of the board's area on a layer is
passed over. Outer layers, whose weight a file does not tell apart from plating, and weights other than 2 and 3 oz are
never called heavy.

Sources
-------
Drops: as for `excess-ir-drop`. The least weight stands in the workload's clauses. It is information, never a demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drc_rules.clauses import Clause
from drc_rules.config_power import RailDeclaration
from drc_rules.context import Context
from drc_rules.over_design import demands
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.facts import MissingFact
from stackup_lib.materials import ounce_class
from stackup_lib.roles import board_area_mm2, is_ground

LIGHTER = {2.0: 1.0, 3.0: 2.0}
"""Weights in oz that count as heavy, each with the next lighter one."""

SHARE = 0.05
"""A net that fills less of the board's area on a layer than this is no reason for its copper."""


@dataclass(frozen=True)
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
    if clauses is None or not ctx.power_rails.declared:
        return
    asked = max((c.limit.min for c in clauses if c.kind == "power_copper_oz" and c.limit.min), default=0.0)
    try:
        heavy = _heavy_layers(ctx)
        for weight in sorted(set(heavy.values())):
            layers = tuple(name for name, oz in heavy.items() if oz == weight)
            worst = _worst(ctx, layers, weight / LIGHTER[weight])
            if worst is not None:
                yield CopperNeed(layers, weight, LIGHTER[weight], asked, *worst)
    except MissingFact:
        return


def _heavy_layers(ctx: Context) -> dict[str, float]:
    """Inner planes with their weight, of those that have a lighter one; raises `MissingFact` where it is not known."""
    found = {}
    for index, use in enumerate(ctx.filled_uses()):
        if use.is_plane and 0 < index < ctx.board.layer_count - 1:
            oz = ctx.need(ounce_class(ctx.need(ctx.copper_thickness_mm(index)), outer=False))
            if oz in LIGHTER:
                found[use.name] = oz
    return found


def _worst(ctx: Context, layers: tuple[str, ...], ratio: float) -> tuple[str, float] | None:
    """Return the rail that would use most of its limit with thinner copper, and how much; None where one is open."""
    area = board_area_mm2(ctx.board) or 1.0
    uses = [use for use in ctx.uses if use.name in layers]
    nets = {net for use in uses for net, mm2 in use.fill_mm2.items() if mm2 >= SHARE * area}
    names = {ctx.board.nets[net] for net in nets if not is_ground(ctx.board.nets[net])}
    rows = {row.net: row for row in ctx.power_rails.declared}
    if not names or not names <= set(rows):
        return None
    used = [(_used(ctx, rows[name], ratio), name) for name in sorted(names)]
    if any(share is None for share, _ in used):
        return None
    most, name = max((share or 0.0, name) for share, name in used)
    return name, most


def _used(ctx: Context, row: RailDeclaration, ratio: float) -> float | None:
    """Return the share of a rail's limits that it would use; None where it has none, or one that is not scaled."""
    if row.max_drop_v is None or row.max_rise_c is not None:
        return None
    whole = ctx.power_rails.whole(row)
    solved = whole.there
    back_v = whole.back.of(whole.worst).high if whole.back else 0.0
    shares = [((whole.worst_v.high - back_v) * ratio + back_v) / row.max_drop_v]
    if row.max_a_per_mm2 is not None:
        shares.append(solved.drop.peak.a_per_mm2 * ratio / row.max_a_per_mm2)
    return max(shares)


FORMULA = """
u > 1 or W_asked > W_lighter

u: share of a declared limit that the worst rail would use with the lighter copper
W: weight of the planes [oz]
W_lighter: next lighter weight [oz]
W_asked: what the workload asks for [oz]
"""


@rule("OVR004", kinds=("copper_needed",), over=_need, formula=FORMULA)
def heavy_copper(ctx: Context, _clause: Clause, need: CopperNeed) -> Iterator[Draft]:
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
    yield Draft(
        title=(
            f"{', '.join(need.layers)}: {need.weight_oz:g} oz, where {need.lighter_oz:g} oz would do: {need.rail} "
            f"would use at most {100 * need.used:.0f} % of its declared limit"
        ),
        why="heavy copper etches coarsely and costs about a tenth of the board (judgement)",
        fix=f"take {need.lighter_oz:g} oz foil there, mirrored, and check again",
        ids=need.layers,
        measured=Measured(value=need.weight_oz, unit="oz"),
        limit_value=need.lighter_oz,
        limit_unit="oz",
        places=tuple(Place(layer=name) for name in need.layers),
    )
