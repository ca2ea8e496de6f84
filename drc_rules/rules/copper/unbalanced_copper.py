"""Two mirrored layers have very different amounts of copper.

What it checks
--------------
Filled copper, tracks and graphics of each layer, as a share of the board area, against those of its mirror; on the
outer layers pads and via lands too. Graphics, pads and lands count outside fills of their own net. Where a zone of the
two layers is not filled, or no outline is drawn, it is not verifiable.

Why it matters
--------------
Copper and resin shrink differently: a plane on one side and an almost empty layer on the other bow the board, and etch
and laminate differently.

How to fix
----------
Mirror planes against planes and signal layers against signal layers, or fill the empty layer with ground.

What it cannot see
------------------
One share per layer hides local differences: layers full on opposite halves pass and bow. A board with an open outline
is its bounding box. Custom pads count by their anchor, text not at all. Copper thieving is unknown.

Sources
-------
The limit is engineering judgement, so this is information: fabs speak of 20 to 25 % without a common number.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_size import sides_mm
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.layer_roles import LayerUse
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.cuts.board_area import board_area_mm2
from stackup_lib.copper.pad_copper import graphics_outside_fills_mm2, pads_outside_fills_mm2
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

MULTILAYER = 4
"""A two-layer board has one core, which balances itself; parts on one side and ground on the other are ordinary."""


@record
class MirroredLayers:
    """Two layers at the same distance from the middle."""

    upper: LayerUse
    lower: LayerUse
    index: tuple[int, int]


def _pairs(ctx: Context, _clause: Clause) -> Iterator[MirroredLayers]:
    uses = ctx.filled_uses() if ctx.board.layer_count >= MULTILAYER else ()
    half = len(uses) // 2
    for index in range(half):
        mirror = len(uses) - 1 - index
        yield MirroredLayers(uses[index], uses[mirror], (index, mirror))


FORMULA = """
d = |a - b|
d ≤ d_max

a: copper of the upper layer, of the board's area [%]
b: copper of its mirror [%]
d: their difference [%]
d_max: maximum [%]
"""


@rule("CUP003", kinds=("copper_balance",), over=_pairs, formula=FORMULA, reads_fills=True)
def unbalanced_copper(ctx: Context, clause: Clause, pair: MirroredLayers) -> Iterator[DraftFinding]:
    """Yield one finding per pair that differs by more than the clause allows."""
    sides_mm(ctx)  # without an outline there is nothing to be a share of
    if len(unfilled_zones(ctx.board, pair.index)):
        raise MissingFact(f"the zone fills on {pair.upper.name} and {pair.lower.name}", FILL_ZONES)
    upper, lower = (
        100 * _share(ctx, use, layer) for use, layer in zip((pair.upper, pair.lower), pair.index, strict=True)
    )
    allowed = clause.limit.max or 100.0
    ctx.shows(f"{pair.upper.name} and {pair.lower.name}", a=upper, b=lower, d=abs(upper - lower), d_max=allowed)
    if abs(upper - lower) > allowed:
        yield DraftFinding(
            title=f"copper balance {pair.upper.name} {upper:.0f} %, its mirror {pair.lower.name} {lower:.0f} %, "
            f"maximum difference {allowed:g} %",
            why="Unequal copper on both sides bows the board",
            fix="Mirror planes against planes, or fill the emptier layer with ground",
            ids=(pair.upper.name, pair.lower.name),
            measured=Measured(value=round(abs(upper - lower), 1), unit="%"),
            limit_value=allowed,
            places=(Location(layer=pair.upper.name), Location(layer=pair.lower.name)),
        )


def _share(ctx: Context, use: LayerUse, layer: int) -> float:
    """Copper of a layer as a share of the board's area."""
    area = board_area_mm2(ctx.board)
    if not area:
        return use.copper_share
    more = graphics_outside_fills_mm2(ctx.copper, layer)
    if layer in (0, ctx.board.layer_count - 1):
        more += pads_outside_fills_mm2(ctx.copper, layer)
    return min(use.copper_share + more / area, 1.0)
