"""A drilled hole is too close to copper on an inner layer.

What it checks
--------------
From the wall of every via, plated hole and slot, finished as KiCad stores it, to tracks and filled zones of other nets
on inner layers, against the clause's fab tier or your own fab's `[fab]` `hole_to_copper_mm`. A hole that cuts into a
track of another net is a short: it fails this clause, and the finding of `short` (FAB015) on the two nets reports it,
unless a net tie joins them. Where one of the two has no net it is a warning, for nothing is joined. While fills of
inner layers are missing, or any are out of date (FAB014), without a finding the clause is not verifiable; out of date,
only tracks count.

Why it matters
--------------
The drill wanders and the layers shift: copper that is too close is touched, or joined years later by conductive anodic
filaments (CAF) that grow along the glass.

How to fix
----------
Set a wider hole clearance in KiCad's design rules and refill the zones. Keeping unused pads also keeps planes away.

What it cannot see
------------------
Not checked: outer layers, pads of other nets, microvias, unplated holes, board edge, hole to hole, copper graphics,
registration. The wall is the finished hole's; a drill is some 0.05 mm wider on each side, which fab limits should
include.

Sources
-------
NextGIn's practice against CAF, Rush PCB's openings in planes (0.20 mm); network PCB (0.15 usual, 0.076 at the finest).
Beyond the best is an error, beyond advanced a warning, beyond standard information.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_clearances import holes_to_copper, space_finder
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, not_covered, your_fab
from drc_rules.analysis.fabrication.hole_gaps import HoleGaps
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import distance_text, rounded_mm
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.stale_fills import fills_out_of_date
from stackup_lib.core.facts import MissingFact

SHORT = "FAB015"
"""Rule whose finding on a pair of nets reports the holes that join them."""

NO_NET = "copper of no net"


def _gaps(ctx: Context, clause: Clause) -> Iterator[tuple[HoleGaps, Bar]]:
    least = bar(ctx, clause, "hole_to_copper_mm", your_fab(ctx).hole_to_copper_mm)
    if least is not None and (gaps := ctx.get(holes_to_copper)) is not None:
        yield gaps, least


FORMULA = """
g ≥ g_min - 0.001

g: smallest gap from a finished hole's wall to copper of another net on an inner layer; below 0 it cuts into it [mm]
g_min: minimum of the fab [mm]
"""


@rule("FAB012", kinds=("hole_to_copper",), over=_gaps, formula=FORMULA, slow_objects=True, by_stackup="unmoved")
def hole_near_copper(ctx: Context, _clause: Clause, subject: tuple[HoleGaps, Bar]) -> Iterator[DraftFinding]:
    """Yield one finding for the holes that are nearer than the limit, and one for each pair of nets that holes join."""
    gaps, least = subject
    near = np.flatnonzero(gaps.gap_mm < least.value - TOLERANCE_MM)
    all_mm = np.concatenate([gaps.gap_mm, gaps.cuts.gap_mm])
    if len(all_mm):
        ctx.shows(f"holes and planes, {least.who}", g=float(np.min(all_mm)), g_min=least.value)
    yield from _cuts(ctx, gaps, least)
    if not len(near):
        if not len(gaps.cuts.hole):
            gaps.holes.need_diameters()
            _need_fills(ctx)
        return
    near, is_covered = not_covered(near, lambda limit: gaps.gap_mm < limit.value - TOLERANCE_MM, least)
    near = near[np.argsort(gaps.gap_mm[near], kind="stable")]
    worst = int(near[0])
    gap = float(gaps.gap_mm[worst])
    if gap > np.min(all_mm):  # the nearest of all is reported at a stricter tier, or as a short
        ctx.shows(f"what no stricter tier reports, {least.who}", g=gap, g_min=least.value)
    name, whose = ctx.board.copper_layers[int(gaps.layer[worst])].name, ctx.board.nets[int(gaps.net[worst])]
    yield DraftFinding(
        title=(
            f"finished hole to inner copper {distance_text(max(gap, 0.0))}, minimum {least.value:g} mm ({least.who}): "
            f"{gaps.holes.counted(near)}, closest to {whose or NO_NET} on {name}"
        ),
        why="The drill wanders and the layers shift. Conductive filaments grow along the glass where the gap is small",
        fix=f"Set a hole clearance of {least.value:g} mm in KiCad's design rules, then refill the zones",
        ids=("hole to copper", least.tier or least.who),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=least.value,
        places=gaps.holes.places(ctx.board, near),
        every=gaps.holes.object_rows(near),
        is_covered=is_covered,
    )


def _cuts(ctx: Context, gaps: HoleGaps, least: Bar) -> Iterator[DraftFinding]:
    """Yield a finding for each pair of nets that holes join by cutting into copper; that of the short speaks for it."""
    cuts, names = gaps.cuts, ctx.board.nets
    by_nets: dict[tuple[str, str], list[int]] = {}
    for row, (own, net) in enumerate(zip(cuts.own.tolist(), cuts.net.tolist(), strict=True)):
        one, other = sorted((names[own], names[net]))
        by_nets.setdefault((one, other), []).append(row)
    for nets, rows in sorted(by_nets.items()):
        worst = min(rows, key=lambda row: (round(float(cuts.gap_mm[row]), 6), int(cuts.hole[row])))
        gap, layer = float(cuts.gap_mm[worst]), ctx.board.copper_layers[int(cuts.layer[worst])].name
        own, whose = (names[int(one[worst])] for one in (cuts.own, cuts.net))
        holes = cuts.hole[np.array(rows)]
        yield DraftFinding(
            title=(
                f"{'short: ' if own and whose else ''}a finished hole cuts {distance_text(-gap)} into copper, "
                f"minimum distance {least.value:g} mm ({least.who}): "
                f"{gaps.holes.counted(holes)}, {own or 'no net'} into {whose or NO_NET} on {layer}"
            ),
            why=f"The hole {'joins the nets' if own and whose else 'touches the copper'} on the finished board",
            fix="Move or remove one of the two, or give both the intended net",
            ids=("hole in copper", *nets, least.tier or least.who),
            measured=Measured(value=rounded_mm(gap), unit="mm"),
            limit_value=least.value,
            places=gaps.holes.places(ctx.board, holes),
            every=gaps.holes.object_rows(holes),
            left_to=(SHORT, nets),
            severity=None if own and whose else Severity.WARNING,  # what has no net joins none
        )


def _need_fills(ctx: Context) -> None:
    """Raise `MissingFact` where a zone on an inner layer has no stored fill, or an old one, that may be too near."""
    if len(ctx.get(space_finder).other_net):
        raise fills_out_of_date()
    open_still = unfilled_zones(ctx.board, range(1, ctx.board.layer_count - 1))
    if len(open_still):
        name = ctx.board.nets[int(ctx.board.zones.net[open_still[0]])] or "a zone without a net"
        raise MissingFact(f"the zone fills of {name} on inner layers", FILL_ZONES)
