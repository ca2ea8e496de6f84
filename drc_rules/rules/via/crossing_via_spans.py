"""Two via spans cross: no sequence of laminations can make both.

What it checks
--------------
The layers of every drilled blind and buried via, pair by pair. Two spans that share layers must nest, one inside the
other. A microvia between two subassemblies, whose ends both lie inside, counts as well. A drilled via that is shallow
enough for controlled-depth drilling (no deeper than wide, 1:1) needs no subassembly and is exempt.

Why it matters
--------------
A drill passes through a whole laminated subassembly, and the hole is plated before the next lamination. L1 to L6 with
L3 to L8: once L1 to L6 is one subassembly, L3 can no longer be drilled from L8 without passing through it, and the
other way round. The fab rejects the order.

How to fix
----------
Nest the spans (L3 to L6, or L1 to L8), or end one before the other begins (L1 to L4 with L5 to L8). A through via with
a backdrill connects the same layers as a blind one.

What it cannot see
------------------
It takes the stated layers, whatever the vias connect. Without an entered stackup, depth is estimated from the board
thickness within a factor of two. Spans that pass may still need more lamination cycles than a fab offers
(`unusual-hdi-class`).

Sources
-------
Sequential lamination: each subassembly is laminated, drilled and plated before it goes into the next (Design007,
January 2021: a 12-layer board built from L4 to L8 outward). Controlled depth: network PCB, 1:1 in both tiers.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.span_words import in_words, places_of
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.via_spans import Span, impossible, is_shallow, spans


@rule("VIA015", kinds=("via_spans",), over=lambda ctx, _clause: _inner(ctx))
def crossing_via_spans(ctx: Context, _clause: Clause, found: tuple[Span, ...]) -> Iterator[DraftFinding]:
    """Yield one finding per pair of spans that cross."""
    stackup = None if ctx.is_default_stackup else ctx.board.stackup
    unsure = []
    for one, other in impossible(found):
        drilled = [span for span in (one, other) if not span.is_laser]
        shallow = [is_shallow(ctx.board, span, stackup) for span in drilled]
        if True in shallow:
            continue
        if None in shallow:
            unsure.append((one, other))
            continue
        yield _crossed(ctx, one, other)
    if unsure:
        raise MissingFact(f"depth of {in_words(ctx, unsure[0][0])}", DECLARE_STACKUP)


def _inner(ctx: Context) -> Iterator[tuple[Span, ...]]:
    found = spans(ctx.board)
    if found:
        yield found


def _crossed(ctx: Context, one: Span, other: Span) -> DraftFinding:
    first, second = sorted((one, other), key=lambda span: (span.layers, span.is_laser))
    shared = f"L{second.top + 1} to L{first.bottom + 1}"
    common = (
        f"both contain {shared}" if second.top < first.bottom else f"both need L{second.top + 1} in their subassembly"
    )
    names = [layer.name for layer in ctx.board.copper_layers]
    return DraftFinding(
        title=(
            f"via spans cross: {in_words(ctx, first)} and {in_words(ctx, second)}; {common}, "
            "and neither contains the other"
        ),
        why=(
            "Each subassembly is drilled and plated before the next lamination; a layer cannot belong to two that cross"
        ),
        fix="Nest one span inside the other, end it before the other, or use a through via with a backdrill for one",
        ids=tuple(f"{names[span.top]} to {names[span.bottom]}" for span in (first, second)),
        places=(*places_of(ctx, first), *places_of(ctx, second)),
    )
