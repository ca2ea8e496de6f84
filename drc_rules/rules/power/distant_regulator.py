"""The regulator is so far from its load that the copper between them exceeds the target impedance early.

What it checks
--------------
Rails whose `[[rail]]` declares ripple_pct and step_a, hence a target impedance: the inductance of the supply path from
the regulator's output to the load that drops most, over the nearest plane of the net by which it returns, as reactance
at 100 kHz. All current goes to that load, and flows as the DC solution has it; layers on one side of a plane count with
what each induces in the other. Distance and resistance of the same path stand next to it. It fails where even half of
the value exceeds the target, with the step shared out as the loads share the current; where only the value does, it is
not verifiable. A rail with impedance_mohm was simulated and is left out. It is information.

Why it matters
--------------
A regulator answers up to about 100 kHz. Where its own path is too inductive for that, the load sees a dip that the
loop cannot correct, and bulk capacitors at the load must cover it.

How to fix
----------
Move the regulator closer to the load, widen the copper between them, or lay the rail next to a ground plane; else place
bulk capacitors at the load. `stackwright pdn` shows the impedance with them; state impedance_mohm once it is known.

What it cannot see
------------------
Capacitors, sense lines, the regulator's own loop and output impedance, inductance of vias, package, and gaps in the
plane. At higher frequencies current spreads, and the path is less inductive than told.

Sources
-------
Magnetic energy of current sheets over a plane, gap by gap; the correction of narrow copper as for a trace. Target: L.
D. Smith et al., IEEE Trans. Adv. Packag. 22 (1999) 284. 100 kHz is engineering knowledge of multiphase regulators, and
no document states a distance: hence never more than information.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Standing

FORMULA = """
X = 2 · pi · f · L / 1000
X ≤ Z_max

X: reactance of the supply path [mOhm]
f: frequency [kHz]
L: inductance of the supply path over ground [nH]
Z_max: target impedance of the rail [mOhm]
d: distance from the regulator to the load, pad to pad [mm]
R: resistance of the supply path [mOhm]
pi: 3.14159
"""


def _with_target(ctx: Context, _clause: Clause) -> Iterator[int]:
    """Numbers of the rails that declare what their impedance may be, and not what it is."""
    for number, row in enumerate(ctx.declarations.config.rail):
        if row.states_target and row.impedance_mohm is None:
            yield number


@rule("PDN009", kinds=("regulator_reach",), over=_with_target, formula=FORMULA, reads_fills=True)
def distant_regulator(ctx: Context, clause: Clause, number: int) -> Iterator[DraftFinding]:
    """Yield one finding per rail whose supply path is surely too inductive at the clause's frequency."""
    row, at_khz = ctx.declarations.config.rail[number], clause.limit.max
    if row.target_ohm is None or at_khz is None:
        return
    from drc_rules.analysis.power.rail_reach import rail_reach  # noqa: PLC0415 - few boards declare such a rail

    reach, target = ctx.get(rail_reach, number), row.target_ohm * 1000
    found = reach.inductance_h.times(2 * math.pi * at_khz * 1e3 * 1e3)
    length, henry, ohm = reach.distance_mm, reach.inductance_h.nominal * 1e9, reach.resistance_ohm.nominal * 1000
    ctx.shows(row.net, X=found.nominal, f=at_khz, L=henry, Z_max=target, d=length, R=ohm, pi=math.pi)
    standing = found.against(maximum=target)
    path = f"{length:.0f} mm, {figure(henry)} nH and {figure(ohm)} mOhm from regulator to {reach.load}"
    if standing is Standing.UNSURE:
        line = in_table(row.net, 'impedance_mohm = "?"  # largest at the load up to 100 MHz, as simulated or measured')
        raise MissingFact(f"impedance of {row.net}: {path}, maximum {figure(target)} mOhm at {at_khz:g} kHz", line)
    if standing is Standing.BEYOND:
        yield DraftFinding(
            title=f"{figure(found.nominal)} mOhm at {at_khz:g} kHz, target {figure(target)} mOhm: {row.net}, {path}",
            why="The regulator cannot hold the load up to its own bandwidth; capacitors at the load must",
            fix="Move the regulator closer, widen the copper, lay it next to a ground plane, or add bulk capacitors",
            ids=PowerRails(ctx).ids_of(row),
            measured=Measured(value=round(found.nominal, 4), unit="mOhm"),
            limit_value=round(target, 4),
            places=(Location(net=row.net),),
        )
