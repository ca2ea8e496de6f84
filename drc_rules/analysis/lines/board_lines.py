"""The routed lines of a board between its dielectrics: geometries alone, and with the filled copper next to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drc_rules.analysis.lines.routed import RoutedLine, lines_next_to_fills, routed_lines
from drc_rules.facts.context import Context
from stackup_lib.board.board import Floats


def lines_of(ctx: Context, nets: Sequence[int]) -> tuple[RoutedLine, ...]:
    """Return the geometries of some nets as `routed_lines`: without the filled copper next to them."""
    return routed_lines(ctx.board, ctx.copper, ctx.pairs, nets, ctx.get(dielectric_mm))


def lines_with_fills(ctx: Context, nets: Sequence[int]) -> tuple[RoutedLine, ...]:
    """Return the geometries of some nets, each with the filled copper next to it."""
    return lines_next_to_fills(ctx.board, ctx.copper, ctx.pairs, nets, ctx.get(dielectric_mm))


def dielectric_mm(ctx: Context) -> Floats:
    """Return what lies between each copper layer and the next; 0 where not all of it is known: no line is solved."""
    found = np.zeros(max(ctx.board.layer_count - 1, 0))
    for ply in ctx.plies:
        if 0 <= ply.above < len(found) and ply.below == ply.above + 1:
            found[ply.above] += ply.thickness.value or 0.0
    return found
