"""Crosstalk of a pair's neighbours over frequency: their coupling where they run, from end to end of both.

The solver gives the coupling at gaps of powers of two; between them the ratio to that of thin wires is interpolated.
Lengths in mm, frequencies in GHz.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.channels.neighbours import Places, neighbours_of
from drc_rules.analysis.lines.solved_lines import LineKey, Lines
from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.loss.sparameters.link_network import LinkWay, link_way
from drc_rules.analysis.return_path.return_paths import ReturnPaths
from drc_rules.facts.context import Context
from stackup_lib.board.board import Floats
from stackup_lib.channels.ways import Place, crosstalk
from stackup_lib.copper.crosstalk_weights import pair_mutual
from stackup_lib.core.record import entity

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

LEAST_GAP_MM = 0.05
"""The smallest gap that is solved."""

JOINED_MM = 0.1
"""Places with less between them follow one another."""


@entity
class NeighbourCrosstalk:
    """What comes over from a neighbour.

    Attributes:
        link: the neighbour.
        s: (frequencies, 2, 2) into the near and the far end of the victim from those of the neighbour.
        own_s: the neighbour's own, between its near and far end.
        mm: for how long they run next to each other.
        gap_mm: the smallest one.
        same_way: their routes lead in the same direction for most of that.
    """

    link: LinkLoss
    s: Complex
    own_s: Complex
    mm: float
    gap_mm: float
    same_way: bool


def neighbour_crosstalk(ctx: Context, link: LinkLoss, frequency_ghz: Real) -> Iterator[NeighbourCrosstalk]:
    """Yield the crosstalk of each neighbour of a pair.

    Raises:
        MissingFact: a Dk, Df, drill or layer is not known.
        StackwrightError: a line cannot be solved, or the file of a part cannot be used.
    """
    victim = None
    for other, places in neighbours_of(ctx, link):
        victim = victim or link_way(ctx, link, frequency_ghz)
        aggressor = link_way(ctx, other, frequency_ghz)
        found = list(_coupled(ctx, (victim, aggressor), places))
        if found:
            one_way = sum(-place.mm if place.is_opposite else place.mm for place in found)
            yield NeighbourCrosstalk(
                link=other,
                s=crosstalk(victim.way, aggressor.way, found),
                own_s=aggressor.way.s,
                mm=sum(place.mm for place in found),
                gap_mm=float(places.gap_mm.min()),
                same_way=one_way > 0,
            )


def _coupled(ctx: Context, ways: tuple[LinkWay, LinkWay], places: Places) -> Iterator[Place]:
    """Yield the places as parts of both ways, those in a row with one gap as one; none where a pair has no gap."""
    mine = _on_way(ways[0], places.leg, places.at_mm)
    theirs = _on_way(ways[1], places.other_leg, places.other_at_mm)
    known = (mine[0] >= 0) & (theirs[0] >= 0)
    sign = np.where(places.leg == places.other_leg, -1.0, 1.0)  # the solver's is of N next to P
    steps = np.column_stack([mine[0], theirs[0]])
    for couple in np.unique(steps[known], axis=0).tolist():
        rows = np.flatnonzero(known & np.all(steps == couple, axis=1))
        keys = [_with_gap(of, step) for of, step in zip(ways, couple, strict=True)]
        if keys[0] is None or keys[1] is None:
            continue
        gaps = np.round(places.gap_mm[rows], 2)
        inductive, capacitive = couplings(ctx, keys[0], keys[1], gaps)
        rows = rows[np.argsort(mine[1][rows], kind="stable")]
        alike = np.column_stack([places.is_opposite[rows], sign[rows], np.round(places.gap_mm[rows], 2)])
        for run in _in_a_row(alike, mine[1][rows], theirs[1][rows], places.mm[rows]):
            here = rows[run]
            k = int(np.argmin(np.abs(gaps - alike[run[0], 2])))
            yield Place(
                step=couple[0],
                at_mm=float(mine[1][here].mean()),
                other_step=couple[1],
                other_at_mm=float(theirs[1][here].mean()),
                mm=float(places.mm[here].sum()),
                is_opposite=bool(places.is_opposite[here[0]]),
                inductive=float(sign[here[0]] * inductive[k]),
                capacitive=float(sign[here[0]] * capacitive[k]),
            )


def _in_a_row(alike: Floats, at_mm: Floats, other_at_mm: Floats, mm: Floats) -> Iterator[NDArray[np.int64]]:
    """Yield rows that follow one another on both ways without a change."""
    step = (mm[1:] + mm[:-1]) / 2
    goes_on = np.all(alike[1:] == alike[:-1], axis=1)
    for at in (at_mm, other_at_mm):
        goes_on &= np.abs(np.abs(np.diff(at)) - step) < JOINED_MM
    yield from np.split(np.arange(len(mm)), np.flatnonzero(~goes_on) + 1)


def _with_gap(of: LinkWay, step: int) -> LineKey | None:
    """Return the cross-section of a step; of traces that run apart there, what the pair mostly is on the layer."""
    key = of.keys[step]
    if key is None or key.gap_mm is not None:
        return key
    usual = [
        (one.mm, other)
        for one, other in zip(of.way.steps, of.keys, strict=True)
        if other is not None and other.layer == key.layer and other.gap_mm is not None
    ]
    return max(usual, key=lambda row: row[0])[1] if usual else None


def _on_way(of: LinkWay, leg: NDArray[np.int64], at_mm: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the step in which each place of a trace is, -1 where in none that is a line, and how far in."""
    drawn = np.array([one.drawn_mm for one in of.way.steps])
    length = np.array([one.mm for one in of.way.steps])
    step, into = np.full(len(at_mm), -1), np.zeros(len(at_mm))
    for trace in (0, 1):
        lines = np.flatnonzero(drawn[:, trace] > 0)
        here = np.flatnonzero(leg == trace)
        if not len(lines) or not len(here):
            continue
        ends = np.cumsum(drawn[lines, trace])
        found = np.minimum(np.searchsorted(ends, at_mm[here]), len(lines) - 1)
        step[here] = lines[found]
        share = 1 - (ends[found] - at_mm[here]) / drawn[lines[found], trace]
        into[here] = np.clip(share, 0.0, 1.0) * length[lines[found]]
    return step, into


def couplings(ctx: Context, mine: LineKey, theirs: LineKey, gap_mm: Floats) -> tuple[Floats, Floats]:
    """Return the inductive and the capacitive coupling of two pairs of these cross-sections at each gap between them.

    Raises:
        MissingFact: a layer's surroundings are not known.
        GeometryError: the pairs cannot exist.
    """
    layer = mine.layer
    where = Lines(ctx).site(layer, mine.references)
    width = round((mine.width_mm + theirs.width_mm) / 2, 3)
    own = round(mine.gap_mm or 0.0, 3), round(theirs.gap_mm or 0.0, 3)
    heights = [ReturnPaths(ctx).height_mm(layer, plane) for plane in (where.above, where.below) if plane is not None]
    steps = np.log2(np.maximum(gap_mm, LEAST_GAP_MM) / LEAST_GAP_MM)
    anchors = np.arange(math.floor(steps.min()), math.floor(steps.max()) + 2)
    at = LEAST_GAP_MM * 2.0**anchors
    solved = [ReturnPaths(ctx).coupling(where, width, own, float(one)) for one in at]

    def wires(gaps_mm: Floats) -> Floats:
        return pair_mutual(width + (own[0] + own[1]) / 2, gaps_mm + width, *heights)

    now, then = wires(gap_mm), wires(at)
    inductive = np.interp(steps, anchors, np.array([one.inductive for one in solved]) / then)
    capacitive = np.interp(steps, anchors, np.array([one.capacitive for one in solved]) / then)
    return inductive * now, capacitive * now
