"""The planes of the core rail, or the heaviest power plane, are lighter or heavier than the workload asks for.

What it checks
--------------
Where `[[rail]]` declares a core rail: the copper weight of its planes together, since planes in parallel share the
current, and of each of them against what is too heavy. Otherwise that of the heaviest plane that carries power. In
ounce classes: finished inner copper of 11-20 um is 1/2 oz, 24-40 um 1 oz, 55-80 um 2 oz, 86-115 um 3 oz. Planes are
found by filled copper and net. A declared `copper_oz` decides where given; the weight of an outer layer is unsure
because plating is added.

Why it matters
--------------
Resistance goes with the thickness: at a thousand amperes a plane of half the weight costs twice the drop and
heat.

How to fix
----------
Give the power planes the heavier foil, mirrored, and check track and space on those layers: heavy copper etches
coarser.

What it cannot see
------------------
It weighs copper and measures no resistance: necks, perforation by antipads, how many vias join the planes, and where
the loads sit are the business of excess-ir-drop, for rails that are declared. Without a declared core rail the heaviest
power plane speaks for all, so that one heavy plane hides thin ones; a layer is one where nets that do not read as
ground by name fill 15 % of the board, and ground under another name (RTN, COM) is taken for power. Of a core rail each
layer with 30 % of the copper of its fullest one counts in full; tracks and copper drawn as graphics do not count.

Sources
-------
Each clause names document, table and row. Ounce classes: IPC-6012 minima as quoted by fabs (1 oz nominal 34.3
um, at least 24.9 um after processing).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.board import Board
from stackup_lib.facts import Fact, MissingFact
from stackup_lib.materials import ounce_class
from stackup_lib.roles import PLANE_MIN_COVERAGE, polygon_areas_mm2

DECLARE_CORE = '[[rail]]\nnet = "?"  # or draw and fill the zones of power nets\nvoltage_v = "?"\ncore = true'

RAIL_SHARE = 0.3
"""A layer counts as a plane of a rail from this share of what the rail fills on its fullest layer."""


@dataclass(frozen=True)
class PowerPlane:
    """A plane that carries power, or all planes of a core rail, and the weight.

    Attributes:
        what: in words, e.g. `the heaviest power plane, In2.Cu (+12V),`.
        layers: names.
    """

    what: str
    layers: tuple[str, ...]
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


def _planes(ctx: Context, clause: Clause) -> tuple[PowerPlane, ...]:
    """The planes of each core rail; where none is declared, the heaviest plane of all that carry power."""
    core = [row.net for row in ctx.power_rails.declared if row.core and row.net in ctx.board.net_index]
    return tuple(plane for net in core for plane in _of_rail(ctx, clause, net)) or _heaviest(ctx)


def _of_rail(ctx: Context, clause: Clause, net: str) -> Iterator[PowerPlane]:
    """A rail's planes together against too little, the heaviest alone against too much."""
    board = ctx.board
    index = board.net_index[net]
    filled = [use for use in ctx.filled_uses() if _rail_share(board, index, board.layer_index[use.name]) >= RAIL_SHARE]
    weighed = [(use.name, ctx.need(_weight(ctx, use.name))) for use in filled]
    if not weighed:
        raise MissingFact(f"the planes of {net}", f"draw and fill a zone of {net} that carries its current")
    if clause.limit.min is None:
        name, weight = max(weighed, key=lambda plane: plane[1])
        yield PowerPlane(f"{name}, a plane of {net},", (name,), weight)
        return
    names = tuple(name for name, _ in weighed)
    yield PowerPlane(f"the copper of {net} on {', '.join(names)}", names, sum(weight for _, weight in weighed))


def _rail_share(board: Board, net: int, layer: int) -> float:
    """The filled copper of a net on a layer, as a share of what the net fills on its fullest layer."""
    zones = board.zones
    mine = zones.net[zones.fill_zone] == net
    area = polygon_areas_mm2(zones.fill_x_mm, zones.fill_y_mm, zones.fill_start)
    filled = np.bincount(zones.fill_layer[mine], area[mine], board.layer_count) if mine.any() else np.zeros(0)
    return float(filled[layer] / filled.max()) if len(filled) else 0.0


def _heaviest(ctx: Context) -> tuple[PowerPlane, ...]:
    planes = [use for use in ctx.filled_uses() if use.power_share >= PLANE_MIN_COVERAGE / 2]
    if not planes:
        raise MissingFact("which layers are power planes", DECLARE_CORE)
    weighed = [(use, ctx.need(_weight(ctx, use.name))) for use in planes]
    use, weight = max(weighed, key=lambda plane: plane[1])
    net = f" ({use.main_net})" if use.main_net else ""
    return (PowerPlane(f"the heaviest power plane, {use.name}{net},", (use.name,), weight),)


FORMULA = """
W_min ≤ W ≤ W_max

W: copper weight in ounce classes, of planes in parallel together [oz]
W_min: the least that is asked for [oz]
W_max: the most [oz]
"""


@rule("CUP001", kinds=("power_copper_oz",), over=_planes, formula=FORMULA)
def thin_power_copper(ctx: Context, clause: Clause, plane: PowerPlane) -> Iterator[Draft]:
    """Yield one finding when a power plane, or those of a core rail together, are outside the clause's weight."""
    least, most = clause.limit.min, clause.limit.max
    ctx.shows(plane.what.rstrip(","), W=plane.weight_oz, W_min=least or 0.0, W_max=most or float("inf"))
    too_thin = least is not None and plane.weight_oz < least
    too_heavy = most is not None and plane.weight_oz > most
    if not too_thin and not too_heavy:
        return
    yield Draft(
        title=f"{plane.what} is {plane.weight_oz:g} oz; {clause.title}",
        why="voltage drop and heat go with the resistance of the plane"
        if too_thin
        else "heavy copper etches coarser and needs more resin to fill",
        fix="give the power planes the heavier foil, mirrored about the middle"
        if too_thin
        else "split the plane over two layers, or have the fab confirm resin fill and etching",
        ids=plane.layers,
        measured=Measured(value=plane.weight_oz, unit="oz"),
        limit_value=least if too_thin else most,
        limit_unit="oz",
        places=tuple(Place(layer=name) for name in plane.layers),
    )
