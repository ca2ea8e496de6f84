"""Cores and prepregs are in an order that no press can laminate.

What it checks
--------------
Whether prepreg lies between every two cores, and whether there is a core at all. Foil builds (prepreg outside), cores
outside with prepreg between them, and HDI builds (prepreg on prepreg around a core) are all legal.

Why it matters
--------------
Only prepreg bonds: copper between two cores is held by nothing. Etched inner copper lies on a core, so a board of
prepregs alone cannot be made. The fab will build something else, with other heights; so lines that rest on these rows
are not judged. With two layers there is nothing to confuse: a remark only, and lines are judged.

How to fix
----------
Enter the fab's stackup under File > Board Setup > Physical Stackup, with the type of each row; check the heights too,
they may belong to the neighbouring row.

What it cannot see
------------------
Types that are swapped but possible (core, prepreg, core for prepreg, core, prepreg) look right unless the prepreg is
too thick for a sheet: thick-prepreg says so. KiCad has one type for all sheets of a row, so a row of unlike sheets may
hold core and prepreg, and passes for either. PTFE and LCP boards may be fusion bonded, core on core: they are reported;
so are lists of fabs that call every inner dielectric a core.

Sources
-------
How multilayer boards are pressed: etched cores and foils, bonded by prepreg.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.row_faults import IN_KICAD, unstackable
from drc_rules.report.model import Measured, Place
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board


@rule("STK016", kinds=("stackup_can_be_pressed",), over=whole_board)
def unstackable_rows(ctx: Context, clause: Clause, board: Board) -> Iterator[Draft]:
    """Yield one finding per group of rows that cannot be pressed."""
    for fault in unstackable(ctx.stackup()):
        rows = " and ".join(fault.rows) if len(fault.rows) <= 2 else f"{fault.rows[0]} to {fault.rows[-1]}"
        yield Draft(
            title=f"{rows}: {fault.what}",
            why=(
                "the fab will build it differently, so no impedance that rests on these rows is judged"
                if fault.is_certain
                else "the fab builds it from one core; lines are judged with the height as stated"
            ),
            fix=f"{IN_KICAD}: correct the types (core or prepreg) of {rows}, and check their heights",
            ids=fault.rows,
            measured=Measured(value=f"{len(fault.rows)} rows" if len(fault.rows) > 1 else "1 row"),
            severity=None if fault.is_certain else Severity.INFO,
            fails=fault.is_certain,
            places=tuple(Place(layer=row) for row in fault.rows),
        )
