"""Openings of the solder mask over tracks: graphics and zones in the mask, and tracks that are left without it."""

from __future__ import annotations

import re

import numpy as np

from stackup_lib.board.board import MaskOpening
from stackup_lib.kicad.read.items import shapes
from stackup_lib.kicad.read.items.drawings import BOARD_SHAPES
from stackup_lib.kicad.read.items.pad_shapes import graphic
from stackup_lib.kicad.read.items.tracks import MASK_OVER
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText

_ON_MASK = re.compile(rb"[FB]\.Mask\b")

HEAD_BYTES = 400
"""Of a zone, whose fills may have megabytes: its layers stand before them."""


def read_mask_openings(source: BoardText) -> tuple[MaskOpening, ...]:
    """Return the openings, zones first; call it after the tracks have been read."""
    found, span = [], source.blocks.items
    for row in source.items("zone").tolist():
        start, end = int(span.start[row]), int(span.end[row])
        if _ON_MASK.search(source.data, start, min(start + HEAD_BYTES, end)):
            with source.at(start):
                found += _of_zone(source, tree.parse(source.data, start, end))
    for row in source.items(*BOARD_SHAPES).tolist():
        start, end = int(span.start[row]), int(span.end[row])
        if _ON_MASK.search(source.data, start, end):
            with source.at(start):
                node = tree.parse(source.data, start, end)
                shape = graphic(node)
            if len(shape.x_mm) > 1:
                found += [MaskOpening(layer, *shape) for layer in _layers_under(source, node)]
    for node in source.unmasked:
        x, y = zip(*(tree.point(node, name) for name in ("start", "mid", "end") if tree.find(node, name)), strict=True)
        width = tree.value(node, "width") or 0.0
        found += [
            MaskOpening(layer, np.array(x), np.array(y), width, is_filled=False)
            for layer in _layers_under(source, node)
        ]
    return tuple(found)


def _of_zone(source: BoardText, zone: tree.Node) -> list[MaskOpening]:
    """Return the fills of a zone in a mask; one that is not filled opens nothing."""
    found = []
    for fill in (child for child in tree.lists(zone) if tree.head_of(child) == "filled_polygon"):
        x, y = shapes.points(tree.find(fill, "pts") or [])
        layers = _layers_under(source, fill) if len(x) > 2 else []
        found += [MaskOpening(layer, np.array(x), np.array(y), 0.0, is_filled=True) for layer in layers]
    return found


def _layers_under(source: BoardText, node: tree.Node) -> list[int]:
    names = tree.words(tree.find(node, "layer", "layers") or [])
    return [source.layer_index[MASK_OVER[name]] for name in names if MASK_OVER.get(name) in source.layer_index]
