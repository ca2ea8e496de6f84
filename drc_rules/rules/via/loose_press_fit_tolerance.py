"""The tolerance ordered for press-fit holes is wider than press-fit pins usually take.

What it checks
--------------
Boards with a part whose footprint's name or value says press-fit, or whose order states a tolerance for such holes:
`press_fit_tolerance_mm` of `[order]`, plus and minus, against 0.05 mm. Until it is stated the clause is not verifiable.
It is information: the connector's drawing decides.

Why it matters
--------------
A pin holds by the few hundredths that its zone springs. In a hole too wide it makes no gas-tight contact; in one too
narrow it bends, or cracks the barrel.

How to fix
----------
Order these holes with the finished diameter, drill and tolerance of the connector's drawing, and mark them in the drill
table: without that a fab keeps the tolerance of ordinary holes, 0.1 mm.

What it cannot see
------------------
Press-fit connectors whose names do not say so. Drill, plating and finish inside the hole, which drawings also ask.
Connectors that allow more, such as +0.09/-0.06 mm, are reported.

Sources
-------
ellwest: +-0.05 mm as usual for press-fit holes, +-0.1 mm for others. Harting har-bus HM: 0.6 +-0.05 mm finished;
Positronic: 1.09 +-0.05 mm, some contacts +0.09/-0.06 mm.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.press_fit import press_fit_parts
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact

FORMULA = """
t ≤ t_max

t: tolerance ordered for press-fit holes, plus and minus [mm]
t_max: its limit [mm]
"""

PLACES_SHOWN = 10


def _with_press_fit(ctx: Context, _clause: Clause) -> Iterator[Board]:
    if ctx.get(press_fit_parts) or ctx.declarations.config.order.press_fit_tolerance_mm is not None:
        yield ctx.board


@rule("VIA018", kinds=("press_fit_tolerance",), over=_with_press_fit, formula=FORMULA)
def loose_press_fit_tolerance(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding where the ordered tolerance is wider than the limit."""
    ordered, limit = ctx.declarations.config.order.press_fit_tolerance_mm, clause.limit.max
    parts = ctx.get(press_fit_parts)
    names = ", ".join(part.reference for part in parts[:PLACES_SHOWN])
    if ordered is None:
        line = '[order]\npress_fit_tolerance_mm = "?"  # plus and minus, as the connector\'s drawing has it, e.g. 0.05'
        raise MissingFact(f"tolerance of the press-fit holes of {names}", line)
    if limit is None:
        return
    ctx.shows("press-fit holes", t=ordered, t_max=limit)
    if ordered > limit:
        of = f" of {names}" if names else ""
        yield DraftFinding(
            title=f"press-fit holes{of} ordered with +-{ordered:g} mm, usual +-{limit:g} mm",
            why="A pin in too wide a hole makes no gas-tight contact, in too narrow a one it bends",
            fix="Order these holes with the tolerance of the connector's drawing",
            ids=("press-fit",),
            measured=Measured(value=ordered, unit="mm"),
            limit_value=limit,
            places=tuple(_place(board, part.footprint) for part in parts[:PLACES_SHOWN]),
        )


def _place(board: Board, row: int) -> Location:
    parts = board.footprints
    return Location(uuid=str(parts.uuid[row]), x_mm=float(parts.x_mm[row]), y_mm=float(parts.y_mm[row]))
