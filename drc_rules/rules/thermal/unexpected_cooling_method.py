"""A hot part is cooled in another way than its workload asks for.

What it checks
--------------
The declared `cooling` of every `[[hot_part]]` from the clause's power (`power_w`) on. No board file holds it, so what
is not declared is not verifiable.

Why it matters
--------------
At 700 W and more, air no longer takes the heat off one part in a server's height; which cooling it is decides on the
board's flatness, its keep-outs, the holes of the cold plate and the height of the parts around.

How to fix
----------
Plan for the cooling that the clause names; or, where the part is cooled otherwise for a reason, suppress this with it.

What it cannot see
------------------
The word is compared, nothing else: whether a heatsink is large enough, a cold plate touches or the air moves is
computed nowhere, so that "cold plate" passes with a plate that does not fit. The holes, keep-outs and heights that the
cooling needs are not looked for on the board. A part below the clause's power passes in any cooling, and several such
parts side by side are not added up.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.thermal.hot_parts import HotPartOnBoard, give, hot_parts_of_power
from drc_rules.facts.context import Context
from drc_rules.report.model import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.core.facts import MissingFact


@rule("THM004", aliases=("weak-cooling",), kinds=("cooling",), over=hot_parts_of_power)
def unexpected_cooling_method(ctx: Context, clause: Clause, part: HotPartOnBoard) -> Iterator[Draft]:
    """Yield one finding per part whose declared cooling is none of the clause's."""
    cooling = part.declared.cooling
    if cooling is None:
        line = 'cooling = "?"  # cold plate, immersion, heatsink, air, board'
        raise MissingFact(f"how {part.reference} is cooled", give(part, line))
    if cooling not in clause.limit.choices:
        wanted = " or ".join(clause.limit.choices)
        yield Draft(
            title=f"{part.reference} ({part.declared.power_w:g} W) is cooled by {cooling}; {clause.title}",
            why="the cooling decides on flatness, keep-outs and holes of the board",
            fix=f"plan for {wanted}",
            ids=(part.reference,),
            measured=Measured(value=cooling),
            limit_value=wanted,
            places=(part.place(),),
        )
