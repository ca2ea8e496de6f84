"""Fast pairs that run beside other fast pairs on a layer, and how they couple."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drc_rules.context import Context
from drc_rules.return_paths import FastGroup, Referenced
from stackup_lib.coupling import pair_geometry
from stackup_lib.lines.pair_crosstalk import PairCoupling
from stackup_lib.neighbours import SideBySide
from stackup_lib.pairs import NO_PAIR

NANOMETRE = 1e-6

USUAL_HEIGHTS = 4.0
"""Farther apart than so many heights over the nearer plane, pairs couple by less than a percent wherever they run."""


@dataclass(frozen=True)
class Crowd:
    """Pairs of a group that run nearer to other fast pairs than is asked, on one layer between the same planes.

    Attributes:
        height_mm: to the nearer plane.
        allowed_mm: the gap that is asked for.
        runs: (gap over a lumped length, both pairs), the nearest first.
    """

    part: Referenced
    height_mm: float
    allowed_mm: float
    runs: tuple[tuple[float, SideBySide], ...]


def asked_heights(group: FastGroup) -> float | None:
    """Return the spacing between pairs that a document asks for, in heights over the nearer plane."""
    return group.choices[0].pair_spacing_heights if len(group.choices) == 1 else None


def parts_with_pairs(ctx: Context) -> Iterator[Referenced]:
    """Yield where pairs of an interface run, with a plane on at least one side, longer than a breakout."""
    for part in ctx.return_paths.referenced:
        has_pairs = bool(np.any(ctx.pairs.pair_of_net[list(part.nets)] != NO_PAIR))
        if part.planes and has_pairs and ctx.return_paths.longest_of(part)[0] > part.group.lumped_mm[0]:
            yield part


def crowd(ctx: Context, part: Referenced) -> Crowd:
    """Return the pairs that are too near to others; raises `MissingFact` where the stackup does not tell the height."""
    height = min(ctx.return_paths.height_mm(part.layer, plane) for plane in part.planes)
    allowed = (asked_heights(part.group) or USUAL_HEIGHTS) * height
    runs = []
    for beside in ctx.return_paths.beside(part.layer, allowed):
        if _owner(ctx, beside) == part.group:
            gap = beside.gap_over_mm(part.group.lumped_mm[0])
            if gap is not None and gap < allowed - NANOMETRE:
                runs.append((gap, beside))
    runs.sort(key=lambda run: (round(run[0], 4), run[1].first, run[1].second))
    return Crowd(part, height, allowed, tuple(runs))


def _owner(ctx: Context, beside: SideBySide) -> FastGroup:
    """Return which of the two pairs' groups a run is told of: that of which more is asked, else the faster one."""
    groups = [ctx.return_paths.group_of_net[int(ctx.pairs.positive[pair])] for pair in (beside.first, beside.second)]
    return max(groups, key=lambda one: (asked_heights(one) or 0.0, one.choices[0].nyquist_ghz or 0.0, one.id))


def coupling_of(ctx: Context, part: Referenced, run: tuple[float, SideBySide]) -> PairCoupling:
    """Return the coupling of two pairs with the gaps and the width in which they were mostly routed there."""
    gap, beside = run
    sizes = [_size(ctx, part.layer, pair) for pair in (beside.first, beside.second)]
    width = round(sum(width for width, _ in sizes) / 2, 3)
    where = ctx.lines.site(part.layer, (part.above, part.below))
    return ctx.return_paths.coupling(where, width, (sizes[0][1], sizes[1][1]), round(gap, 3))


def _size(ctx: Context, layer: int, pair: int) -> tuple[float, float]:
    """Return width and gap of a pair on a layer, each that of most of its length."""
    found = pair_geometry(ctx.board, int(ctx.pairs.positive[pair]), int(ctx.pairs.negative[pair]))
    here = found.pieces.layer == layer
    width = _most(found.pieces.width_mm[here], found.pieces.length_mm[here])
    beside = here & ~np.isnan(found.gap_mm)
    gap = _most(np.round(found.gap_mm[beside], 3), found.pieces.length_mm[beside]) if np.any(beside) else width
    return width, gap


def _most(values: np.ndarray, weights: np.ndarray) -> float:
    every, where = np.unique(values, return_inverse=True)
    return float(every[np.argmax(np.bincount(where, weights))])
