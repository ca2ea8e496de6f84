"""Fabs cannot make the via that a net class specifies, and none is routed yet.

What it checks
--------------
The through via that KiCad places for the nets of a class (the preferred size of the last design rule that applies, else
the net class, and no smaller than Board Setup allows): its hole, its annular ring, and its depth over its drilled
diameter through the board's stackup, against a tier of fabs or your own fab. Sizes that are already routed are left to
the rules that judge every hole and ring of the board.

Why it matters
--------------
A router places hundreds of such vias. One number in the class is changed in a minute, the vias of a routed board are
not.

How to fix
----------
Specify another via for the class in Board Setup, Net Classes; or use a thinner board.

What it cannot see
------------------
One via of that size on the board exempts the class. Only through vias are judged, at the full stackup's depth: classes
for blind vias are judged too strictly. Tiers are lists of a few fabs.

Sources
-------
The capability lists behind the rules on holes, rings and aspect ratios: drills and ratios are stated of the drilled
hole, rings of the finished one (IPC-2221, 9.2.2, external ring). `[fab]` `hole_mm`, `ring_mm` and `aspect_ratio` take
the place of the tiers, each for itself. Beyond the best tier is a warning here, for nothing is drilled yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, bar_of, is_replaced, your_fab
from drc_rules.analysis.via.configured_vias import (
    RequiredVia,
    configured_vias,
    describe_size,
    need_no_doubt,
    ring_mm,
    routed_like,
)
from drc_rules.analysis.via.hole_groups import HoleGroup, depth_mm, is_wide_for_any_board
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import at_precision
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import drilled_one_mm, max_aspect_ratio
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class _Limits:
    """What a clause limits; None where it does not."""

    hole: Bar | None
    ring: Bar | None
    ratio: Bar | None


@record
class _Defect:
    words: str
    measured: Measured
    limit: float


def _subjects(ctx: Context, clause: Clause) -> Iterator[tuple[RequiredVia, _Limits]]:
    limits = _limits(ctx, clause)
    if limits != _Limits(None, None, None):
        for asked in configured_vias(ctx):
            if not len(routed_like(ctx, None, asked.via.placed_mm or (0.0, 0.0))):
                yield asked, limits


def _limits(ctx: Context, clause: Clause) -> _Limits:
    own = your_fab(ctx)
    hole = bar(ctx, clause, "drill_mm", own.hole_mm)
    ratio = bar_of(ctx, clause, own.aspect_ratio)
    if ratio is None and not is_replaced(clause, own.aspect_ratio):
        tier = Tier(clause.limit.at_least or Tier.BEST)
        ratio = Bar(max_aspect_ratio("through", tier), f"{tier} fabs", tier)
    return _Limits(hole, bar(ctx, clause, "ring_mm", own.ring_mm), ratio)


FORMULA = """
v_min - t ≤ v ≤ v_max

v: hole (drilled for a tier, finished for your own fab), ring around the finished hole, or depth over the drilled hole
v_min: minimum
v_max: maximum
t: tolerance, 0.001 mm for a hole or ring, 0 for an aspect ratio
"""


@rule("VIA014", kinds=("class_via_buildable",), over=_subjects, formula=FORMULA)
def unbuildable_class_via(
    ctx: Context, _clause: Clause, subject: tuple[RequiredVia, _Limits]
) -> Iterator[DraftFinding]:
    """Yield one finding per configured via that is not routed yet, and is past the limit."""
    asked, limits = subject
    need_no_doubt(asked.via)
    placed_mm = asked.via.placed_mm or (0.0, 0.0)
    found = list(_of_size(ctx, limits, placed_mm))
    try:
        found += _too_deep(ctx, limits.ratio, placed_mm) if limits.ratio is not None else ()
    except MissingFact:
        if not found:
            raise
    if found:
        yield DraftFinding(
            title=f"{asked.who}, vias of {describe_size(placed_mm)}: {'; '.join(d.words for d in found)}",
            why="No via of this size is routed yet: the next one that KiCad places for the class is the first",
            fix="Specify another via in Board Setup, Net Classes or Custom Rules, before the class is routed",
            ids=asked.asked_by,
            measured=found[0].measured,
            limit_value=found[0].limit,
        )


def _of_size(ctx: Context, limits: _Limits, placed_mm: tuple[float, float]) -> Iterator[_Defect]:
    hole, ring = placed_mm[1], ring_mm(placed_mm)
    is_tier = limits.hole is not None and limits.hole.tier is not None
    drilled = _drilled_mm(placed_mm) if is_tier else hole
    for what, size, least in (("hole", drilled, limits.hole), ("ring", ring, limits.ring)):
        if least is not None:
            ctx.shows(f"{what}, {least.who}", v=size, v_min=least.value, v_max=math.inf, t=TOLERANCE_MM)
    if limits.hole is not None and drilled < limits.hole.value - TOLERANCE_MM:
        hole_text = f"drill {drilled:g} mm for a {hole:g} mm hole" if is_tier else f"hole {hole:g} mm"
        words = f"{hole_text}, minimum {limits.hole.value:g} mm ({limits.hole.who})"
        yield _Defect(words, Measured(value=drilled, unit="mm"), limits.hole.value)
    if limits.ring is not None and ring < limits.ring.value - TOLERANCE_MM:
        words = f"annular ring {ring:.4g} mm, minimum {limits.ring.value:g} mm ({limits.ring.who})"
        yield _Defect(words, Measured(value=round(ring, 4), unit="mm"), limits.ring.value)


def _too_deep(ctx: Context, largest: Bar, placed_mm: tuple[float, float]) -> Iterator[_Defect]:
    through = HoleGroup("through", 0, ctx.board.layer_count - 1, placed_mm[1], np.zeros(0, dtype=np.int64))
    try:
        depth = depth_mm(ctx, through)
    except MissingFact:
        if is_wide_for_any_board(ctx, through, largest.value):
            return
        raise
    drilled = _drilled_mm(placed_mm)
    ratio = depth / drilled
    ctx.shows(f"aspect ratio, {largest.who}", v=at_precision(ratio, 1), v_min=0.0, v_max=largest.value, t=0.0)
    if at_precision(ratio, 1) > largest.value:
        words = (
            f"aspect ratio {ratio:.1f}:1 (drilled {drilled:g} mm, {depth:.2f} mm deep), "
            f"maximum {largest.value:g}:1 ({largest.who})"
        )
        yield _Defect(words, Measured(value=round(ratio, 2), unit=":1"), largest.value)


def _drilled_mm(placed_mm: tuple[float, float]) -> float:
    """What is drilled for a via of this diameter and hole."""
    diameter, hole = placed_mm
    return drilled_one_mm(hole, diameter)
