"""Copper layers are empty: the board could have fewer.

What it checks
--------------
Layers without a track and without filled copper, where the workload requires fewer layers than the board has. The
finding names the even number of layers that would remain, at least the workload's minimum. Layers with an unfilled
zone, and unrouted boards, are exempt.

Why it matters
--------------
Every pair of layers is another core, another prepreg, and deeper drilling; the price is about in proportion to their
number.

How to fix
----------
Remove the empty layers in Board Setup, or fill them with ground where they balance the stackup.

What it cannot see
------------------
Empty means without tracks and fills: a layer with only copper graphics, such as a coil or an antenna, is reported. One
short track makes a layer used. Whether fewer layers still give the impedances and symmetry is not tried.

Sources
-------
The minimum number of layers is in the workload's clauses. It is information, never a requirement.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.over_design._loss_margin import demands
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class LayerNeed:
    """The empty layers, and how many layers would do."""

    empty: tuple[str, ...]
    has: int
    would_do: int


def _need(ctx: Context, _clause: Clause) -> Iterator[LayerNeed]:
    clauses, board = demands(ctx), ctx.board
    if clauses is None or not len(board.tracks):
        return
    try:
        uses = ctx.filled_uses()
    except MissingFact:
        return
    empty = tuple(
        use.name
        for layer, use in enumerate(uses)
        if 0 < layer < board.layer_count - 1 and not use.fill_mm2 and not use.track_mm and not _waits(ctx, layer)
    )
    asked = max((int(c.limit.min) for c in clauses if c.kind == "layer_count" and c.limit.min), default=2)
    left = board.layer_count - len(empty)
    yield LayerNeed(empty, board.layer_count, max(left + left % 2, asked + asked % 2))


def _waits(ctx: Context, layer: int) -> bool:
    """Tell whether a zone is drawn on a layer that is not filled yet."""
    return len(unfilled_zones(ctx.board, [layer])) > 0


FORMULA = """
n_need ≥ n

n_need: sufficient layers, at least the workload's minimum
n: layers of the board
"""


@rule("OVR003", kinds=("layers_needed",), over=_need, formula=FORMULA, reads_fills=True)
def unused_layers(ctx: Context, _clause: Clause, need: LayerNeed) -> Iterator[DraftFinding]:
    """Yield one finding where layers hold nothing and fewer would do."""
    ctx.shows("the board", n_need=need.would_do, n=need.has)
    if not need.empty or need.would_do >= need.has:
        return
    saved = need.has - need.would_do
    hold = "holds" if len(need.empty) == 1 else "hold"
    yield DraftFinding(
        title=f"{', '.join(need.empty)} {hold} no copper: {need.would_do} layers are enough instead of {need.has}",
        why=f"{saved} of {need.has} layers are about {100 * saved / need.has:.0f} % of the board's price (judgement)",
        fix="Remove them in Board Setup, or fill them with ground where they balance the stackup",
        ids=need.empty,
        measured=Measured(value=need.has, unit="layers"),
        limit_value=need.would_do,
        places=tuple(Location(layer=name) for name in need.empty),
    )
