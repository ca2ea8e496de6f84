"""A prepreg's thickness or resin content, or a core's thickness, is impossible for its glass style.

What it checks
--------------
Prepregs whose material names one glass style ("370HR 1080 RC 65 %"). Resin has to fill the cloth, with an allowance
of 20 %. Glass fills at most 60 % of the pressed row: 7628 of 0.0994 mm would be 80 % glass. Glass and resin together
give the maximum, 20 % allowed. A row may be one to three sheets, unless it states their number ("2x 1080") or its
sheets have lines of their own. Of a core that names its glass only that glass fills at most 60 % of it: a core of 7628
cannot have 0.05 mm.

Why it matters
--------------
The fab cannot build the row as stated. It will change the thickness, and with it the impedance, or the glass.

How to fix
----------
Correct thickness or material under File > Board Setup > Physical Stackup, from the fab's list of prepregs. Enter sheet
by sheet (Add Dielectric Layer).

What it cannot see
------------------
Rows without a glass style, or with a rare one; thick cores. A wrong thickness that two or three sheets could have
passes. Without a resin content hardly any thickness is too much. Whether it is sold is not checked.

Sources
-------
Weight and thickness of cloth by glass style (IPC-4412), densities of glass and resin, and the suppliers' tolerance of
0.4 mil per sheet. All 184 prepregs of the library's construction tables pass, and the 53 of stackups that fabs offer;
glass fills at most 43 % of these, and 49 % of one, 106 next to 2 oz.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import correct
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind
from stackup_lib.core.record import record
from stackup_lib.materials.words import written_resin_content_pct

ALLOWANCE = 0.2
"""How much thicker than by glass and resin a ply may be, and how much of the cloth may lack resin: makers differ."""

MOST_GLASS = 0.6
"""Share of a pressed row that glass fills at most: JLCPCB's 0.0195 mm of 106 next to 2 oz has 0.49; a fifth allowed."""

RICHEST_PCT = 80.0
"""Resin content of a prepreg that states none: the makers' tables reach 78 %."""


@record
class WovenPrepreg:
    """A prepreg or core of a known glass style.

    Attributes:
        resin_pct: as written, None where none is.
        plies: the number that it states or that its line stands for, None where it may have several.
        cloth_mm: thickness of the cloth.
        glass_mm: what its glass alone would have without gaps.
        ply_mm: what one ply has at most.
    """

    ply: DielectricPly
    style: str
    resin_pct: float | None
    plies: int | None
    cloth_mm: float
    glass_mm: float
    ply_mm: float


def _woven(ctx: Context, _clause: Clause) -> Iterator[WovenPrepreg]:
    ctx.stackup()
    rows = [ply.row for ply in ctx.plies]
    for ply in ctx.plies:
        style = ply.match.style if ply.match else None
        if ply.kind not in (LayerKind.PREPREG, LayerKind.CORE) or ply.is_lone or not ply.trusted or not style:
            continue
        if ply.kind is LayerKind.CORE and ply.fault:  # perhaps it is none: unstackable-rows reports it
            continue
        from stackup_lib.materials.pressing import (  # noqa: PLC0415 - only boards that name a glass style need it
            cloth_thickness_mm,
            solid_glass_mm,
            thickest_ply_mm,
        )

        resin = written_resin_content_pct(ply.stated) or (ply.match.resin_content_pct if ply.match else None)
        cloth, glass, most = (
            cloth_thickness_mm(style),
            solid_glass_mm(style),
            thickest_ply_mm(style, resin or RICHEST_PCT),
        )
        stated = (ply.match.plies if ply.match else None) or (1 if rows.count(ply.row) > 1 else None)
        if cloth and glass and most:
            yield WovenPrepreg(ply, style, resin, stated, cloth, glass, most)


FORMULA = """
(1 - a) · h_cloth ≤ h_ply
n_min · h_glass / g ≤ h
h ≤ (1 + a) · n_max · h_ply

h: thickness as stated [mm]
h_cloth: thickness of the glass cloth [mm]
h_glass: its glass alone, without gaps [mm]
h_ply: maximum of one sheet with its resin content, 80 % where none is stated [mm]
n_min: minimum number of sheets
n_max: maximum number of sheets
a: allowance
g: share of the row that glass fills at most
"""


@rule("STK018", kinds=("prepreg_construction",), over=_woven, since="0.1", formula=FORMULA, by_stackup="stated")
def impossible_prepreg(ctx: Context, clause: Clause, found: WovenPrepreg) -> Iterator[DraftFinding]:
    """Yield one finding per row whose resin does not fill its glass, or whose thickness its plies cannot have."""
    ply, cloth = found.ply, found.cloth_mm
    if ply.thickness_fault is not None:  # thick-prepreg or unstackable-rows reports it
        raise ply.thickness_fault
    thickness = ctx.need(ply.thickness)
    fewest, most = found.plies or 1, found.plies or int(clause.limit.max or 1)
    sheet = {"h_cloth": cloth, "h_glass": found.glass_mm, "h_ply": found.ply_mm}
    ctx.shows(ply.label, h=thickness, n_min=fewest, n_max=most, a=ALLOWANCE, g=MOST_GLASS, **sheet)
    low, high = fewest * found.glass_mm / MOST_GLASS, (1 + ALLOWANCE) * most * found.ply_mm
    is_core, named = ply.kind is LayerKind.CORE, f"{ply.label} ({ply.stated})"
    if is_core:
        high = math.inf
    if not is_core and found.ply_mm < (1 - ALLOWANCE) * cloth:
        yield _finding(
            ply,
            title=f"{named}: a resin content of {found.resin_pct:g} % does not fill {found.style} glass",
            measured=Measured(value=found.ply_mm, unit="mm"),
            field="the material",
        )
    elif not low <= thickness <= high:
        sheets = f"{most} {'sheet' if most == 1 else 'sheets'}"
        glass_pct = 100 * fewest * found.glass_mm / thickness
        limit = (
            f"maximum {high:.3f} mm of {sheets}"
            if thickness > high
            else f"glass would fill {glass_pct:.3g} % of it, maximum {100 * MOST_GLASS:.0f} %"
        )
        yield _finding(
            ply,
            title=f"{named}: {thickness:g} mm, {limit}",
            measured=Measured(value=thickness, unit="mm"),
            limit=f"{low:.3f} or more" if is_core else f"{low:.3f}-{high:.3f}",
            field="the thickness or the material",
        )


def _finding(ply: DielectricPly, title: str, measured: Measured, field: str, limit: str | None = None) -> DraftFinding:
    return DraftFinding(
        title=title,
        why="The fab cannot build this row as stated; with another thickness the impedance changes",
        fix=f"{correct(ply.row, field)}, from the fab's list of {ply.kind.value}s",
        ids=(ply.label,),
        measured=measured,
        limit_value=limit,
        places=(Location(layer=ply.row),),
    )
