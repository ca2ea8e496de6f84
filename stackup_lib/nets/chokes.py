"""Common-mode chokes and four-pad filters: a pair runs through them, from two nets to two others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Flags
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.nets.diff_pairs import Pairs
from stackup_lib.nets.power_nets import RailSign
from stackup_lib.nets.two_pin_parts import PartKind, TwoTerminalParts

PADS = 4

MOST_PADS = 12
"""A filter of two pairs with ground pads has at most this many pads."""

_REFERENCE = re.compile(r"(?:L|FL|CMC?|EMI|T|TR|Z|FB|F)\d", re.IGNORECASE)
"""How inductors, filters and transformers are numbered; an ESD part (D, U) with four pads joins nothing."""

Grounds = NDArray[np.bool_]
"""For each net, whether it is ground."""

Line = tuple[int, int, int]
"""A part, an index into `Board.footprints`, and its two pads that are one line, indices into `Board.pads`."""


def across_chokes(board: Board, pairs: Pairs, grounds: Grounds | None = None) -> Mapping[int, int]:
    """Return net -> net on the other side of a part with four pads on two pairs, positive to positive.

    Args:
        board: the board.
        pairs: its differential pairs.
        grounds: where given, other pads of the part may be on these nets.
    """
    nets = board.pads.net
    found: dict[int, int] = {}
    for _, first, second in choke_lines(board, pairs, grounds):
        one, other = int(nets[first]), int(nets[second])
        found[one], found[other] = other, one
    return found


def choke_lines(board: Board, pairs: Pairs, grounds: Grounds | None = None) -> Iterator[Line]:
    """Yield the lines of such parts: two for each; arguments as those of `across_chokes`."""
    for part, pads in _filters(board).items():
        of_net = {int(board.pads.net[pad]): pad for pad in pads if not _is_ground(board, grounds, pad)}
        signals = [pad for pad in pads if not _is_ground(board, grounds, pad)]
        rows = {pairs.pair_of(net) for net in of_net}
        if len(signals) != PADS or len(of_net) != PADS or len(rows) != PADS // 2 or None in rows:
            continue
        one, other = sorted(row for row in rows if row is not None)
        for side in (pairs.positive, pairs.negative):
            yield part, of_net[int(side[one])], of_net[int(side[other])]


def with_chokes(parts: TwoTerminalParts, board: Board, pairs: Pairs, grounds: Grounds) -> TwoTerminalParts:
    """Return the two-pad parts of a board and, behind them, the lines of its common-mode chokes."""
    lines = np.array(list(choke_lines(board, pairs, grounds)), dtype=np.int64).reshape(-1, 3)
    if not len(lines):
        return parts
    nets = board.pads.net
    return replace(
        parts,
        footprint=np.concatenate([parts.footprint, lines[:, 0]]),
        first_pad=np.concatenate([parts.first_pad, lines[:, 1]]),
        second_pad=np.concatenate([parts.second_pad, lines[:, 2]]),
        first_net=np.concatenate([parts.first_net, nets[lines[:, 1]]]),
        second_net=np.concatenate([parts.second_net, nets[lines[:, 2]]]),
        kind=np.concatenate([parts.kind, np.full(len(lines), PartKind.CHOKE, dtype=np.int8)]),
    )


def unread_filters(board: Board, pairs: Pairs, grounds: Grounds) -> frozenset[int]:
    """Return the filters on several pairs whose pads do not tell which two are one line."""
    read = {part for part, _, _ in choke_lines(board, pairs, grounds)}
    found = set()
    for part, pads in _filters(board).items():
        rows = {pairs.pair_of(int(board.pads.net[pad])) for pad in pads} - {None}
        # A line ends at a transformer of several pairs: there its other side begins, with a limit of its own.
        is_filter = reference_kind(str(board.footprints.reference[part])) is not ReferenceKind.TRANSFORMER
        if part not in read and is_filter and len(rows) > 1 and len(pads) <= MOST_PADS:
            found.add(part)
    return frozenset(found)


def without_supply(board: Board, pairs: Pairs, signs: Flags) -> Mapping[int, tuple[int, ...]]:
    """Return the chips with four signals, two pairs, whose other pads are on ground, and those four nets.

    Args:
        board: the board.
        pairs: its differential pairs.
        signs: `Rails.signs`.
    """
    kinds = [reference_kind(one) is ReferenceKind.CHIP for one in board.footprints.reference.tolist()]
    pads, owned = board.pads, board.pads.footprint >= 0
    count = np.bincount(pads.footprint[owned], minlength=len(kinds))
    chosen = np.array(kinds, dtype=bool) & (count >= PADS) & (count <= MOST_PADS)
    nets: dict[int, list[int]] = {}
    for row in np.flatnonzero(owned & chosen[pads.footprint]).tolist():
        nets.setdefault(int(pads.footprint[row]), []).append(int(pads.net[row]))
    found = {}
    for part, on in nets.items():
        signals = [net for net in on if not signs[net] & RailSign.GROUND]
        rows = {pairs.pair_of(net) for net in signals}
        supplied = any(signs[net] for net in signals)
        if len(signals) == len(set(signals)) == PADS and len(rows) == PADS // 2 and None not in rows and not supplied:
            found[part] = tuple(signals)
    return found


def _filters(board: Board) -> dict[int, list[int]]:
    """Return the pads of each part that is numbered like a filter and has four or more."""
    references = board.footprints.reference.tolist()
    named = np.array([bool(_REFERENCE.match(str(one))) for one in references], dtype=bool)
    owner = board.pads.footprint
    count = np.bincount(owner[owner >= 0], minlength=len(references))
    named &= count >= PADS
    found: dict[int, list[int]] = {}
    if named.any():
        rows = np.flatnonzero((owner >= 0) & named[owner])
        for pad, part in zip(rows.tolist(), owner[rows].tolist(), strict=True):
            found.setdefault(part, []).append(pad)
    return found


def _is_ground(board: Board, grounds: Grounds | None, pad: int) -> bool:
    return grounds is not None and bool(grounds[board.pads.net[pad]])
