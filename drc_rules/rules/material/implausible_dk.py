"""A stated Dk is outside the range of the laminate that the row names.

What it checks
--------------
The Dk of each dielectric sheet, in the board file or declared in `stackwright.toml`, against the whole range in the
laminate's data sheets, over constructions and over 1 to 10 GHz, widened by the clause's allowance. A bare "FR4" names
no product: a Dk outside 3.8 to 4.8, FR-4's common range, is reported, one inside it is not verifiable; so is the Dk of
a laminate without a data sheet. A sheet without a Dk is not compared.

Why it matters
--------------
Impedance goes with one over the square root of Dk: a number copied from another laminate shifts every controlled line.
So nothing that depends on the row is judged where it names a product: one of the two statements is wrong. Where
`stackwright.toml` names the product and not its Dk, the data sheet's takes the place of the file's.

How to fix
----------
Enter the Dk of the construction that the fab will use, at the relevant frequency; KiCad has no field for the frequency.

What it cannot see
------------------
The range is wide: 370HR may have any Dk from 3.0 to 4.9, 11 to 14 % of a stripline's impedance either way. Wrong
resin content, glass style or frequency pass.

Sources
-------
The catalogue's data sheets (`stackwright materials NAME`). The range of FR-4 is engineering knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.against_sheet import dk_allowance_pct, is_dk_of, sheet_dk
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import dk_is_possible
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import every_ply
from stackup_lib.core.facts import MissingFact


def _with_dk(ctx: Context, clause: Clause) -> list[DielectricPly]:
    return [ply for ply in every_ply(ctx, clause) if ply.dk.stated is not None]


FORMULA = """
Dk_low · (1 - a / 100) ≤ Dk ≤ Dk_high · (1 + a / 100)

Dk: in the stackup
Dk_low: lowest of the laminate, 1 to 10 GHz, any construction
Dk_high: highest of it
a: allowance, 0 for the common range of FR-4 [%]
"""


@rule("MAT005", kinds=("dk_plausible",), over=_with_dk, formula=FORMULA, by_stackup="decided")
def implausible_dk(ctx: Context, _clause: Clause, ply: DielectricPly) -> Iterator[DraftFinding]:
    """Yield one finding per ply whose Dk is outside the laminate's range."""
    dk = ply.dk.stated or 0.0
    if not dk_is_possible(dk) and ply.dk.fault is not None:  # impossible-dk reports it
        raise ply.dk.fault
    laminate = ctx.need(ply.laminate)
    sheets, allowance = sheet_dk(laminate), dk_allowance_pct(laminate)
    if not sheets.known:
        raise MissingFact(f"data sheet Dk of {laminate.family}", _name_it(ply))
    low, high = ctx.need(sheets).low, ctx.need(sheets).high
    ctx.shows(f"{ply.label} ({ply.stated}), {laminate.family}", Dk=dk, Dk_low=low, Dk_high=high, a=allowance)
    if not is_dk_of(laminate, dk):
        yield DraftFinding(
            title=(
                f"{ply.label} ({ply.stated}): Dk {dk:g} is outside the range of {laminate.family}, {low:g} to {high:g}"
            ),
            why=f"Impedance goes with one over the square root of Dk: {_consequence(ply)}",
            fix=f"Enter the Dk of the construction that the fab will use. {ply.how_to_correct('dk')}",
            ids=(ply.label,),
            measured=Measured(value=dk, unit="Dk"),
            limit_value=f"{low:g}-{high:g}",
            places=(Location(layer=ply.row),),
        )
    elif laminate.generic:
        raise MissingFact(f"laminate of {ply.label} (any {laminate.family} may have a Dk of {dk:g})", _name_it(ply))


def _consequence(ply: DielectricPly) -> str:
    if ply.dk.is_of_former_material:
        return "lines next to this row are solved with the data sheet's, the board file still says another"
    return "every controlled line shifts" if ply.dk.fault is None else "lines next to this row are not judged"


def _name_it(ply: DielectricPly) -> str:
    return f'[declared.dielectric."{ply.row}"]\nmaterial = "?"  # the laminate that the fab is to use'
