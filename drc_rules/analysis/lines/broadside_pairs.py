"""Pairs whose traces run over one another on two layers with no plane between them: no line here models these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from drc_rules.analysis.lines.board_lines import dielectric_mm
from drc_rules.analysis.lines.routed import FEW, RoutedLine
from drc_rules.facts.context import Context
from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.broadside import met_mm
from stackup_lib.copper.coupling import pieces_of
from stackup_lib.core.arrays import distinct

BROADSIDE = "broadside, not modelled"
"""Why such a pair has no impedance here."""

ASK_THE_FAB = "ask the fab for the impedance of its cross section: no declaration decides it"


def is_broadside(ctx: Context, line: RoutedLine, net: int) -> bool:
    """Tell whether a net of a line runs over or under its complement, and not next to it."""
    return line.is_pair and line.gap_mm is None and net in ctx.get(broadside_mm)


def broadside_mm(ctx: Context, *, deliberate: bool = False) -> Mapping[int, float]:
    """Return for how much of their length nets run broadside to their complement, those with more than a fifth.

    Args:
        ctx: the board.
        deliberate: only where they overlap as seen from above, on layers next to each other, which no plane parts: a
            trace of a pair side by side that took the wrong layer does not. This looks at no fills.
    """
    tracks, layers = ctx.board.tracks, ctx.board.layer_count
    place = tracks.net.astype(np.int64) * layers + tracks.layer
    named = tracks.net >= 0
    lengths = np.bincount(place[named], tracks.length_mm[named], len(ctx.board.nets) * layers)
    on_layer: Floats = lengths.astype(np.float64).reshape(len(ctx.board.nets), layers)
    found: dict[int, float] = {}
    for pair in _on_two_layers(on_layer, ctx.pairs.positive, ctx.pairs.negative).tolist():
        both = int(ctx.pairs.positive[pair]), int(ctx.pairs.negative[pair])
        met = _met(ctx, both, deliberate=deliberate)
        if met > FEW * min(on_layer[net].sum() for net in both):
            found.update(dict.fromkeys(both, met))
    return found


def _on_two_layers(on_layer: Floats, positive: Ints, negative: Ints) -> Ints:
    """Return the pairs whose traces cannot run next to each other for more than a fifth of their length."""
    one, other = on_layer[positive], on_layer[negative]
    shared = np.minimum(one, other).sum(axis=1)
    shorter = np.minimum(one.sum(axis=1), other.sum(axis=1))
    return np.flatnonzero((shorter > 0) & (shared < (1 - FEW) * shorter))


def _met(ctx: Context, both: tuple[int, int], *, deliberate: bool) -> float:
    """Return for how much of its length the first net lies over or under the other."""
    net, complement = both
    others = [one for one in range(-1, len(ctx.board.nets)) if one != complement]
    rows = np.flatnonzero(ctx.board.tracks.net == net)
    pieces = pieces_of(ctx.board, rows)
    its = ctx.board.tracks.layer[ctx.board.tracks.net == complement]
    found = 0.0
    for layer, other in _layer_pairs(distinct(pieces.layer), distinct(its)):
        is_here = pieces.layer == layer
        if deliberate and abs(layer - other) > 1:
            continue
        if not deliberate:
            above, below = ctx.copper.adjacent_planes(pieces)
            is_here &= (above < other) & ((below < 0) | (other < below))
        here = pieces.where(np.flatnonzero(is_here))
        between_mm = ctx.get(dielectric_mm)[min(layer, other) : max(layer, other)]
        reach_mm = 0.0 if deliberate else float(between_mm.sum())
        found += float(met_mm(ctx.board, here, other, reach_mm, others).sum())
    return found


def _layer_pairs(ones: Ints, others: Ints) -> Iterator[tuple[int, int]]:
    for layer in ones.tolist():
        yield from ((layer, other) for other in others.tolist() if other != layer)
