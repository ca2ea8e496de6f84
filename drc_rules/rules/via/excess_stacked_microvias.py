"""More microvias are stacked than the clause allows, on a drilled via, or half on the next one.

What it checks
--------------
Microvias of one net with the same centre on adjacent layers: the number of levels of the tallest stack. KiCad's
microvias count, and blind vias that end on the next layer. Then microvias whose hole meets that of a buried or drilled
blind via, and microvias of two levels nearer than half the sum of their pads that are not on one another.

Why it matters
--------------
Each level is a plated joint of its own. The bottom joints of a stack open in reflow, after the bare board has passed
its test. A drilled via expands more than a microvia does, and pulls at the joint on it.

How to fix
----------
Stagger the microvias: offset each level, and that next to a buried via, by half the sum of two pads.

What it cannot see
------------------
Centres within 0.02 mm count as stacked. The via under a stack is not counted, filled and capped or not. Copper fill,
voids and laminate expansion are in no file: a stack within the limit is not proven reliable.

Sources
-------
Fabs publish four build-ups at most, and half the sum of two pads between levels (ILFA). More than two stacked levels,
and stacks on buried vias, are where the trade has seen failures.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured, ObjectRows
from drc_rules.report.places import place_in
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.core.words import count
from stackup_lib.vias.build_ups import BuildUps, Stack, build_ups, microvias
from stackup_lib.vias.microvia_joints import Joints, on_drilled, staggered

PLACES_SHOWN = 20


ON_DRILLED, STAGGER = "microvia_on_drilled", "microvia_stagger"


def _built_up(ctx: Context, clause: Clause) -> tuple[BuildUps | Joints, ...]:
    if not len(microvias(ctx.board)):
        return ()
    if clause.kind not in (ON_DRILLED, STAGGER):
        return (build_ups(ctx.board),)
    joints = on_drilled(ctx.board) if clause.kind == ON_DRILLED else staggered(ctx.board)
    return () if joints is None else (joints,)


FORMULA = """
n ≤ n_max

n: levels of the tallest stack
n_max: maximum
"""


@rule(
    "VIA008",
    aliases=("tall-microvia-stack",),
    kinds=("microvia_stack", ON_DRILLED, STAGGER),
    over=_built_up,
    formula=FORMULA,
)
def excess_stacked_microvias(ctx: Context, clause: Clause, built: BuildUps | Joints) -> Iterator[DraftFinding]:
    """Yield one finding for all stacks that are too high, or for all microvias that meet another via in part."""
    if isinstance(built, BuildUps):
        yield from _tall(ctx, clause, built)
    elif len(built):
        yield _on_drilled(ctx, built) if clause.kind == ON_DRILLED else _half_on(ctx, built)


def _tall(ctx: Context, clause: Clause, built: BuildUps) -> Iterator[DraftFinding]:
    most = int(clause.limit.max or 0)
    tall = [stack for stack in built.stacks if stack.levels > most]
    ctx.shows("microvias", n=max((stack.levels for stack in built.stacks), default=1), n_max=most)
    if not tall:
        return
    names = [layer.name for layer in ctx.board.copper_layers]
    worst = tall[0]
    more = f", and {count(len(tall) - 1, 'more stack')}" if len(tall) > 1 else ""
    yield DraftFinding(
        title=f"{worst.levels} stacked microvias, maximum {most}: {names[worst.top]} to {names[worst.bottom]}{more}",
        why="The bottom joints of a stack open in reflow",
        fix=f"Stagger the microvias: stack at most {most} levels",
        ids=("microvia stacks",),
        measured=Measured(value=worst.levels, unit="levels"),
        limit_value=most,
        places=tuple(_place(ctx, stack) for stack in tall[:PLACES_SHOWN]),
    )


def _place(ctx: Context, stack: Stack) -> Location:
    return Location(net=ctx.board.nets[stack.net] or None, x_mm=stack.x_mm, y_mm=stack.y_mm)


def _on_drilled(ctx: Context, joints: Joints) -> DraftFinding:
    on = "a drilled via" if len(joints) == 1 else "drilled vias"
    return DraftFinding(
        title=f"{_counted(joints)} on {on}: {_layers(ctx, joints)}",
        why="The drilled via expands more than the microvia, and pulls at the joint between them in reflow",
        fix="Move the microvia aside, by half the sum of both pads",
        ids=("microvias on drilled vias",),
        measured=Measured(value=_counted(joints)),
        places=_places(ctx, joints),
        every=ObjectRows(vias=_rows(joints)),
    )


def _half_on(ctx: Context, joints: Joints) -> DraftFinding:
    worst = int(np.argmin(joints.apart_mm - joints.pads_mm))
    apart, least = float(joints.apart_mm[worst]), float(joints.pads_mm[worst])
    return DraftFinding(
        title=(
            f"microvias {apart:.3g} mm from those of the next level, minimum {least:.3g} mm (half the sum of pads): "
            f"{count(len(joints), 'pair')}, {_layers(ctx, joints)}"
        ),
        why="The upper via ends partly on the lower one, where the copper is uneven",
        fix="Put them on one another, or apart by half the sum of their pads",
        ids=("staggered microvias",),
        measured=Measured(value=f"{apart:.3g} mm"),
        limit_value=round(least, 4),
        places=_places(ctx, joints),
        every=ObjectRows(vias=_rows(joints)),
    )


def _counted(joints: Joints) -> str:
    return count(len(joints), "microvia")


def _layers(ctx: Context, joints: Joints) -> str:
    names = [ctx.board.copper_layers[layer].name for layer in sorted(set(joints.layer.tolist()))]
    return f"on {', '.join(names)}"


def _rows(joints: Joints) -> tuple[int, ...]:
    both: Ints = np.unique(np.concatenate([joints.above, joints.below]))
    return tuple(both.tolist())


def _places(ctx: Context, joints: Joints) -> tuple[Location, ...]:
    order = np.argsort(joints.apart_mm - joints.pads_mm, kind="stable")[:PLACES_SHOWN]
    layers = [ctx.board.copper_layers[layer].name for layer in joints.layer[order].tolist()]
    rows = zip(joints.above[order].tolist(), layers, strict=True)
    return tuple(place_in(ctx.board, ctx.board.vias, row, layer) for row, layer in rows)
