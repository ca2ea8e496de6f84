"""Protection parts that a line runs through: the maker gives one line two pins, and they are one wire inside."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stackup_lib.board.board import Board

MOST_PADS = 12

_LINE = re.compile(r"(I/?O[_ ]?\d)(?:_\d+)?", re.IGNORECASE)
"""`I/O1`, which KiCad may number where it stands twice, as on USBLC6 and its likes."""


def across_protection(board: Board) -> Mapping[int, int]:
    """Return net -> net on the other pin of the same line of a protection part, both ways.

    A line is a pin name that exactly two pads of a small part bear, on two nets.
    """
    pads: dict[int, int] = {}
    lines: dict[tuple[int, str], list[int]] = {}
    columns = (board.pads.net, board.pads.footprint, board.pads.function)
    for net, part, function in zip(*(column.tolist() for column in columns), strict=True):
        pads[part] = pads.get(part, 0) + 1
        if net > 0 and (line := _LINE.fullmatch(function)):
            lines.setdefault((part, line[1].upper()), []).append(net)
    two = (nets for (part, _), nets in lines.items() if pads[part] <= MOST_PADS and len(nets) == len(set(nets)) == 2)
    return {one: other for nets in two for one, other in (nets, reversed(nets))}
