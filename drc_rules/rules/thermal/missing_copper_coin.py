"""A very high-power component has no copper coin below it, where such boards often have one.

What it checks
--------------
Whether `coin = true` or `false` is declared for every `[[hot_part]]` from the clause's power on. KiCad has no object
for a copper coin pressed or bonded into the board.

Why it matters
--------------
A coin conducts heat straight through the board, some ten times better than the densest via array of its size. It has to
be in the fab order, and takes space on every layer.

How to fix
----------
Change nothing where the lid is cooled well enough: the documents say "often", not "always". This is information.

What it cannot see
------------------
Declarations are believed: KiCad files hold no coins, nor the room for them. Power is the declared TDP; undeclared parts
are not checked. Whether a coin is needed depends on lid, cold plate and surroundings, which are not known.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.thermal.hot_parts import HotPartOnBoard, give, hot_parts_of_power
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact


@rule("THM005", aliases=("missing-coin",), kinds=("copper_coin",), over=hot_parts_of_power)
def missing_copper_coin(_ctx: Context, clause: Clause, part: HotPartOnBoard) -> Iterator[DraftFinding]:
    """Yield one finding per part that is declared to have no coin."""
    if part.declared.coin is None:
        line = 'coin = "?"  # true with an embedded copper coin under it, else false'
        raise MissingFact(f"copper coin under {part.reference}", give(part, line))
    if not part.declared.coin:
        yield DraftFinding(
            title=f"{part.reference} ({part.declared.power_w:g} W) has no embedded copper coin, "
            f"usual from {clause.limit.min:g} W",
            why="A coin conducts heat through the board some ten times better than the densest via array",
            fix="Cool its lid well enough, or order a coin below it",
            ids=(part.reference,),
            measured=Measured(value="no coin"),
            limit_value="coin",
            places=(part.place(),),
        )
