"""Graphics on Edge.Cuts: the board's own, and those of footprints at their board positions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stackup_lib.board.board import Floats, Footprints, Ints, Outline
from stackup_lib.kicad.read.items import shapes
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, holding

_SHAPES = ("line", "arc", "circle", "rect", "poly", "curve")
_BOARD = tuple(f"gr_{s}" for s in _SHAPES)
_FOOTPRINT = tuple(f"fp_{s}" for s in _SHAPES)


def read_outline(source: BoardText, footprints: Footprints) -> Outline:
    """Return every line, arc, circle, rectangle, polygon and curve on Edge.Cuts as polylines, in file order."""
    owners = source.items("footprint", "module")
    blocks = source.blocks
    marks = _marks(source)
    parts: list[tuple[Floats, Floats]] = []
    drawn_by: list[int] = []
    board = _named(source.item_name, holding(marks, blocks.items), _BOARD)
    for offset, node in source.nodes(board):
        with source.at(offset):
            if _on_edge(node):
                x, y = corners(node)
                parts.append((np.array(x), np.array(y)))
                drawn_by.append(-1)
    inside = _named(source.child_name, holding(marks, blocks.children), _FOOTPRINT)
    inside = inside[np.isin(blocks.parent[inside], owners)]
    rows = np.searchsorted(owners, blocks.parent[inside]).tolist()
    for row, (offset, node) in zip(rows, source.nodes(inside, child=True), strict=True):
        with source.at(offset):
            if _on_edge(node):
                x, y = corners(node)
                at = footprints.x_mm[row], footprints.y_mm[row]
                parts.append(shapes.placed(np.array(x), np.array(y), at, footprints.rotation_deg[row]))
                drawn_by.append(row)
    return Outline(
        start=np.concatenate([[0], np.cumsum([len(p[0]) for p in parts])]).astype(np.int64),
        x_mm=np.concatenate([p[0] for p in parts]) if parts else np.zeros(0),
        y_mm=np.concatenate([p[1] for p in parts]) if parts else np.zeros(0),
        footprint=np.array(drawn_by, dtype=np.int64),
    )


def _marks(source: BoardText) -> Ints:
    """Offsets in every mention of Edge.Cuts: few, and only what holds one needs a closer look."""
    marks = source.copper_marks
    return marks[[source.data.startswith(b".Cuts", at) for at in marks.tolist()]]


def _named(name_of: Callable[[int], str], rows: Ints, names: tuple[str, ...]) -> Ints:
    return rows[[name_of(row) in names for row in rows.tolist()]]


def _on_edge(node: tree.Node) -> bool:
    layer = tree.find(node, "layer", "layers")
    return layer is not None and "Edge.Cuts" in tree.words(layer)


def corners(node: tree.Node) -> shapes.Corners:
    """Return the corners of one graphic shape in mm, as they are written; closed shapes end where they begin."""
    kind = tree.head_of(node)[3:]
    if kind == "curve":
        return shapes.bezier(_pts(node))
    if kind == "poly":
        x, y = shapes.points(_pts(node))
        return [*x, *x[:1]], [*y, *y[:1]]
    if kind == "circle":
        centre, end = tree.point(node, "center"), tree.point(node, "end")
        return shapes.sweep(centre, math.hypot(end[0] - centre[0], end[1] - centre[1]), 0.0, math.tau)
    start, end = tree.point(node, "start"), tree.point(node, "end")
    if kind == "rect":
        return shapes.rectangle(start, end, tree.value(node, "radius") or 0.0)
    if kind == "arc":
        return _arc(node, start, end)
    return [start[0], end[0]], [start[1], end[1]]


def _arc(node: tree.Node, start: tuple[float, float], end: tuple[float, float]) -> shapes.Corners:
    """An arc through a middle; before KiCad 6 `start` is the centre, `end` the first point, and `angle` the turn."""
    if tree.find(node, "mid") is not None:
        return shapes.arc(start, tree.point(node, "mid"), end)
    angle = tree.value(node, "angle")
    if angle is None:
        raise tree.MalformedError(f"({tree.head_of(node)} ...) has neither (mid ...) nor (angle ...)")
    begin = math.atan2(end[1] - start[1], end[0] - start[0])
    radius = math.hypot(end[0] - start[0], end[1] - start[1])
    return shapes.sweep(start, radius, begin, math.radians(max(-360.0, min(360.0, angle))))


def _pts(node: tree.Node) -> tree.Node:
    found = tree.find(node, "pts")
    if found is None:
        raise tree.MalformedError(f"({tree.head_of(node)} ...) has no (pts ...)")
    return found
