"""A track of a declared rail is too narrow for its current.

What it checks
--------------
The tracks of each `[[rail]]` outside its fills: the largest current along each, and its temperature rise. Two bounds,
and the lower one counts: the chart of IPC-2221 for a long track alone, and the maximum that conduction along the copper
allows, V2/(8 k rho), for the voltage V along the track and those that holes outside fills join to it; a short neck
between wide copper stays cool. One finding per rail. The limit is `max_rise_c`, or without it 20 degrees, as
information. Tracks that exceed it with the stated thickness, and not with the thickest copper that a fab may deliver
for it, are not verifiable until `copper_um` declares the finished copper. For bridges inside fills see `max_a_per_mm2`.

Why it matters
--------------
A signal-width track that carries a supply heats its surroundings, and in a fault it is the fuse.

How to fix
----------
Widen the track, pour copper around it, or route it on an outer layer.

What it cannot see
------------------
Heat from parts, hot ends, tracks, airflow, altitude. The chart is cautious next to planes, optimistic for outer
tracks over 2 mm without any. Tracks in fills, very short tracks and necks are not judged. Pulsed current counts as
declared.

Sources
-------
IPC-2221, figure 6-4, by the usual formula I = k dT^0.44 A^0.725; conduction: F. Kohlrausch, Ann. Phys. 306 (1900) 132.
The chart is cautious next to planes, so this is never an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail
from drc_rules.analysis.power.rail_doubt import copper_line_of, unsure
from drc_rules.facts.context import Context
from drc_rules.report.model import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import declared_rails
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import Confidence
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record
from stackup_lib.power.heating import THERMAL_W_PER_MK, chart_rise_c, conduction_rise_c, copper_ohm_m

if TYPE_CHECKING:
    from stackup_lib.power.rail_drop.rail_models import TrackCurrent


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
T_bound = U² / (8 · k_Cu · rho)
T = min(T_chart, T_bound)
T ≤ T_max

T: rise of the warmest track [degrees C]
T_chart: by the chart of IPC-2221 for a track alone [degrees C]
T_bound: maximum by conduction along the copper [degrees C]
T_max: limit [degrees C]
I: current of the track [A]
w: width [mm]
t: thickness [mm]
A: cross-section [square mils]
k: constant of the chart: 0.048 outside, 0.024 inside
U: voltage along it and the tracks that it goes on in [V]
k_Cu: conductivity of copper for heat [W/(m K)]
rho: resistivity of copper at its temperature [ohm m]
"""


@rule("PDN006", aliases=("hot-track",), kinds=("rail_heating",), over=declared_rails, formula=FORMULA, reads_fills=True)
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
        raise unsure(row.net, what, over[0].rise, f"maximum {limit:g}", copper_line_of(solved, over[0].track.layer))
    over = sure
    if not over:
        return
    worst = over[0].track
    many = f", {len(over)} tracks exceed it" if len(over) > 1 else ""
    yield DraftFinding(
        title=f"track temperature rise {over[0].rise_c:.0f} degrees C, maximum {limit:g} degrees C: {row.net}, "
        f"{figure(worst.current_a)} A in a {worst.width_mm:g} mm track on {worst.layer}{many}",
        why="A narrow track heats itself and its surroundings",
        fix="Widen the track, or pour copper of the net around it",
        ids=(row.net,),
        measured=Measured(value=round(over[0].rise_c, 1), unit="degrees C"),
        limit_value=limit,
        places=tuple(
            Location(layer=t.layer, net=row.net, uuid=t.uuid or None, x_mm=t.x_mm, y_mm=t.y_mm)
            for t in (one.track for one in over)
        ),
        severity=Severity.WARNING if row.max_rise_c is not None else Severity.INFO,
        inferred=solved.confidence is not Confidence.HIGH,
    )


def _show(ctx: Context, solved: SolvedRail, warmest: WarmTrack, outer: set[str], limit: float) -> None:
    track, is_outer = warmest.track, warmest.track.layer in outer
    ctx.shows(
        f"{solved.row.net}, track on {track.layer}",
        T=warmest.rise_c,
        T_chart=chart_rise_c(track.current_a, track.width_mm, track.thickness_mm, outer=is_outer),
        T_bound=conduction_rise_c(track.run_v, solved.copper.temperature_c),
        T_max=limit,
        I=track.current_a,
        w=track.width_mm,
        t=track.thickness_mm,
        k=0.048 if is_outer else 0.024,
        U=track.run_v,
        k_Cu=THERMAL_W_PER_MK,
        rho=copper_ohm_m(solved.copper.temperature_c),
    )


def _rise(solved: SolvedRail, track: TrackCurrent, outer: set[str]) -> Interval:
    """The rise with the copper as stated, and with the thickest and the thinnest that may be delivered for it."""
    thin, stated, thick = solved.range_of(track.layer)
    cool, middle, hot = (_rise_c(solved, track, outer, one / stated) for one in (thick, stated, thin))
    return Interval(low=cool, nominal=middle, high=hot)


def _rise_c(solved: SolvedRail, track: TrackCurrent, outer: set[str], share: float) -> float:
    """The rise with a share of the stated thickness, the current unchanged."""
    chart = chart_rise_c(track.current_a, track.width_mm, track.thickness_mm * share, outer=track.layer in outer)
    return min(chart, conduction_rise_c(track.run_v / share, solved.copper.temperature_c))
