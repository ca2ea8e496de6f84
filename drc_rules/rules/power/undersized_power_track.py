"""A track of a declared rail is too narrow for its current.

What it checks
--------------
The tracks of each `[[rail]]` outside its fills: the largest current along each, and its temperature rise. By the chart
of IPC-2221 for a long track alone, or by the maximum that conduction along the copper allows, where that is lower and
holds: V2/(8 k rho) for the voltage V along tracks between wide copper, four times that where pads are one of the two
ends. V includes what spreading in the wide copper takes; what exceeds the limit only with it is not verifiable. Wide
copper is a fill of 20 squares of the track's width, and no less than the tracks that it cools. Between pads alone the
chart decides. One finding per rail. The limit is `max_rise_c`, or without it 20 degrees, as information. Tracks that
exceed it with the stated thickness, and not with the thickest copper that a fab may deliver for it, are not verifiable
until `copper_um` declares the finished copper. Tracks of the ground by which the current returns are not verifiable
where they exceed it. Bridges inside fills are left to `max_a_per_mm2`: where a rail has no other tracks, a declared
`max_rise_c` is not verifiable, nor are graphics that carry current. Without the loads that other tables of its net
declare, no rail passes: one table has them all.

Why it matters
--------------
A signal-width track that carries a supply heats its surroundings, and in a fault it is the fuse.

How to fix
----------
Widen the track, pour copper around it, or route it on an outer layer.

What it cannot see
------------------
Heat from parts, hot ends, tracks, airflow, altitude. The chart is cautious next to planes, optimistic for outer
tracks over 2 mm without any. Tracks in fills, very short ones, an unknown return. Pulsed current counts as declared.

Sources
-------
IPC-2221, figure 6-4, by the usual formula I = k dT^0.44 A^0.725; conduction: F. Kohlrausch, Ann. Phys. 306 (1900) 132.
The chart is cautious next to planes, so this is never an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail
from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.analysis.power.rail_doubt import copper_line_of, unsure
from drc_rules.analysis.power.rail_modes import need_all_loads
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import declared_rails
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record
from stackup_lib.power.heating import (
    STILL_AIR_W_PER_M2K,
    THERMAL_W_PER_MK,
    chart_rise_c,
    conduction_rise_c,
    cooling_length_mm,
    copper_ohm_m,
    own_heat_c,
    per_k,
    spreading_v,
)
from stackup_lib.power.rail_drop.net_copper import drawn_layers
from stackup_lib.power.rail_drop.rail_models import TrackCurrent
from stackup_lib.power.rail_drop.spread import COPPER_C


@record
class WarmTrack:
    """A track and its rise in degrees, with what its finished copper may be."""

    track: TrackCurrent
    rise: Interval

    @property
    def rise_c(self) -> float:
        """With the copper as stated."""
        return self.rise.nominal


FORMULA = """
A = 1550.0031 · w · t
T_chart = (I / (k · A^0.725))^(1 / 0.44)
L = 1000 · (k_Cu · t / (1000 · h))^0.5
U_s = m · I · R_s · ln(4 · L / w) / π
T_cold = r · (U + U_s)² / (k_Cu · rho)
T_bound is T_cold / (1 - alpha · T_cold) where wide copper cools the ends
T = min(T_chart, T_bound)
T ≤ T_max

T: rise of the warmest track [degrees C]
T_chart: by the chart of IPC-2221 for a track alone, which ends at 100 degrees [degrees C]
T_cold: maximum by conduction along the copper, its own heat adding no resistance [degrees C]
T_bound: with that resistance; no bound where wide copper cools no end, or pads are both [degrees C]
T_max: limit [degrees C]
I: current of the track [A]
w: width [mm]
t: thickness [mm]
A: cross-section [square mils]
k: constant of the chart: 0.048 outside, 0.024 inside
U: voltage along it and the tracks that it goes on in [V]
U_s: voltage that spreading in wide copper takes, up to where it is cool [V]
m: its ends in wide copper
R_s: resistance of a square of its copper [ohm]
L: length over which still air cools wide copper [mm]
h: heat that it takes [W/(m2 K)]
r: 1/8 between wide copper, 1/2 where pads are one of the ends; infinite where no wide copper is
k_Cu: conductivity of copper for heat [W/(m K)]
rho: resistivity of copper at its temperature [ohm m]
alpha: rise of its resistance, related to that temperature [1/K]
"""

WIDEN = "widen the track or pour copper over it: what cools the copper at its ends is not known"

ONE_END_COOL = 2
"""Of a track of the ground it is not known whether one or both of its ends are in wide copper: this is the larger."""

CHART_ENDS_C = 100.0
"""The chart has no line for a larger rise."""


def _rails(ctx: Context, clause: Clause) -> Iterator[RailDeclaration]:
    """The rails that state a limit, and those with tracks on the way to their loads or back."""
    for row in declared_rails(ctx, clause):
        if row.max_rise_c is not None or _may_have_tracks(ctx, row):
            yield row


def _may_have_tracks(ctx: Context, row: RailDeclaration) -> bool:
    try:
        whole = PowerRails(ctx).whole(row)
    except MissingFact:
        return True
    return bool(whole.there.drop.tracks or (whole.back and whole.back.tracks))


@rule("PDN006", aliases=("hot-track",), kinds=("rail_heating",), over=_rails, formula=FORMULA, reads_fills=True)
def undersized_power_track(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding per rail with tracks that warm too much."""
    limit = row.max_rise_c or clause.limit.max or float("inf")
    solved = PowerRails(ctx).solved(row)
    outer = {layer.name for layer in (ctx.board.copper_layers[0], ctx.board.copper_layers[-1])}
    warm = [WarmTrack(track, _rise(solved, track, outer)) for track in solved.drop.tracks]
    if warm:
        _show(ctx, solved, max(warm, key=lambda one: one.rise_c), outer, limit)
    over = sorted((one for one in warm if one.rise_c > limit), key=lambda one: -one.rise_c)
    sure = [one for one in over if one.rise.against(maximum=limit) is Standing.BEYOND]
    if over and not sure:
        what = f"temperature rise of the warmest track of {row.net} in degrees C"
        track = over[0].track
        is_copper = _rise_c(solved, track, outer, 1.0, solved.copper.temperature_c, spreads=False) > limit
        how = copper_line_of(solved, track.layer) if is_copper else in_table(row.net, WIDEN)
        raise unsure(row.net, what, over[0].rise, f"maximum {limit:g}", how)
    if not sure:
        if any(_chart_c(one.track, outer) > limit for one in warm):  # how cool wide copper stays is not known
            ctx.rests_on(Confidence.MEDIUM)
        need_all_loads(PowerRails(ctx).declared, row)
        _need_cool_return(ctx, row, solved, outer, limit)
        if not warm and row.max_rise_c is not None:
            raise _fills_alone(row)
        _need_no_graphics(ctx, row, solved)
        return
    yield _finding(ctx, row, sure, limit, inferred=solved.confidence is not Confidence.HIGH)


def _need_no_graphics(ctx: Context, row: RailDeclaration, solved: SolvedRail) -> None:
    """Raise `MissingFact` where graphics of the rail carry current, of which no width is known."""
    layers = [ctx.board.copper_layers[layer].name for layer in drawn_layers(ctx.board, solved.net)]
    carrying = [name for name in layers if solved.drop.layer_power_w.get(name)]
    if carrying:
        what = f"temperature rise of {row.net}: its graphics on {', '.join(carrying)} carry current, and are not judged"
        raise MissingFact(what, in_table(row.net, "draw them as tracks or zones"))


def _fills_alone(row: RailDeclaration) -> MissingFact:
    what = f"temperature rise of {row.net}: its current runs in fills, whose narrow places are not judged by it"
    line = 'max_a_per_mm2 = "?"  # in place of max_rise_c'
    return MissingFact(what, in_table(row.net, line if row.max_a_per_mm2 is None else "leave out max_rise_c"))


def _need_cool_return(ctx: Context, row: RailDeclaration, solved: SolvedRail, outer: set[str], limit: float) -> None:
    """Raise `MissingFact` where a track of the ground by which the current returns may exceed the limit."""
    back, board = PowerRails(ctx).whole(row).back, ctx.board
    for track in back.tracks if back else ():
        layer = int(board.tracks.layer[track.row])
        one = TrackCurrent(
            uuid=str(board.tracks.uuid[track.row]),
            layer=board.copper_layers[layer].name,
            x_mm=float(board.tracks.start_x_mm[track.row]),
            y_mm=float(board.tracks.start_y_mm[track.row]),
            width_mm=float(board.tracks.width_mm[track.row]),
            thickness_mm=solved.copper.thickness_mm[layer],
            current_a=track.current_a,
            run_v=track.run_v,
            bound_divisor=ONE_END_COOL,
        )
        rise_c = _rise_c(solved, one, outer, 1.0, solved.copper.temperature_c)
        if back and rise_c > limit:
            where = f"{figure(track.current_a)} A in a {one.width_mm:g} mm track on {one.layer}"
            most = f"up to {rise_c:.0f}" if rise_c <= CHART_ENDS_C else "more than 100 perhaps"
            what = f"temperature rise of {back.net}, return of {row.net}: {where}, {most} degrees C, maximum {limit:g}"
            raise MissingFact(what, in_table(row.net, "widen the track, or pour copper of ground around it"))


def _finding(
    ctx: Context, row: RailDeclaration, over: Sequence[WarmTrack], limit: float, *, inferred: bool
) -> DraftFinding:
    worst, worst_c = over[0].track, over[0].rise_c
    many = f", {len(over)} tracks exceed it" if len(over) > 1 else ""
    rise = "more than 100 degrees C, outside the chart" if worst_c > CHART_ENDS_C else f"{worst_c:.0f} degrees C"
    return DraftFinding(
        title=f"track temperature rise {rise}, maximum {limit:g} degrees C: {row.net}, "
        f"{figure(worst.current_a)} A in a {worst.width_mm:g} mm track on {worst.layer}{many}",
        why="A narrow track heats itself and its surroundings",
        fix="Widen the track, or pour copper of the net around it",
        ids=PowerRails(ctx).ids_of(row),
        measured=Measured(value=round(worst_c, 1 if worst_c >= 10 else 2), unit="degrees C"),
        limit_value=limit,
        places=tuple(
            Location(layer=t.layer, net=row.net, uuid=t.uuid or None, x_mm=t.x_mm, y_mm=t.y_mm)
            for t in (one.track for one in over)
        ),
        severity=Severity.WARNING if row.max_rise_c is not None else Severity.INFO,
        inferred=inferred,
    )


def _show(ctx: Context, solved: SolvedRail, warmest: WarmTrack, outer: set[str], limit: float) -> None:
    track, copper_c = warmest.track, solved.copper.temperature_c
    cold_c = _cold_bound_c(track, copper_c)
    lost_v = spreading_v(track.current_a, track.width_mm, track.thickness_mm, copper_c)
    ctx.shows(
        f"{solved.row.net}, track on {track.layer}",
        T=warmest.rise_c,
        T_chart=_chart_c(track, outer),
        T_max=limit,
        I=track.current_a,
        w=track.width_mm,
        t=track.thickness_mm,
        k=0.048 if track.layer in outer else 0.024,
        T_cold=cold_c,
        T_bound=own_heat_c(cold_c, copper_c),
        r=1 / track.bound_divisor if track.bound_divisor else float("inf"),
        U=track.run_v,
        U_s=_mouths(track) * lost_v,
        m=_mouths(track),
        R_s=copper_ohm_m(copper_c) / (track.thickness_mm / 1000),
        L=cooling_length_mm(track.thickness_mm),
        h=STILL_AIR_W_PER_M2K,
        k_Cu=THERMAL_W_PER_MK,
        rho=copper_ohm_m(copper_c),
        alpha=per_k(copper_c),
    )


def _rise(solved: SolvedRail, track: TrackCurrent, outer: set[str]) -> Interval:
    """The rise as stated; with the thickest, cold copper without spreading, and with the thinnest, hot copper."""
    thin, stated, thick = solved.range_of(track.layer)
    is_known, as_solved_c = solved.row.copper_c is not None, solved.copper.temperature_c
    hot_c = as_solved_c if is_known else max(COPPER_C.high, as_solved_c)
    cases = ((thick, as_solved_c), (stated, as_solved_c), (thin, hot_c))
    cool, middle, hot = (_rise_c(solved, track, outer, one / stated, copper_c) for one, copper_c in cases)
    at_mouth = _rise_c(solved, track, outer, thick / stated, as_solved_c, spreads=False)
    return Interval(low=min(cool, at_mouth), nominal=middle, high=hot)


def _rise_c(
    solved: SolvedRail, track: TrackCurrent, outer: set[str], share: float, copper_c: float, *, spreads: bool = True
) -> float:
    """The rise with a share of the stated thickness between ends of a temperature, the current unchanged."""
    as_solved_c = solved.copper.temperature_c
    hotter = copper_ohm_m(copper_c) / copper_ohm_m(as_solved_c)
    bound = _cold_bound_c(track, as_solved_c, spreads=spreads) * hotter / share**2
    return min(_chart_c(track, outer, share), own_heat_c(bound, copper_c))


def _chart_c(track: TrackCurrent, outer: set[str], share: float = 1.0) -> float:
    return chart_rise_c(track.current_a, track.width_mm, track.thickness_mm * share, outer=track.layer in outer)


def _cold_bound_c(track: TrackCurrent, copper_c: float, *, spreads: bool = True) -> float:
    """The maximum by conduction without what its own heat adds; infinite where none holds."""
    if not track.bound_divisor:
        return float("inf")
    lost_v = spreading_v(track.current_a, track.width_mm, track.thickness_mm, copper_c) if spreads else 0.0
    return conduction_rise_c(track.run_v + _mouths(track) * lost_v, copper_c) * 8 / track.bound_divisor


def _mouths(track: TrackCurrent) -> int:
    """How many of its ends are in wide copper, of which the bound knows."""
    return {8: 2, 2: 1}.get(track.bound_divisor, 0)
