"""A stackup row states a loss tangent that no laminate has.

What it checks
--------------
The loss tangent of every dielectric sheet, in the board file or declared in `stackwright.toml`, against the range of
laminates. KiCad writes 0 for "not set", and 0.02 into every new row: neither is a mistake. KiCad's untouched default
stackup is exempt.

A 0 in the file never counts as a loss tangent, even with a Dk next to it: KiCad puts 0 into every sheet that is added
to a row, and it stays when only material and Dk are entered. Loss then follows from the laminate that the row names,
and is not verifiable where it names none. In `stackwright.toml` a Df of 0 is an error.

Why it matters
--------------
A typing error (0.91 for 0.0091) increases a link's computed loss a hundredfold. So loss is not judged on this row,
whatever laminate it names: one of the two statements is wrong.

How to fix
----------
Correct Loss Tan of the row under File > Board Setup > Physical Stackup, or the line in `stackwright.toml`.

What it cannot see
------------------
A wrong value inside the range: `lossy-dielectric` compares it with the limit and with the laminate's data sheet. Solder
mask is not checked; its loss tangent is not used.

Sources
-------
Data sheets of laminates: PTFE has 0.0004, the lossiest FR4 0.03.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import df_is_possible, limit_of
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact


def _stated(ctx: Context, _clause: Clause) -> list[DielectricPly]:
    if not ctx.plies:
        raise MissingFact("the stackup", DECLARE_STACKUP)
    return [ply for ply in ctx.plies if ply.df.stated]


FORMULA = """
Df_min ≤ Df ≤ Df_max

Df: as stated
Df_min: lowest of any laminate
Df_max: highest of any laminate
"""


@rule("STK013", kinds=("df_possible",), over=_stated, formula=FORMULA, by_stackup="stated")
def impossible_df(ctx: Context, _clause: Clause, ply: DielectricPly) -> Iterator[DraftFinding]:
    """Yield one finding per loss tangent outside the range."""
    limit, df = limit_of("df_possible"), ply.df.stated or 0.0
    low, high = limit.min or 0.0, limit.max or 0.0
    ctx.shows(ply.label, Df=df, Df_min=low, Df_max=high)
    if df_is_possible(df):
        return
    yield DraftFinding(
        title=f"{ply.label}: Df {df:g} is outside the range of laminates, {low:g} to {high:g}",
        why="Loss of lines next to this row is not judged",
        fix=ply.how_to_correct("df"),
        ids=(ply.label,),
        measured=Measured(value=df, unit="Df"),
        limit_value=f"{low:g}-{high:g}",
        places=(Location(layer=ply.row),),
    )
