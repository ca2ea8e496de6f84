"""The thermal vias under a high-power component exceed their maximum thermal resistance.

What it checks
--------------
Every `[[hot_part]]` with a declared limit: `max_k_per_w` from its thermal pad to the sink (`sink`, by default the far
side), or `junction_max_c`, `theta_jc_k_per_w` and `sink_c`, which with the power give one. The resistance of the array
is an interval: wall nominally 20 um, 18 to 35 (25, 20 to 35 with `ipc_class = "3"` under `[order]`) unless `plating_um`
states it, hole as drilled or as finished, fill as stored or declared, heat brought to the vias, where they are, by the
pad's copper alone or by the package's slug. An inner sink counts vias that join copper there, an outer one those that
end there, backdrills counted. Planes between, copper around the pad and vias in it spread heat too, which is not
computed: it fails where an upper bound of what they conduct leaves it above the limit, and is not verifiable where only
the array's nominal value is. It passes where the nominal value is within the limit, with a remark where the upper bound
is not. `path_k_per_w`, simulated or measured, replaces the computed value, and is the only option for a copper coin.

Why it matters
--------------
The temperature drop in the board adds at the junction: 20 K/W at 4 W are 80 degrees.

How to fix
----------
Add vias, thicker plating, filled vias, a shorter path or a plane closer to the part; or a heatsink on its lid.

What it cannot see
------------------
Surrounding vias and copper, planes, radiation and air help but let nothing pass; solder voids and thermal paste do not
count. Parts are judged alone. Pads count as rectangles, side by side; other custom ones are not verifiable.

Sources
-------
Conduction through parallel cylinders (Fourier's law); in the pad by the Green's function of a rectangle with insulated
sides, an upper bound that holds against finite differences; around it by Rayleigh's monotonicity law; conductivities
and plating with their sources in `stackup_lib/thermal/conductivity.toml`. The limit is declared.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.thermal.hot_parts import HotPartOnBoard, give, hot_parts
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.thermal._heat_spread import adjacent_vias, least_k_per_w
from drc_rules.rules.thermal._thermal_path import HeatPath, describe, heat_path, sink_of
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing

ROUNDING = 0.99
"""A bound nearer than that to the array's own says nothing more."""


def _limited(ctx: Context, _clause: Clause) -> Iterator[HotPartOnBoard]:
    for part in hot_parts(ctx):
        if part.declared.max_k_per_w is not None or part.declared.junction_max_c is not None:
            yield part


FORMULA = """
R ≤ R_max

R: from the pad through its vias to the sink [K/W]
R_max: declared maximum, or (T_junction - T_sink) / P - R_junction_case [K/W]
n: vias to the sink
"""


@rule("THM003", kinds=("thermal_resistance",), over=_limited, formula=FORMULA, reads_fills=True)
def high_thermal_resistance(ctx: Context, _clause: Clause, part: HotPartOnBoard) -> Iterator[DraftFinding]:
    """Yield one finding per part whose way of the heat is above the declared limit."""
    most = _most_k_per_w(part)
    path = _path(ctx, part)
    found = path.k_per_w
    ctx.shows(f"{part.reference} to {path.sink_name}", R=found, R_max=most, n=path.holes)
    least = found.low if found.nominal <= most else _least_k_per_w(ctx, part, path)
    standing = Interval(low=least, nominal=found.nominal, high=found.high).against(maximum=most)
    if standing is Standing.UNSURE:
        name = f"thermal resistance below {figure(most)} K/W ({_words(part, path)})"
        raise MissingFact(name, give(part, _more(part)))
    if found.high <= most:
        return
    fails = standing is Standing.BEYOND
    yield DraftFinding(
        title=f"{_words(part, path)}{'' if fails else ', may exceed'}, maximum {figure(most)} K/W",
        why=f"The temperature drop in the board adds at the junction{_spread(least, found)}",
        fix="Add vias, plate or fill them, add a plane closer to the part, or cool the lid",
        ids=(part.reference,),
        measured=Measured(value=round(found.nominal, 2), unit="K/W"),
        limit_value=round(most, 2),
        places=(part.place(),),
        fails=fails,
    )


def _least_k_per_w(ctx: Context, part: HotPartOnBoard, path: HeatPath) -> float:
    """Return what the path is at least; one that is declared is exact."""
    if not path.holes:
        return path.k_per_w.low
    return least_k_per_w(ctx, part, path)


def _more(part: HotPartOnBoard) -> str:
    """Return the lines that may decide it, but for those that are there."""
    lines = [] if part.declared.plating_um is not None else ['plating_um = "?"']
    if part.declared.via_fill is None:
        lines.append('via_fill = "?"  # none, resin, conductive epoxy or copper')
    simulated = 'path_k_per_w = "?"  # as simulated'
    return "\n".join([*lines, f"# or {simulated}" if lines else simulated])


def _words(part: HotPartOnBoard, path: HeatPath) -> str:
    found = path.k_per_w
    if not path.holes:
        return f"{part.reference}: {figure(found.nominal)} K/W, as declared, to {path.sink_name}"
    ends = f"{describe(found.low)} to {describe(found.high)}"
    text = f"{part.reference}: {describe(found.nominal)} ({ends}) K/W through {_vias(path.holes)} to {path.sink_name}"
    adjacent = adjacent_vias(part)
    return f"{text}, without {_vias(adjacent, 'adjacent ')}" if adjacent else text


def _vias(count: int, which: str = "") -> str:
    return f"{count} {which}via{'' if count == 1 else 's'}"


def _spread(least_k_per_w: float, found: Interval) -> str:
    if least_k_per_w >= ROUNDING * found.low:
        return ""
    return f". Planes between and copper around spread the heat as well: at least {describe(least_k_per_w)} K/W"


def _most_k_per_w(part: HotPartOnBoard) -> float:
    """Return the declared limit, or what is left of the junction's; raises `MissingFact` for what that needs."""
    told = part.declared
    if told.max_k_per_w is not None:
        return told.max_k_per_w
    watt = told.through_board_w
    if watt is None:
        key = "power_w" if told.power_w is None else "board_w"
        raise MissingFact(f"heat of {part.reference} through the board", give(part, f'{key} = "?"'))
    if told.theta_jc_k_per_w is None or told.sink_c is None or told.junction_max_c is None:
        lines = 'theta_jc_k_per_w = "?"  # junction to thermal pad\nsink_c = "?"  # sink temperature'
        raise MissingFact(f"junction-to-case resistance and sink temperature of {part.reference}", give(part, lines))
    return max((told.junction_max_c - told.sink_c) / watt - told.theta_jc_k_per_w, 0.0)


def _path(ctx: Context, part: HotPartOnBoard) -> HeatPath:
    given = part.declared.path_k_per_w
    if given is not None:
        sink = sink_of(ctx, part)
        exact = Interval.exact(given)
        return HeatPath(sink, ctx.board.copper_layers[sink].name, 0, exact)
    if part.declared.coin or not part.is_exposed:
        what = "the coin" if part.declared.coin else "the pads, none of which is a thermal pad,"
        raise MissingFact(
            f"thermal resistance of {what} under {part.reference}", give(part, 'path_k_per_w = "?"  # as simulated')
        )
    path = heat_path(ctx, part)
    if path is None:
        name = ctx.board.copper_layers[sink_of(ctx, part)].name
        other = give(part, 'sink = "?"  # copper layer that its vias join')
        cure = f"# draw vias in its thermal pad that reach copper of its net on {name}, or\n{other}"
        raise MissingFact(f"a via from the thermal pad of {part.reference} to {name}", cure)
    return path
