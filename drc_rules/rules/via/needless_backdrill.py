"""A backdrill removes a stub that would do no harm.

What it checks
--------------
Every backdrill, KiCad 10's own or declared. Not needed are those on low-speed interfaces, on supplies and ground, and
those on high-speed nets whose whole stub resonates, in the worst case, above every rule of thumb. Where only the family
of a net is known, its fastest generation counts. Not verifiable is a drill on a net without an assigned interface, and
on a high-speed net one whose hole nothing routed reaches, or that a zone without its fill may reach: the stub's length
depends on that.

Why it matters
--------------
Backdrilling is a second drilling after plating, priced by hole and depth. Removing a whole depth group saves a setup
too.

How to fix
----------
Remove the backdrill from those vias. Where a document of yours requires it, suppress this finding with that reason.

What it cannot see
------------------
Only stub resonance counts: drills for impedance, crosstalk, clearance or a document's sake are reported too. A
high-speed net with a low-speed or supply name gives a false alarm. Stubs between 3 and 10 times Nyquist get no finding.

Sources
-------
Ten times Nyquist is the strictest rule of thumb for a stub's resonance (Signal Integrity Journal).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.via.drilled_holes import DrilledHole, drilled_holes, place_of
from drc_rules.analysis.via.high_speed_vias import describe_nets, grouped_stubs, unknown_use
from drc_rules.analysis.via.stub_nulls import resonance_values
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of, rest_on_assignment
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import family
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.nets.power_nets import RailSign

PLACES_SHOWN = 20


@record
class Alike:
    """Backdrills of one depth on nets of one kind.

    Attributes:
        family: id of the nets' interface family; `supply` for supplies and ground, empty where not known.
        whole_group: the board has no other drill of this side and depth.
    """

    family: str
    start: int
    must_cut: int
    holes: tuple[DrilledHole, ...]
    whole_group: bool


SUPPLY = "supply"


def _drills(ctx: Context, _clause: Clause) -> Iterator[Alike]:
    found: dict[tuple[str, int, int], list[DrilledHole]] = {}
    for drilled in drilled_holes(ctx):
        role = ctx.assignment.role_of(drilled.hole.net)
        of = role.family if role else SUPPLY if _is_supply(ctx, drilled.hole.net) else ""
        found.setdefault((of, drilled.drill.start, drilled.drill.must_cut), []).append(drilled)
    for of, start, must_cut in sorted(found):
        alone = sum(key[1:] == (start, must_cut) for key in found) == 1
        yield Alike(of, start, must_cut, tuple(found[of, start, must_cut]), alone)


def _is_supply(ctx: Context, net: int) -> bool:
    """Tell whether a net's name or bypass capacitors speak for a supply: an area of copper may feed an antenna."""
    return bool(ctx.get(board_links).rails.signs[net] & (RailSign.GROUND | RailSign.NAME | RailSign.BYPASS))


FORMULA = """
m = f / f_N
m < m_min

m: resonance of the whole stub, undrilled, over Nyquist
f: its resonance in the worst case [GHz]
f_N: Nyquist frequency of the interface [GHz]
m_min: minimum at which no rule of thumb requires a drill
"""


@rule("VIA012", kinds=("backdrill_needed",), over=_drills, formula=FORMULA, reads_fills=True)
def needless_backdrill(ctx: Context, clause: Clause, alike: Alike) -> Iterator[DraftFinding]:
    """Yield one finding per depth and kind of net with needless drills."""
    first = alike.holes[0].hole
    name = ctx.board.nets[first.net]
    if not name:
        where = f"{first.x_mm:g}, {first.y_mm:g} mm"
        raise MissingFact(f"the net of the backdrilled hole at {where}", "give it one in KiCad, or delete it")
    if not alike.family:
        raise MissingFact(f"interface of {name}", f'[[interface]]\nis = "?"\nnets = ["{name}"]')
    if alike.family == SUPPLY:
        yield _draft(ctx, alike, "supply nets")
        return
    of = family(alike.family)
    rest_on_assignment(ctx, np.unique([d.hole.net for d in alike.holes]))
    if not of.fast:
        yield _draft(ctx, alike, f"{of.title} nets, too slow for a stub to matter")
        return
    least = clause.limit.min or 0.0
    kept, worst, missing = _harmless(ctx, least, alike)
    if missing and not kept:
        raise missing
    if kept:
        whole = alike.whole_group and len(kept) == len(alike.holes)
        text = f"{of.title} nets, whose whole stubs resonate at {worst:.0f} x Nyquist or above"
        draft = _draft(ctx, replace(alike, holes=kept, whole_group=whole), text)
        measured = Measured(value=round(worst, 1), unit="x Nyquist")
        yield replace(draft, measured=measured, limit_value=least, limit_unit="x Nyquist")


def _harmless(ctx: Context, least: float, alike: Alike) -> tuple[tuple[DrilledHole, ...], float, MissingFact | None]:
    """Return the drills whose whole stubs resonate high enough, their lowest multiple of Nyquist, what is missing.

    Missing is the first missing fact that keeps another drill from being judged.
    """
    mine = {(d.hole.net, d.hole.x_mm, d.hole.y_mm): d for d in alike.holes}
    unrouted = (unknown_use(ctx, replace(d.hole, used=d.hole.routed)) for d in alike.holes)
    missing = next(filter(None, unrouted), None)
    found: list[DrilledHole] = []
    worst = float("inf")
    for group in ctx.get(grouped_stubs):
        drill = group.drill
        if drill is None or not group.stubs or group.family != alike.family:
            continue
        if (drill.start, drill.must_cut) != (alike.start, alike.must_cut):
            continue
        nyquist = group.choices[-1].nyquist_ghz if group.choices else None
        if nyquist is None:
            missing = missing or generation_of(ctx, group.family)
            continue
        try:
            resonance = resonance_values(ctx, replace(group, drill=None)).resonance_ghz.low
        except MissingFact as fact:
            missing = missing or fact
            continue
        times = resonance / nyquist
        ctx.shows(describe_nets(ctx, group), f=resonance, f_N=nyquist, m_min=least)
        if times >= least:
            found += [mine[h.net, h.x_mm, h.y_mm] for h in group.holes if (h.net, h.x_mm, h.y_mm) in mine]
            worst = min(worst, times)
    return tuple(found), worst, missing


def _draft(ctx: Context, alike: Alike, on: str) -> DraftFinding:
    names = [layer.name for layer in ctx.board.copper_layers]
    count = len(alike.holes)
    span = f"from {names[alike.start]} to {names[alike.must_cut]}"
    saved = "removes the whole depth group" if alike.whole_group else "keeps the depth group, which other vias need"
    return DraftFinding(
        title=f"{count} backdrill{'' if count == 1 else 's'} not needed: {span}, on {on}",
        why=f"Each backdrill is a second drilling that the board does not need. Removing {count} {saved}",
        fix=f"Remove the backdrill {span} from those vias",
        ids=(alike.family, names[alike.start], names[alike.must_cut]),
        places=tuple(place_of(ctx, d, alike.start) for d in alike.holes[:PLACES_SHOWN]),
    )
