"""How findings name the vias of one span, and where some of them are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.report.places import place_in
from stackup_lib.core.words import count
from stackup_lib.vias.via_spans import Span, lasered

PLACES_EACH = 5
"""Vias of each span that are listed."""


def in_words(ctx: Context, span: Span) -> str:
    """Return how many vias a span has, and its layers: `2 vias L1 to L4 (F.Cu to In3.Cu)`."""
    names = [layer.name for layer in ctx.board.copper_layers]
    vias = count(span.count, "microvia" if span.is_laser else "via")
    return f"{vias} L{span.top + 1} to L{span.bottom + 1} ({names[span.top]} to {names[span.bottom]})"


def places_of(ctx: Context, span: Span) -> Iterator[Location]:
    """Yield where the first vias of a span are: through several layers, at none of them alone."""
    vias = ctx.board.vias
    same = (vias.start_layer == span.top) & (vias.end_layer == span.bottom) & (lasered(ctx.board) == span.is_laser)
    for row in np.flatnonzero(same)[:PLACES_EACH].tolist():
        yield place_in(ctx.board, vias, row)
