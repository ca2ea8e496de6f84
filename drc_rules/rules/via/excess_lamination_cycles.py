"""The vias need more lamination cycles than fabs recommend.

What it checks
--------------
The fewest laminations in sequence that the spans of blind, buried and microvias need: each set of drilled vias that
ends inside the board is a subassembly of its own, pressed before the next; each level of microvias adds one.

Why it matters
--------------
Every press shrinks and shifts the inner layers: registration, yield, delivery and price suffer. The laminate ages with
each, and barrels drilled early see every later press.

How to fix
----------
Use fewer kinds of spans: through vias with backdrill in place of buried ones, microvias on fewer levels.

What it cannot see
------------------
The fab's real sequence, which may need more laminations; how many it accepts. Spans that cross have no sequence: that
is another finding.

Sources
-------
Two makers of HDI boards: one press per build-up, three at most recommended. Any-layer boards take more, from makers
that specialise in them. Hence information.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.places import place_in
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.build_ups import BuildUps, build_ups
from stackup_lib.vias.via_spans import Span, spans

PLACES_SHOWN = 20

FORMULA = """
n ≤ n_max

n: laminations in sequence that the spans of the vias need
n_max: maximum
"""


def _with_spans(ctx: Context, _clause: Clause) -> tuple[BuildUps, ...]:
    """The build-up of a board with vias that end inside it."""
    return (build_ups(ctx.board),) if spans(ctx.board) else ()


@rule("VIA017", kinds=("lamination_cycles",), over=_with_spans, formula=FORMULA)
def excess_lamination_cycles(ctx: Context, clause: Clause, built: BuildUps) -> Iterator[DraftFinding]:
    """Yield one finding when the spans need more laminations than the clause allows."""
    if built.lamination_cycles is None:
        raise MissingFact("the number of lamination cycles: the spans of the vias cross", "correct the via spans first")
    most = int(clause.limit.max or 0)
    ctx.shows("the board", n=built.lamination_cycles, n_max=most)
    if built.lamination_cycles <= most:
        return
    names = [layer.name for layer in ctx.board.copper_layers]
    every = spans(ctx.board)
    words = ", ".join(f"{names[one.top]} to {names[one.bottom]}" for one in every)
    yield DraftFinding(
        title=f"{built.lamination_cycles} lamination cycles, recommended maximum {most}: vias {words}",
        why="Each press shifts the inner layers and ages the laminate: registration, yield and price suffer",
        fix="Use fewer kinds of via spans, e.g. backdrilled through vias in place of buried ones; or ask the fab",
        ids=("lamination cycles",),
        measured=Measured(value=built.lamination_cycles, unit="laminations"),
        limit_value=most,
        places=tuple(_place(ctx, one) for one in every[:PLACES_SHOWN]),
    )


def _place(ctx: Context, span: Span) -> Location:
    """The first via of a span."""
    vias, board = ctx.board.vias, ctx.board
    row = int(np.flatnonzero((vias.start_layer == span.top) & (vias.end_layer == span.bottom))[0])
    return place_in(board, vias, row)
