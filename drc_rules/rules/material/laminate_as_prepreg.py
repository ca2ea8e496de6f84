"""A material that is sold as cured laminate only is used as prepreg.

What it checks
--------------
Each prepreg of the stackup against the library: whether its maker sells the named family as prepreg at all. A row that
also holds sheets of another material may be a bare core between prepregs, and passes.

Why it matters
--------------
A cured laminate does not flow, so it bonds nothing. The fab will take another prepreg, with other Dk, Df and thickness.

How to fix
----------
Name the bondply that the maker sells for the laminate, or the FR-4 prepreg that the fab uses with it. If the row is a
core, correct its type.

What it cannot see
------------------
Only laminates whose maker names the bondply for them are known: RO4003C, RO4350B, RO4835. Others without a prepreg
pass. Boards whose dielectrics are all called prepreg are reported by `unstackable-rows`.

Sources
-------
Rogers, RO4400 series bondply data sheet: it bonds multilayers of RO4003C, RO4350B and RO4835.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import IN_KICAD
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind


def _uniform_prepregs(ctx: Context, _clause: Clause) -> Iterator[DielectricPly]:
    ctx.stackup()
    named: dict[str, set[str]] = {}
    for ply in ctx.plies:
        named.setdefault(ply.row, set()).add(ply.laminate.value.family if ply.laminate.value else "")
    for ply in ctx.plies:
        if ply.kind is LayerKind.PREPREG and not ply.fault and not ply.is_lone and len(named[ply.row]) == 1:
            yield ply


@rule("MAT006", kinds=("sold_as_prepreg",), over=_uniform_prepregs, by_stackup="stated")
def laminate_as_prepreg(ctx: Context, _clause: Clause, ply: DielectricPly) -> Iterator[DraftFinding]:
    """Yield one finding per prepreg of a family that is sold as cured laminate only."""
    if not ply.laminate.known:  # unknown-laminate reports it
        return
    laminate = ctx.need(ply.laminate)
    if not laminate.bonded_by:
        return
    yield DraftFinding(
        title=f"{ply.label} ({ply.stated}): {laminate.family} is sold as cured laminate only, not as prepreg",
        why="A cured laminate bonds nothing: the fab will take another prepreg, with another Dk and Df",
        fix=f"Name the prepreg, e.g. {laminate.bonded_by}, or correct the type of {ply.row} {IN_KICAD}",
        ids=(ply.label,),
        measured=Measured(value=laminate.family),
        places=(Location(layer=ply.row),),
    )
