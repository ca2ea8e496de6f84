"""Solder mask is thicker than it can be printed.

What it checks
--------------
The thickness of the solder mask rows in an entered stackup.

Why it matters
--------------
Mask over a microstrip lowers its impedance: 20 um by 2 to 3 %, 100 um by twice that. A thickness that no fab prints is
a typing error, so the lines of that outer layer are not judged.

How to fix
----------
Enter the fab's mask under File > Board Setup > Physical Stackup: 10 to 30 um over copper is usual.

What it cannot see
------------------
A wrong thickness below the limit. Dry film of 75 to 100 um, which a few boards still have, is reported as well, and
`mask_over_copper_um` under `[process]` rejects it.

Sources
-------
Cured liquid solder mask has 10 to 40 um; it is not printed thicker.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.row_faults import correct, limit_of, mask_is_possible
from drc_rules.report.model import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind, StackupLayer


def _masks(ctx: Context, _clause: Clause) -> list[StackupLayer]:
    return [row for row in ctx.stackup().layers if row.kind is LayerKind.MASK and row.thickness_mm]


FORMULA = """
m ≤ m_max

m: mask over copper [mm]
m_max: maximum that fabs print [mm]
"""


@rule("STK014", kinds=("mask_thickness",), over=_masks, formula=FORMULA)
def thick_mask(ctx: Context, clause: Clause, row: StackupLayer) -> Iterator[DraftFinding]:
    """Yield one finding per mask row above the limit."""
    most, thickness = limit_of("mask_thickness").max or 0.0, row.thickness_mm or 0.0
    ctx.shows(row.name, m=thickness, m_max=most)
    if mask_is_possible(thickness):
        return
    yield DraftFinding(
        title=f"solder mask thickness {thickness:g} mm, maximum {most:g} mm: {row.name}",
        why="The impedance of lines under this mask is not judged",
        fix=f"{correct(row.name, 'the thickness')}. Leave the tracks unchanged",
        ids=(row.name,),
        measured=Measured(value=thickness, unit="mm"),
        limit_value=most,
        places=(Location(layer=row.name, line=ctx.board.line_of(row.offset) if row.offset else None),),
    )
