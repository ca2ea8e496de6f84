"""The impedance tolerance ordered from the fab is wider than the interface allows.

What it checks
--------------
The ordered tolerance: `declared.impedance_tolerance_pct`, or a text variable of that name. KiCad's "impedance
controlled" flag alone says that lines are controlled, not how tightly. `off-target-impedance` judges what was routed.

Why it matters
--------------
Without a number on the order the fab's standard applies, in most price lists 10 %. A line that is 10 % off reflects 5 %
of the signal at either end, and more where two lines meet that are off in opposite directions.

How to fix
----------
Put the tolerance into the fab notes, and the same number into `stackwright.toml`.

What it cannot see
------------------
One declared number stands for the whole board: whether the order repeats it, and whether the fab can hold it in this
stackup, is not known. KiCad's flag counts as 10 % only where the interface allows that much.

Sources
-------
Each clause names document, table and row.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.core.facts import Confidence, Fact, Origin

FAB_STANDARD_PCT = 10.0
"""What fabs hold on a board that is only marked impedance controlled (capability lists: standard +-10 %)."""


def _nets(ctx: Context, clause: Clause) -> tuple[Ints, ...]:
    nets = ctx.nets_of_clause(clause)
    rest_on_assignment(ctx, nets)
    return (nets,)


def _asked(ctx: Context, most_pct: float) -> Fact[float]:
    """The declared tolerance; KiCad's flag alone stands for the fabs' standard where that is enough."""
    declared = ctx.declarations.impedance_tolerance_pct
    stackup = ctx.board.stackup
    if declared.value is not None or most_pct < FAB_STANDARD_PCT or not (stackup and stackup.impedance_controlled):
        return declared
    return Fact[float](
        name=declared.name,
        value=FAB_STANDARD_PCT,
        origin=Origin.INFERRED,
        source="the board is marked impedance controlled",
        confidence=Confidence.MEDIUM,
    )


FORMULA = """
p ≤ p_max

p: ordered tolerance, plus and minus [%]
p_max: maximum of the interface [%]
"""


@rule("IMP001", kinds=("impedance_tolerance",), over=_nets, formula=FORMULA)
def loose_impedance_tolerance(ctx: Context, clause: Clause, nets: Ints) -> Iterator[DraftFinding]:
    """Yield one finding when the required tolerance is wider than the clause's."""
    most = clause.limit.max or 0.0
    asked = ctx.need(_asked(ctx, most))
    ctx.shows("the fab notes", p=asked, p_max=most)
    if asked > most:
        reflected_pct = 100 * asked / (200 - asked)
        yield DraftFinding(
            title=f"impedance tolerance +-{asked:g} % ordered, maximum +-{most:g} % ({clause.interface})",
            why=f"A line that is {asked:g} % off reflects {reflected_pct:.0f} % of the signal at either end",
            fix=f"Specify +-{most:g} % in the fab notes",
            ids=("impedance tolerance",),
            measured=Measured(value=asked, unit="%"),
            limit_value=most,
            inferred=not any(ctx.assignment.is_declared(int(net)) for net in nets),
        )
