"""A plated hole is smaller than fabs can drill.

What it checks
--------------
The diameter of every via, microvia and plated hole, against the clause's fab tier or your own fab's `[fab]` `hole_mm`
and `microvia_mm`. KiCad stores the finished diameter; the fab drills 0.1 mm wider for the plating, or as far as the
narrowest pad leaves room (0.1 mm wider than the drill), and the tier limits the drill. Where the stored diameter
itself, if it is the drill, is beyond the advanced tier, that is information. Microvias, and blind vias up to 0.15 mm
over one dielectric, count as drawn, because a laser makes them. A diameter below 0.05 mm is a typing error
(`impossible-drill`): it is not verifiable.

Why it matters
--------------
Thin drills break and wander, and drill few boards in a stack: below the usual size each hole costs more, and below the
minimum no fab quotes.

How to fix
----------
Widen the holes; or use microvias over one dielectric where space is needed.

What it cannot see
------------------
Whether a stored diameter means the finished hole or the drill is unknown; 0.1 mm is the usual allowance. Slots
count by width only. Unplated holes are not checked, depth is `high-aspect-ratio`'s.

Sources
-------
Capability lists of Rush PCB, PCB Runner and HIC (drills), volume fabs (pads over drills), ILFA and any-layer fabs
(microvias), in three tiers: beyond the best is an error, beyond advanced a warning, beyond standard information.
`[fab]` takes the place of all three.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM, HoleSet, holes_of
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, not_covered, your_fab
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import drilled_one_mm, finished_from_mm
from drc_rules.requirements.fabs.limits import limit_of
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Floats


def _sets(ctx: Context, clause: Clause) -> Iterator[tuple[HoleSet, Bar]]:
    for holes in ctx.get(holes_of, by_laser=True):
        found = _bar(ctx, clause, holes)
        if found is not None:
            yield holes, found


def _bar(ctx: Context, clause: Clause, holes: HoleSet) -> Bar | None:
    """Return the least diameter: of a tier the drill's, of one's own fab the finished hole's."""
    own = your_fab(ctx)
    if holes.is_micro:
        return bar(ctx, clause, "microvia_mm", own.microvia_mm)
    return bar(ctx, clause, "drill_mm", own.hole_mm)


def _finished_mm(holes: HoleSet, least: Bar) -> float:
    """Return the least finished diameter where pads leave room enough."""
    if holes.is_micro or least.tier is None:
        return least.value
    finished = max(finished_from_mm(least.value), NO_DIAMETER_MM)
    if least.tier is Tier.STANDARD:  # as the drill itself, it may be past the advanced tier
        finished = max(finished, limit_of("drill_mm", Tier.ADVANCED) or 0.0)
    return finished


def _drilled_mm(holes: HoleSet, least: Bar) -> Floats:
    """Return what the limit is about: what is drilled, or for one's own fab what is finished."""
    return holes.drill_mm if least.tier is None else holes.drilled_mm


def _are_narrow(holes: HoleSet, least: Bar) -> NDArray[np.bool_]:
    is_narrow = holes.drill_mm < _finished_mm(holes, least) - TOLERANCE_MM
    return np.asarray(is_narrow | (_drilled_mm(holes, least) < least.value - TOLERANCE_MM))


FORMULA = """
d ≥ d_min - 0.001

d: smallest finished hole as KiCad stores it; the drill, where narrow pads limit it [mm]
d_min: minimum of the fab: finished, the drill less its plating; or of the drill [mm]
"""


@rule("FAB001", aliases=("narrow-hole",), kinds=("hole_diameter",), over=_sets, formula=FORMULA)
def small_drill(ctx: Context, _clause: Clause, subject: tuple[HoleSet, Bar]) -> Iterator[DraftFinding]:
    """Yield one finding for the holes of a kind that are narrower than the limit."""
    holes, least = subject
    finished_mm, drilled_mm = _finished_mm(holes, least), _drilled_mm(holes, least)
    is_narrow = _are_narrow(holes, least)
    small, is_covered = not_covered(
        np.flatnonzero(holes.is_sized & is_narrow), lambda limit: _are_narrow(holes, limit), least
    )
    by_drill = len(small) > 0 and not np.any(holes.drill_mm[small] < finished_mm - TOLERANCE_MM)
    d, d_min = (drilled_mm, least.value) if by_drill else (holes.drill_mm, finished_mm)
    narrowest = float(np.min(d[holes.is_sized])) if np.any(holes.is_sized) else np.inf
    if np.any(holes.is_sized):
        ctx.shows(f"{len(holes.drill_mm)} {holes.noun}s, {least.who}", d=narrowest, d_min=d_min)
    if len(small):
        worst = int(small[np.lexsort((holes.drill_mm[small], drilled_mm[small]))[0]])
        measured = float(d[worst])
        if measured > narrowest:  # the narrowest of all is reported at a stricter tier
            ctx.shows(f"{holes.counted(small)}, {least.who}", d=measured, d_min=d_min)
        finished, drilled = float(holes.drill_mm[worst]), round(float(drilled_mm[worst]), 6)
        is_tight = least.tier is not None and not holes.is_micro and drilled < drilled_one_mm(finished) - TOLERANCE_MM
        ways = (
            [f"Widen the holes to {finished_mm:g} mm or more"]
            if finished < finished_mm - TOLERANCE_MM or not is_tight
            else []
        )
        ways += [f"{'widen' if ways else 'Widen'} the pads for a drill of {least.value:g} mm"] if is_tight else []
        several = "down to " if np.ptp(holes.drill_mm[small]) > TOLERANCE_MM else ""
        words = _in_words(holes, least, (finished, drilled), several, is_tight=is_tight)
        yield DraftFinding(
            title=f"{words}: {holes.counted(small)}",
            why="Thin drills break and wander, and each such hole costs more",
            fix=", or ".join(ways),
            ids=(holes.noun, least.tier or least.who),
            measured=Measured(value=round(measured, 6), unit="mm"),
            limit_value=d_min,
            places=holes.places(ctx.board, small),
            every=holes.object_rows(small),
            is_covered=is_covered,
        )
    else:
        holes.need_diameters()


def _in_words(holes: HoleSet, least: Bar, worst_mm: tuple[float, float], several: str, *, is_tight: bool) -> str:
    finished, drilled = worst_mm
    limit = f"minimum {least.value:g} mm ({least.who})"
    if least.tier is None:
        return f"finished hole {several}{finished:g} mm, {limit}"
    if holes.is_micro:
        return f"laser-drilled hole {several}{finished:g} mm, {limit}"
    if drilled < least.value - TOLERANCE_MM:
        most = ", limited by the pads" if is_tight else ""
        return f"drill {several}{drilled:g} mm (finished hole {finished:g} mm{most}), {limit}"
    return (
        f"hole {several}{finished:g} mm needs a {drilled:g} mm drill if this is the finished size; "
        f"only the best fabs drill {finished:g} mm"
    )
