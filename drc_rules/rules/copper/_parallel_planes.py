"""Which planes of a net lie over one another: only those may carry its current in parallel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drc_rules.facts.context import Context
from stackup_lib.board.board import Floats
from stackup_lib.copper.fill_edges import rows_inside

SAMPLES = 100
"""Points per side of the box around a net's fills; shares of planes are then within about two per cent."""

OVER, APART = 0.5, 0.1
"""From this share of the smaller of two planes on they lie over one another, up to this one they do not."""


def together_oz(ctx: Context, net: int, weighed: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return for each plane of a net, by layer and weight, the least and most that it weighs with those over it."""
    shares, weights = _shared(ctx, net, [layer for layer, _ in weighed]), np.array([weight for _, weight in weighed])
    np.fill_diagonal(shares, 1.0)
    sure, most = (shares >= OVER) @ weights, (shares > APART) @ weights
    return list(zip(sure.tolist(), most.tolist(), strict=True))


def _shared(ctx: Context, net: int, layers: Sequence[int]) -> Floats:
    """Of every two planes, how much of the smaller one lies over the other."""
    fills = [[fill for of, fill in ctx.copper.fills(layer) if of == net] for layer in layers]
    left, low, right, high = np.array([fill.bounds for some in fills for fill in some]).T
    x, y = np.meshgrid(*(np.linspace(a, b, SAMPLES) for a, b in ((left.min(), right.max()), (low.min(), high.max()))))
    inside = np.zeros((len(layers), x.size))
    for row, some in enumerate(fills):
        for fill in some:
            inside[row, rows_inside(fill, x.ravel(), y.ravel(), with_edge=True)] = 1.0
    count = inside.sum(axis=1)
    return np.asarray(inside @ inside.T / np.maximum(np.minimum.outer(count, count), 1.0))
