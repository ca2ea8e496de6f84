"""The glass transition temperature of a dielectric is below the minimum.

What it checks
--------------
The Tg of every core and prepreg, with its method. Requirements mean DSC. A TMA value is compared as it is, and so is
one without a stated method; a DMA value reads 10 to 50 degrees higher and passes only if 50 degrees less would still
meet the minimum. A bare "FR4" states no Tg. Where a Tg declared for the whole board differs from the laminate's own,
the lower one counts, and a remark says so.

Why it matters
--------------
Above Tg the resin expands several times faster through the thickness and pulls on via barrels and pads. Boards with
many lamination cycles, lead-free reflow and high-power components crack there.

How to fix
----------
Choose a laminate with a higher Tg, or state the Tg from the data sheet if the catalogue does not have it.

What it cannot see
------------------
Tg alone does not prove that barrels survive: expansion, decomposition temperature and time to delamination (Td, T288)
are not judged. The value is the data sheet's, of fully cured resin. TMA reads some degrees low.

Sources
-------
Each clause names document, table and row. Difference between methods: data sheets that print both (I-Speed 180
DSC and 195 DMA, Megtron 4 176 and 210).
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.dielectric.ply_tg import tg_contradiction
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import every_ply
from stackup_lib.core.facts import MissingFact
from stackup_lib.materials import TgMethod

DMA_MARGIN_C = 50.0


FORMULA = """
T_g ≥ T_min

T_g: glass transition temperature, by the named method [C]
T_min: minimum by DSC [C]
"""


@rule("MAT004", kinds=("tg",), over=every_ply, formula=FORMULA, by_stackup="decided")
def low_tg(ctx: Context, clause: Clause, ply: DielectricPly) -> Iterator[DraftFinding]:
    """Yield one finding per ply below the limit, and a remark where two values contradict one another."""
    fact = ply.tg
    told = _contradiction(ctx, ply)
    if told is not None:
        yield told
    tg, least = ctx.need(fact), clause.limit.min or 0.0
    ctx.shows(f"{ply.label} ({ply.stated}), by {tg.method.value}", T_g=tg.value_c, T_min=least)
    how = (
        fact.how_to_give or f'[declared.dielectric."{ply.row}"]\ntg_c = "?"  # by DSC, from the laminate\'s data sheet'
    )
    if tg.method is TgMethod.DMA and least <= tg.value_c < least + DMA_MARGIN_C:
        raise MissingFact(f"{fact.name} by DSC ({tg.value_c:g} C by DMA is not enough)", how)
    if tg.is_minimum and tg.value_c < least:
        raise MissingFact(f"{fact.name} (its name only states {tg.value_c:g} C or more)", how)
    if tg.value_c < least:
        yield DraftFinding(
            title=f"Tg {tg.value_c:g} C by {tg.method.value}, minimum {least:g} C: {ply.label} ({ply.stated})",
            why="Above Tg the board expands several times faster and pulls via barrels apart",
            fix=f"Choose a laminate with a Tg of {least:g} C or more for {ply.row}",
            ids=(ply.label,),
            measured=Measured(value=tg.value_c, unit=f"C ({tg.method.value})"),
            limit_value=least,
            limit_unit="C",
            places=(Location(layer=ply.row),),
        )


def _contradiction(ctx: Context, ply: DielectricPly) -> DraftFinding | None:
    """Return what to say of the first ply of a laminate whose sheet and the board's declaration differ."""
    both, laminate = tg_contradiction(ply), ply.laminate.value
    if both is None or next(p for p in ctx.known_plies() if p.laminate.value is laminate) is not ply:
        return None
    (declared, sheet), counted = both, ctx.need(ply.tg)
    family = laminate.family if laminate else ply.stated
    has = f"{sheet.value_c:g} C{' or more' if sheet.is_minimum else ''}"
    if sheet.method is not TgMethod.UNSTATED:
        has += f" by {sheet.method.value}"
    return DraftFinding(
        title=(
            f"Tg {declared.value_c:g} C by {declared.method.value} is declared for the whole board, "
            f"but {family} has {has}: the lower one counts"
        ),
        why="One of the two is wrong, and the lower one decides when vias crack",
        fix=f'Declare it for its rows alone: [declared.dielectric."{ply.row}"]',
        ids=(family, "declared for the whole board"),
        measured=Measured(value=counted.value_c, unit=f"C ({counted.method.value})"),
        fails=False,
    )
