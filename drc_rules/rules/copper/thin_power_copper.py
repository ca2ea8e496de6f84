"""The heaviest power plane is lighter, or heavier, than the workload asks for.

What it checks
--------------
The copper weight of the heaviest plane that carries power, in ounce classes: finished inner copper of 11-20 um
is 1/2 oz, 24-40 um 1 oz, 55-80 um 2 oz, 86-115 um 3 oz. Planes are found by filled copper and net. A declared
`copper_oz` decides where given; the weight of an outer layer is unsure because plating is added.

Why it matters
--------------
Resistance goes with the thickness: at a thousand amperes a plane of half the weight costs twice the drop and
heat.

How to fix
----------
Give the power planes the heavier foil, mirrored, and check track and space on those layers: heavy copper etches
coarser.

Sources
-------
Each clause names document, table and row. Ounce classes: IPC-6012 minima as quoted by fabs (1 oz nominal 34.3
um, at least 24.9 um after processing).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drc_rules.clauses import Clause
from drc_rules.context import FILL_ZONES, Context
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.facts import Fact, MissingFact
from stackup_lib.materials import ounce_class
from stackup_lib.roles import PLANE_MIN_COVERAGE, LayerUse


@dataclass(frozen=True)
class PowerPlane:
    """The heaviest plane that carries power, and its weight."""

    use: LayerUse
    weight_oz: float


def _weight(ctx: Context, name: str) -> Fact[float]:
    index = ctx.board.layer_index[name]
    declared = ctx.declarations.config.declared.copper.get(name)
    if declared and declared.copper_oz:
        fact = ctx.declarations.of_stackup(f"copper weight of {name}", declared.copper_oz, f'copper."{name}".copper_oz')
        if fact:
            return fact
    outer = index in (0, ctx.board.layer_count - 1)
    return ounce_class(ctx.need(ctx.copper_thickness_mm(index)), outer=outer)


def _heaviest(ctx: Context, _clause: Clause) -> tuple[PowerPlane, ...]:
    planes = [use for use in ctx.filled_uses() if use.power_share >= PLANE_MIN_COVERAGE / 2]
    if not planes:
        planes = [use for use in ctx.filled_uses() if use.is_plane]
    if not planes:
        raise MissingFact("which layers are power planes", FILL_ZONES)
    weighed = [PowerPlane(use, ctx.need(_weight(ctx, use.name))) for use in planes]
    return (max(weighed, key=lambda plane: plane.weight_oz),)


@rule("CUP001", kinds=("power_copper_oz",), over=_heaviest)
def thin_power_copper(ctx: Context, clause: Clause, plane: PowerPlane) -> Iterator[Draft]:
    """Yield one finding when the heaviest power plane is outside the clause's weight."""
    least, most = clause.limit.min, clause.limit.max
    too_thin = least is not None and plane.weight_oz < least
    too_heavy = most is not None and plane.weight_oz > most
    if not too_thin and not too_heavy:
        return
    net = f" ({plane.use.main_net})" if plane.use.main_net else ""
    yield Draft(
        title=f"the heaviest power plane, {plane.use.name}{net}, is {plane.weight_oz:g} oz; {clause.title}",
        why="voltage drop and heat go with the resistance of the plane"
        if too_thin
        else "heavy copper etches coarser and needs more resin to fill",
        fix="give the power planes the heavier foil, mirrored about the middle"
        if too_thin
        else "split the plane over two layers, or have the fab confirm resin fill and etching",
        ids=(plane.use.name,),
        measured=Measured(value=plane.weight_oz, unit="oz"),
        limit_value=least if too_thin else most,
        limit_unit="oz",
        places=(Place(layer=plane.use.name),),
    )
