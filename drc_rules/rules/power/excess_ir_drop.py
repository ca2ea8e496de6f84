"""The copper of a declared rail takes more voltage than it may, on the way there and, where that is known, back.

What it checks
--------------
Every `[[rail]]` of stackwright.toml: direct current from its source to its loads through all fills, tracks, pads,
vias and plated holes of the net, solved between two bounds; and the same current on its way back through ground, from
the ground pads of the loads to those of the source. Both are told apart; their sum at the load that loses most is held
against `max_drop_mv` or `max_drop_pct`; without either against a usual figure, as information. Currents of other
declared rails that return through the same ground are counted where they lift a drop, never where they lower it.

An inductor or shunt as source has no ground pads: then those of the part that drives it count, and a failure that
rests on them is a warning. Where `ground`, `ground_from` or `ground_to` is needed and missing, or ground cannot be
read, the supply side alone is judged; finding and rail table say that the way back is not counted, and broken-return
says what to declare. A pass is then one of the supply side alone.

The range beside each drop is that of the copper that a fab delivers for the stated thickness (IPC-6012 minima, plating
of outer layers), of hole plating, and of copper between 20 and 85 degrees, unless stated; that of the way back holds
the error of its grid as well. It is an error only where the drop is too large with the best of them.

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
as the copper lets them. Through ground only the declared rails return: what signals, other rails and other boards send
through it is not known, and pins, cables and standoffs that help it are not counted. Its copper is read on a grid, fine
at the pads and coarser away from them: an estimate with an error, where the supply side has bounds. Sense lines,
solder, pins, fuses, inductors and the package are not in it; ripple and load steps neither. Copper is one temperature
throughout, 20 to 85 degrees unless stated: that a hot neck heats itself is not computed. Fills are those stored, custom
pads their anchor; fills of KiCad 5 are not trusted.

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
from drc_rules.power_rails import SolvedRail, WholeDrop
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
U = U_there + U_back
p = U / (10 · V)
U ≤ U_max

U: drop over the copper at the load that loses most [mV]
U_there: on the way there, solved over the rail's planes and tracks [mV]
U_back: on the way back, solved over the ground's; 0 where it is not counted [mV]
U_max: the most that is allowed [mV]
V: voltage of the rail [V]
p: drop in percent of it [%]
I: current of its loads [A]
n: other rails that are counted in the ground
"""


@rule("PDN002", kinds=("rail_ir_drop", USUAL), over=_rails, formula=FORMULA)
def excess_ir_drop(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[Draft]:
    """Yield one finding per rail whose drop is, or may be, past its limit."""
    limit_v = row.max_drop_v
    if limit_v is None:
        limit_v = row.voltage_v * (clause.limit.max or 100.0) / 100
    whole = ctx.power_rails.whole(row)
    _show(ctx, whole, limit_v)
    drop = whole.worst_v
    if drop.high <= limit_v:
        return
    fails = drop.nominal > limit_v
    solved, told = whole.there, 1000 * (drop.nominal if fails else drop.high)
    yield Draft(
        title=_title(whole, limit_v),
        why=f"it is missing at the load, and {figure(_watts(whole), 2)} W of heat in the copper",
        fix=_fix(whole),
        ids=(row.net,),
        measured=Measured(value=round(told, 4), unit="mV"),
        limit_value=round(1000 * limit_v, 4),
        limit_unit="mV",
        places=_places(solved),
        severity=Severity.ERROR if drop.low > limit_v else Severity.WARNING,
        inferred=_is_inferred(whole, limit_v),
        fails=fails,
    )


def _show(ctx: Context, whole: WholeDrop, limit_v: float) -> None:
    there, back = whole.there, whole.back
    row, load = there.row, whole.worst
    way = f", back through {back.net}" if back else ", the way back not counted"
    ctx.shows(
        f"{row.net} at {there.drop.loads[load].name}{way}",
        U=whole.worst_v.times(1000),
        U_there=there.ratio.of(there.drop.loads[load].drop_v).times(1000),
        U_back=back.of(load).times(1000) if back else 0.0,
        U_max=1000 * limit_v,
        V=row.voltage_v,
        I=there.current_a,
        n=len(back.counted) if back else 0,
    )


def _title(whole: WholeDrop, limit_v: float) -> str:
    """What the copper takes, how much of it on which way, and of what."""
    there, back, row = whole.there, whole.back, whole.there.row
    load, drop = there.drop.loads[whole.worst], whole.worst_v.times(1000)
    fails = whole.worst_v.nominal > limit_v
    told = drop.nominal if fails else drop.high
    verb = "takes" if fails else "may take, with the thinnest and hottest copper,"
    range_mv = f"{figure(drop.nominal)} mV ({figure(drop.low)} to {figure(drop.high)})"
    shown = range_mv if fails else f"{figure(drop.high)} mV"
    title = f"{row.net} {verb} {shown} from {load.route[-1].name or 'its source'} to {load.name} at "
    title += f"{figure(there.current_a)} A, {figure(told / row.voltage_v / 10, 2)} % of {row.voltage_v:g} V; "
    title += f"{figure(1000 * limit_v)} mV at most"
    over = sum(whole.of(k).nominal > limit_v for k in range(len(there.drop.loads)))
    title += f"; {over} of {len(there.drop.loads)} loads" if over > 1 else ""
    if back is None:
        return f"{title}; the way back is not counted"
    ways = [there.ratio.of(load.drop_v), back.of(whole.worst)]
    one, other = (1000 * (volts.nominal if fails else volts.high) for volts in ways)
    shared = f" that {', '.join(back.counted)} share{'s' if len(back.counted) == 1 else ''}" if back.counted else ""
    return f"{title}; {figure(one)} mV on the way there, {figure(other)} mV back through {back.net}{shared}"


def _watts(whole: WholeDrop) -> float:
    back = whole.back.own_ohm * whole.there.current_a**2 if whole.back else 0.0
    return whole.there.drop.power_w.nominal + back


def _is_inferred(whole: WholeDrop, limit_v: float) -> bool:
    """Tell whether a failure rests on currents that were shared out, or on ground pads of a part that nobody named."""
    alone = max(load.drop_v.nominal for load in whole.there.drop.loads) > limit_v
    guessed = whole.back is not None and bool(whole.back.inferred) and not alone
    return guessed or whole.there.confidence is not Confidence.HIGH


def _fix(whole: WholeDrop) -> str:
    """Name the way, and the layer or the holes in it, in which most is lost."""
    solved, back = whole.there, whole.back
    if back and back.of(whole.worst).nominal > solved.ratio.of(solved.drop.loads[whole.worst].drop_v).nominal:
        return f"more ground copper and vias between the load and its source: {back.net} takes more than the supply"
    lost = dict(solved.drop.layer_power_w)
    worst = max(lost, key=lambda name: lost[name])
    share = 100 * lost[worst] / (sum(lost.values()) + solved.drop.barrel_power_w)
    if solved.drop.barrel_power_w > lost[worst]:
        return "more vias where the current changes layers: most is lost in their barrels"
    return f"more or heavier copper on {worst}, where {share:.0f} % of it is lost, or the source nearer to the load"


def _places(solved: SolvedRail) -> tuple[Place, ...]:
    peak = solved.drop.peak
    return (Place(layer=peak.layer, net=solved.row.net, x_mm=peak.x_mm, y_mm=peak.y_mm),)
