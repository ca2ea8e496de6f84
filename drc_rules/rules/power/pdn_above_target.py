"""The core rail's copper alone has more resistance than the power network may have impedance.

What it checks
--------------
Rails with `core = true`: their resistance at direct current from the source to the loads and, where the ground pads of
both are known, back through ground, with the range that delivered copper leaves it, against the target impedance of the
profile. Too much even with the best copper fails the clause, unless `remote_sense` says that the regulator makes up for
it. Too much with the copper as stated only is not verifiable, and says what to declare. Enough copper proves nothing
about 100 MHz: that takes capacitors, package and regulator, so the clause is not verifiable until `impedance_mohm`
states what was simulated or measured. `ripple_pct` and `step_a` give the rail's own
target, V ripple / dI, printed beside the profile's. A board whose accelerator sits on a module that makes its own core
voltage says `core_on_module = true`.

Why it matters
--------------
The impedance at the die times the step of current is the dip that the core sees. What the copper takes at direct
current is there at every frequency below those that capacitors near the load cover.

How to fix
----------
Shorten the way from the regulator, use more and heavier planes in parallel, and more vias at both ends. Then simulate
the network with its capacitors, and state the result.

What it cannot see
------------------
From the board it knows direct current only: plane inductance, capacitors with their mounting, the regulator's loop and
the package, which make the impedance from kilohertz on, are not read from any file. What `impedance_mohm` states is
believed, whoever simulated it and up to whatever frequency; the one figure holds for all frequencies, while real
targets rise. Where the return through ground is not known, the resistance is that of the supply side alone. Which rail
is the core's is told by declarations alone.

Sources
-------
Each clause names document, table and row. Target impedance: L. D. Smith et al., IEEE Trans. Adv. Packag. 22 (1999) 284.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails, core_rail_lines
from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.analysis.power.rail_doubt import sharper, unsure
from drc_rules.facts.context import Context
from drc_rules.report.model import Measured, Place
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing


def _core_rails(ctx: Context, _clause: Clause) -> tuple[RailDeclaration, ...]:
    rails = tuple(row for row in PowerRails(ctx).declared if row.core)
    if not rails and ctx.declarations.config.core_on_module:
        return ()
    if not rails:
        raise MissingFact("which rail feeds the accelerator's core, and its current", core_rail_lines(ctx.board))
    return rails


FORMULA = """
Z ≤ Z_max

Z: impedance as stated, or what copper alone has at DC [mOhm]
Z_max: target [mOhm]
"""


@rule("PDN001", kinds=("pdn_target_impedance",), over=_core_rails, formula=FORMULA, reads_fills=True)
def pdn_above_target(ctx: Context, clause: Clause, row: RailDeclaration) -> Iterator[Draft]:
    """Yield one finding per core rail whose impedance is known to be too large; never pass on copper alone."""
    limit = clause.limit.max or float("inf")
    stated = row.impedance_mohm
    if stated is not None:
        ctx.shows(f"{row.net}, as stated", Z=stated, Z_max=limit)
    if stated is not None and stated > limit:
        yield _draft(row, stated, limit, f"{row.net} has {stated:g} mOhm as stated; {clause.title}")
        return
    contradicts = bool(row.from_) and not row.remote_sense
    dc = PowerRails(ctx).whole(row).resistance_ohm.times(1000) if stated is None or contradicts else None
    if dc is not None and not row.remote_sense:
        ctx.shows(f"{row.net}, copper alone at DC", Z=dc, Z_max=limit)
    if dc is not None and dc.against(maximum=limit) is Standing.BEYOND and not row.remote_sense:
        yield _draft(row, dc.nominal, limit, f"{row.net}: copper alone has {_range(dc)} mOhm at DC; {clause.title}")
        return
    if dc is not None and dc.against(maximum=limit) is Standing.UNSURE and not row.remote_sense:
        what, hint = f"the resistance of {row.net} at DC, in mOhm,", sharper(PowerRails(ctx).whole(row))
        raise unsure(row.net, what, dc, f"{limit:g} mOhm at most", hint)
    own = row.target_ohm
    if stated is not None and own is not None and own * 1000 < limit:
        yield _remark(row, own * 1000, limit)
    if stated is None:
        known = f"; at DC it has {_range(dc)} mOhm" if dc else ""
        known += f"; its ripple and step ask for {figure(own * 1000)} mOhm" if own is not None else ""
        hint = 'impedance_mohm = "?"  # largest from DC to 100 MHz at the load, simulated or measured'
        raise MissingFact(
            f"the impedance of {row.net} up to 100 MHz, which copper alone cannot prove{known}", in_table(row.net, hint)
        )


def _range(dc: Interval) -> str:
    return f"{figure(dc.nominal)} ({figure(dc.low)} to {figure(dc.high)})"


def _draft(row: RailDeclaration, value: float, limit: float, title: str) -> Draft:
    own = row.target_ohm
    beside = f"; its ripple and step ask for {figure(1000 * own)} mOhm" if own is not None else ""
    return Draft(
        title=f"{title}{beside}",
        why="the impedance times the step of current is the dip that the core sees",
        fix="shorten the way from the regulator, add and thicken planes, add vias at both ends",
        ids=(row.net,),
        measured=Measured(value=round(value, 5), unit="mOhm"),
        limit_value=limit,
        limit_unit="mOhm",
        places=(Place(net=row.net),),
    )


def _remark(row: RailDeclaration, own_mohm: float, limit: float) -> Draft:
    """What the declared ripple and step ask for, where it is less than the figure of the profile."""
    return Draft(
        title=f"{row.net}: {row.ripple_pct:g} % ripple at a step of {row.step_a:g} A ask for {figure(own_mohm)} mOhm, "
        f"less than the {limit:g} mOhm of the profile",
        why="the profile's figure is too loose for this rail",
        fix="design the network for the smaller figure",
        ids=(row.net, "own target"),
        measured=Measured(value=round(own_mohm, 5), unit="mOhm"),
        limit_value=limit,
        limit_unit="mOhm",
        places=(Place(net=row.net),),
        fails=False,
    )
