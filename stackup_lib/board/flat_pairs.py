"""Every item with every item of the same owner, as flat columns: many owners cost no loop over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stackup_lib.board.board import Ints

CELLS = 1_000_000
"""Pairs that are worked on at once, to bound memory on nets with thousands of tracks; one item may have more."""


class Runs(NamedTuple):
    """Items in order of their owner, numbered from 0: owner k has those from `first[k]` up to `first[k + 1]`."""

    owner: Ints
    first: Ints


def runs(owner: Ints, count: int) -> Runs:
    """Return the runs of items whose owners are given in ascending order; `count` is the number of owners."""
    return Runs(owner, np.searchsorted(owner, np.arange(count + 1)))


def pairs(owner: Ints, others: Runs) -> Iterator[tuple[Ints, Ints]]:
    """Yield (item, other) of every item with each of the others that its owner has, in order, many at a time.

    Args:
        owner: of each item.
        others: what the owners have.
    """
    count = others.first[owner + 1] - others.first[owner]
    ends, start = np.cumsum(count), 0
    while start < len(count):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + CELLS, side="right")))
        if some := int(ends[stop - 1]) - before:
            item = np.repeat(np.arange(start, stop), count[start:stop])
            begins = np.repeat(ends[start:stop] - count[start:stop] - before, count[start:stop])
            yield item, np.arange(some) - begins + others.first[owner[item]]
        start = stop
