"""More microvias are stacked than the clause allows.

What it checks
--------------
Microvias of one net with the same centre on adjacent layers: the number of levels of the tallest stack. KiCad's
microvias count, and blind vias that end on the next layer.

Why it matters
--------------
Each level is a plated joint of its own. The bottom joints of a stack open in reflow, after the bare board has passed
its test.

How to fix
----------
Stagger the microvias: offset each level by half the sum of two pads. Or continue with a buried via in the core.

What it cannot see
------------------
Only centres within 0.02 mm count as stacked; microvias that overlap partly pass. The via under a stack is not counted.
Copper fill, voids and laminate expansion are in no file: a stack within the limit is not proven reliable.

Sources
-------
Fabs publish four build-ups at most (ILFA); more than two stacked levels is where the trade has seen failures.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.model import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.vias.build_ups import BuildUps, Stack, build_ups, microvias

PLACES_SHOWN = 20


def _built_up(ctx: Context, _clause: Clause) -> tuple[BuildUps, ...]:
    return (build_ups(ctx.board),) if len(microvias(ctx.board)) else ()


FORMULA = """
n ≤ n_max

n: levels of the tallest stack
n_max: maximum
"""


@rule("VIA008", aliases=("tall-microvia-stack",), kinds=("microvia_stack",), over=_built_up, formula=FORMULA)
def excess_stacked_microvias(ctx: Context, clause: Clause, built: BuildUps) -> Iterator[DraftFinding]:
    """Yield one finding for all stacks that are too high."""
    most = int(clause.limit.max or 0)
    tall = [stack for stack in built.stacks if stack.levels > most]
    ctx.shows("microvias", n=max((stack.levels for stack in built.stacks), default=1), n_max=most)
    if not tall:
        return
    names = [layer.name for layer in ctx.board.copper_layers]
    worst = tall[0]
    count = f", and {len(tall) - 1} more stack{'s' if len(tall) > 2 else ''}" if len(tall) > 1 else ""
    yield DraftFinding(
        title=f"{worst.levels} stacked microvias, maximum {most}: {names[worst.top]} to {names[worst.bottom]}{count}",
        why="The bottom joints of a stack open in reflow",
        fix=f"Stagger the microvias: stack at most {most} levels",
        ids=("microvia stacks",),
        measured=Measured(value=worst.levels, unit="levels"),
        limit_value=most,
        places=tuple(_place(ctx, stack) for stack in tall[:PLACES_SHOWN]),
    )


def _place(ctx: Context, stack: Stack) -> Location:
    layer = ctx.board.copper_layers[stack.top].name
    return Location(layer=layer, net=ctx.board.nets[stack.net] or None, x_mm=stack.x_mm, y_mm=stack.y_mm)
