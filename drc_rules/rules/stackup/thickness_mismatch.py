"""The stackup does not add up to the board thickness.

What it checks
--------------
The sum of copper, dielectrics and solder mask against the board thickness in the file's general section.

Why it matters
--------------
The sum decides impedance and via depth; the other number is what drawings, 3D models and many order forms show. If they
differ, one of them is not what will be built.

How to fix
----------
Open File > Board Setup > Physical Stackup and press "Adjust Dielectric Thickness" only if the fab's stackup
really has that total; otherwise enter the fab's total.

What it cannot see
------------------
Both numbers may be wrong together; resin flow and plating count only where the fab's values were entered. Differences
up to 0.05 mm pass, even a missing 50 um build-up. A mask row without thickness counts as zero.

Sources
-------
KiCad stores `(general (thickness ...))` apart from the stackup. The allowed difference is the clause's:
rounding only.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact

NANOMETRE = 1e-6
"""KiCad's own resolution, in mm."""


FORMULA = """
d = |T - t|
d ≤ d_max

T: sum of the stackup's rows [mm]
t: thickness that the board states [mm]
d: difference [mm]
d_max: maximum [mm]
"""


@rule("STK005", kinds=("thickness_sum",), over=whole_board, formula=FORMULA, by_stackup="decided")
def thickness_mismatch(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding when sum and thickness differ by more than the clause allows."""
    total = ctx.stackup().thickness_mm
    if total is None or board.thickness_mm is None:
        raise MissingFact("the thickness of every stackup row", "in KiCad, File > Board Setup > Physical Stackup")
    difference = abs(total - board.thickness_mm)
    allowed = clause.limit.max or 0.0
    ctx.shows("the stackup", T=total, t=board.thickness_mm, d=difference, d_max=allowed)
    if difference > allowed + NANOMETRE:
        yield DraftFinding(
            title=(
                f"stackup sum {total:.3f} mm, board thickness {board.thickness_mm:.3f} mm, "
                f"maximum difference {allowed:g} mm"
            ),
            why="One of the two is not what will be built, and the order form may show the wrong one",
            fix=(
                "Enter the fab's stackup under File > Board Setup > Physical Stackup, so that the "
                "total is its finished thickness"
            ),
            ids=("thickness",),
            measured=Measured(value=round(total, 4), unit="mm"),
            limit_value=board.thickness_mm,
        )
