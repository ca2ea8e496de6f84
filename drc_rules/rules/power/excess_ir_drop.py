"""The IR drop of a declared rail, supply and ground return together, exceeds its limit.

What it checks
--------------
Every `[[rail]]` of stackwright.toml: direct current from its source to its loads through all fills, tracks, pads, vias
and plated holes of the net, solved between two bounds; and the same current in its return through ground, from the
ground pads of the loads to those of the source. Their sum at the load with the highest drop is compared with
`max_drop_mv` or `max_drop_pct`; without either, and without `remote_sense`, with a usual value, as information.
Currents of other declared rails that return through the same ground count where they raise a drop, never where they
lower it; of modes of work that which raises it most. Graphics of ground are not solved: next to them only the supply
side fails.

It passes where the nominal sum is within the limit, and fails where even the thickest, coldest copper exceeds it.
Between the two it is not verifiable, and says which value to declare: `copper_um`, `plating_um` or `copper_c` of the
rail. Without a known return it never passes: it fails where the supply side alone exceeds the limit, and otherwise
needs `ground`, `ground_from` or `ground_to`. A pass whose worst case exceeds the limit says so in a remark. Without the
loads that other tables of its net declare, no rail passes: one table has them all.

An inductor or shunt as source has no ground pads: then those of the part that drives it count, and a failure that rests
on them is a warning. On the other side of it may be a supply with other loads: then `ground_from` has to name the part.

The range of each drop covers the copper on its way that a fab delivers for the stated thickness (IPC-6012 minima,
plating of outer layers), hole plating, and copper between 20 and 85 degrees, unless declared: `[process]`
`outer_copper_um` is the outer layers' finished copper, that of a preset to 10 %. That of the return includes the error
of its grid, which is fine at the pads and coarser away from them.

Why it matters
--------------
A core at 0.75 V and a thousand amperes loses 10 % in 75 microohm. Millivolts lost in copper are missing from the budget
for ripple and load steps, and become heat in the board.

How to fix
----------
Move the regulator closer to the load, add planes or heavier copper, widen the narrowest part that the report names, and
add vias where the current changes layers.

What it cannot see
------------------
Currents are constant as declared, every part's pads on one potential. Return currents of undeclared rails and signals,
cables, pins, standoffs, sense lines, solder, package, ripple and load steps are excluded. Copper has one temperature;
custom pads feed at anchors.

Sources
-------
The limit is the one declared. Conductivity: IEC 60028. Thickness of delivered copper: IPC-6012 minima as quoted by
fabs. The usual value of 3 % is engineering knowledge without a document, hence information.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail, WholeDrop
from drc_rules.analysis.power.rail_doubt import need_whole_return, sharper, unsure
from drc_rules.analysis.power.rail_modes import need_all_loads
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval, Standing

USUAL = "rail_ir_drop_usual"


def _rails(ctx: Context, clause: Clause) -> Iterator[RailDeclaration]:
    """The rails with a declared limit, or those without: a regulator that senses at the load makes up for the usual."""
    is_usual = clause.kind == USUAL
    for row in PowerRails(ctx).declared:
        if row.limits_drop != is_usual and not (is_usual and row.remote_sense):
            yield row


FORMULA = """
U = U_there + U_back
p = U / (10 · V)
U ≤ U_max

U: drop at the load with the highest drop [mV]
U_there: from source to load, solved over the rail's planes and tracks [mV]
U_back: in the return, solved over the ground's copper; 0 where the supply side alone is above the limit [mV]
U_max: maximum [mV]
V: voltage of the rail [V]
p: drop in percent of it [%]
I: current of its loads [A]
n: other rails that are counted in the ground
"""


@rule("PDN002", kinds=("rail_ir_drop", USUAL), over=_rails, formula=FORMULA, reads_fills=True)
def excess_ir_drop(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding per rail whose drop exceeds its limit, or may exceed it with the thinnest copper."""
    limit_v = row.max_drop_v
    if limit_v is None:
        limit_v = row.volts * (clause.limit.max or 100.0) / 100
    whole = PowerRails(ctx).whole(row)
    load = _deciding(whole, limit_v)
    _show(ctx, whole, load, limit_v)
    drop = whole.of(load)
    standing = drop.against(maximum=limit_v)
    if whole.back is None and standing is not Standing.BEYOND:
        raise _unknown_return(whole, drop, limit_v)
    if standing is Standing.UNSURE:
        limit = f"maximum {figure(1000 * limit_v)} mV"
        raise unsure(
            row.net, f"IR drop of {row.net} with its return in mV", drop.times(1000), limit, sharper(whole, load)
        )
    if standing is Standing.WITHIN:
        need_all_loads(PowerRails(ctx).declared, row)
        need_whole_return(whole)
    if drop.high <= limit_v:
        return
    yield DraftFinding(
        title=_title(whole, load, limit_v),
        why=f"The voltage is missing at the load. The copper dissipates {figure(_watts(whole), 2)} W",
        fix=_fix(whole, load),
        ids=PowerRails(ctx).ids_of(row),
        measured=Measured(value=round(1000 * drop.nominal, 4), unit="mV"),
        limit_value=round(1000 * limit_v, 4),
        places=_places(whole.there),
        inferred=_is_inferred(whole, limit_v),
        fails=standing is Standing.BEYOND,
    )


def _deciding(whole: WholeDrop, limit_v: float) -> int:
    """The load that loses most among those whose drop surely exceeds the limit, or of all where none does."""
    loads = range(len(whole.there.drop.loads))
    beyond = [k for k in loads if whole.of(k).against(maximum=limit_v) is Standing.BEYOND]
    return max(beyond or loads, key=lambda k: whole.of(k).nominal)


def _unknown_return(whole: WholeDrop, drop: Interval, limit_v: float) -> MissingFact:
    row, missing = whole.there.row, whole.return_missing
    name = f"IR drop of {row.net} with its return: {_range_mv(drop)} on the supply side"
    return MissingFact(f"{name}, maximum {figure(1000 * limit_v)} mV; {missing.name}", missing.how_to_give)


def _show(ctx: Context, whole: WholeDrop, load: int, limit_v: float) -> None:
    there, back = whole.there, whole.back
    row = there.row
    way = f", return through {back.net}" if back else ", return not known"
    ctx.shows(
        f"{row.net} at {there.drop.loads[load].name}{way}",
        U=whole.of(load).times(1000),
        U_there=there.drop_of(load).times(1000),
        U_back=back.of(load).times(1000) if back else 0.0,
        U_max=1000 * limit_v,
        V=row.volts,
        I=there.current_a,
        n=len(back.counted) if back else 0,
    )


def _range_mv(drop: Interval) -> str:
    mv = drop.times(1000)
    return f"{figure(mv.nominal)} mV ({figure(mv.low)} to {figure(mv.high)})"


def _title(whole: WholeDrop, number: int, limit_v: float) -> str:
    """What the copper takes, how much of it on which side, and of what."""
    there, back, row = whole.there, whole.back, whole.there.row
    load, drop = there.drop.loads[number], whole.of(number)
    title = f"IR drop {_range_mv(drop)}, {figure(100 * drop.nominal / row.volts, 2)} % of {row.volts:g} V, "
    title += f"maximum {figure(1000 * limit_v)} mV"
    if drop.nominal <= limit_v:
        title += " exceeded with the thinnest and hottest copper"
    title += f": {row.net}, {load.route[-1].name or 'its source'} to {load.name} at {figure(there.current_a)} A"
    over = sum(whole.of(k).nominal > limit_v for k in range(len(there.drop.loads)))
    title += f", {over} of {len(there.drop.loads)} loads" if over > 1 else ""
    if back is None:
        return f"{title}; supply side alone, return not known"
    one, other = (1000 * volts.nominal for volts in (there.drop_of(number), back.of(number)))
    shared = f" shared with {', '.join(back.counted)}" if back.counted else ""
    return f"{title}; {figure(one)} mV supply, {figure(other)} mV return through {back.net}{shared}"


def _watts(whole: WholeDrop) -> float:
    back = whole.back.own_ohm * whole.there.current_a**2 if whole.back else 0.0
    return whole.there.drop.power_w.nominal + back


def _is_inferred(whole: WholeDrop, limit_v: float) -> bool:
    """Tell whether a failure rests on currents that were shared out, or on ground pads of a part that is inferred."""
    there = whole.there
    drops = (there.drop_of(load) for load in range(len(there.drop.loads)))
    alone = any(drop.against(maximum=limit_v) is Standing.BEYOND for drop in drops)
    guessed = whole.back is not None and bool(whole.back.inferred) and not alone
    return guessed or there.confidence is not Confidence.HIGH


def _fix(whole: WholeDrop, load: int) -> str:
    """Name the side, and the layer or the holes in it, in which most is lost."""
    solved, back = whole.there, whole.back
    if back and back.of(load).nominal > solved.drop_of(load).nominal:
        return f"Add ground copper and vias between the load and its source: {back.net} drops more than the supply"
    loss = solved.loss_of(load)
    lost = dict(loss.layer_power_w)
    worst = max(lost, key=lambda name: lost[name])
    share = 100 * lost[worst] / loss.total_w
    if loss.barrel_power_w > lost[worst]:
        return "Add vias where the current changes layers: most is lost in their barrels"
    return f"Add copper on {worst}, where {share:.0f} % of it is lost, or move the source closer to the load"


def _places(solved: SolvedRail) -> tuple[Location, ...]:
    try:
        peak = solved.peak
    except MissingFact:
        return ()
    return (Location(layer=peak.layer, net=solved.row.net, x_mm=peak.x_mm, y_mm=peak.y_mm),)
