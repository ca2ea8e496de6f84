"""Pairs are routed so far along the glass weave that it can skew them.

What it checks
--------------
For every pair of a high-speed interface: how far it is routed straight along the board's edges, within 5 degrees, on
layers adjacent to glass that is not spread. The glass style is read from the construction in the stackup or
`stackwright.toml`. The highest measured skew per length is compared with a quarter of the unit interval. Most boards
do far better, by chance: this is information, and a warning where a whole unit interval can be lost. Of a family
without its generation the slowest has to fail and the fastest to pass; between, it is not verifiable.

Where the material names low-Dk glass (NE, L2, NEZ) or quartz, or is sold with it, the skew is less: by the Dk of that
glass above the lowest resin's, over that of E-glass above FR-4 resin's. At most 64 % with NE, 32 % with quartz. The
values for low-Dk glass are at second hand: a pass that rests on them has low confidence.

Why it matters
--------------
Where one trace is over a glass bundle and the other over a gap, they run at different speeds all along: skew that
length matching cannot see, on some boards of a lot and not on others.

How to fix
----------
Use spread glass (1035, 1067, 1078, 1086, 3313) next to these layers, or low-Dk glass. Or have the board rotated on
the panel by 10 degrees, or route a few degrees off the axes. If the fab uses spread glass, set `[fab]`
`spread_glass = true`.

What it cannot see
------------------
Glass counts only where its style is named. One study's maximum stands for every open weave. Rotation on the panel
needs `spread_glass`. Slanted runs, zigzags and arcs count as harmless.

Sources
-------
Intel's fibre-weave group (Loyer, Kunze, Ye): 51 ps over 10 in maximum, 6 ps when rotated by 12.76 degrees. PCD&F,
October 2019: a quarter of the unit interval. RF Essentials, April 2026: Dk of glass and resin. Runs on different
lines are added as squares. Arcs are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import your_fab
from drc_rules.analysis.fabrication.glass_weave import WeaveSkew, unit_interval_ps, unnamed_plies, weave_skews
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of, rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.interfaces import Interface, family, interface
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.record import entity

PLACES_SHOWN = 20


@entity
class WovenPairs:
    """The nets of an interface that has pairs.

    Attributes:
        id, title: of the interface; of the family where its generation is not known.
        choices: the generation; all of the family, slowest first, where it is not known.
    """

    id: str
    title: str
    choices: tuple[Interface, ...]
    nets: Ints


def _interfaces(ctx: Context, _clause: Clause) -> Iterator[WovenPairs]:
    every = [WovenPairs(one.id, one.title, (one,), ctx.nets_of(one.id)) for one in _known(ctx)]
    for of in map(family, ctx.assignment.families_without_generation()):
        roles = ((net, ctx.assignment.role_of(net)) for net in ctx.nets_of(of.id).tolist())
        nets = [net for net, role in roles if role is not None and role.interface is None]
        every.append(WovenPairs(of.id, of.title, of.by_rate, np.array(nets, dtype=np.int64)))
    yield from (found for found in every if found.choices and weave_skews(ctx, found.nets))


def _known(ctx: Context) -> Iterator[Interface]:
    return (one for one in map(interface, ctx.assignment.fast_interfaces()) if one.nyquist_ghz)


FORMULA = """
UI = 500 / f_N
s ≤ p · UI / 100

s: maximum skew of the worst pair on glass known to be open [ps]
UI: unit interval [ps]
f_N: Nyquist frequency [GHz]
p: maximum share of it [%]
"""


@rule("FAB011", kinds=("weave_skew",), over=_interfaces, formula=FORMULA)
def glass_weave_skew(ctx: Context, clause: Clause, one: WovenPairs) -> Iterator[DraftFinding]:
    """Yield one finding for the pairs of an interface that can be skewed past the limit."""
    if your_fab(ctx).spread_glass:
        return
    rest_on_assignment(ctx, one.nets)
    interval, least_interval = unit_interval_ps(one.choices[0]), unit_interval_ps(one.choices[-1])
    most, least = (each * (clause.limit.max or 100.0) / 100 for each in (interval, least_interval))
    skews = weave_skews(ctx, one.nets)
    skewed = sorted((s for s in skews if s.sure_ps > most), key=lambda s: -s.sure_ps)
    worst_ps = max(s.sure_ps for s in skews)
    nyquist = one.choices[0].nyquist_ghz or 0.0
    ctx.shows(f"{one.title}, {len(skews)} pairs", s=worst_ps, f_N=nyquist, p=clause.limit.max or 100.0)
    if any(s.e_glass_ps > most >= s.sure_ps for s in skews):
        ctx.rests_on(Confidence.LOW)
    if not skewed:
        doubtful = [s for s in skews if s.possible_ps > least]
        if worst_ps > least or (doubtful and not any(s.possible_ps > most for s in doubtful)):
            raise generation_of(ctx, one.id)  # at the slowest one they pass on any glass
        _need_styles(ctx, doubtful)
        return
    worst = skewed[0]
    inferred = not any(ctx.assignment.is_declared(net) for net in one.nets.tolist())
    yield DraftFinding(
        title=(
            f"glass weave skew up to {worst.sure_ps:.0f} ps, maximum {most:.3g} ps "
            f"({clause.limit.max:g} % of UI): {one.title}, "
            f"{len(skewed)} of {len(skews)} pairs, {worst.name} for {worst.along_mm:.0f} mm"
        ),
        why=(
            "In the worst position over the glass a pair loses "
            f"{100 * worst.sure_ps / interval:.0f} % of the unit interval"
        ),
        fix="Use spread glass next to these layers, or have the board rotated on the panel by 10 degrees",
        ids=(one.id,),
        measured=Measured(value=round(worst.sure_ps, 1), unit="ps"),
        limit_value=round(most, 1),
        places=_places(ctx, skewed),
        severity=Severity.INFO if inferred or worst.sure_ps < interval else None,
        inferred=inferred,
    )


def _need_styles(ctx: Context, skewed: list[WeaveSkew]) -> None:
    """Raise `MissingFact` where a pair would be skewed too far if the unnamed glass is open."""
    if not skewed:
        return
    if not ctx.plies:
        ctx.stackup()
    nets = np.array([net for one in skewed for net in one.nets], dtype=np.int64)
    unnamed = next(unnamed_plies(ctx, _layers(ctx, nets)), None)
    row = unnamed.row if unnamed else "dielectric 1"
    how = f'[declared.dielectric."{row}"]\nmaterial = "?"  # with the glass style, e.g. "R-5670(N) 1078"'
    raise MissingFact(f"glass style of {row}", f"{how}; or spread_glass = true under [fab]")


def _layers(ctx: Context, nets: Ints) -> Ints:
    tracks = ctx.board.tracks
    return distinct(tracks.layer[np.isin(tracks.net, nets)].astype(np.int64))


def _places(ctx: Context, skewed: list[WeaveSkew]) -> tuple[Location, ...]:
    return tuple(Location(net=ctx.board.nets[one.nets[0]]) for one in skewed[:PLACES_SHOWN])
