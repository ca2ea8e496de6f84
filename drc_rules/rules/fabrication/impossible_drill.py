"""A drill diameter in the file is smaller than any drill or laser can make, or a hole is drilled into another one.

What it checks
--------------
The diameter of every via and of every hole of a part, plated or not: below 0.05 mm it is a typing error or a
placeholder that was never filled in.

Then round holes that overlap, of one net as of two: vias, plated holes of different parts, and unplated ones. Plated
holes with one middle are information. A chain of holes within one part makes a slot, microvias are stacked, and two
parts may share the unplated hole of a peg: these do not count.

Why it matters
--------------
The diameter is not the intended one, and nothing that depends on it can be judged: ring, depth, stub, resistance,
clearance. The fab asks, or guesses. A drill that meets an open hole wanders or breaks, and the wall of the first hole
is torn. Holes with one middle are drilled twice, unless the fab drops one.

How to fix
----------
Select the vias or the footprint in KiCad, enter the hole diameter and save the board. Move holes apart, or remove one.

What it cannot see
------------------
The intended diameter. A wrong diameter that a drill could make is believed. Slots that overlap holes.

Sources
-------
The finest microvia of the lists at hand is 0.07 mm (any-layer boards); lasers reach about 0.05 mm.
Overlapping holes are geometry of the drawing; KiCad's design rule check reports them as `hole_to_hole` and
`holes_co_located`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM, PLACES_SHOWN
from drc_rules.analysis.fabrication.overlapping_holes import overlapping_holes
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured, ObjectRows
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board, Ints, Pads, Vias
from stackup_lib.core.arrays import distinct
from stackup_lib.core.words import count

APART = "holes_apart"


def _drilled(ctx: Context, clause: Clause) -> Iterator[Board]:
    vias, pads = ctx.board.vias, ctx.board.pads
    if clause.kind == APART and np.count_nonzero(vias.drill_mm > 0) + np.count_nonzero(pads.drill_x_mm > 0) < 2:
        return
    if np.any(vias.drill_mm > 0) or np.any(np.fmin(pads.drill_x_mm, pads.drill_y_mm) > 0):
        yield ctx.board


FORMULA = """
d ≥ d_min

d: smallest diameter in the file [mm]
d_min: minimum of a laser [mm]
"""


@rule("FAB019", kinds=("drill_possible", APART), over=_drilled, formula=FORMULA)
def impossible_drill(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding for all holes without a diameter that can be meant, or for all that overlap."""
    yield from _overlapping(board) if clause.kind == APART else _narrow(ctx, board)


def _overlapping(board: Board) -> Iterator[DraftFinding]:
    holes, pairs = overlapping_holes(board)
    for is_twice in (False, True):
        found = pairs.where(np.flatnonzero(pairs.is_twice == is_twice))
        if not len(found):
            continue
        order = np.lexsort((holes.x_mm[found.one], holes.y_mm[found.one], -np.round(found.depth_mm, 6)))
        worst = float(found.depth_mm[order[0]])
        how = "drilled twice" if is_twice else f"overlap by {worst:.3f} mm"
        items = [
            item
            for k in order
            for item in sorted(
                (holes.item(board, int(position)) for position in (found.one[k], found.other[k])),
                key=lambda one: (one.y_mm, one.x_mm),
            )
        ]
        nouns = " and ".join(sorted({items[0].noun, items[1].noun}))
        both = np.concatenate([found.one, found.other])
        vias, pads = (distinct(holes.row[both[holes.is_via[both] == of_vias]]).tolist() for of_vias in (True, False))
        yield DraftFinding(
            title=f"holes {how}: {count(len(found), 'pair')} of holes ({nouns})",
            why="The fab asks, or drops one" if is_twice else "A drill that meets an open hole wanders or breaks",
            fix="Remove one of the two" if is_twice else "Move them apart by the width of a web, or remove one",
            ids=("holes twice" if is_twice else "overlapping holes",),
            severity=Severity.INFO if is_twice else None,
            measured=Measured(value=f"{worst:.3f} mm"),
            places=tuple(
                Location(net=board.nets[one.net] or None, uuid=one.uuid or None, x_mm=one.x_mm, y_mm=one.y_mm)
                for one in items[:PLACES_SHOWN]
            ),
            every=ObjectRows(vias=tuple(vias), pads=tuple(pads)),
        )


def _narrow(ctx: Context, board: Board) -> Iterator[DraftFinding]:
    narrow = np.fmin(board.pads.drill_x_mm, board.pads.drill_y_mm)
    sizes = np.concatenate([board.vias.drill_mm, narrow])
    ctx.shows("all holes", d=float(np.min(sizes[sizes > 0])), d_min=NO_DIAMETER_MM)
    vias = np.flatnonzero((board.vias.drill_mm > 0) & (board.vias.drill_mm < NO_DIAMETER_MM))
    pads = np.flatnonzero((narrow > 0) & (narrow < NO_DIAMETER_MM))
    if not len(vias) and not len(pads):
        return
    least = float(np.min(np.concatenate([board.vias.drill_mm[vias], narrow[pads]])))
    parts = [(len(vias), "via"), (len(pads), "hole of a part")]
    words = " and ".join(_counted(count, noun) for count, noun in parts if count)
    yield DraftFinding(
        title=f"drill {_plain(least)} mm, minimum {NO_DIAMETER_MM:g} mm for any process: {words}",
        why="This is a typing error or a placeholder. Nothing that depends on the diameter can be judged",
        fix="Select them in KiCad, enter the hole diameter and save the board",
        ids=("drill",),
        measured=Measured(value=least, unit="mm"),
        limit_value=NO_DIAMETER_MM,
        places=(*_places(board, board.vias, vias), *_places(board, board.pads, pads))[:PLACES_SHOWN],
        every=ObjectRows(vias=tuple(vias.tolist()), pads=tuple(pads.tolist())),
    )


def _plain(size_mm: float) -> str:
    """Write a tiny diameter as the file does: 0.00001, not 1e-05."""
    return f"{size_mm:.6f}".rstrip("0")


def _counted(count: int, noun: str) -> str:
    return (
        f"{count} {noun}"
        if count == 1
        else f"{count} {noun.replace('hole', 'holes') if 'hole' in noun else noun + 's'}"
    )


def _places(board: Board, table: Vias | Pads, rows: Ints) -> Iterator[Location]:
    order = np.lexsort((table.x_mm[rows], table.y_mm[rows], table.uuid[rows].astype(str)))
    for row in rows[order][:PLACES_SHOWN].tolist():
        net, uuid = board.nets[int(table.net[row])] or None, str(table.uuid[row]) or None
        yield Location(net=net, uuid=uuid, x_mm=float(table.x_mm[row]), y_mm=float(table.y_mm[row]))
