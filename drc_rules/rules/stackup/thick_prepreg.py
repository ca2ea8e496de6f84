"""A prepreg is thicker than one sheet can be.

What it checks
--------------
Each ply of prepreg in a stackup that somebody has entered: KiCad has a line for every sheet of a row.

Why it matters
--------------
A thick "prepreg" is either a core, so that the board is built the other way round than stated, or several sheets
written as one, or a typing error. Nobody knows which, so no impedance that rests on the row is judged until its type
is corrected or its sheets are entered one by one.

How to fix
----------
In File > Board Setup > Physical Stackup set the type to core, or add the sheets one by one (Add Dielectric Layer), each
with its own thickness and glass style.

What it cannot see
------------------
Whether a prepreg below the limit can be had: fabs stock a few styles of each laminate. On a board whose dielectrics are
all called prepreg, unstackable-rows says so, and this rule is silent.

Sources
-------
7628, the thickest common glass, presses to 0.17 to 0.21 mm a sheet; fabs press two or three sheets between copper.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectrics import DielectricPly
from drc_rules.facts.row_faults import correct, limit_of, sheet_is_possible
from drc_rules.report.model import Measured, Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.board.board import LayerKind


def _sheets(ctx: Context, _clause: Clause) -> list[DielectricPly]:
    ctx.stackup()
    if all(ply.kind is LayerKind.PREPREG for ply in ctx.plies):
        return []
    return [ply for ply in ctx.plies if ply.kind is LayerKind.PREPREG and ply.ply.thickness_mm]


FORMULA = """
h ≤ h_max

h: thickness of the sheet [mm]
h_max: the thickest sheet [mm]
"""


@rule("STK015", kinds=("prepreg_sheet",), over=_sheets, formula=FORMULA)
def thick_prepreg(ctx: Context, clause: Clause, ply: DielectricPly) -> Iterator[Draft]:
    """Yield one finding per sheet above the limit."""
    most, thickness = limit_of("prepreg_sheet").max or 0.0, ply.ply.thickness_mm or 0.0
    ctx.shows(ply.label, h=thickness, h_max=most)
    if sheet_is_possible(thickness):
        return
    yield Draft(
        title=f"{ply.label}: one sheet of prepreg of {thickness:g} mm cannot be had, maximum {most:g} mm",
        why="no impedance that rests on this row is judged",
        fix=f"{correct(ply.row, 'the type (core or prepreg)')}, or enter its sheets one by one",
        ids=(ply.label,),
        measured=Measured(value=thickness, unit="mm"),
        limit_value=most,
        limit_unit="mm",
        places=(Place(layer=ply.row),),
    )
