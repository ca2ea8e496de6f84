"""The Dk in the stackup is outside the range of the laminate that it names.

What it checks
--------------
The Dk of each dielectric sheet against the whole range in the laminate's data sheets, over constructions and over 1 to
10 GHz, widened by the clause's allowance. A bare "FR4" names no product: a Dk outside 3.8 to 4.8, FR-4's common range,
is reported, one inside it is not verifiable; so is the Dk of a laminate without a data sheet. A sheet without a Dk is
not compared.

Why it matters
--------------
Impedance goes with the square root of Dk: a number copied from another laminate shifts every controlled line.

How to fix
----------
Enter the Dk of the construction that the fab will use, at the relevant frequency; KiCad has no field for the frequency.

What it cannot see
------------------
The range is wide: 370HR may have any Dk from 3.0 to 4.9, a tenth of a stripline's impedance up or down. Wrong resin
content, glass style or frequency pass. Only the board file's Dk is compared.

Sources
-------
The catalogue's data sheets (`stackwright materials NAME`). The range of FR-4 is engineering knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.dielectrics import DielectricPly
from drc_rules.report.model import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import every_ply
from stackup_lib.core.facts import Fact, MissingFact
from stackup_lib.core.record import record
from stackup_lib.materials import Spread

AT_GHZ = (1.0, 10.0)


@record
class Comparable:
    """A ply that states a Dk, and the spans of Dk of its laminate, none where no sheet gives one."""

    ply: DielectricPly
    dk: float
    spans: tuple[Fact[Spread], ...]


def _comparable(ctx: Context, clause: Clause) -> Iterator[Comparable]:
    known: dict[str, tuple[Fact[Spread], ...]] = {}
    for ply in every_ply(ctx, clause):
        laminate, dk = ply.laminate.value, ply.ply.dk
        if dk is None:
            continue
        if laminate is not None and laminate.family not in known:
            known[laminate.family] = tuple(s for f in AT_GHZ if (s := laminate.dk_range_at(f)).known)
        yield Comparable(ply, dk, known[laminate.family] if laminate else ())


FORMULA = """
Dk_low · (1 - a / 100) ≤ Dk ≤ Dk_high · (1 + a / 100)

Dk: in the stackup
Dk_low: lowest of the laminate, 1 to 10 GHz, any construction
Dk_high: highest of it
a: allowance, 0 for the common range of FR-4 [%]
"""


@rule("MAT005", kinds=("dk_plausible",), over=_comparable, formula=FORMULA)
def implausible_dk(ctx: Context, clause: Clause, found: Comparable) -> Iterator[DraftFinding]:
    """Yield one finding per ply whose Dk is outside the laminate's span."""
    ply, dk = found.ply, found.dk
    if ply.dk_fault is not None:  # impossible-dk reports it
        raise ply.dk_fault
    laminate = ctx.need(ply.laminate)
    if not found.spans:
        raise MissingFact(f"data sheet Dk of {laminate.family}", _name_it(ply))
    low, high = min(ctx.need(s).low for s in found.spans), max(ctx.need(s).high for s in found.spans)
    allowance = 0.0 if laminate.generic else clause.limit.max or 0.0
    slack = allowance / 100.0
    ctx.shows(f"{ply.label} ({ply.stated}), {laminate.family}", Dk=dk, Dk_low=low, Dk_high=high, a=allowance)
    if not low * (1 - slack) <= dk <= high * (1 + slack):
        yield DraftFinding(
            title=(
                f"{ply.label} ({ply.stated}): Dk {dk:g} is outside the range of {laminate.family}, {low:g} to {high:g}"
            ),
            why="Impedance goes with the square root of Dk: every controlled line shifts",
            fix="Enter the Dk of the construction that the fab will use",
            ids=(ply.label,),
            measured=Measured(value=dk, unit="Dk"),
            limit_value=f"{low:g}-{high:g}",
            places=(Location(layer=ply.row),),
        )
    elif laminate.generic:
        raise MissingFact(f"laminate of {ply.label} (any {laminate.family} may have a Dk of {dk:g})", _name_it(ply))


def _name_it(ply: DielectricPly) -> str:
    return f'[declared.dielectric."{ply.row}"]\nmaterial = "?"  # the laminate that the fab is to use'
