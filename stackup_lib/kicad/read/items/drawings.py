"""Copper that is drawn: graphics on copper layers, of the board and of footprints, and pads of uncommon shapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Drawings, Floats, Footprints, Pads
from stackup_lib.kicad.read.items import shapes
from stackup_lib.kicad.read.items.footprints import layer_mask
from stackup_lib.kicad.read.items.pad_shapes import DrawnShape, graphic, pad_shapes
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, flags, floats, ints, texts

_SHAPES = ("line", "arc", "circle", "rect", "poly", "curve")
BOARD_SHAPES = tuple(f"gr_{s}" for s in _SHAPES)
_FOOTPRINT = tuple(f"fp_{s}" for s in _SHAPES)


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
        """Add a graphic as it is written; `moved` places it."""
        self.add_shape(graphic(node), layers, net, owner, offset)
        self.uuid[-1] = tree.word(tree.find(node, "uuid", "tstamp"))

    def add_shape(self, shape: DrawnShape, layers: int, net: int, owner: tuple[int, int], offset: int) -> None:
        """Add one shape; `moved` places it."""
        self.width.append(shape.width_mm)
        self.is_filled.append(shape.is_filled)
        self.layers.append(layers)
        self.net.append(net)
        self.owner.append(owner)
        self.parts.append((shape.x_mm, shape.y_mm))
        self.uuid.append("")
        self.offset.append(offset)

    def moved(self, at: tuple[Floats, Floats], rotation_deg: Floats) -> None:
        """Move the last shape from where it is in a footprint or pad to its place on the board."""
        self.parts[-1] = shapes.placed(*self.parts[-1], at, rotation_deg)


def read_drawings(source: BoardText, footprints: Footprints, pads: Pads) -> Drawings:
    """Return the shapes with copper in file order: the board's, those of footprints, those of pads.

    Text is left out: `read_copper_texts` says where it is.
    """
    rows = _Rows()
    for offset, node in source.nodes(source.on_copper(source.items(*BOARD_SHAPES))):
        with source.at(offset):
            if layers := layers_of_item(source, node):
                rows.add(node, layers, source.nets.of_item(node), (-1, -1), offset)
    owners = source.items("footprint", "module")
    inside = source.on_copper(source.children(owners, *_FOOTPRINT), child=True)
    of = np.searchsorted(owners, source.blocks.parent[inside]).tolist()
    for row, (offset, node) in zip(of, source.nodes(inside, child=True), strict=True):
        with source.at(offset):
            if layers := layers_of_item(source, node):
                rows.add(node, layers, 0, (row, -1), offset)
                rows.moved((footprints.x_mm[row], footprints.y_mm[row]), footprints.rotation_deg[row])
    uncommon = np.flatnonzero(np.isnan(pads.corner_mm))
    chosen = source.children(owners, "pad")[uncommon]
    for pad, (offset, node) in zip(uncommon.tolist(), source.nodes(chosen, child=True), strict=True):
        with source.at(offset):
            for layers, shape in _of_pad(source, pads, pad, node):
                rows.add_shape(shape, layers, int(pads.net[pad]), (int(pads.footprint[pad]), pad), offset)
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


def layers_of_item(source: BoardText, node: tree.Node) -> int:
    """Return the copper layers of a graphic or text, as a bit mask."""
    layer = tree.find(node, "layer", "layers")
    return 0 if layer is None else layer_mask(source, tree.words(layer))


def _of_pad(source: BoardText, pads: Pads, pad: int, node: tree.Node) -> Iterator[tuple[int, DrawnShape]]:
    """The shapes of a pad with the layers that they are on.

    Where KiCad takes a pad away on inner layers that no fill joins, its shapes are left out inside.
    """
    found = [(name, _mask(source, name), drawn) for name, drawn in pad_shapes(node)]
    named, here = 0, int(pads.layers[pad])
    for _, mask, _ in found:
        named |= mask
    if pads.remove_unused[pad] == 1:
        here &= layer_mask(source, ["F&B.Cu"]) | int(pads.fill_layers[pad])
    for name, mask, drawn in found:
        layers = here & (mask if name else ~named)
        yield from ((layers, shape) for shape in drawn if layers)


def _mask(source: BoardText, name: str) -> int:
    return layer_mask(source, ["*In.Cu" if name == "Inner" else name])
