"""An annular ring is smaller than fabs can hold.

What it checks
--------------
The annular ring as drawn, around the finished hole (pad less hole, halved), of every via, microvia and plated hole,
against the clause's fab tier or your own fab's `[fab]` `ring_mm` and `microvia_ring_mm`. Of several pad sizes the
smallest counts, of a hole off the middle of its pad the narrow side. The ring of a pad's hole is that in all copper of
the net on each layer: in a larger pad, a fill as stored or a wide track it has what is around it there. Inner pads that
nothing joins do not count where another layer joins the hole. A via has the ring of its own pads, and where a track
joins it on a layer without one, or with one inside the hole, none there. A plated hole that nothing joins and that has
no ring is information: fabs ask, or leave it unplated. A via whose pads are all as small as its hole has a ring of 0 or
less: it can join nothing.

Why it matters
--------------
Drill and layers are misregistered by a tenth of a millimetre: where the ring is smaller, the hole breaks out of its
pad, and little joins it to the track.

How to fix
----------
Widen the pads, add teardrops, or use smaller holes.

What it cannot see
------------------
Rings are as drawn, around the finished hole; tiers should cover registration and plating. Teardrops do not count, other
fills do as stored. Fabs may accept breakout of filled vias.

Sources
-------
IPC-2221 (9.2.2, as quoted) measures the ring of an outer layer after plating, hence the finished hole; inner layers'
rings, which it measures from the drill, are left to `annular-ring-breakout`. Multi-CB (0.10 mm with 35 um copper), Rush
PCB and volume fabs (drill + 0.15, and 0.15 mm holes in 0.25 mm pads); for microvias ILFA, WEdirekt, Hi-Q Electronics
(0.1 mm in 0.25 mm, as advanced in 0.2 mm) and Wontech (hole + 0.08 mm): beyond the best is an error, beyond advanced a
warning, beyond standard information. `[fab]` takes the place of all three.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_RING_MM, HoleSet, holes_of, vias_without_pad
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, not_covered, your_fab
from drc_rules.analysis.fabrication.joined_rings import joined_rings
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.fabs import Tier
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints


def _sets(ctx: Context, clause: Clause) -> Iterator[tuple[HoleSet, Bar]]:
    own = your_fab(ctx)
    for holes in ctx.get(holes_of):
        found = (
            bar(ctx, clause, "microvia_ring_mm", own.microvia_ring_mm)
            if holes.is_micro
            else bar(ctx, clause, "ring_mm", own.ring_mm)
        )
        if found is not None and not np.all(np.isnan(holes.ring_mm) & holes.is_sized):
            yield holes, found


FORMULA = """
r ≥ r_min - 0.001

r: smallest ring around the finished hole, half of pad less hole [mm]
r_min: minimum of the fab [mm]
"""


@rule("FAB002", aliases=("narrow-ring",), kinds=("annular_ring",), over=_sets, formula=FORMULA)
def small_annular_ring(ctx: Context, _clause: Clause, subject: tuple[HoleSet, Bar]) -> Iterator[DraftFinding]:
    """Yield one finding for the holes of a kind with too narrow a ring, and one for those without any."""
    holes, least = subject
    holes = ctx.get(joined_rings).of_padless_vias(holes)
    small = np.flatnonzero(holes.ring_mm < max(least.value - TOLERANCE_MM, NO_RING_MM))
    holes = ctx.get(joined_rings).of(holes, small) if len(small) else holes
    has_ring = (holes.ring_mm >= NO_RING_MM) | vias_without_pad(ctx.board, holes)
    bare = np.flatnonzero((holes.ring_mm < NO_RING_MM) & ~has_ring)
    narrow = np.flatnonzero(has_ring & (holes.ring_mm < least.value - TOLERANCE_MM))
    ringed = holes.ring_mm[has_ring]
    if len(ringed):
        ctx.shows(f"{holes.noun}s with a ring, {least.who}", r=_told_mm(float(np.min(ringed))), r_min=least.value)
    if len(bare) and least.tier in (Tier.STANDARD, None):
        ctx.shows(f"{holes.counted(bare)} without a ring, {least.who}", r=0.0, r_min=least.value)
    if len(narrow):
        told = not_covered(narrow, lambda limit: holes.ring_mm < limit.value - TOLERANCE_MM, least)
        worst = _told_mm(float(np.min(holes.ring_mm[told[0]])))
        if worst > np.min(ringed):  # the narrowest of all is reported at a stricter tier
            ctx.shows(f"{holes.noun}s that no stricter tier reports, {least.who}", r=worst, r_min=least.value)
        yield _narrow(ctx, holes, told, least)
    if len(bare) and least.tier in (Tier.STANDARD, None):
        yield DraftFinding(
            title=f"no copper around the hole: {holes.counted(bare)}",
            why="A plated hole without a ring has nothing to hold it. Fabs ask, or leave it unplated",
            fix="Give the pad an annular ring, or make the hole unplated",
            ids=(holes.noun, least.tier or least.who, "none"),
            places=holes.places(ctx.board, bare),
            every=holes.object_rows(bare),
            severity=Severity.INFO,
        )
    elif not len(narrow):
        holes.need_diameters()


def _told_mm(ring_mm: float) -> float:
    """The ring as told: `NO_RING_MM` stands for a hole that breaks out of copper around its other side."""
    return 0.0 if ring_mm == NO_RING_MM else ring_mm


def _narrow(ctx: Context, holes: HoleSet, told: tuple[Ints, bool], least: Bar) -> DraftFinding:
    narrow, is_covered = told
    worst = _told_mm(float(np.min(holes.ring_mm[narrow])))
    several = "down to " if np.ptp(holes.ring_mm[narrow]) > TOLERANCE_MM else ""
    return DraftFinding(
        title=(
            f"annular ring {several}{worst:.4g} mm, minimum {least.value:g} mm ({least.who}): "
            f"{holes.counted(narrow)}, {_around(holes, narrow, is_one_ring=not several)}"
        ),
        why="Where drill and layers are misregistered by more than the ring, the hole breaks out of its pad",
        fix=f"Make the pads {2 * least.value:g} mm wider than their hole, add teardrops, or use smaller holes",
        ids=(holes.noun, least.tier or least.who),
        measured=Measured(value=round(worst, 4), unit="mm"),
        limit_value=least.value,
        places=holes.places(ctx.board, narrow),
        every=holes.object_rows(narrow),
        is_covered=is_covered,
    )


def _around(holes: HoleSet, narrow: Ints, *, is_one_ring: bool) -> str:
    """The finished hole within the narrowest ring, as text; where all rings are alike, the range of the holes."""
    drills = holes.drill_mm[narrow]
    if is_one_ring and np.ptp(drills) > TOLERANCE_MM:
        return f"finished holes {np.min(drills):g} to {np.max(drills):g} mm"
    at_worst = narrow[int(np.argmin(holes.ring_mm[narrow]))]
    ring, drill = float(holes.ring_mm[at_worst]), float(holes.drill_mm[at_worst])
    drilled = round(float(holes.drilled_mm[at_worst]), 6)
    if drilled <= drill or ring < NO_RING_MM:
        return f"finished hole {drill:g} mm"
    return f"finished hole {drill:g} mm ({ring - (drilled - drill) / 2:.4g} mm around the {drilled:g} mm drill)"
