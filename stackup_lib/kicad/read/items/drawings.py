"""Copper that is drawn: graphics on copper layers, of the board and of footprints, and the shapes of custom pads."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Drawings, Floats, Footprints, Ints, Pads
from stackup_lib.kicad.read.items import shapes
from stackup_lib.kicad.read.items.footprints import layer_mask
from stackup_lib.kicad.read.items.outline import corners
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, flags, floats, ints, texts

_SHAPES = ("line", "arc", "circle", "rect", "poly", "curve")
_BOARD = tuple(f"gr_{s}" for s in _SHAPES)
_FOOTPRINT = tuple(f"fp_{s}" for s in _SHAPES)
_COPPER = re.compile(rb"\.Cu")
_HOLLOW = ("no", "none")


class _Rows:
    """What is drawn, column by column."""

    def __init__(self) -> None:
        self.layers: list[int] = []
        self.net: list[int] = []
        self.owner: list[tuple[int, int]] = []
        self.width: list[float] = []
        self.is_filled: list[bool] = []
        self.parts: list[tuple[Floats, Floats]] = []
        self.uuid: list[str] = []
        self.offset: list[int] = []

    def add(self, node: tree.Node, layers: int, net: int, owner: tuple[int, int], offset: int) -> None:
        """Add one shape as it is written; `moved` places it."""
        x, y = corners(node)
        stroke = tree.find(node, "stroke")
        self.width.append(tree.value(stroke if stroke is not None else node, "width") or 0.0)
        self.is_filled.append(_is_filled(node, self.width[-1]))
        self.layers.append(layers)
        self.net.append(net)
        self.owner.append(owner)
        self.parts.append((np.array(x), np.array(y)))
        self.uuid.append(tree.word(tree.find(node, "uuid", "tstamp")))
        self.offset.append(offset)

    def moved(self, at: tuple[Floats, Floats], rotation_deg: Floats) -> None:
        """Move the last shape from where it is in a footprint or pad to its place on the board."""
        self.parts[-1] = shapes.placed(*self.parts[-1], at, rotation_deg)


def read_drawings(source: BoardText, footprints: Footprints, pads: Pads) -> Drawings:
    """Return the shapes with copper in file order: the board's, those of footprints, those of custom pads.

    Text and pads with other shapes on other layers are left out.
    """
    rows = _Rows()
    span = source.blocks.items
    for offset, node in source.nodes(_on_copper(source, source.items(*_BOARD), span.start, span.end)):
        with source.at(offset):
            if layers := _layers(source, node):
                rows.add(node, layers, source.nets.of_item(node), (-1, -1), offset)
    owners = source.items("footprint", "module")
    span = source.blocks.children
    inside = _on_copper(source, source.children(owners, *_FOOTPRINT), span.start, span.end)
    of = np.searchsorted(owners, source.blocks.parent[inside]).tolist()
    for row, (offset, node) in zip(of, source.nodes(inside, child=True), strict=True):
        with source.at(offset):
            if layers := _layers(source, node):
                rows.add(node, layers, 0, (row, -1), offset)
                rows.moved((footprints.x_mm[row], footprints.y_mm[row]), footprints.rotation_deg[row])
    custom = np.flatnonzero(pads.shape == "custom")
    chosen = source.children(owners, "pad")[custom]
    for pad, (offset, node) in zip(custom.tolist(), source.nodes(chosen, child=True), strict=True):
        with source.at(offset):
            for shape in _primitives(node):
                rows.add(shape, int(pads.layers[pad]), int(pads.net[pad]), (int(pads.footprint[pad]), pad), offset)
                rows.moved((pads.x_mm[pad], pads.y_mm[pad]), pads.rotation_deg[pad])
                rows.uuid[-1] = str(pads.uuid[pad])
    return Drawings(
        layers=np.array(rows.layers, dtype=np.uint64),
        net=ints(rows.net),
        footprint=ints([footprint for footprint, _ in rows.owner]),
        pad=ints([pad for _, pad in rows.owner]),
        width_mm=floats(rows.width),
        is_filled=flags([int(one) for one in rows.is_filled]),
        start=np.concatenate([[0], np.cumsum([len(x) for x, _ in rows.parts])]).astype(np.int64),
        x_mm=np.concatenate([x for x, _ in rows.parts]) if rows.parts else np.zeros(0),
        y_mm=np.concatenate([y for _, y in rows.parts]) if rows.parts else np.zeros(0),
        uuid=texts(rows.uuid),
        offset=ints(rows.offset),
    )


def _on_copper(source: BoardText, rows: Ints, start: Ints, end: Ints) -> Ints:
    """Those of some lists that name a copper layer, and perhaps some that do not."""
    if not len(rows):
        return rows
    first, last = start[rows], end[rows]
    at = np.array([m.start() for m in _COPPER.finditer(source.data, int(first.min()), int(last.max()))], dtype=np.int64)
    return rows[np.searchsorted(at, first) < np.searchsorted(at, last)]


def _layers(source: BoardText, node: tree.Node) -> int:
    layer = tree.find(node, "layer", "layers")
    return 0 if layer is None else layer_mask(source, tree.words(layer))


def _is_filled(node: tree.Node, width_mm: float) -> bool:
    """Tell whether a shape is an area; KiCad 5 fills polygons, and circles that have no line."""
    kind = tree.head_of(node)[3:]
    if kind not in ("circle", "rect", "poly"):
        return False
    fill = tree.find(node, "fill")
    if fill is None:
        return kind == "poly" or width_mm == 0.0
    return tree.word(fill, "yes") not in _HOLLOW


def _primitives(pad: tree.Node) -> Iterator[tree.Node]:
    """The shapes of a custom pad that is the same on all of its layers."""
    found = tree.find(pad, "primitives")
    if found is not None and tree.find(pad, "padstack") is None:
        yield from (shape for shape in tree.lists(found) if tree.head_of(shape) in _BOARD)
