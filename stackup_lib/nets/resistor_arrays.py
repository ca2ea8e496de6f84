"""Resistor arrays whose elements are resistors of their own, each between two pads that face each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.references import ReferenceKind, reference_kind

PADS = (4, 8)
"""How many pads an array of single resistors surely has; those with more may have a common pin."""

FACING_MM = 0.05
"""The elements lie side by side: from pad to pad they differ by no more than this."""

_TIMES = re.compile(r"(?<![\w.])[24568] ?[xX*\u00d7] ?(?=\d)|(?<=[\dRKrk\u2126\u03a9]) ?[xX*\u00d7] ?[24568](?![\w.])")


@lru_cache(maxsize=4096)
def element_value(value: str) -> str:
    """Return the value of one element of an array: `22R` of `4x22R`."""
    return _TIMES.sub("", value)


def array_elements(board: Board) -> Iterator[tuple[int, int, int]]:
    """Yield footprint and both pads of each element that lies between two nets.

    Pads are numbered around the part, as those of an IC: 1 faces 8, 2 faces 7. An array with other numbers, with a
    common pin, or with its pads in one row, yields nothing.
    """
    pads, references = board.pads, board.footprints.reference
    rows = np.nonzero((pads.number != "") & (pads.kind != PadKind.NON_PLATED) & (pads.footprint >= 0))[0]
    count = np.bincount(pads.footprint[rows], minlength=len(board.footprints))
    for footprint in np.nonzero(np.isin(count, PADS))[0].tolist():
        if reference_kind(str(references[footprint])) is not ReferenceKind.RESISTOR_ARRAY:
            continue
        mine = rows[pads.footprint[rows] == footprint].tolist()
        pad_of = {str(pads.number[row]): row for row in mine}
        last = len(mine)
        if {*pad_of} != {str(number) for number in range(1, last + 1)}:
            continue
        facing = [(pad_of[str(number)], pad_of[str(last + 1 - number)]) for number in range(1, last // 2 + 1)]
        ways = np.array([(pads.x_mm[b] - pads.x_mm[a], pads.y_mm[b] - pads.y_mm[a]) for a, b in facing])
        if float(np.abs(ways - ways[0]).max()) > FACING_MM:
            continue
        for first, second in facing:
            if pads.net[first] and pads.net[second] and pads.net[first] != pads.net[second]:
                yield footprint, first, second
