"""The board is larger or smaller than its form factor.

What it checks
--------------
The bounding box of the outline, either way round, against the form factor's, within the form's tolerance, or 0.5 mm
where none is stated. A PCIe card may be smaller than its outline: only a larger one counts.

Why it matters
--------------
Mounting holes, connectors, guides and heat sinks are where the form factor puts them: a board of another outline does
not fit, or is not held.

How to fix
----------
Change the outline; or name the intended form factor (`stackwright profiles` lists them).

What it cannot see
------------------
Only the bounding box is compared, not holes, connectors, edge fingers, keep-outs, cut-outs, bevels, radii or part
heights. Break-off rails, protruding fingers and a rotated outline give false alarms. Smaller PCIe cards pass, though
bracket and retainer need certain lengths.

Sources
-------
Each form file names its document. A warning at most: brackets, fingers and cut-outs change a bounding box.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_size import describe, sides_mm
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import load_form
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Confidence

USUAL_TOLERANCE_MM = 0.5
"""Where a form states no tolerance (engineering: those that do state 0.15 to 0.25 mm)."""

ROUNDING_MM = 0.005


FORMULA = """
s_min ≤ s ≤ s_max

s: side of the board's outline [mm]
s_min: the form factor's size less its tolerance; 0 where it is a maximum [mm]
s_max: the form factor's size with its tolerance [mm]
"""


@rule("FAB003", kinds=("form_size",), over=whole_board, formula=FORMULA)
def wrong_form_size(ctx: Context, clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Yield one finding when a side is past the form's tolerance."""
    form = load_form(clause.id.removeprefix("form.size."))
    if form.size_mm is None:
        return
    sides, asked = sides_mm(ctx), (min(form.size_mm), max(form.size_mm))
    if form.size_tolerance_mm is None:
        ctx.rests_on(Confidence.MEDIUM)
    tolerance = (form.size_tolerance_mm or USUAL_TOLERANCE_MM) + ROUNDING_MM
    over = [side - nominal for side, nominal in zip(sides, asked, strict=True)]
    for word, side, nominal in zip(("shorter", "longer"), sides, asked, strict=True):
        least = 0.0 if form.size_is_greatest else nominal - tolerance
        ctx.shows(f"{word} side, {nominal:g} mm nominal", s=side, s_min=least, s_max=nominal + tolerance)
    is_off = [off > tolerance or (off < -tolerance and not form.size_is_greatest) for off in over]
    if not any(is_off):
        return
    worst = max(range(2), key=lambda k: (is_off[k], abs(over[k])))
    yield DraftFinding(
        title=f"board size {describe(sides)}; required: {clause.title}",
        why="Mounting holes, connectors and guides are where the form factor puts them",
        fix="Change the outline, or name the intended form factor",
        ids=("size",),
        measured=Measured(value=round(sides[worst], 3), unit="mm"),
        limit_value=asked[worst],
        places=(Location(layer="Edge.Cuts"),),
    )
