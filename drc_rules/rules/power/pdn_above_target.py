"""A rail exceeds its PDN target impedance, by its copper alone or over frequency.

What it checks
--------------
Rails with `core = true`: their DC resistance from the source to the loads and, where the ground pads of both are known,
back through ground, with the range of delivered copper, against the target impedance of the profile. Too much even with
the best copper fails the clause, unless `remote_sense` says that the regulator compensates it. Too much with the copper
as stated only is not verifiable, and says what to declare. Low DC resistance proves nothing about higher frequencies.
There planes, mounted capacitors and regulator are computed as `stackwright pdn` shows them, at the load with most pads
on the rail, from 1 kHz (100 kHz with remote sense) to where board parts stop to help, and judged only where
`[rail.pdn]` declares the regulator and every capacitor has data, on planes that fills and vias join: all of the range
above fails; the nominal curve inside, with nothing undeclared that could lift it out, passes. Or `impedance_mohm`
states what was simulated or measured. `ripple_pct` and `step_a` give the rail's own target, V ripple / dI, printed next
to the profile's; rails other than the core's are judged against it in the same way. A board whose accelerator is on a
module that makes its own core voltage says `core_on_module = true`.

Why it matters
--------------
The impedance at the die times the current step is the dip that the load sees. The DC resistance of the copper is there
at every frequency below those that capacitors near the load cover.

How to fix
----------
Shorten the distance from the regulator, use more and heavier planes in parallel, and more vias at both ends. For peaks,
`stackwright pdn` names the parts that make them and how many more of which capacitor bring them down.

What it cannot see
------------------
Package and die count only where declared. Above the frequency at which planes and vias alone use up half of the target
nothing is judged, unless `up_to_mhz` is declared. `impedance_mohm` is believed. Without a known return DC resistance is
one-way.

Sources
-------
Each clause names document, table and row. Target impedance: L. D. Smith et al., IEEE Trans. Adv. Packag. 22 (1999) 284.
Range of board capacitors: Altera UG-01036 v2.0, pages 1-6 and 1-7; AMD UG584, Decoupling Capacitors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from drc_rules.analysis.power.power_rails import PowerRails, core_rail_lines
from drc_rules.analysis.power.rail_doubt import sharper, unsure
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.advice import command
from drc_rules.rules.power._impedance_over_frequency import need_pass, range_words, worst_of
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing

OWN_TARGET = "rail_impedance"
"""The kind of clause that holds rails to what their own ripple and step require."""


def _rails(ctx: Context, clause: Clause) -> tuple[RailDeclaration, ...]:
    declared = PowerRails(ctx).declared
    if clause.kind == OWN_TARGET:
        return tuple(row for row in declared if not row.core and row.states_target)
    rails = tuple(row for row in declared if row.core)
    if not rails and ctx.declarations.config.core_on_module:
        return ()
    if not rails:
        raise MissingFact("the core rail of the accelerator, and its current", core_rail_lines(ctx.board))
    return rails


FORMULA = """
Z ≤ Z_max

Z: impedance as stated, DC resistance of the copper alone, or maximum of planes and parts [mOhm]
Z_max: target [mOhm]
"""


@rule("PDN001", kinds=("pdn_target_impedance", OWN_TARGET), over=_rails, formula=FORMULA, reads_fills=True)
def pdn_above_target(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding per rail whose impedance is known to be too large; never pass on copper alone."""
    limit = 1000 * (row.target_ohm or inf) if clause.kind == OWN_TARGET else clause.limit.max or inf
    stated = row.impedance_mohm
    if stated is not None:
        ctx.shows(f"{row.net}, as stated", Z=stated, Z_max=limit)
    if stated is not None and stated > limit:
        yield _draft(ctx, row, stated, limit, f"PDN impedance {stated:g} mOhm as stated")
        return
    contradicts = bool(row.from_) and not row.remote_sense
    dc = PowerRails(ctx).whole(row).resistance_ohm.times(1000) if stated is None or contradicts else None
    if dc is not None and not row.remote_sense:
        ctx.shows(f"{row.net}, copper alone at DC", Z=dc, Z_max=limit)
    if dc is not None and dc.against(maximum=limit) is Standing.BEYOND and not row.remote_sense:
        yield _draft(ctx, row, dc.nominal, limit, f"DC resistance {range_words(dc)} mOhm of the copper alone")
        return
    if dc is not None and dc.against(maximum=limit) is Standing.UNSURE and not row.remote_sense:
        what, hint = f"DC resistance of {row.net} in mOhm", sharper(PowerRails(ctx).whole(row))
        raise unsure(row.net, what, dc, f"maximum {figure(limit)} mOhm", hint)
    own = row.target_ohm
    if stated is not None and own is not None and own * 1000 < limit:
        yield _remark(ctx, row, own * 1000, limit)
    if stated is None:
        yield from _over_frequency(ctx, row, limit, dc)


def _over_frequency(ctx: Context, row: RailDeclaration, limit: float, dc: Interval | None) -> Iterator[DraftFinding]:
    """What the board's own network says where nothing is stated of the whole; never a pass on assumed parts."""
    found, worst = worst_of(ctx, row, limit, dc)
    ctx.shows(f"{row.net}, from its parts and planes", Z=worst, Z_max=limit)
    if worst.against(maximum=limit) is Standing.BEYOND:
        draft = _draft(ctx, row, worst.nominal, limit, f"PDN impedance {range_words(worst)} mOhm of planes and parts")
        page = command("pdn", ctx.board, "--rail", row.net)
        yield replace(draft, fix=f"See `{page}`: what makes the peaks, and what helps")
    else:
        need_pass(row, found, worst, limit)


def _draft(ctx: Context, row: RailDeclaration, value: float, limit: float, title: str) -> DraftFinding:
    own = row.target_ohm
    own_target = f"; its ripple and step require {figure(1000 * own)} mOhm" if own is not None else ""
    return DraftFinding(
        title=f"{title}, maximum {figure(limit)} mOhm: {row.net}{own_target}",
        why="The impedance times the current step is the dip that the load sees",
        fix="Shorten the distance from the regulator, add or thicken planes, add vias at both ends",
        ids=PowerRails(ctx).ids_of(row),
        measured=Measured(value=round(value, 5), unit="mOhm"),
        limit_value=limit,
        places=(Location(net=row.net),),
    )


def _remark(ctx: Context, row: RailDeclaration, own_mohm: float, limit: float) -> DraftFinding:
    """What the declared ripple and step require, where it is less than the value of the profile."""
    return DraftFinding(
        title=f"{row.net}: {row.ripple_pct:g} % ripple at a {row.step_a:g} A step requires {figure(own_mohm)} mOhm, "
        f"below the profile's {limit:g} mOhm",
        why="The profile's target is too loose for this rail",
        fix="Design the network for the smaller target",
        ids=(*PowerRails(ctx).ids_of(row), "own target"),
        measured=Measured(value=round(own_mohm, 5), unit="mOhm"),
        limit_value=limit,
        places=(Location(net=row.net),),
        fails=False,
    )
