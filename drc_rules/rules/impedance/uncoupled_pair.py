"""The traces of a controlled pair are uncoupled, or their gap changes, beyond a breakout.

What it checks
--------------
For every link with a differential target: the length of one trace without its complement next to it, and the range of
gaps of the coupled sections. Breakouts at either end of each net (a tenth of a wavelength at Nyquist, at least 1 mm)
are ignored, and so are gaps that differ by a tenth or less. `off-target-impedance` judges the impedance of such
sections. Pairs that are not routed yet, and nets declared as pairs whose names make none, are not verifiable. What runs
over the other trace on the next layer (broadside) is not modelled: such pairs are not verifiable.

Why it matters
--------------
Where its traces are uncoupled, a pair has twice the impedance of either alone, which is not that of the coupled pair.
Noise that couples into one trace alone becomes differential.

How to fix
----------
Bring the traces together, or keep one gap from end to end. Where the parts force them apart, keep both sides alike and
short.

What it cannot see
------------------
Coupled means parallel within 10 degrees on one layer, closer than 2 mm and four times the usual gap. Undeclared pairs
whose names do not match are not checked. Lengths add up over the link.

Sources
-------
No document states a limit for all interfaces: this is information.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from drc_rules.analysis.impedance.route_impedance import link_impedances
from drc_rules.analysis.lines.broadside_pairs import ASK_THE_FAB, BROADSIDE, broadside_mm
from drc_rules.analysis.targets.controlled import Unjudged, unjudged
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.link_rows import LinkImpedance
from drc_rules.report.numbers import UNIT_MM
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.core.words import some

PLACES_SHOWN = 20

DRIFT = 0.1
"""Gaps that differ by this share of the smaller one are one gap: Zdiff moves by 1 to 2 %, less than the model knows."""


@record
class PairLinks:
    """The pairs of one target, in the order of their names, without what is broadside of those named so."""

    target: str
    rows: tuple[LinkImpedance, ...]
    broadside: tuple[str, ...]


def _pairs(ctx: Context, _clause: Clause) -> Iterator[PairLinks | Unjudged]:
    found: dict[tuple[str, float], list[LinkImpedance]] = {}
    for row in ctx.get(link_impedances):
        if row.kind == "differential" and row.length_mm > 0:
            found.setdefault((row.target, row.target_ohm), []).append(row)
    for (target, _), rows in found.items():
        rows.sort(key=lambda row: row.name)
        over = [_broadside_mm(ctx, row) for row in rows]
        judged = (
            row.model_copy(update={"uncoupled_mm": max(row.uncoupled_mm - mm, 0.0)})
            for row, mm in zip(rows, over, strict=True)
        )
        yield PairLinks(target, tuple(judged), tuple(row.name for row, mm in zip(rows, over, strict=True) if mm))
    yield from (one for one in unjudged(ctx) if one.hides_coupling)


def _broadside_mm(ctx: Context, row: LinkImpedance) -> float:
    """Return how much of a pair runs broadside, the mean of both traces as in its row."""
    found = {ctx.board.nets[net]: mm for net, mm in ctx.get(broadside_mm, deliberate=True).items()}
    return sum(found.get(name, 0.0) for name in row.nets) / 2


FORMULA = """
u ≤ b
d ≤ 0.1 · s_min

u: longest uncoupled length of a link of this target [mm]
b: allowed breakouts of that link [mm]
d: largest change of the gap of a link [mm]
s_min: its narrowest gap; infinite where it has none on one layer [mm]
"""


@rule(
    "IMP004",
    kinds=("pair_coupling",),
    over=_pairs,
    formula=FORMULA,
    reads_fills=True,
    slow_objects=True,
    by_stackup="unmoved",
)
def uncoupled_pair(ctx: Context, _clause: Clause, pairs: PairLinks | Unjudged) -> Iterator[DraftFinding]:
    """Yield one finding for the pairs of a target that run apart, and one for those whose gap drifts."""
    if isinstance(pairs, Unjudged):
        raise pairs.lacks
    _show(ctx, pairs)
    apart = [row for row in pairs.rows if row.uncoupled_mm > row.breakouts_mm + UNIT_MM]
    if apart:
        worst = max(apart, key=lambda row: row.uncoupled_mm)
        yield DraftFinding(
            title=(
                f"pair uncoupled for {worst.uncoupled_mm:.1f} of {worst.length_mm:.0f} mm: "
                f"{worst.name}, {_count(apart, pairs)}"
            ),
            why=(
                f"Breakouts may have {worst.forgiven_up_to_mm:.1f} mm per end of a net. Noise coupled "
                "to one trace is not cancelled"
            ),
            fix=f"Bring the traces of {worst.name} together",
            ids=(pairs.target, f"{worst.target_ohm:g}", "apart"),
            measured=Measured(value=round(worst.uncoupled_mm, 2), unit="mm"),
            limit_value=round(worst.breakouts_mm, 2),
            places=_places(apart),
        )
    drifting = [row for row in pairs.rows if row.gap_drift_mm > DRIFT * (row.gap_min_mm or 0.0)]
    if drifting:
        widest = max(drifting, key=lambda row: row.gap_drift_mm)
        yield DraftFinding(
            title=(
                f"pair gap changes from {widest.gap_min_mm:g} to {widest.gap_max_mm:g} mm, maximum "
                f"{100 * DRIFT:g} %: {widest.name}, {_count(drifting, pairs)}"
            ),
            why=f"Each change is a step of the impedance{_worst(widest)}",
            fix="Keep one gap on a layer, or match the width to each gap",
            ids=(pairs.target, f"{widest.target_ohm:g}", "gap"),
            measured=Measured(value=round(widest.gap_drift_mm, 4), unit="mm"),
            limit_value=round(DRIFT * (widest.gap_min_mm or 0.0), 4),
            places=_places(drifting),
        )
    if pairs.broadside and not apart and not drifting:
        raise MissingFact(f"the coupling of {some(pairs.broadside, 3)}: {BROADSIDE}", ASK_THE_FAB)


def _show(ctx: Context, pairs: PairLinks) -> None:
    """Show the longest uncoupled length, and the widest change of a gap where any is looked at."""
    lone = max(pairs.rows, key=lambda row: row.uncoupled_mm - row.breakouts_mm)
    words, apart = f"{pairs.target}: {lone.name} uncoupled", {"u": lone.uncoupled_mm, "b": lone.breakouts_mm}
    judged = [(row, row.gap_min_mm) for row in pairs.rows if row.gap_min_mm is not None]
    if not judged and (pairs.broadside or lone.uncoupled_mm > lone.breakouts_mm + UNIT_MM):
        ctx.shows(f"{words}; it has no gap on one layer", **apart, d=0.0, s_min=math.inf)
        return
    if not judged:
        ctx.shows(f"{words}; no gap is judged, all coupled sections are within breakouts", **apart)
        return
    drift, least = max(judged, key=lambda one: one[0].gap_drift_mm - DRIFT * one[1])
    ctx.shows(f"{words}, {drift.name} in its gap", **apart, d=drift.gap_drift_mm, s_min=least)


def _count(rows: list[LinkImpedance], pairs: PairLinks) -> str:
    return f"{len(rows)} of {len(pairs.rows)} pairs of {pairs.target}"


def _worst(row: LinkImpedance) -> str:
    if row.worst is None:
        return ""
    ohm, asked = row.worst.impedance_ohm, f"{row.target_ohm:g} ohm +-{row.tolerance_pct:g} %"
    return f"; the worst section is {ohm:.0f} ohm for {row.worst.length_mm:.1f} mm, the target {asked}"


def _places(rows: list[LinkImpedance]) -> tuple[Location, ...]:
    return tuple(Location(net=row.nets[0]) for row in rows[:PLACES_SHOWN])
