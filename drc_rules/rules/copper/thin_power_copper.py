"""The power planes are lighter or heavier than the workload requires.

What it checks
--------------
Where `[[rail]]` declares a core rail: the copper weight of its planes together where half of the smaller one lies over
the other, since planes in parallel share the current and planes in series do not, and the heaviest of them against the
maximum. With `core_on_module` the same for every declared rail that has planes on a power layer; planes of other nets
must be heavy enough too, or be declared. Otherwise the weight of each power plane: it passes where all of them are
heavy enough, fails where none is, and is not verifiable where some are, until `[[rail]]` says which net is the core's.
In ounce classes: finished inner copper of 11-20 um is 1/2 oz, 24-40 um 1 oz, 55-80 um 2 oz, 86-115 um 3 oz, 117-150 um
4 oz, and above that whole ounces of 34.3 um. Planes are found by filled copper and net: a layer is a power plane where
nets that are not ground by name fill 15 % of the board. A declared `copper_oz` decides where given, and before it
the finished copper that the rail states (`copper_um`); the weight of an outer layer is uncertain: plating is added.

Why it matters
--------------
Resistance falls with thickness: at a thousand amperes a plane of half the weight doubles drop and heat.

How to fix
----------
Give the power planes the heavier foil, mirrored, and check track and space on those layers: heavy copper etches
coarser.

What it cannot see
------------------
It compares weight, not resistance: necks, antipads, via count and load positions are `excess-ir-drop`'s. Ground under
another name (RTN, COM) counts as power. Layers with 30 % of a net's fullest one count in full; tracks and graphics do
not.

Sources
-------
Each clause names document, table and row. Ounce classes: IPC-6012 minima as quoted by fabs (1 oz nominal 34.3
um, at least 24.9 um after processing).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from drc_rules.analysis.power.power_rails import PowerRails, core_rail_lines
from drc_rules.facts.context import Context
from drc_rules.facts.copper_weight import weight_of
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.copper._parallel_planes import together_oz
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import PLANE_MIN_COVERAGE, LayerUse, is_ground, polygon_areas_mm2
from stackup_lib.copper.cuts.board_area import board_area_mm2
from stackup_lib.core.facts import Fact, MissingFact
from stackup_lib.core.record import record
from stackup_lib.core.words import some
from stackup_lib.materials import ounce_class

RAIL_SHARE = 0.3
"""A layer counts as a plane of a rail from this share of its fullest layer on."""

NETS_NAMED = 2
NAMED_SHARE = 0.1
"""Nets of a plane that are named, those with most copper, and least copper of one as a share of the largest's."""


@record
class PowerPlane:
    """A plane that carries power, or all planes of a net, and the weight.

    Attributes:
        what: as text, e.g. `the heaviest power plane, In2.Cu (+12V),`.
        layers: names.
        unsure: what has to be known before the weight decides anything; None where it does.
    """

    what: str
    layers: tuple[str, ...]
    weight_oz: float
    unsure: MissingFact | None = None


@record
class _Planes:
    """The planes of one net: each layer's name and weight."""

    net: str
    weighed: tuple[tuple[str, float], ...]

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.weighed)

    @property
    def together_oz(self) -> float:
        return sum(weight for _, weight in self.weighed)


def _weight(ctx: Context, name: str) -> Fact[float]:
    return weight_of(ctx, ctx.board.layer_index[name])


def _planes(ctx: Context, clause: Clause) -> tuple[PowerPlane, ...]:
    """The planes of each core rail; where none is declared, those that decide for all power planes."""
    rails = _judged_rails(ctx)
    if rails:
        return (*(_of_rail(ctx, planes, clause) for planes in rails), *_undeclared(ctx, clause))
    uses = [use for use in ctx.filled_uses() if use.power_share >= PLANE_MIN_COVERAGE / 2]
    if not uses:
        hint = _rail_lines(ctx).replace("[[rail]]\n", "[[rail]]  # or draw and fill zones of power nets\n")
        raise MissingFact("the power planes of the board", hint)
    weighed = [(ctx.need(_weight(ctx, use.name)), use) for use in uses]
    if clause.limit.min is None:
        return (_plane(ctx, "heaviest", *max(weighed, key=lambda plane: plane[0])),)
    return (_deciding(ctx, clause, weighed),)


def _judged_rails(ctx: Context) -> list[_Planes]:
    """The core rails; on a carrier of a module, which makes the core's voltage itself, all rails that have planes."""
    rails = [row for row in PowerRails(ctx).declared if row.net in ctx.board.net_index]
    core = [_planes_of(ctx, row) for row in rails if row.core]
    for planes in core:
        if not planes.weighed:
            how = f"draw and fill a zone of {planes.net} that carries its current"
            raise MissingFact(f"the planes of {planes.net}", how)
    if core or not ctx.declarations.config.core_on_module:
        return core
    power = frozenset(use.name for use in ctx.filled_uses() if use.power_share >= PLANE_MIN_COVERAGE / 2)
    own = [_planes_of(ctx, row, among=power) for row in rails]
    return [planes for planes in own if planes.weighed]


def _rail_lines(ctx: Context) -> str:
    """The `[[rail]]` that would tell which planes count: the core's, or on a carrier of a module any."""
    return core_rail_lines(ctx.board, on_module=ctx.declarations.config.core_on_module)


def _undeclared(ctx: Context, clause: Clause) -> Iterator[PowerPlane]:
    """On a carrier of a module the planes of nets that no `[[rail]]` declares; one out of limits is left open."""
    declared = PowerRails(ctx).declared
    if not ctx.declarations.config.core_on_module or any(row.core for row in declared):
        return
    names, board = {row.net for row in declared}, ctx.board
    least_mm2 = PLANE_MIN_COVERAGE / 2 * (board_area_mm2(board) or float("inf"))
    for use in ctx.filled_uses():
        for net in (net for net, mm2 in use.fill_mm2.items() if net and mm2 >= least_mm2):
            name = board.nets[net]
            if name not in names and not is_ground(name):
                yield _undeclared_plane(ctx, clause, name, use.name)


def _undeclared_plane(ctx: Context, clause: Clause, net: str, layer: str) -> PowerPlane:
    what = f"{net} on {layer}"
    try:
        weight = ctx.need(_weight(ctx, layer))
    except MissingFact as unknown:
        return PowerPlane(what, (layer,), 0.0, unknown)
    if (clause.limit.min or 0.0) <= weight <= (clause.limit.max or float("inf")):
        return PowerPlane(what, (layer,), weight)
    fact = f"what {net} feeds, whose plane on {layer} has {weight:g} oz; {clause.title}"
    lines = ("[[rail]]", f'net = "{net}"', 'voltage_v = "?"', 'current_a = "?"', 'from = ["?"]', 'to = ["?"]')
    return PowerPlane(what, (layer,), weight, MissingFact(fact, "\n".join(lines)))


def _of_rail(ctx: Context, planes: _Planes, clause: Clause) -> PowerPlane:
    """A rail's planes together, as far as they lie over one another, against too little; else the heaviest alone.

    It passes where each plane is heavy enough with those over it, and fails where none is.
    """
    if clause.limit.min is None:
        name, weight = max(planes.weighed, key=lambda plane: plane[1])
        return PowerPlane(f"{name}, a plane of {planes.net}", (name,), weight)
    what, least = f"{planes.net} on {', '.join(planes.layers)}", clause.limit.min
    if len(planes.weighed) == 1 or planes.together_oz < least:
        return PowerPlane(what, planes.layers, planes.together_oz)
    board = ctx.board
    rows = [(board.layer_index[name], weight) for name, weight in planes.weighed]
    found = together_oz(ctx, board.net_index[planes.net], rows)
    light, heavy = min(sure for sure, _ in found), max(most for _, most in found)
    if light >= least or heavy < least:
        return PowerPlane(what, planes.layers, light if light >= least else heavy)
    told = ", ".join(f"{name} {weight:g} oz" for name, weight in planes.weighed)
    fact = f"planes of {planes.net} that carry its current in parallel: {told}, which do not all lie over one another"
    how = f"draw the planes of {planes.net} over one another, or give each of them {least:g} oz"
    return PowerPlane(what, planes.layers, light, MissingFact(f"{fact}; {clause.title}", how))


def _planes_of(ctx: Context, row: RailDeclaration, among: Collection[str] | None = None) -> _Planes:
    """The layers of a rail's planes; with `among`, only those of these: a small pour between tracks is no plane.

    Where the rail states the finished copper of a layer, that tells its weight.
    """
    board, net = ctx.board, ctx.board.net_index[row.net]
    uses = [use for use in ctx.filled_uses() if among is None or use.name in among]
    filled = [use for use in uses if _rail_share(board, net, board.layer_index[use.name]) >= RAIL_SHARE]
    return _Planes(row.net, tuple((use.name, ctx.need(_stated(row, use) or _weight(ctx, use.name))) for use in filled))


def _stated(row: RailDeclaration, use: LayerUse) -> Fact[float] | None:
    um = row.copper_um.get(use.name)
    return None if um is None else ounce_class(um / 1000, outer=False)


def _deciding(ctx: Context, clause: Clause, weighed: Sequence[tuple[float, LayerUse]]) -> PowerPlane:
    """The lightest plane where all are heavy enough, the heaviest where none is; else the core's has to be known."""
    least = clause.limit.min or 0.0
    light, heavy = min(weighed, key=lambda plane: plane[0]), max(weighed, key=lambda plane: plane[0])
    if light[0] < least <= heavy[0]:
        ranked = sorted(weighed, key=lambda plane: -plane[0])
        told = ", ".join(f"{_named(ctx.board, use)} {weight:g} oz" for weight, use in ranked)
        which = "rails that the planes carry" if ctx.declarations.config.core_on_module else "plane of the core rail"
        raise MissingFact(f"the {which}: {told}; {clause.title}", _rail_lines(ctx))
    all_alike = light[0] == heavy[0]
    if light[0] >= least and not all_alike:
        return _plane(ctx, "lightest", *light)
    return _plane(ctx, "heaviest", *heavy)


def _plane(ctx: Context, rank: str, weight_oz: float, use: LayerUse) -> PowerPlane:
    return PowerPlane(f"{rank} power plane, {_named(ctx.board, use)}", (use.name,), weight_oz)


def _named(board: Board, use: LayerUse) -> str:
    """A layer with the nets that share it, the largest first, ground and slivers left out."""
    areas = {name: mm2 for net, mm2 in use.fill_mm2.items() if (name := board.nets[net]) and not is_ground(name)}
    most = max(areas.values(), default=0.0)
    nets = sorted((net for net in areas if areas[net] >= NAMED_SHARE * most > 0), key=lambda net: -areas[net])
    return f"{use.name} ({some(nets, NETS_NAMED)})" if nets else use.name


def _rail_share(board: Board, net: int, layer: int) -> float:
    """The filled copper of a net on a layer, as a share of what the net fills on its fullest layer."""
    zones = board.zones
    mine = zones.net[zones.fill_zone] == net
    area = polygon_areas_mm2(zones.fill_x_mm, zones.fill_y_mm, zones.fill_start)
    filled = np.bincount(zones.fill_layer[mine], area[mine], board.layer_count) if mine.any() else np.zeros(0)
    return float(filled[layer] / filled.max()) if len(filled) else 0.0


FORMULA = """
W_min ≤ W ≤ W_max

W: copper weight in ounce classes, of planes in parallel together [oz]
W_min: minimum [oz]
W_max: maximum [oz]
"""


@rule("CUP001", kinds=("power_copper_oz",), over=_planes, formula=FORMULA, reads_fills=True, by_stackup="decided")
def thin_power_copper(ctx: Context, clause: Clause, plane: PowerPlane) -> Iterator[DraftFinding]:
    """Yield one finding when a power plane, or those of a core rail together, are outside the clause's weight."""
    if plane.unsure is not None:
        raise plane.unsure
    least, most = clause.limit.min, clause.limit.max
    ctx.shows(plane.what, W=plane.weight_oz, W_min=least or 0.0, W_max=most or float("inf"))
    too_thin = least is not None and plane.weight_oz < least
    too_heavy = most is not None and plane.weight_oz > most
    if not too_thin and not too_heavy:
        return
    yield DraftFinding(
        title=f"copper weight {plane.weight_oz:g} oz, "
        + (f"minimum {least:g} oz" if too_thin else f"maximum {most:g} oz")
        + f": {plane.what}",
        why="Voltage drop and heat rise with the resistance of the plane"
        if too_thin
        else "Heavy copper etches coarser and needs more resin to fill",
        fix="Give the power planes the heavier foil, mirrored about the middle. Parallel planes of one rail count "
        "together where [[rail]] declares it with core = true and they lie over one another"
        if too_thin
        else "Split the plane over two layers, or have the fab confirm resin fill and etching",
        ids=plane.layers,
        measured=Measured(value=plane.weight_oz, unit="oz"),
        limit_value=least if too_thin else most,
        places=tuple(Location(layer=name) for name in plane.layers),
    )
