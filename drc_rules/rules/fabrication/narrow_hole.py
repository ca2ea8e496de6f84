"""A plated hole is narrower than fabs drill.

What it checks
--------------
The diameter of every via, microvia and plated hole, against the clause's fab tier or against your own fab's `[fab]`
`hole_mm` and `microvia_mm`. KiCad stores the finished diameter; it is drilled 0.1 mm wider for the plating, and what is
drilled is held against the tier. Where the stored diameter itself, taken as the drill, is past the advanced tier, that
is information. Microvias count as they are drawn. A diameter of less than 0.02 mm is none: it is not verifiable.

Why it matters
--------------
Thin drills break and wander, and take few boards in a stack: below the usual size each hole costs more, and below the
finest no fab quotes.

How to fix
----------
Wider holes; or microvias over one dielectric where the room is needed.

What it cannot see
------------------
Whether a stored diameter means the finished hole or the drill nobody says; the allowance of 0.1 mm is a usual one, and
vias that the fab may plate shut need less. A laser via that is drawn as a blind one is judged as a drilled hole, for
the file's kind decides. Slots count by their width alone, their length and their ends are not judged; non-plated holes
are left out altogether, and a narrow hole in a thick board is `high-aspect-ratio`'s.

Sources
-------
Capability lists of Rush PCB, PCB Runner and HIC (drills), ILFA and any-layer fabs (microvias), in three tiers: past the
best is an error, past advanced a warning, past standard information. `[fab]` takes the place of all three.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.fab_holes import NO_DIAMETER_MM, HoleSet, hole_sets
from drc_rules.fab_limits import NANOMETRE, Bar, bar, own_fab
from drc_rules.fabs import Tier
from drc_rules.fabs.holes import PLATING_ALLOWANCE_MM
from drc_rules.fabs.limits import limit_of
from drc_rules.report import Measured
from drc_rules.rule import Draft, rule


def _sets(ctx: Context, clause: Clause) -> Iterator[tuple[HoleSet, Bar]]:
    for holes in hole_sets(ctx.board):
        found = _bar(ctx, clause, holes)
        if found is not None:
            yield holes, found


def _bar(ctx: Context, clause: Clause, holes: HoleSet) -> Bar | None:
    """Return the least finished diameter."""
    own = own_fab(ctx)
    if holes.is_micro:
        return bar(ctx, clause, "microvia_mm", own.microvia_mm)
    found = bar(ctx, clause, "drill_mm", own.hole_mm)
    if found is None or found.tier is None:
        return found
    finished = max(round(found.value - PLATING_ALLOWANCE_MM, 6), NO_DIAMETER_MM)
    if found.tier is Tier.STANDARD:  # taken as the drill itself, it may be past the advanced tier
        finished = max(finished, limit_of("drill_mm", Tier.ADVANCED) or 0.0)
    return Bar(finished, found.who, found.tier)


FORMULA = """
d ≥ d_min

d: narrowest finished hole as KiCad stores it [mm]
d_min: narrowest finished hole that is usual, the drill less its plating [mm]
"""


@rule("FAB001", kinds=("hole_diameter",), over=_sets, formula=FORMULA)
def narrow_hole(ctx: Context, _clause: Clause, subject: tuple[HoleSet, Bar]) -> Iterator[Draft]:
    """Yield one finding for the holes of a kind that are narrower than the limit."""
    holes, least = subject
    small = np.flatnonzero(holes.is_sized & (holes.drill_mm < least.value - NANOMETRE))
    if np.any(holes.is_sized):
        ctx.shows(
            f"{len(holes.drill_mm)} {holes.noun}s, {least.who}",
            d=float(np.min(holes.drill_mm[holes.is_sized])),
            d_min=least.value,
        )
    if len(small):
        worst = float(np.min(holes.drill_mm[small]))
        yield Draft(
            title=f"{holes.counted(small)}: {_in_words(holes, worst, least)}",
            why="thin drills break and wander; each such hole costs more",
            fix=f"holes of {least.value:g} mm and more",
            ids=(holes.noun, least.tier or least.who),
            measured=Measured(value=worst, unit="mm"),
            limit_value=least.value,
            limit_unit="mm",
            places=holes.places(ctx.board, small),
        )
    else:
        holes.need_diameters()


def _in_words(holes: HoleSet, worst_mm: float, least: Bar) -> str:
    if least.tier is None:
        return f"{worst_mm:g} mm finished; {least.says('make')} {least.value:g} mm"
    if holes.is_micro:
        return f"{worst_mm:g} mm; {least.says('drill')} {least.value:g} mm by laser"
    usual, drilled = limit_of("drill_mm", least.tier) or 0.0, worst_mm + PLATING_ALLOWANCE_MM
    if drilled < usual - NANOMETRE:
        return f"{worst_mm:g} mm finished, {drilled:g} mm drilled; {least.says('drill')} {usual:g} mm"
    return (
        f"{worst_mm:g} mm is {drilled:g} mm drilled if it is the finished hole; as the drill only the best fabs take it"
    )
