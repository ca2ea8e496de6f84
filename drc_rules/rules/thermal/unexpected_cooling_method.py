"""A high-power component is not cooled as its workload requires.

What it checks
--------------
The declared `cooling` of every `[[hot_part]]` from the clause's power (`power_w`) on. No board file holds it, so what
is not declared is not verifiable.

Why it matters
--------------
At 700 W and more air needs heat sinks several rack units high; lower servers need a cold plate. The cooling decides the
board's flatness, its keep-outs, the holes of the cold plate and the height of the parts around.

How to fix
----------
Plan for the cooling that the clause names. Where the part is cooled otherwise for a reason, suppress this finding with
that reason.

What it cannot see
------------------
Only the declared word is compared: whether a heatsink is large enough or a cold plate fits is not computed. Holes,
keep-outs and heights are not checked. Parts below the clause's power pass, and several are not added up.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from drc_rules.analysis.thermal.hot_parts import HotPartOnBoard, give, hot_parts_of_power
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_thermal import Cooling
from stackup_lib.core.facts import MissingFact


def _coolings() -> tuple[str, ...]:
    return get_args(Cooling)


@rule("THM004", aliases=("weak-cooling",), kinds=("cooling",), over=hot_parts_of_power, choices=_coolings)
def unexpected_cooling_method(_ctx: Context, clause: Clause, part: HotPartOnBoard) -> Iterator[DraftFinding]:
    """Yield one finding per part whose declared cooling is none of the clause's."""
    cooling = part.declared.cooling
    if cooling is None:
        line = 'cooling = "?"  # cold plate, immersion, heatsink, air, board'
        raise MissingFact(f"cooling of {part.reference}", give(part, line))
    if cooling not in clause.limit.choices:
        wanted = " or ".join(clause.limit.choices)
        yield DraftFinding(
            title=f"{part.reference} ({part.declared.power_w:g} W) is cooled by {cooling}, expected: {wanted}",
            why="The cooling decides the flatness, keep-outs and holes of the board",
            fix=f"Plan for {wanted}",
            ids=(part.reference,),
            measured=Measured(value=cooling),
            limit_value=wanted,
            places=(part.place(),),
        )
