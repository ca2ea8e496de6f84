"""Inner copper has a thickness that matches no foil weight.

What it checks
--------------
The copper thickness of every inner layer on which no via begins or ends, in an entered stackup. Each weight may be
stated as bought or as finished after etching: 0.5 oz from 12 to 20 um, 1 oz from 27 to 40 um. Of the other layers
whether they are thinner than any foil, 5 um.

Why it matters
--------------
Between two weights the foil is ambiguous: 25 um may be 0.5 oz or 1 oz, a factor of two in resistance and 2 to 4 % in
impedance. So nothing that depends on the layer's copper is judged.

How to fix
----------
Enter the thickness of the fab's foil: 0.0175 mm for 0.5 oz, 0.035 mm for 1 oz, or the finished values of its stackup.

What it cannot see
------------------
Outer layers, and inner ones on which a blind or buried via ends, are plated: their copper may have any thickness from
5 um. The wrong one of two weights passes. Copper above 4 oz is not judged.

Sources
-------
IPC-6012's minimum of finished inner copper by weight, as fabs quote it, plus half of the foil's tolerance; the top is
that of the catalogue's bands.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.row_faults import correct, is_plated, is_too_thin
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.record import record
from stackup_lib.materials import neighbouring_foils


@record
class CopperRow:
    """A copper row that is not plated, or is thinner than any foil."""

    name: str
    is_plated: bool
    thickness_mm: float
    line: int | None


def _judged(ctx: Context, _clause: Clause) -> Iterator[CopperRow]:
    board = ctx.board
    for row in ctx.stackup().copper:
        if row.thickness_mm and row.name in board.layer_index:
            plated = is_plated(board, board.layer_index[row.name])
            if not plated or is_too_thin(row.thickness_mm):
                line = board.line_of(row.offset) if row.offset else None
                yield CopperRow(row.name, plated, row.thickness_mm, line)


@rule("STK017", aliases=("odd-foil",), kinds=("foil_weight",), over=_judged, by_stackup="stated")
def unusual_foil_thickness(_ctx: Context, _clause: Clause, row: CopperRow) -> Iterator[DraftFinding]:
    """Yield one finding per layer between the weights, or below them all."""
    adjacent = neighbouring_foils(row.thickness_mm)
    if adjacent is None:
        return
    lower, upper = adjacent
    ends = [f"{foil.weights} ends at {foil.to_um:g} um" for foil in (lower,) if foil]
    ends += [f"{foil.weights} begins at {foil.from_um:g} um" for foil in (upper,) if foil]
    copper = f"{'' if row.is_plated else 'inner '}copper {row.thickness_mm * 1000:.4g} um"
    cause = "No foil is as thin" if lower is None else "The foil is ambiguous"
    yield DraftFinding(
        title=f"{row.name}: {copper} matches no foil weight: {', '.join(ends)}",
        why=f"{cause}, so impedance and resistance of this layer are not judged",
        fix=f"{correct(row.name, 'the copper thickness')}: 0.0175 mm is 0.5 oz, 0.035 mm is 1 oz",
        ids=(row.name,),
        measured=Measured(value=round(row.thickness_mm, 5), unit="mm"),
        places=(Location(layer=row.name, line=row.line),),
    )
