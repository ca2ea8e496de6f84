"""Cores and prepregs are in an order that cannot be laminated.

What it checks
--------------
Whether prepreg is between every two cores, and whether there is a core at all. Foil builds (prepreg outside), core
builds (cores outside with prepreg between them), and HDI builds (prepreg on prepreg around a core) all pass.

Why it matters
--------------
Only prepreg bonds: nothing holds copper between two cores. Etched inner copper needs a core, so a board of prepregs
alone cannot be made. The fab will build something else, with other heights; so lines that depend on these rows are not
judged. With two layers the build is clear: a remark only, and lines are judged.

How to fix
----------
Enter the fab's stackup under File > Board Setup > Physical Stackup, with the type of each row. Check the heights too:
they may belong to the adjacent row.

What it cannot see
------------------
Swapped types that are possible pass, unless the prepreg is too thick (`thick-prepreg`). A row of unlike sheets may hold
core and prepreg, and passes. Fusion-bonded PTFE and LCP boards, core on core, are reported.

Sources
-------
Lamination of multilayer boards: etched cores and foils, bonded by prepreg.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.row_faults import IN_KICAD, unstackable
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("STK016", kinds=("stackup_can_be_pressed",), over=whole_board, by_stackup="stated")
def unstackable_rows(ctx: Context, _clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Yield one finding per group of rows that cannot be pressed."""
    for fault in unstackable(ctx.stackup()):
        rows = " and ".join(fault.rows) if len(fault.rows) <= 2 else f"{fault.rows[0]} to {fault.rows[-1]}"
        yield DraftFinding(
            title=f"{rows}: {fault.what}",
            why=(
                "The fab will build it differently, so lines next to these rows are not judged"
                if fault.is_certain
                else "The fab builds it from one core; lines are judged with the height as stated"
            ),
            fix=f"Correct the types (core or prepreg) of {rows} and check their heights {IN_KICAD}",
            ids=fault.rows,
            measured=Measured(value=f"{len(fault.rows)} rows" if len(fault.rows) > 1 else "1 row"),
            severity=None if fault.is_certain else Severity.INFO,
            fails=fault.is_certain,
            places=tuple(Location(layer=row) for row in fault.rows),
        )
