"""Nets that run like a differential pair though neither names nor pins make them one. Lengths in mm.

Two nets count that run side by side for most of their length, a third net nowhere near for as long. They are about
equally long, begin or end at one part, and are no neighbours of one bus by their names. Data and clock of a slow bus
may run like that too: nothing is judged by it.
"""

from __future__ import annotations

import re

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces.names import is_generated, is_unconnected
from stackup_lib.board.board import Flags, Floats
from stackup_lib.copper.coupling import pieces_of
from stackup_lib.copper.parallel_pairs import side_by_side
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.nets.diff_pairs import NO_PAIR

LEAST_MM = 10.0
NEAR_WIDTHS = 2.0
"""Gap, in widths of the narrower track, up to which two nets are close to each other."""
SIDE_BY_SIDE = 0.7
"""Least share of both lengths that runs side by side."""
ALONE = 0.3
"""Largest share that runs as close to a third net."""
EQUAL = 0.1
"""Largest difference of the lengths, as a share."""
MOST_PADS = 6
_NUMBER = re.compile(r"\d+")


@record
class CoupledNets:
    """Two such nets, and the length of the longer one."""

    first: int
    second: int
    length_mm: float


def coupled_nets(ctx: Context) -> tuple[CoupledNets, ...]:
    """Return nets without an interface that run like pairs, the longest first; get them with `Context.get`."""
    board, tracks = ctx.board, ctx.board.tracks
    mm = np.bincount(tracks.net, weights=tracks.length_mm, minlength=len(board.nets)).astype(np.float64)
    rows = np.flatnonzero(_may_be(ctx, mm)[tracks.net])
    near: dict[tuple[int, int], float] = {}
    for layer in distinct(tracks.layer[rows]).tolist():
        pieces = pieces_of(board, rows[tracks.layer[rows] == layer])
        reach = NEAR_WIDTHS * float(pieces.width_mm.min())
        for one in side_by_side(pieces, pieces.net, reach):
            key = one.first, one.second
            near[key] = near.get(key, 0.0) + float(one.length_mm.sum())
    found = [
        CoupledNets(first, second, float(max(mm[first], mm[second])))
        for (first, second), length in near.items()
        if length >= SIDE_BY_SIDE * max(mm[first], mm[second])
        and abs(mm[first] - mm[second]) <= EQUAL * max(mm[first], mm[second])
        and not _of_one_bus(board.nets[first], board.nets[second])
        and not _has_third(near, (first, second), mm)
        and _parts(ctx, first) & _parts(ctx, second)
    ]
    return tuple(sorted(found, key=lambda one: (-one.length_mm, one.first, one.second)))


def _may_be(ctx: Context, mm: Floats) -> Flags:
    """Tell of each net whether nothing is known of it, it is long enough and joins few pads."""
    board, roles = ctx.board, ctx.assignment.roles
    pads = np.bincount(board.pads.net, minlength=len(board.nets))
    may = (mm >= LEAST_MM) & (pads >= 2) & (pads <= MOST_PADS) & (ctx.pairs.pair_of_net == NO_PAIR)
    for net in np.flatnonzero(may).tolist():
        may[net] = board.nets[net] and roles[net] is None and not is_unconnected(board.nets[net])
    return np.asarray(may)


def _of_one_bus(first: str, second: str) -> bool:
    """Tell whether two names that people gave differ in a number only: `D6` and `D7`."""
    return not is_generated(first) and _NUMBER.sub("#", first) == _NUMBER.sub("#", second)


def _has_third(near: dict[tuple[int, int], float], both: tuple[int, int], mm: Floats) -> bool:
    """Tell whether another net runs as close to one of two nets for a good part of it, as in a bus."""
    return any(length > ALONE * mm[net] for key, length in near.items() if key != both for net in both if net in key)


def _parts(ctx: Context, net: int) -> set[int]:
    return set(ctx.board.pads.footprint[ctx.board.pads.net == net].tolist())
