"""Solder mask is thicker than it can be printed, or thinner than it covers copper.

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
A wrong thickness inside the limits. Dry film of 75 to 100 um, which a few boards still have, is reported as well, and
`mask_over_copper_um` under `[process]` rejects it.

Sources
-------
Cured liquid solder mask has 10 to 40 um; it is not printed thicker. Half of the minimum is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.row_faults import correct, limit_of, mask_is_possible
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind, StackupLayer


def _masks(ctx: Context, _clause: Clause) -> list[StackupLayer]:
    return [row for row in ctx.stackup().layers if row.kind is LayerKind.MASK and row.thickness_mm]


FORMULA = """
m_min ≤ m ≤ m_max

m: mask over copper [mm]
m_min: half of the minimum that fabs print [mm]
m_max: maximum that fabs print [mm]
"""


@rule("STK014", aliases=("thick-mask",), kinds=("mask_thickness",), over=_masks, formula=FORMULA, by_stackup="stated")
def impossible_mask(ctx: Context, _clause: Clause, row: StackupLayer) -> Iterator[DraftFinding]:
    """Yield one finding per mask row outside the limits."""
    limit, thickness = limit_of("mask_thickness"), row.thickness_mm or 0.0
    least, most = limit.min or 0.0, limit.max or 0.0
    ctx.shows(row.name, m=thickness, m_min=least, m_max=most)
    if mask_is_possible(thickness):
        return
    beyond = f"maximum {most:g} mm" if thickness > most else f"minimum {least:g} mm"
    yield DraftFinding(
        title=f"solder mask thickness {thickness:.3g} mm, {beyond}: {row.name}",
        why="The impedance of lines under this mask is not judged",
        fix=f"{correct(row.name, 'the thickness')}. Leave the tracks unchanged",
        ids=(row.name,),
        measured=Measured(value=thickness, unit="mm"),
        limit_value=most if thickness > most else least,
        places=(Location(layer=row.name, line=ctx.board.line_of(row.offset) if row.offset else None),),
    )
