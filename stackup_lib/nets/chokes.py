"""Common-mode chokes and four-pad filters: a pair runs through them, from two nets to two others."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stackup_lib.board.board import Board
from stackup_lib.nets.diff_pairs import Pairs

PADS = 4

_REFERENCE = re.compile(r"(?:L|FL|CMC?|EMI|T|TR|Z|FB|F)\d", re.IGNORECASE)
"""How inductors, filters and transformers are numbered; an ESD part (D, U) with four pads joins nothing."""


def across_chokes(board: Board, pairs: Pairs) -> Mapping[int, int]:
    """Return net -> net on the other side of a part with four pads on two pairs, positive to positive."""
    nets: dict[int, list[int]] = {}
    for net, part in zip(board.pads.net.tolist(), board.pads.footprint.tolist(), strict=True):
        nets.setdefault(part, []).append(net)
    found: dict[int, int] = {}
    for part, on in nets.items():
        rows = {pairs.pair_of(net) for net in on}
        if len(on) != PADS or len(set(on)) != PADS or len(rows) != PADS // 2 or None in rows:
            continue
        if _REFERENCE.match(str(board.footprints.reference[part])):
            one, other = sorted(row for row in rows if row is not None)
            for side in (pairs.positive, pairs.negative):
                found[int(side[one])], found[int(side[other])] = int(side[other]), int(side[one])
    return found
