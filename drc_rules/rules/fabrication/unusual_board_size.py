"""The board is larger or smaller than usual for its workload.

What it checks
--------------
Both sides of the outline's bounding box against the range that the workload's documents give. A board whose form factor
has an outline of its own is judged by that instead.

Why it matters
--------------
A training baseboard of 100 mm, or an edge board of half a metre, is more often a wrong profile than a wrong board: then
every other requirement is wrong, too.

How to fix
----------
Check the profile and name the form factor. Where both are right, change nothing.

What it cannot see
------------------
Only the bounding box of Edge.Cuts counts: several boards in one file, a panel or a stray line count as one large board.
The ranges are a few documents' round values; mezzanines and risers are the usual false alarm.

Sources
-------
Each clause names document, table and row. Information only: the documents' own modules are outside their ranges.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_size import describe, sides_mm
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import Form, load_form
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board

ROUNDING_MM = 0.5
"""The documents speak of whole millimetres, and of about."""


def _without_form_size(ctx: Context, _clause: Clause) -> tuple[Board, ...]:
    form = _form(ctx)
    return (ctx.board,) if form is None or form.size_mm is None else ()


def _form(ctx: Context) -> Form | None:
    """The form factor that is declared, else the profile's."""
    name = ctx.form or (load_profile(ctx.profile).form if ctx.profile else None)
    return load_form(name) if name else None


FORMULA = """
a ≥ a_min - 0.5
b ≤ b_max + 0.5

a: shorter side of the outline [mm]
a_min: usual minimum [mm]
b: longer side [mm]
b_max: usual maximum [mm]
"""


@rule("FAB004", kinds=("board_size",), over=_without_form_size, formula=FORMULA)
def unusual_board_size(ctx: Context, clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Yield one finding when a side is outside of the range."""
    sides = sides_mm(ctx)
    low, high = clause.limit.min or 0.0, clause.limit.max or float("inf")
    ctx.shows("the outline", a=sides[0], a_min=low, b=sides[1], b_max=high)
    if low - ROUNDING_MM <= sides[0] and sides[1] <= high + ROUNDING_MM:
        return
    is_small = sides[0] < low - ROUNDING_MM
    yield DraftFinding(
        title=f"board size {describe(sides)}; usual for this workload: {clause.title}",
        why="An unusual size is more often a wrong profile than a wrong board",
        fix="Check profile and form factor. Where both are right, change nothing",
        ids=("size",),
        measured=Measured(value=round(sides[0] if is_small else sides[1], 3), unit="mm"),
        limit_value=low if is_small else high,
        places=(Location(layer="Edge.Cuts"),),
    )
