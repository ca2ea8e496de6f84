"""The board is larger or thicker than fabs can build.

What it checks
--------------
The outline's bounding box, either way round, and the thickness, against the clause's fab tier or against your own fab's
`[fab]` `board_mm` and `thickness_mm`. The thickness is the stackup's sum, else what the file says, but not where the
default of KiCad grew to it with added layers.

Why it matters
--------------
Lamination, drilling and plating lines take panels of one size. Few fabs build larger or thicker boards.

How to fix
----------
Ask the fab first; split the board, or remove corners and tabs that exceed the panel.

What it cannot see
------------------
The bounding box of Edge.Cuts decides, along the file's axes: a rotated board, panel rails or a stray line enlarge it.
Panel use and the best fabs' maximum size are unknown. Thickness is nominal; KiCad's default counts at low confidence.

Sources
-------
PCB Runner (16 x 22 and 30 x 44 in), Rush PCB (0.200 and 0.250 in), network PCB (0.400 in). No document gives a maximum
size of the best fabs, so size alone is never an error unless `[fab]` states it.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_limits import OWN, bar, is_replaced, your_fab
from drc_rules.analysis.fabrication.fab_size import describe, sides_mm
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import told_apart
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.limits import max_board_mm
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board
from stackup_lib.board.default_stackup import is_grown_default
from stackup_lib.core.facts import Confidence, MissingFact

ROUNDING_MM = 0.005


def _limited(ctx: Context, clause: Clause) -> tuple[Board, ...]:
    own = your_fab(ctx)
    if clause.kind == "fab_thickness":
        return (ctx.board,) if bar(ctx, clause, "thickness_mm", own.thickness_mm) else ()
    is_out = is_replaced(clause, own.board_mm[0] if own.board_mm else None)
    return () if is_out or _largest(ctx, clause) is None else (ctx.board,)


FORMULA = """
s ≤ s_max + 0.005

s: side or thickness of the board [mm]
s_max: maximum of the fab [mm]
"""


@rule("FAB005", kinds=("fab_board_size", "fab_thickness"), over=_limited, formula=FORMULA)
def oversized_board(ctx: Context, clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Yield one finding past the limit."""
    yield from _thick(ctx, clause) if clause.kind == "fab_thickness" else _large(ctx, clause)


def _largest(ctx: Context, clause: Clause) -> tuple[float, float] | None:
    own = your_fab(ctx).board_mm
    if clause.limit.at_least == OWN:
        return (min(own), max(own)) if own else None
    return max_board_mm(Tier(clause.limit.at_least or Tier.BEST))


def _large(ctx: Context, clause: Clause) -> Iterator[DraftFinding]:
    sides, largest = sides_mm(ctx), _largest(ctx, clause)
    if largest is None:
        return
    for word, side, most in zip(("shorter", "longer"), sides, largest, strict=True):
        ctx.shows(f"{word} side", s=side, s_max=most)
    if all(side <= most + ROUNDING_MM for side, most in zip(sides, largest, strict=True)):
        return
    is_own = clause.limit.at_least == OWN
    who = your_fab(ctx).name or "your fab" if is_own else f"{clause.limit.at_least} fabs"
    told = largest if is_own else (round(largest[0]), round(largest[1]))  # inches, which end in tenths of mm
    worst = max(range(2), key=lambda k: sides[k] / largest[k])
    yield DraftFinding(
        title=f"board size {describe(sides)}, maximum {describe(told)} ({who})",
        why="Lamination, drilling and plating lines take panels of one size",
        fix="Ask the fab first, or split the board",
        ids=("size",),
        measured=Measured(value=round(sides[worst], 3), unit="mm"),
        limit_value=largest[worst],
        places=(Location(layer="Edge.Cuts"),),
    )


def _thick(ctx: Context, clause: Clause) -> Iterator[DraftFinding]:
    most = bar(ctx, clause, "thickness_mm", your_fab(ctx).thickness_mm)
    thickness = _thickness_mm(ctx)
    if most is not None:
        ctx.shows(f"thickness, {most.who}", s=thickness, s_max=most.value)
    if most is None or thickness <= most.value + ROUNDING_MM:
        return
    yield DraftFinding(
        title=f"board thickness {told_apart(thickness, most.value)} mm, maximum {most.value:g} mm ({most.who})",
        why="Lamination, drilling and plating lines have a maximum thickness",
        fix="Use fewer or thinner dielectrics, or ask the fab first",
        ids=("thickness",),
        measured=Measured(value=round(thickness, 3), unit="mm"),
        limit_value=most.value,
    )


def _thickness_mm(ctx: Context) -> float:
    stackup = None if ctx.is_default_stackup else ctx.board.stackup
    if stackup is not None and stackup.thickness_mm:
        return stackup.thickness_mm
    if ctx.board.thickness_mm is None or is_grown_default(ctx.board):
        raise MissingFact("board thickness", DECLARE_STACKUP)
    ctx.rests_on(Confidence.LOW)
    return ctx.board.thickness_mm
