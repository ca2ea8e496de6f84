"""The board may bow or twist more than the workload allows.

What it checks
--------------
Bow and twist are the fab's to keep: what the order holds it to (`[fab]` `bow_twist_pct`) is held against the clause.
Copper alone cannot prove flatness. It can show one cause: from thickness, share of copper and place of every layer,
laminate theory gives the bow over the longer side as the board cools. Where even the lowest figure of that interval
exceeds the limit, the board fails; where the nominal does, it is not verifiable; where only the highest does, that is a
remark. Without a declared figure flatness is not verifiable, and the question says what the copper would do.

Why it matters
--------------
A cold plate touches where the board is flat, and balls solder where they meet their pads: a bow of a millimetre under a
large package opens joints at its corners.

How to fix
----------
Order a bow and twist in the fab notes; mirror copper about the middle, fill the emptier of two mirrored layers.

What it cannot see
------------------
Only one cause is computed, unequal copper in whole layers: where copper crowds on one side of a layer, twist, uneven
plies, glass styles crossed, the press, the reflow's own heat and heavy parts are not in it, and they are the usual
causes. The layers are taken to expand alike in both directions and to yield never; pads and copper graphics are not
counted as copper, and the bounding box stands for the board. A declared figure passes because it is ordered: nobody has
measured the board, and flatness under one large package is not that of the whole.

Sources
-------
0.75 % is IPC-6012's for surface-mount boards. Laminate theory with equal strain both ways; copper 110-130 GPa and
17.0-17.6 ppm, laminate 18-26 GPa and 11-20 ppm, cooled by 105-175 degrees. Since laminates may expand as copper does,
the least is often nothing. Press, cure, weave, yielding and uneven copper within a layer are not in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_limits import own_fab
from drc_rules.analysis.fabrication.fab_size import sides_mm
from drc_rules.facts.context import DECLARE_STACKUP, FILL_ZONES, Context
from drc_rules.report.model import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board, LayerKind
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.mechanical.bow import BowSheet, copper_bow_pct

FIX = "mirror copper about the middle, or fill the emptier of two mirrored layers"
WHY = "cold plates touch and balls solder where the board is flat"


FORMULA = """
b ≤ b_max

b: bow, of the longer side [%]
b_max: what is allowed [%]
"""


@rule("FAB010", aliases=("unflat-board",), kinds=("flatness",), over=whole_board, formula=FORMULA, reads_fills=True)
def excessive_bow_twist(ctx: Context, clause: Clause, _board: Board) -> Iterator[Draft]:
    """Yield one finding for what is ordered, and one for what the copper does."""
    limit = clause.limit.max or 0.0
    ordered = own_fab(ctx).bow_twist_pct
    bow = _bow(ctx)
    if ordered is not None:
        ctx.shows("what the fab is held to", b=ordered, b_max=limit)
    if bow is not None:
        ctx.shows("what unequal copper does", b=bow, b_max=limit)
    if ordered is not None and ordered > limit:
        yield _draft(
            f"the fab is held to a bow and twist of {ordered:g} %", ordered, limit, "order", "order a flatter board"
        )
    if bow is not None and bow.high > limit:
        standing = bow.against(maximum=limit)
        sure = standing is Standing.BEYOND
        if standing is Standing.UNSURE and (ordered is None or ordered <= limit):
            raise MissingFact(f"whether the board stays below {limit:g} % ({_in_words(bow)})", UNSURE_HOW)
        if sure or ordered is not None:
            ctx.rests_on(Confidence.LOW)
        range_ = f"{bow.low:.2f} to {bow.high:.2f} %" if bow.low else f"up to {bow.high:.2f} %"
        yield _draft(
            f"unequal copper bows the board by {range_} of its longer side",
            bow.nominal,
            limit,
            "copper",
            FIX,
            fails=sure,
        )
        if sure:
            return
    if ordered is None:
        raise MissingFact(f"the bow and twist that the fab is held to ({_in_words(bow)})", HOW)


UNSURE_HOW = f"{FIX}; the fab's laminate may expand as copper does, which nobody can declare"
HOW = '[fab]\nbow_twist_pct = "?"  # what the order asks for; IPC-6012 allows 0.75 for surface mount'


def _draft(what: str, value: float, limit: float, key: str, fix: str, *, fails: bool = True) -> Draft:
    return Draft(
        title=f"{what}; {limit:g} % is allowed",
        why=WHY,
        fix=fix,
        ids=(key,),
        measured=Measured(value=round(value, 3), unit="%"),
        limit_value=limit,
        limit_unit="%",
        fails=fails,
    )


def _in_words(bow: Interval | None) -> str:
    if bow is None:
        return "what its copper does cannot be estimated either"
    return f"its unequal copper alone bows it by {bow.high:.2f} % at most; press, cure and weave are not in that"


def _bow(ctx: Context) -> Interval | None:
    """Return the bow that the copper gives, None where stackup, fills or outline are not known."""
    try:
        return copper_bow_pct(_sheets(ctx), sides_mm(ctx)[1])
    except MissingFact:
        return None


def _sheets(ctx: Context) -> list[BowSheet]:
    if len(unfilled_zones(ctx.board, range(ctx.board.layer_count))):
        raise MissingFact("the filled copper of every zone", FILL_ZONES)
    shares = {use.name: use.copper_share for use in ctx.filled_uses()}
    found = []
    for row in ctx.stackup().layers:
        if row.kind is not LayerKind.COPPER and not row.is_dielectric:
            continue
        if not row.thickness_mm or (row.kind is LayerKind.COPPER and row.name not in shares):
            raise MissingFact("a stackup with a thickness for every layer of the board", DECLARE_STACKUP)
        found.append(BowSheet(row.thickness_mm, shares[row.name] if row.kind is LayerKind.COPPER else None))
    if not found:
        raise MissingFact("the stackup", DECLARE_STACKUP)
    return found
