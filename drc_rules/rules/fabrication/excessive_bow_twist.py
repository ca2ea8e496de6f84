"""The board may bow or twist more than the workload allows.

What it checks
--------------
Bow and twist are the fab's responsibility: what the order specifies (`[fab]` `bow_twist_pct`) is compared with the
clause. Copper alone cannot prove flatness, but it can show one cause: from thickness, copper share and position of
every layer, laminate theory gives the bow over the longer side as the board cools. Where even the lower bound exceeds
the limit, the board fails; where the nominal does, it is not verifiable; where only the upper bound does, that is a
remark. Without a declared value flatness is not verifiable, and the question says what the copper would do.

Why it matters
--------------
A cold plate touches, and balls solder, only where the board is flat: a bow of a millimetre under a large package opens
joints at its corners.

How to fix
----------
Specify bow and twist in the fab notes; mirror copper about the middle; fill the emptier of two mirrored layers.

What it cannot see
------------------
Only unequal copper in whole layers is computed. The usual causes are not: crowded copper, twist, uneven prepregs,
crossed glass, lamination, reflow, heavy parts. A declared value passes because it is ordered; flatness under one
package is not judged.

Sources
-------
0.75 % is IPC-6012's for surface-mount boards. Laminate theory with equal strain both ways; copper 110-130 GPa and
17.0-17.6 ppm, laminate 18-26 GPa and 11-20 ppm, cooled by 105-175 degrees. Since laminates may expand as copper does,
the lower bound is often zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_limits import your_fab
from drc_rules.analysis.fabrication.fab_size import sides_mm
from drc_rules.facts.context import DECLARE_STACKUP, FILL_ZONES, Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board, LayerKind
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.mechanical.bow import BowSheet, copper_bow_pct

FIX = "Mirror copper about the middle, or fill the emptier of two mirrored layers"
WHY = "Cold plates touch, and balls solder, only where the board is flat"


FORMULA = """
b ≤ b_max

b: bow over the longer side [%]
b_max: maximum [%]
"""


@rule("FAB010", aliases=("unflat-board",), kinds=("flatness",), over=whole_board, formula=FORMULA, reads_fills=True)
def excessive_bow_twist(ctx: Context, clause: Clause, _board: Board) -> Iterator[DraftFinding]:
    """Yield one finding for what is ordered, and one for what the copper does."""
    limit = clause.limit.max or 0.0
    ordered = your_fab(ctx).bow_twist_pct
    bow = _bow(ctx)
    if ordered is not None:
        ctx.shows("as ordered", b=ordered, b_max=limit)
    if bow is not None:
        ctx.shows("from unequal copper", b=bow, b_max=limit)
    if ordered is not None and ordered > limit:
        yield _draft(f"bow and twist {ordered:g} % ordered", ordered, limit, "order", "Order a flatter board")
    if bow is not None and bow.high > limit:
        standing = bow.against(maximum=limit)
        sure = standing is Standing.BEYOND
        if standing is Standing.UNSURE and (ordered is None or ordered <= limit):
            raise MissingFact(f"bow below {limit:g} % ({_in_words(bow)})", UNSURE_HOW)
        if sure or ordered is not None:
            ctx.rests_on(Confidence.LOW)
        range_ = f"{bow.low:.2f} to {bow.high:.2f} %" if bow.low else f"up to {bow.high:.2f} %"
        yield _draft(
            f"bow {range_} of the longer side from unequal copper",
            bow.nominal,
            limit,
            "copper",
            FIX,
            fails=sure,
        )
        if sure:
            return
    if ordered is None:
        raise MissingFact(f"bow and twist of the order ({_in_words(bow)})", HOW)


UNSURE_HOW = f"{FIX}. The laminate's expansion cannot be declared"
HOW = '[fab]\nbow_twist_pct = "?"  # what the order specifies; IPC-6012 allows 0.75 for surface mount'


def _draft(what: str, value: float, limit: float, key: str, fix: str, *, fails: bool = True) -> DraftFinding:
    return DraftFinding(
        title=f"{what}, maximum {limit:g} %",
        why=WHY,
        fix=fix,
        ids=(key,),
        measured=Measured(value=round(value, 3), unit="%"),
        limit_value=limit,
        fails=fails,
    )


def _in_words(bow: Interval | None) -> str:
    if bow is None:
        return "its copper alone cannot be estimated"
    return f"unequal copper alone: maximum {bow.high:.2f} %, without lamination and glass weave"


def _bow(ctx: Context) -> Interval | None:
    """Return the bow that the copper gives, None where stackup, fills or outline are not known."""
    try:
        return copper_bow_pct(_sheets(ctx), sides_mm(ctx)[1])
    except MissingFact:
        return None


def _sheets(ctx: Context) -> list[BowSheet]:
    if len(unfilled_zones(ctx.board, range(ctx.board.layer_count))):
        raise MissingFact("the zone fills of every zone", FILL_ZONES)
    shares = {use.name: use.copper_share for use in ctx.filled_uses()}
    found = []
    for row in ctx.stackup().layers:
        if row.kind is not LayerKind.COPPER and not row.is_dielectric:
            continue
        if not row.thickness_mm or (row.kind is LayerKind.COPPER and row.name not in shares):
            raise MissingFact("the thickness of every stackup layer", DECLARE_STACKUP)
        found.append(BowSheet(row.thickness_mm, shares[row.name] if row.kind is LayerKind.COPPER else None))
    if not found:
        raise MissingFact("the stackup", DECLARE_STACKUP)
    return found
