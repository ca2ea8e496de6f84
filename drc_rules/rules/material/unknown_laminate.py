"""A dielectric's material names no known laminate.

What it checks
--------------
Whether the material text of each dielectric sheet names a laminate of the catalogue. A glass style alone ("PR2116") and
a bare "FR4" are no laminate: they state neither loss nor Tg.

Why it matters
--------------
An unnamed laminate proves nothing, and the fab will take what it has in stock.

How to fix
----------
Write the laminate into the material field of the stackup ("IS400 2116"), or declare it in `stackwright.toml`.
`stackwright materials TEXT` shows which laminate a text names.

What it cannot see
------------------
A name is looked up, not proven: the fab may still use another laminate ("or equivalent"). New and regional laminates
are reported. Unknown words next to a known name only lower the confidence. Solder mask is not checked.

Sources
-------
Material fields of public boards often hold a glass style with resin content and no laminate. The catalogue's
rows name their data sheets.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import every_ply


@rule("MAT003", kinds=("laminate_known",), over=every_ply, by_stackup="decided")
def unknown_laminate(ctx: Context, _clause: Clause, ply: DielectricPly) -> Iterator[DraftFinding]:
    """Yield one finding per ply whose laminate is not known; without a material, STK003's, it is not verifiable."""
    match = ply.match
    if match is None or (match.laminate is not None and not match.laminate.generic):
        ctx.need(ply.laminate)
        return
    near = f" (nearest: {', '.join(match.alternatives[:3])})" if match.alternatives else ""
    yield DraftFinding(
        title=f'{ply.label}: "{ply.stated}" is {_what(match.status)}{near}',
        why="An unnamed laminate proves nothing, and the fab will take what it has",
        fix=f'Name the laminate in the stackup, or under [declared.dielectric."{ply.row}"] in stackwright.toml',
        ids=(ply.label,),
        measured=Measured(value=ply.stated),
        places=(Location(layer=ply.row),),
    )


def _what(status: str) -> str:
    words = {
        "generic": "a kind of laminate, not a product",
        "style only": "a glass style without a laminate",
        "ambiguous": "the name of more than one laminate",
    }
    return words.get(status, "no laminate of the catalogue")
