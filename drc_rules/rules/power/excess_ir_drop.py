"""The copper of a declared rail takes more voltage than it may.

What it checks
--------------
Every `[[rail]]` of stackwright.toml: direct current from its source to its loads through all fills, tracks, pads,
vias and plated holes of the net, solved between two bounds. The largest drop is held against `max_drop_mv` or
`max_drop_pct`; without either against a usual figure, as information. The range beside each drop is that of the
copper that a fab delivers for the stated thickness (IPC-6012 minima, plating of outer layers), of hole plating, and
of copper between 20 and 85 degrees, unless stated. It is an error only where the drop is too large with the best of
them. The supply net alone is judged; the return path takes a drop of its own.

Why it matters
--------------
A core at 0.75 V and a thousand amperes loses 10 % in 75 microohm. Millivolts that the copper takes are missing in the
budget for ripple and load steps, and are heat in the board.

How to fix
----------
Move the regulator nearer to the load, add planes or heavier copper, widen the narrowest part of the way that the
report names, and put more vias where the current changes layers.

What it cannot see
------------------
It is as good as what is declared: constant currents, every part's pads on one potential, phases of a regulator sharing
as the copper lets them. The return through ground, which drops about as much again where its copper is no better, sense
lines, solder, pins, fuses, inductors and the package are not in it; ripple and load steps neither. Copper is one
temperature throughout, 20 to 85 degrees unless stated: that a hot neck heats itself is not computed. Fills are those
stored, custom pads their anchor; fills of KiCad 5 are not trusted.

Sources
-------
The limit is the one declared. Conductivity: IEC 60028. Thickness of delivered copper: IPC-6012 minima as quoted by
fabs. The usual figure of 3 % is engineering knowledge without a document, hence information.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.clauses import Clause, Severity
from drc_rules.config_power import RailDeclaration
from drc_rules.context import Context
from drc_rules.numbers import figure
from drc_rules.power_rails import SolvedRail
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.facts import Confidence

USUAL = "rail_ir_drop_usual"


def _rails(ctx: Context, clause: Clause) -> Iterator[RailDeclaration]:
    """The rails with a declared limit, or those without."""
    for row in ctx.power_rails.declared:
        if (row.max_drop_v is None) == (clause.kind == USUAL):
            yield row


FORMULA = """
p = U / (10 · V)
U ≤ U_max

U: drop over the copper to the farthest load, solved over its planes and tracks [mV]
U_max: the most that is allowed [mV]
V: voltage of the rail [V]
p: drop in percent of it [%]
I: current of its loads [A]
"""


@rule("PDN002", kinds=("rail_ir_drop", USUAL), over=_rails, formula=FORMULA)
def excess_ir_drop(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[Draft]:
    """Yield one finding per rail whose drop is, or may be, past its limit."""
    limit_v = row.max_drop_v
    if limit_v is None:
        limit_v = row.voltage_v * (clause.limit.max or 100.0) / 100
    solved = ctx.power_rails.solved(row)
    drop = solved.worst_v
    ctx.shows(f"{row.net}", U=drop.times(1000), U_max=1000 * limit_v, V=row.voltage_v, I=solved.current_a)
    if drop.high <= limit_v:
        return
    fails = drop.nominal > limit_v
    low, nominal, high = (1000 * volts for volts in (drop.low, drop.nominal, drop.high))
    told = nominal if fails else high
    over = sum(load.drop_v.nominal > limit_v for load in solved.drop.loads)
    many = f"; {over} of {len(solved.drop.loads)} loads" if over > 1 else ""
    verb = "takes" if fails else "may take, with the thinnest and hottest copper,"
    shown = f"{figure(nominal)} mV ({figure(low)} to {figure(high)})" if fails else f"{figure(high)} mV"
    title = f"{row.net} {verb} {shown} from {solved.drop.worst.route[-1].name or 'its source'} to "
    title += f"{solved.drop.worst.name} at {figure(solved.current_a)} A, {figure(told / row.voltage_v / 10, 2)} % of "
    title += f"{row.voltage_v:g} V; {figure(1000 * limit_v)} mV at most{many}"
    yield Draft(
        title=title,
        why=f"it is missing at the load, and {figure(solved.drop.power_w.nominal, 2)} W of heat in the copper",
        fix=_fix(solved),
        ids=(row.net,),
        measured=Measured(value=round(told, 4), unit="mV"),
        limit_value=round(1000 * limit_v, 4),
        limit_unit="mV",
        places=_places(solved),
        severity=Severity.ERROR if drop.low > limit_v else Severity.WARNING,
        inferred=solved.confidence is not Confidence.HIGH,
        fails=fails,
    )


def _fix(solved: SolvedRail) -> str:
    """Name the layer, or the holes, in which most is lost."""
    lost = dict(solved.drop.layer_power_w)
    worst = max(lost, key=lambda name: lost[name])
    share = 100 * lost[worst] / (sum(lost.values()) + solved.drop.barrel_power_w)
    if solved.drop.barrel_power_w > lost[worst]:
        return "more vias where the current changes layers: most is lost in their barrels"
    return f"more or heavier copper on {worst}, where {share:.0f} % of it is lost, or the source nearer to the load"


def _places(solved: SolvedRail) -> tuple[Place, ...]:
    peak = solved.drop.peak
    return (Place(layer=peak.layer, net=solved.row.net, x_mm=peak.x_mm, y_mm=peak.y_mm),)
