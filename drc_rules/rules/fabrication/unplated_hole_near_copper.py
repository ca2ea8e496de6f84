"""An unplated hole is too close to copper.

What it checks
--------------
The gap from the wall of every unplated hole (KiCad's NPTH pads, slots included) to the tracks, vias, pads and filled
zones of every net on every layer, against the clause's fab tier or your own fab's `[fab]` `hole_to_copper_mm`. For any
fab the drill must not meet a track, via or pad at all; here plated holes count as well that have neither a net nor
copper around them. The copper of the hole's own pad, pads of its part that go all around it or that it takes away as a
whole, and tracks of their net on their layers are exempt. Of holes inside one another, about one middle, the largest
counts. While fills are out of date (FAB014) they do not count, and without a finding the clause is not verifiable.

Why it matters
--------------
Such holes are often drilled in a second run, after etching and plating, and miss by a tenth of a millimetre. Copper
that the drill touches tears, burrs, and is exposed in the wall, where a screw or a pin joins it to the case. A track
that a hole is drilled through is cut.

How to fix
----------
Set a copper to hole clearance in KiCad's Board Setup, Constraints; refill the zones; move what KiCad reports.

What it cannot see
------------------
Screw heads and washers, which need more clearance, are not in the file. Holes drawn as circles on Edge.Cuts are
`copper-near-edge`'s. Copper graphics without a net do not count. The limits are those for holes in general.

Sources
-------
NextGIn, Rush PCB (0.20 mm) and network PCB (0.15 mm) on holes in general. Beyond advanced is a warning, beyond standard
information, because no document speaks of unplated holes. What your own fab states is an error, and so is a hole
drilled into a track, via or pad, as KiCad's own check has it (`hole_clearance`): the drill removes the copper. Where no
such copper has a net it is a warning, for KiCad reports none: it may be a leftover. So is a fill that contains a hole:
KiCad keeps it off the hole when the zones are filled again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import pad_name
from drc_rules.analysis.fabrication.cuts import (
    PLACES_SHOWN,
    at_holes,
    copper_name,
    copper_place,
    drilled_into,
    nearest_first,
    need_fills,
)
from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, not_covered, your_fab
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import distance_text, rounded_mm
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.fabs import Tier
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board, Ints, PadKind, Pads
from stackup_lib.copper.cuts.cut_gaps import unplated_holes
from stackup_lib.copper.cuts.gap_rows import CutGaps
from stackup_lib.copper.shapes import CopperShape, Mask
from stackup_lib.copper.stale_fills import fills_out_of_date
from stackup_lib.core.arrays import are_among

NETS_SHOWN = 2
"""Nets named in a title of those that a hole is drilled through."""


def _holes(ctx: Context, clause: Clause) -> Iterator[tuple[Ints, Bar]]:
    least = bar(ctx, clause, "unplated_hole_to_copper_mm", your_fab(ctx).hole_to_copper_mm)
    rows = _rows(ctx.board, least)
    if len(rows) and least is not None:
        yield rows, least


def _rows(board: Board, least: Bar | None) -> Ints:
    """The pads whose hole a limit is held against: pegs only where the drill may meet no copper."""
    rows = unplated_holes(board)
    is_any_fab = least is not None and least.tier is Tier.BEST
    return _drilled(board.pads, rows if is_any_fab else rows[board.pads.kind[rows] == PadKind.NON_PLATED])


def _drilled(pads: Pads, rows: Ints) -> Ints:
    """Return the holes as they are drilled: one inside another about the same middle is no hole of its own."""
    least, most = np.fmin(pads.drill_x_mm, pads.drill_y_mm), np.fmax(pads.drill_x_mm, pads.drill_y_mm)
    rows = rows[np.argsort(-least[rows], kind="stable")]  # what holds others comes before them
    at: dict[tuple[float, float], list[int]] = {}
    for row in rows.tolist():
        kept = at.setdefault((round(float(pads.x_mm[row]), 3), round(float(pads.y_mm[row]), 3)), [])
        if not any(least[one] >= most[row] for one in kept):
            kept.append(row)
    return np.array(sorted(row for kept in at.values() for row in kept), dtype=np.int64)


FORMULA = """
g ≥ g_min - 0.001

g: smallest gap from an unplated hole's wall to copper; below 0 it is drilled into it [mm]
g_min: minimum of the fab [mm]
"""


@rule("FAB017", kinds=("unplated_hole_to_copper",), over=_holes, formula=FORMULA, by_stackup="unmoved")
def unplated_hole_near_copper(ctx: Context, _clause: Clause, subject: tuple[Ints, Bar]) -> Iterator[DraftFinding]:
    """Yield one finding for the unplated holes that are nearer to copper than the limit."""
    holes, least = subject
    are_old = bool(len(ctx.get(space_finder).other_net))
    found = _gaps(ctx, least, are_old=are_old)
    found = found.where(are_among(found.cut, holes))
    near = np.flatnonzero(found.gap_mm < least.value - TOLERANCE_MM)
    if len(found.gap_mm):
        fills = "" if _with_fills(least, are_old=are_old) else ", zone fills left out"
        ctx.shows(f"unplated holes, {least.who}{fills}", g=float(np.min(found.gap_mm)), g_min=least.value)
    if not len(near):
        _need_fills(ctx, least, are_old=are_old)
        return

    def misses(limit: Bar) -> Mask:
        gaps = _gaps(ctx, limit, are_old=are_old)
        return are_among(found.cut, gaps.cut[gaps.gap_mm < limit.value - TOLERANCE_MM])

    near, is_covered = not_covered(near, misses, least)
    told = nearest_first(found.where(near))
    if told.gap_mm[0] > np.min(found.gap_mm):  # the nearest of all is reported at a stricter tier
        ctx.shows(f"what no stricter tier reports, {least.who}", g=float(told.gap_mm[0]), g_min=least.value)
    into = [drilled_into(ctx, hole, with_fills=_with_fills(least, are_old=are_old)) for hole in told.cut.tolist()]
    draft = _draft(ctx, told, into[0], (len(holes), least), is_covered=is_covered)
    is_netless = least.tier is Tier.BEST and not any(np.any(pieces.net > 0) for pieces in into)
    yield replace(draft, severity=Severity.WARNING) if is_netless else draft


def _gaps(ctx: Context, least: Bar, *, are_old: bool) -> CutGaps:
    """What a limit is held against: fills as long as they are true, but never where the drill may meet no copper."""
    found = at_holes(ctx, with_fills=_with_fills(least, are_old=are_old))
    return found.where(are_among(found.cut, _rows(ctx.board, least)))


def _with_fills(least: Bar, *, are_old: bool) -> bool:
    return not are_old and least.tier is not Tier.BEST


def _need_fills(ctx: Context, least: Bar, *, are_old: bool) -> None:
    """Raise `MissingFact` where fills that are old, or not stored, may come too near."""
    if least.tier is Tier.BEST:
        return
    if are_old:
        raise fills_out_of_date()
    need_fills(ctx)


def _draft(ctx: Context, near: CutGaps, into: CutGaps, of: tuple[int, Bar], *, is_covered: bool) -> DraftFinding:
    """The finding of the holes that are too near, the nearest first; `into` is what that one is drilled into."""
    board, (count, least), gap = ctx.board, of, float(near.gap_mm[0])
    some = f"{len(near.net)} of {count}" if len(near.net) < count else f"{count}"
    shown = into if len(into.net) else near.where(np.arange(1))
    to = " and ".join(copper_name(board, shown, k) for k in range(min(len(shown.net), NETS_SHOWN)))
    how = "drilled into copper" if gap <= 0 else f"to copper {distance_text(gap)}"
    if least.tier is Tier.BEST:
        limit = ""
        why = f"The drill cuts {_what(ctx.board, near)}, and the rest of the copper is exposed in the wall"
        fix = "Move the hole or the copper, and set a copper to hole clearance in Board Setup"
    else:
        limit = f", minimum {least.value:g} mm ({least.who})"
        why = "Holes drilled after plating miss by a tenth of a millimetre. Torn copper is exposed in the wall"
        fix = f"Set a copper to hole clearance of {least.value:g} mm in Board Setup, then refill the zones"
    if len(into.net) > 1:
        why += ", where a screw or a pin joins the nets"
    if gap <= 0 and near.kind[0] == CopperShape.FILL:
        fix = (
            "Refill the zones: KiCad 10 keeps fills off holes on every layer, KiCad 9 on those of the hole's pad alone"
        )
    return DraftFinding(
        title=f"unplated hole {how}{limit}: {some} hole{'' if count == 1 else 's'}, {to}",
        why=why,
        fix=fix,
        ids=("unplated hole", least.tier or least.who),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=least.value,
        places=tuple(copper_place(board, near, k) for k in range(min(len(near.net), PLACES_SHOWN))),
        is_covered=is_covered,
    )


WORDS: dict[int, str] = {CopperShape.TRACK: "the track", CopperShape.VIA: "the via"}


def _what(board: Board, near: CutGaps) -> str:
    """Return what the first hole is drilled into, as text."""
    kind = int(near.kind[0])
    if kind == CopperShape.PAD:
        return pad_name(board, int(near.row[0])) or "a pad"
    return WORDS.get(kind, "the copper")
