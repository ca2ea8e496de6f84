"""Pads of a footprint that belong together: net ties may join their nets, jumper pads are joined inside the part."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Ints
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText

LAST_BY_TAGS = 20220815
"""Up to this version a footprint is a net tie, with all of its pads, when its tags begin with `TIE_TAG`."""

TIE_TAG = "net tie"

_COMMA = re.compile(r"(?<!\\),")


def tie_groups(source: BoardText, items: Ints, row_of: Ints, owner: Ints, numbers: list[str]) -> Ints:
    """Return the net-tie group of each pad, -1 for none.

    Args:
        source: the board file.
        items: its footprints.
        row_of: the row of each item among the footprints.
        owner: the footprint of each pad.
        numbers: the number of each pad.
    """
    found = np.full(len(owner), -1, dtype=np.int64)
    groups = 0
    for footprint, node in _nodes(source, items, "tags") if source.version <= LAST_BY_TAGS else ():
        if tree.word(node).startswith(TIE_TAG):
            found[owner == row_of[footprint]] = groups
            groups += 1
    for footprint, node in _nodes(source, items, "net_tie_pad_groups"):
        pads = np.flatnonzero(owner == row_of[footprint]).tolist()
        for words in tree.words(node):
            group = {word.replace("\\,", ",").strip() for word in _COMMA.split(words)}
            found[[pad for pad in pads if numbers[pad] in group]] = groups
            groups += 1
    return found


def jumper_groups(source: BoardText, items: Ints, row_of: Ints, owner: Ints, numbers: list[str]) -> Ints:
    """Return the group of each pad that KiCad 10 holds joined inside its part, -1 for none; see `tie_groups`."""
    found = np.full(len(owner), -1, dtype=np.int64)
    groups = 0
    for footprint, node in _nodes(source, items, "jumper_pad_groups"):
        pads = np.flatnonzero(owner == row_of[footprint]).tolist()
        for group in tree.lists(node):
            named = {tree.unquoted(word) for word in group if isinstance(word, str)}
            found[[pad for pad in pads if numbers[pad] in named]] = groups
            groups += 1
    for footprint, node in _nodes(source, items, "duplicate_pad_numbers_are_jumpers"):
        if tree.word(node) != "yes":
            continue
        pads = np.flatnonzero(owner == row_of[footprint]).tolist()
        for number in dict.fromkeys(numbers[pad] for pad in pads):
            alike = [pad for pad in pads if numbers[pad] == number and number]
            if len(alike) > 1 and found[alike[0]] < 0:
                found[alike] = groups
                groups += 1
    return found


def _nodes(source: BoardText, items: Ints, name: str) -> Iterator[tuple[int, tree.Node]]:
    """Yield the lists of this name in footprints, each with the item that it stands in."""
    chosen = source.children(items, name)
    parents = source.blocks.parent[chosen].tolist()
    for parent, (_, node) in zip(parents, source.nodes(chosen, child=True), strict=True):
        yield parent, node
