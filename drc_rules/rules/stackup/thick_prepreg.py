"""A prepreg sheet is thicker than any glass style.

What it checks
--------------
Each sheet of prepreg in an entered stackup: KiCad has a line for every sheet of a row.

Why it matters
--------------
A thick "prepreg" is a core (then the board is built the other way round than stated), or several sheets entered as one,
or a typing error. So no impedance that depends on the row is judged until its type is corrected or its sheets are
entered one by one.

How to fix
----------
Under File > Board Setup > Physical Stackup set the type to core, or add the sheets one by one (Add Dielectric Layer),
each with its own thickness and glass style.

What it cannot see
------------------
Whether a prepreg below the limit is available: fabs stock a few styles of each laminate. Where all dielectrics of a
board are called prepreg, `unstackable-rows` reports it instead.

Sources
-------
7628, the thickest common glass, has 0.17 to 0.21 mm a sheet after lamination; fabs use two or three sheets between
copper.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import correct, limit_of, sheet_is_possible
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind


def _sheets(ctx: Context, _clause: Clause) -> list[DielectricPly]:
    ctx.stackup()
    if all(ply.kind is LayerKind.PREPREG for ply in ctx.plies):
        return []
    return [ply for ply in ctx.plies if ply.kind is LayerKind.PREPREG and ply.in_file.thickness_mm]


FORMULA = """
h ≤ h_max

h: thickness of the sheet [mm]
h_max: maximum of a sheet [mm]
"""


@rule("STK015", kinds=("prepreg_sheet",), over=_sheets, formula=FORMULA, by_stackup="stated")
def thick_prepreg(ctx: Context, _clause: Clause, ply: DielectricPly) -> Iterator[DraftFinding]:
    """Yield one finding per sheet above the limit."""
    most, thickness = limit_of("prepreg_sheet").max or 0.0, ply.in_file.thickness_mm or 0.0
    ctx.shows(ply.label, h=thickness, h_max=most)
    if sheet_is_possible(thickness):
        return
    yield DraftFinding(
        title=f"prepreg sheet {thickness:g} mm, maximum {most:g} mm: {ply.label}",
        why="Impedance of lines next to this row is not judged",
        fix=f"{correct(ply.row, 'the type (core or prepreg)')}, or enter its sheets one by one",
        ids=(ply.label,),
        measured=Measured(value=thickness, unit="mm"),
        limit_value=most,
        places=(Location(layer=ply.row),),
    )
