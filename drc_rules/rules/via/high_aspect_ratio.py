"""A hole is too deep for its diameter to be drilled and plated.

What it checks
--------------
Depth over diameter of every via and plated hole, by kind and span, both finished (as KiCad stores it) and drilled: 0.1
mm wider for the plating, or as far as the narrowest pad leaves room (0.1 mm wider than the drill). The drilled ratio
decides, because fabs state their limits of it. Where the stored diameter itself, if it is the drill, exceeds the
advanced tier, that is information; a through hole of 0.15 mm or less that is deeper than 12 times its stored diameter
is a warning. Microvias, and blind vias up to 0.15 mm over one dielectric, count with the dielectric that the laser
opens, without an allowance; what the file does not call a microvia is a warning at most. A diameter below 0.05 mm is a
typing error, and not verifiable. Without an entered stackup, holes pass that are wide enough for a board twice as
thick; others are not verifiable.

Why it matters
--------------
Plating is thinnest in the middle of a deep narrow hole: such barrels crack in soldering.

How to fix
----------
Use wider holes, a thinner board, blind and buried vias instead of through vias, or microvias over a thinner dielectric.

What it cannot see
------------------
Blind and buried vias count as drilled before lamination (10:1); controlled-depth drilling reaches about 1:1 only
and passes here. Depth is nominal, without solder mask and extra plating. Slots count by their width, unplated holes not
at all.

Sources
-------
Capability lists of several fabs in three tiers (through: Rush PCB, HIC, Nanotech; buried: HIC, ILFA; laser: HIC,
WEdirekt, ILFA; pads over drills: volume fabs): beyond the best is an error, beyond advanced a warning, beyond standard
information. Fine deep holes: HIC (0.15 mm through 1.2 mm), Nanotech (12:1). `[fab]` `aspect_ratio` and
`microvia_aspect_ratio` take the place of all three.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_holes import ENTER_DIAMETER, NO_DIAMETER_MM
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar_of, is_replaced, your_fab
from drc_rules.analysis.via.hole_groups import HoleGroup, depth_mm, groups_of, is_wide_for_any_board
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import at_precision
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import max_aspect_ratio
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact


def _groups(ctx: Context, clause: Clause) -> tuple[HoleGroup, ...]:
    return tuple(group for group in ctx.get(groups_of) if not is_replaced(clause, _own(ctx, group)))


def _own(ctx: Context, group: HoleGroup) -> float | None:
    """What one's own fab states, None where it states nothing."""
    own = your_fab(ctx)
    return own.microvia_aspect_ratio if group.kind == "microvia" else own.aspect_ratio


def _limit(ctx: Context, clause: Clause, group: HoleGroup) -> Bar:
    found = bar_of(ctx, clause, _own(ctx, group))
    if found is not None:
        return found
    tier = Tier(clause.limit.at_least or Tier.BEST)
    return Bar(max_aspect_ratio(group.kind, tier), f"{tier} fabs", tier)


FINE_MM = 0.15
"""Finest drills of advanced fabs (Rush PCB, PCB Runner: 6 mil); HIC drills 0.15 mm through at most 1.2 mm."""

FINE_RATIO = 12.0
"""What advanced fabs make of such holes (Nanotech 12:1, AdvancedPCB 12 to 16:1)."""


FORMULA = """
a = h / (d + p)
round(a, 1) ≤ a_max

a: aspect ratio [to 1]
h: depth [mm]
d: finished diameter as KiCad stores it [mm]
p: drill allowance for the plating; 0 where the diameter is the drill [mm]
a_max: maximum of the tier; 12 for through holes up to finished 0.15 + 0.001 mm, except in the best tier [to 1]
"""


@rule("VIA004", kinds=("hole_aspect_ratio",), over=_groups, formula=FORMULA)
def high_aspect_ratio(ctx: Context, clause: Clause, group: HoleGroup) -> Iterator[DraftFinding]:
    """Yield a finding when a group of like holes is past the clause's tier."""
    if group.drill_mm < NO_DIAMETER_MM:
        name = f"hole diameter of {group.describe} (the file states less than {NO_DIAMETER_MM} mm)"
        raise MissingFact(name, ENTER_DIAMETER)
    limit = _limit(ctx, clause, group)
    largest = limit.value
    try:
        depth = depth_mm(ctx, group)
    except MissingFact:
        if is_wide_for_any_board(ctx, group, largest):
            return
        raise
    drilled_mm = group.drilled_mm
    finished, drilled = depth / group.drill_mm, depth / drilled_mm
    is_fine = _is_fine_and_deep(group, limit, finished)
    is_doubtful = is_fine or (
        limit.tier is Tier.STANDARD and at_precision(finished, 1) > max_aspect_ratio(group.kind, Tier.ADVANCED)
    )
    largest = FINE_RATIO if is_fine and at_precision(drilled, 1) <= largest else largest
    ctx.shows(
        f"{group.describe} of {group.drill_mm:g} mm, {limit.who}",
        a=finished if is_doubtful else drilled,
        h=depth,
        d=group.drill_mm,
        p=0.0 if is_doubtful else drilled_mm - group.drill_mm,
        a_max=largest,
    )
    if at_precision(drilled, 1) <= largest and not is_doubtful:
        return
    names, drill = [layer.name for layer in ctx.board.copper_layers], f"{group.drill_mm:g}"
    span = f"{names[group.top]} to {names[group.bottom]}"
    wider = depth / largest - (0.0 if is_doubtful or group.room_mm is not None else drilled_mm - group.drill_mm)
    tight = () if group.room_mm is None else (f"{group.room_mm:g} drilled",)
    yield DraftFinding(
        title=(
            f"aspect ratio {_ratios(group, finished, drilled, is_doubtful=is_doubtful)}, maximum {largest:g}:1 "
            f"({_who(limit, largest)}): {group.describe}, {span}, {depth:.2f} mm deep"
        ),
        why="Plating is thinnest in the middle of a deep narrow hole, and cracks there",
        fix=f"Widen the holes to {_up(wider):.2f} mm or more, or reduce the depth",
        ids=(*(("pads",) if group.are_pads else ()), group.kind, names[group.top], names[group.bottom], drill, *tight),
        measured=Measured(value=round(finished if is_doubtful else drilled, 2), unit=":1"),
        limit_value=largest,
        places=group.places(ctx.board),
        every=group.object_rows,
        inferred=group.is_guess,
    )


def _is_fine_and_deep(group: HoleGroup, limit: Bar, finished_ratio: float) -> bool:
    """Tell whether a through hole as fine as the finest drills is too deep for these, were it drilled as stored."""
    is_fine = group.kind == "through" and group.drill_mm <= FINE_MM + TOLERANCE_MM
    return is_fine and limit.tier in (Tier.ADVANCED, Tier.STANDARD) and at_precision(finished_ratio, 1) > FINE_RATIO


def _who(limit: Bar, largest: float) -> str:
    if largest == FINE_RATIO and limit.value != FINE_RATIO:
        return f"finished holes up to {FINE_MM:g} mm"
    return limit.who


def _ratios(group: HoleGroup, finished: float, drilled: float, *, is_doubtful: bool) -> str:
    """The ratio that decides, then the other; a laser has one, and of a drill that the pads keep narrow it says so."""
    if group.kind == "microvia":
        laser = ", laser-drilled blind via" if group.is_guess else ""
        return f"{finished:.1f}:1 (finished {group.drill_mm:g} mm{laser})"
    ratios = [
        (f"{drilled:.1f}:1", f"drilled {group.drilled_mm:g} mm"),
        (f"{finished:.1f}:1", f"finished {group.drill_mm:g} mm"),
    ]
    (ratio, size), (other, other_size) = reversed(ratios) if is_doubtful else ratios
    room = "" if group.room_mm is None else "; pads limit the drill"
    return f"{ratio} ({size}; {other_size} {other}{room})"


def _up(size_mm: float) -> float:
    """Return a size in hundredths of a millimetre that is surely enough."""
    return math.ceil(size_mm * 100 - 1e-6) / 100
