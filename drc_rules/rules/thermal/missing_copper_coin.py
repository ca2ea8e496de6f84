"""A very hot part has no copper coin below it, where such boards often have one.

What it checks
--------------
Whether `coin = true` or `false` is declared for every `[[hot_part]]` from the clause's power on. KiCad has no object
for a coin pressed or bonded into the board.

Why it matters
--------------
A coin leads heat straight through the board, some ten times better than the densest via array of its size. It has to
be in the fab's order, and takes its place on every layer.

How to fix
----------
Nothing, where the lid is cooled well enough: the documents say "often", not "always". This is information.

What it cannot see
------------------
It repeats what is declared: a coin that the order leaves out, or one that no pad, cut-out or mask opening makes room
for, is not noticed, because nothing of it is in the board file. Power is the declared TDP; parts that nobody declares
are not looked at, and none is inferred from its size or its name. Whether a coin is needed depends on the lid, the cold
plate and the board around it, of which this rule knows nothing.

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


@rule("THM005", aliases=("missing-coin",), kinds=("copper_coin",), over=hot_parts_of_power)
def missing_copper_coin(ctx: Context, clause: Clause, part: HotPartOnBoard) -> Iterator[Draft]:
    """Yield one finding per part that is declared to have no coin."""
    if part.declared.coin is None:
        line = 'coin = "?"  # true where a copper coin lies under it, else false'
        raise MissingFact(f"whether a copper coin lies under {part.reference}", give(part, line))
    if not part.declared.coin:
        yield Draft(
            title=f"{part.reference} ({part.declared.power_w:g} W) lies on no copper coin; {clause.title}",
            why="a coin leads heat through the board some ten times better than the densest via array",
            fix="nothing, where its lid is cooled well enough; else order a coin below it",
            ids=(part.reference,),
            measured=Measured(value="no coin"),
            limit_value="coin",
            places=(part.place(),),
        )
