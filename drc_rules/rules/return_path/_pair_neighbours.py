"""High-speed pairs that run next to other high-speed pairs on a layer, and how they couple."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, Referenced, ReturnPaths, lumped_mm
from drc_rules.facts.context import Context
from stackup_lib.copper.coupling import pair_geometry
from stackup_lib.copper.crosstalk_weights import near_end, pair_mutual, power_sum
from stackup_lib.copper.parallel_pairs import ParallelPairs
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.nets.diff_pairs import NO_PAIR

if TYPE_CHECKING:
    from stackup_lib.transmission_lines.pair_crosstalk import PairCoupling

NANOMETRE = 1e-6

USUAL_HEIGHTS = 4.0
"""Farther apart than this many heights over the nearer plane pairs do not count. There usual pairs couple by 1.5 % at
most, wherever they run, and by 2.4 % where their own traces lie ten heights apart, in laminate over one plane."""


Neighbour = tuple[float, ParallelPairs]
"""Gap over a lumped length, and both pairs."""


@record
class Victim:
    """A pair with its neighbours.

    Attributes:
        pair: row of the pair.
        run: next to the neighbour that couples most.
        others: how many more are within reach; stronger ones that are reported for another interface are not counted.
        near_share, far_share: noise of that run at either end, over that of one that is as near all along.
        ratio: noise of all at the near end over that of the loudest one.
    """

    pair: int
    run: Neighbour
    others: int
    near_share: float
    far_share: float
    ratio: float


@record
class Crowd:
    """Pairs of a group that run too near to other high-speed pairs, on one layer between the same planes.

    Attributes:
        nyquist_ghz: at which they are looked at.
        height_mm: to the nearer plane.
        allowed_mm: the required gap.
        runs: the nearest first.
        noisiest: the pair with the most crosstalk; None without runs.
    """

    part: Referenced
    nyquist_ghz: float
    height_mm: float
    allowed_mm: float
    runs: tuple[Neighbour, ...]
    noisiest: Victim | None


def asked_heights(group: HighSpeedGroup) -> float | None:
    """Return the spacing between pairs that a document requires, in heights over the nearer plane."""
    return group.choices[0].pair_spacing_heights if len(group.choices) == 1 else None


def parts_with_pairs(ctx: Context) -> Iterator[Referenced]:
    """Yield where pairs of an interface run, with a plane on at least one side, longer than a breakout."""
    for part in ReturnPaths(ctx).referenced:
        has_pairs = bool(np.any(ctx.pairs.pair_of_net[list(part.nets)] != NO_PAIR))
        if part.planes and has_pairs and ReturnPaths(ctx).longest_of(part)[0] > part.group.lumped_mm[-1]:
            yield part


def crowd(ctx: Context, part: Referenced, nyquist_ghz: float) -> Crowd:
    """Return the pairs that are too near to others; raises `MissingFact` where the stackup does not tell the height."""
    height = min(ReturnPaths(ctx).height_mm(part.layer, plane) for plane in part.planes)
    allowed = (asked_heights(part.group) or USUAL_HEIGHTS) * height
    near: list[Neighbour] = []
    for adjacent in ReturnPaths(ctx).adjacent(part.layer, allowed):
        gap = adjacent.gap_over_mm(lumped_mm(nyquist_ghz))
        if gap is not None and gap < allowed - NANOMETRE and not _are_one_link(ctx, adjacent):
            near.append((gap, adjacent))
    near.sort(key=lambda run: (round(run[0], 4), run[1].first, run[1].second))
    runs = tuple(run for run in near if _is_of(ctx, part, run[1]))
    found = Crowd(part, nyquist_ghz, height, allowed, runs, None)
    return replace(found, noisiest=_noisiest(ctx, found, near)) if runs else found


def _are_one_link(ctx: Context, adjacent: ParallelPairs) -> bool:
    """Tell whether two pairs are of one link: staggered capacitors have its traces on nets of both side by side."""
    links = ctx.get(board_links)
    first, second = (
        {row for net in (ctx.pairs.positive[pair], ctx.pairs.negative[pair]) for row in links.rows_of_net.get(net, ())}
        for pair in (adjacent.first, adjacent.second)
    )
    return not first.isdisjoint(second)


@record
class _Coupled:
    """A run with the crosstalk at either end, relative to others and to one that is as near all along."""

    run: Neighbour
    is_own: bool
    near: float
    near_share: float
    far_share: float


def _noisiest(ctx: Context, among: Crowd, near: list[Neighbour]) -> Victim:
    """Return the pair with the most crosstalk from all its neighbours, which are uncorrelated."""
    size = ctx.get(_size, among.part.layer, near[0][1].first)  # stands for all: only ratios rest on it
    of_pair: dict[int, list[_Coupled]] = {}
    for run in near:
        crosstalk = _coupled(ctx, among, run, size)
        for pair in (run[1].first, run[1].second):
            of_pair.setdefault(pair, []).append(crosstalk)
    victims: list[tuple[float, Victim]] = []
    for pair, rows in of_pair.items():
        own = [row for row in rows if row.is_own]
        if own:
            loudest = max(own, key=lambda row: row.near)
            counted = [row.near for row in rows if row.is_own or row.near <= loudest.near]
            total = power_sum(counted)
            shares = loudest.near_share, loudest.far_share
            victims.append((total, Victim(pair, loudest.run, len(counted) - 1, *shares, total / loudest.near)))
    return max(victims, key=lambda one: (round(one[0], 9), -one[1].pair))[1]


def _coupled(ctx: Context, among: Crowd, run: Neighbour, size: tuple[float, float]) -> _Coupled:
    part, nyquist = among.part, among.nyquist_ghz
    gap, adjacent = run
    width, own_gap = size
    heights = [ReturnPaths(ctx).height_mm(part.layer, plane) for plane in part.planes]

    def couplings(gaps_mm: np.ndarray) -> np.ndarray:
        return pair_mutual(width + own_gap, gaps_mm + width, *heights)

    even = couplings(np.array([gap]))
    length = adjacent.length_within_mm(among.allowed_mm)
    near_ends, far_ends = [], []
    for net in distinct(adjacent.net):
        mine = (adjacent.net == net) & (adjacent.gap_mm <= among.allowed_mm)
        along = couplings(adjacent.gap_mm[mine])
        near_ends.append(near_end(along, adjacent.length_mm[mine], nyquist))
        far_ends.append(float(np.sum(along * adjacent.length_mm[mine])))
    near_share = max(near_ends) / near_end(even, np.array([length]), nyquist)
    is_own = _is_of(ctx, part, adjacent)
    return _Coupled(run, is_own, max(near_ends), near_share, max(far_ends) / (float(even[0]) * length))


def _is_of(ctx: Context, part: Referenced, adjacent: ParallelPairs) -> bool:
    """Tell whether a run is reported for a part: for its group, and one of the pairs runs over its planes."""
    if _owner(ctx, adjacent) != part.group:
        return False
    planes = ctx.get(_planes_of_pair)
    return any(planes.get((part.layer, pair)) == (part.above, part.below) for pair in (adjacent.first, adjacent.second))


def _planes_of_pair(ctx: Context) -> dict[tuple[int, int], tuple[int | None, int | None]]:
    """Layer, pair -> the planes that most of its length there has: its traces may have two kinds, or one has none."""
    of_net, paths = ctx.pairs.pair_of_net, ReturnPaths(ctx)
    lengths: dict[tuple[int, int], dict[tuple[int | None, int | None], float]] = {}
    for part in paths.referenced:
        for net, length in paths.lengths_of(part).items() if part.planes else ():
            pair = int(of_net[net])
            if pair != NO_PAIR and paths.group_of_net.get(int(ctx.pairs.positive[pair])) == part.group:
                of_planes = lengths.setdefault((part.layer, pair), {})
                of_planes[part.above, part.below] = of_planes.get((part.above, part.below), 0.0) + length
    return {key: max(of_planes, key=lambda one: of_planes[one]) for key, of_planes in lengths.items()}


def _owner(ctx: Context, adjacent: ParallelPairs) -> HighSpeedGroup:
    """Return the group of the two for which a run is reported: the larger required gap, else the faster one."""
    groups = [
        ReturnPaths(ctx).group_of_net[int(ctx.pairs.positive[pair])] for pair in (adjacent.first, adjacent.second)
    ]
    return max(groups, key=lambda one: (asked_heights(one) or 0.0, one.choices[0].nyquist_ghz or 0.0, one.id))


def coupling_of(ctx: Context, part: Referenced, run: Neighbour) -> PairCoupling:
    """Return the coupling of two pairs with the gaps and the width in which they were mostly routed there."""
    gap, adjacent = run
    sizes = [ctx.get(_size, part.layer, pair) for pair in (adjacent.first, adjacent.second)]
    width = round(sum(width for width, _ in sizes) / 2, 3)
    where = Lines(ctx).site(part.layer, (part.above, part.below))
    return ReturnPaths(ctx).coupling(where, width, (sizes[0][1], sizes[1][1]), round(gap, 3))


def _size(ctx: Context, layer: int, pair: int) -> tuple[float, float]:
    """Return width and gap of a pair on a layer, each that of most of its length."""
    found = pair_geometry(ctx.board, int(ctx.pairs.positive[pair]), int(ctx.pairs.negative[pair]))
    here = found.pieces.layer == layer
    width = _most(found.pieces.width_mm[here], found.pieces.length_mm[here])
    adjacent = here & ~np.isnan(found.gap_mm)
    gap = _most(np.round(found.gap_mm[adjacent], 3), found.pieces.length_mm[adjacent]) if np.any(adjacent) else width
    return width, gap


def _most(values: np.ndarray, weights: np.ndarray) -> float:
    every, where = np.unique(values, return_inverse=True)
    return float(every[np.argmax(np.bincount(where, weights))])
