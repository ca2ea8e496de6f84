"""The board is thicker or thinner than its form factor allows.

What it checks
--------------
The finished thickness (the stackup's sum with solder mask, else the board thickness) against the form factor's.

Why it matters
--------------
Edge connectors, card guides and mezzanine heights are made for one thickness: a card that is too thick does not fit,
one that is too thin makes unreliable contact.

How to fix
----------
Change the dielectric heights, or have the edge milled to the connector's thickness and say so in the fab notes.

What it cannot see
------------------
Lamination tolerance (usually a tenth), plating and bow are not added. A milled edge is still reported; gold fingers
without mask count as thick as the rest. Without a form factor nothing is judged.

Sources
-------
Each form file names its document; `stackwright profiles` lists forms.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Confidence, MissingFact

ROUNDING_MM = 0.0005


FORMULA = """
T_min - 0.0005 ≤ T ≤ T_max + 0.0005

T: thickness of the board [mm]
T_min: minimum of the form factor [mm]
T_max: its maximum [mm]
"""


@rule("STK010", kinds=("form_thickness",), over=whole_board, formula=FORMULA, by_stackup="decided")
def wrong_form_thickness(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding outside the clause's range."""
    total = ctx.stackup().thickness_mm
    if not total:  # a row without a thickness: what the board setup says may be older than the rows
        ctx.rests_on(Confidence.LOW)
        total = board.thickness_mm
    if total is None:
        raise MissingFact("board thickness", DECLARE_STACKUP)
    low, high = clause.limit.min or 0.0, clause.limit.max or float("inf")
    ctx.shows("the board", T=total, T_min=low, T_max=high)
    if low - ROUNDING_MM <= total <= high + ROUNDING_MM:
        return
    bound = low if total < low else high
    yield DraftFinding(
        title=f"board thickness {total:.3f} mm; required: {clause.title}",
        why="Edge connectors, guides and mezzanine heights are made for one thickness",
        fix="Change the dielectric heights, or have the connector edge milled and say so in the fab notes",
        ids=("thickness",),
        measured=Measured(value=round(total, 4), unit="mm"),
        limit_value=bound,
    )
