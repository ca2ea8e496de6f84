"""A drill diameter in the file is smaller than any drill or laser can make.

What it checks
--------------
The diameter of every via and of every hole of a part, plated or not: below 0.05 mm it is a typing error or a
placeholder that was never filled in.

Why it matters
--------------
The diameter is not the intended one, and nothing that depends on it can be judged: ring, depth, stub, resistance,
clearance. The fab asks, or guesses.

How to fix
----------
Select the vias or the footprint in KiCad, enter the hole diameter and save the board.

What it cannot see
------------------
The intended diameter. A wrong diameter that a drill could make is believed.

Sources
-------
The finest microvia of the lists at hand is 0.07 mm (any-layer boards); lasers reach about 0.05 mm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM, PLACES_SHOWN
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured, ObjectRows
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board, Ints, Pads, Vias


def _drilled(ctx: Context, _clause: Clause) -> Iterator[Board]:
    vias, pads = ctx.board.vias, ctx.board.pads
    if np.any(vias.drill_mm > 0) or np.any(np.fmin(pads.drill_x_mm, pads.drill_y_mm) > 0):
        yield ctx.board


FORMULA = """
d ≥ d_min

d: smallest diameter in the file [mm]
d_min: minimum of a laser [mm]
"""


@rule("FAB019", kinds=("drill_possible",), over=_drilled, formula=FORMULA)
def impossible_drill(ctx: Context, _clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding for all holes without a diameter that can be meant."""
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
