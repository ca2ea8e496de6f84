"""Courtyards of footprints, read from the board's text when a drawing needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Board, Floats
from stackup_lib.kicad.read.items.outline import corners
from stackup_lib.kicad.read.items.shapes import placed
from stackup_lib.kicad.syntax import tree

_LAYER = b".CrtYd"
_LIST = re.compile(rb'[()]|"(?:[^"\\]|\\.)*"')
_SHAPE = re.compile(rb"\(\s*fp_(?:line|arc|circle|rect|poly|curve)\s")
_LONGEST = 1 << 16
"""Bytes of one shape; a courtyard of more corners than fit is no help in a drawing."""


def courtyards(board: Board) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield footprint and corners, in mm on the board, of every line and shape on a courtyard layer.

    What is malformed there is left out: a drawing lacks a line, and no check rests on it.
    """
    text, parts = board.lines.text, board.footprints
    if not len(parts) or not text.startswith((b"(footprint", b"(module"), int(parts.offset[0])):
        return
    at, seen = int(parts.offset[0]), -1
    while (at := text.find(_LAYER, at) + 1) > 0:
        row = int(np.searchsorted(parts.offset, at, side="right")) - 1
        start = _last(text, max(int(parts.offset[row]), at - _LONGEST), at)
        if start is None or start == seen:
            continue
        seen, end = start, _end(text, start)
        at = max(at, end)
        try:
            node = tree.parse(text, start, end)
            layer = tree.word(tree.find(node, "layer"))
            if layer not in ("F.CrtYd", "B.CrtYd"):
                continue
            x, y = corners(node)
        except tree.MalformedError:
            continue
        place = parts.x_mm[row], parts.y_mm[row]
        yield row, *placed(np.array(x), np.array(y), place, parts.rotation_deg[row])


def _last(text: bytes, begin: int, end: int) -> int | None:
    """Where the last shape before `end` opens."""
    at = text.rfind(b"(fp_", begin, end)
    return at if at >= 0 and _SHAPE.match(text, at) else None


def _end(text: bytes, start: int) -> int:
    """Just past the parenthesis that closes the list at `start`; at most `_LONGEST` bytes on."""
    depth = 0
    for found in _LIST.finditer(text, start, start + _LONGEST):
        depth += {b"(": 1, b")": -1}.get(found.group(), 0)
        if depth == 0:
            return found.end()
    return start
