"""The Dk in the stackup cannot be that of the laminate it names.

What it checks
--------------
The Dk of each ply against the whole span that the laminate's data sheets give, over constructions and over 1 to
10 GHz, widened by the clause's allowance. A ply without a Dk, or of a laminate without a data sheet, offers nothing to
compare.

Why it matters
--------------
Impedance goes with the square root of Dk: a number typed from another laminate moves every controlled line.

How to fix
----------
Enter the Dk of the construction that the fab will use, at the frequency that matters; KiCad has no field for
the frequency.

What it cannot see
------------------
The span is wide on purpose: with the allowance, 370HR may have any Dk from 3.0 to 4.9, which is more than a tenth of a
stripline's impedance up or down. A Dk of the wrong resin content, glass style or frequency of the same laminate passes.
Only the number in the board file is compared, not one declared in `stackwright.toml`; "FR4" and other kinds without a
maker have no span, and solder mask is not looked at.

Sources
-------
The catalogue's data sheets (`stackwright materials NAME`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.dielectrics import DielectricPly
from drc_rules.over import every_ply
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.facts import Fact
from stackup_lib.materials import Spread

AT_GHZ = (1.0, 10.0)


@dataclass(frozen=True)
class Comparable:
    """A ply that states a Dk, and the laminate with its spans of Dk."""

    ply: DielectricPly
    dk: float
    family: str
    spans: tuple[Fact[Spread], ...]


def _comparable(ctx: Context, clause: Clause) -> Iterator[Comparable]:
    for ply in every_ply(ctx, clause):
        laminate, dk = ply.laminate, ply.ply.dk
        if dk is None or not laminate.known or laminate.value is None or laminate.value.generic:
            continue
        spans = tuple(s for f in AT_GHZ if (s := laminate.value.dk_range_at(f)).known)
        if spans:
            yield Comparable(ply, dk, laminate.value.family, spans)


FORMULA = """
Dk_low · (1 - a / 100) ≤ Dk ≤ Dk_high · (1 + a / 100)

Dk: in the stackup
Dk_low: lowest of the laminate, 1 to 10 GHz, any construction
Dk_high: highest of it
a: allowance [%]
"""


@rule("MAT005", kinds=("dk_plausible",), over=_comparable, formula=FORMULA)
def implausible_dk(ctx: Context, clause: Clause, found: Comparable) -> Iterator[Draft]:
    """Yield one finding per ply whose Dk is outside the laminate's span."""
    ply, dk = found.ply, found.dk
    low, high = min(ctx.need(s).low for s in found.spans), max(ctx.need(s).high for s in found.spans)
    slack = (clause.limit.max or 0.0) / 100.0
    allowance = clause.limit.max or 0.0
    ctx.shows(f"{ply.label} ({ply.stated}), {found.family}", Dk=dk, Dk_low=low, Dk_high=high, a=allowance)
    if not low * (1 - slack) <= dk <= high * (1 + slack):
        yield Draft(
            title=f"{ply.label} ({ply.stated}): Dk {dk:g}, but {found.family} has {low:g}-{high:g}",
            why="impedance goes with the square root of Dk: every controlled line moves",
            fix="enter the Dk of the construction that the fab will use",
            ids=(ply.label,),
            measured=Measured(value=dk, unit="Dk"),
            limit_value=f"{low:g}-{high:g}",
            limit_unit="Dk",
            places=(Place(layer=ply.row),),
        )
