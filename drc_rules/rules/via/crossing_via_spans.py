"""Two via spans cross: no sequence of presses can make both.

What it checks
--------------
The layers of every blind and buried via that a drill makes, pair by pair. Two spans that share layers must lie one
inside the other. A microvia between two packages, whose ends both lie inside, counts as well. A drilled via that is
shallow enough to be drilled to a depth (no deeper than wide, 1:1) needs no package and is spared.

Why it matters
--------------
A drill goes through a whole package of pressed layers, and the hole is plated before the package goes into the next
press. L1 to L6 with L3 to L8: once L1 to L6 is one package, L3 can no longer be drilled from L8 without passing
through it, and the other way round. The fab sends the order back.

How to fix
----------
Let one span lie inside the other (L3 to L6, or L1 to L8), or end before the other begins (L1 to L4 with L5 to L8). A
through via with a backdrill connects the same layers as a blind one.

What it cannot see
------------------
It takes the layers that the file states, whatever the vias join. Where nobody has entered a stackup the depth is taken
from the board's thickness, twofold off either way; what that leaves open is not verifiable. Spans that do not cross may
still need more presses than a fab offers: `unusual-hdi-class` prints how many.

Sources
-------
Sequential lamination: each package is pressed, drilled and plated before it goes into the next (Design007, January
2021: a 12-layer board built from L4 to L8 outward). Controlled depth: network PCB, 1:1 in both tiers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.model import Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.via_spans import Span, impossible, is_shallow, lasered, spans

PLACES_EACH = 5
"""Vias of each span that are listed."""


@rule("VIA015", kinds=("via_spans",), over=lambda ctx, _clause: _inner(ctx))
def crossing_via_spans(ctx: Context, _clause: Clause, found: tuple[Span, ...]) -> Iterator[Draft]:
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
        raise MissingFact(f"how deep {_in_words(ctx, unsure[0][0])} are", DECLARE_STACKUP)


def _inner(ctx: Context) -> Iterator[tuple[Span, ...]]:
    found = spans(ctx.board)
    if found:
        yield found


def _crossed(ctx: Context, one: Span, other: Span) -> Draft:
    first, second = sorted((one, other), key=lambda span: (span.layers, span.is_laser))
    shared = f"L{second.top + 1} to L{first.bottom + 1}"
    common = f"both contain {shared}" if second.top < first.bottom else f"both need L{second.top + 1} in their package"
    names = [layer.name for layer in ctx.board.copper_layers]
    return Draft(
        title=(
            f"{_in_words(ctx, first)} cross {_in_words(ctx, second)}: {common} and neither lies inside the other, "
            "so no sequence of presses makes them"
        ),
        why="a package is drilled and plated before the next press; layers cannot belong to two packages at once",
        fix="make one span lie inside the other or end before it, or use a through via with a backdrill for one",
        ids=tuple(f"{names[span.top]} to {names[span.bottom]}" for span in (first, second)),
        places=(*_places(ctx, first), *_places(ctx, second)),
    )


def _in_words(ctx: Context, span: Span) -> str:
    names = [layer.name for layer in ctx.board.copper_layers]
    noun = "microvia" if span.is_laser else "via"
    count = f"{span.count} {noun}{'' if span.count == 1 else 's'}"
    return f"{count} L{span.top + 1} to L{span.bottom + 1} ({names[span.top]} to {names[span.bottom]})"


def _places(ctx: Context, span: Span) -> Iterator[Place]:
    vias = ctx.board.vias
    same = (vias.start_layer == span.top) & (vias.end_layer == span.bottom) & (lasered(ctx.board) == span.is_laser)
    for row in np.flatnonzero(same)[:PLACES_EACH].tolist():
        yield Place(
            layer=ctx.board.copper_layers[span.top].name,
            net=ctx.board.nets[int(vias.net[row])] or None,
            uuid=str(vias.uuid[row]) or None,
            x_mm=float(vias.x_mm[row]),
            y_mm=float(vias.y_mm[row]),
        )
