"""Text, dimensions, tables and barcodes on copper layers, of the board and of footprints: rectangles around them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import tomli

from stackup_lib.board.board import CopperTexts, Footprints
from stackup_lib.kicad.read.items import shapes
from stackup_lib.kicad.read.items.drawings import layers_of_item
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, floats, ints, texts

WIDEST = 1.45
"""Advance of a letter that is in no table, as a share of the font's width."""

LINE_PITCH = 1.61
ABOVE, HIGH_ABOVE = 0.6, 0.9
BELOW, DEEP_BELOW = 0.53, 0.91
"""From the middle of a line, as shares of the font's height: plain letters, and those with a tail, or above a capital.

These, the pitch of lines and the shift of text that hangs from or stands on its anchor are those of KiCad 10's pcbnew.
"""

HANGS_BY = 0.585
BELOW_BARCODE = 1.8
"""How far the text of a barcode reaches below it, as a share of the text's height."""
DEEP = frozenset("#$(),/;@Q[\\]_gjpqy{|}")
HIGH = frozenset("#$()/4[\\]^`{|}~")
SLANT = 0.15
"""An italic letter leans by less, as a share of its height."""

VARIABLE_LETTERS = 30
"""What a text variable may stand for."""

USUAL_FONT_MM = 1.0
_BOARD = ("gr_text", "gr_text_box", "dimension", "table", "barcode")
_FOOTPRINT = ("fp_text", "fp_text_box", "property", "dimension", "table", "barcode")


def read_copper_texts(source: BoardText, footprints: Footprints) -> CopperTexts:
    """Return what is visible of them, in file order, the board's first; no rectangle is smaller than what it holds."""
    found = [*_of_board(source), *_of_footprints(source, footprints)]
    corners = np.array([box for *_, box in found], dtype=np.complex128).reshape(len(found), 4)
    return CopperTexts(
        layers=np.array([layers for layers, *_ in found], dtype=np.uint64),
        x_mm=floats([at.real for *_, at, _ in found]),
        y_mm=floats([at.imag for *_, at, _ in found]),
        corner_x_mm=np.asarray(corners.real, dtype=np.float64),
        corner_y_mm=np.asarray(corners.imag, dtype=np.float64),
        words=texts([said for _, said, *_ in found]),
        offset=ints([offset for _, _, offset, *_ in found]),
    )


_Found = tuple[int, str, int, complex, list[complex]]
"""Layers, words, offset and anchor of a text, and the corners of the rectangle."""


def _of_board(source: BoardText) -> Iterator[_Found]:
    for offset, node in source.nodes(source.on_copper(source.items(*_BOARD))):
        with source.at(offset):
            said = _said(node)
            if (layers := layers_of_item(source, node)) and not _is_hidden(said):
                yield layers, _words(said), offset, *_rectangle(node, said)


def _of_footprints(source: BoardText, footprints: Footprints) -> Iterator[_Found]:
    owners = source.items("footprint", "module")
    inside = source.on_copper(source.children(owners, *_FOOTPRINT), child=True)
    of = np.searchsorted(owners, source.blocks.parent[inside]).tolist()
    for row, (offset, node) in zip(of, source.nodes(inside, child=True), strict=True):
        with source.at(offset):
            said, turned_deg = _said(node), float(footprints.rotation_deg[row])
            if (layers := layers_of_item(source, node)) and not _is_hidden(said):
                at, box = _rectangle(node, said, turned_deg, of_footprint=True)
                points = np.array([at, *box])
                place = footprints.x_mm[row], footprints.y_mm[row]
                x, y = shapes.placed(points.real, points.imag, place, footprints.rotation_deg[row])
                at, *box = (x + 1j * y).tolist()
                yield layers, _words(said), offset, at, box


def _said(node: tree.Node) -> tree.Node:
    """What holds the text of a dimension or barcode; of others it is themselves."""
    return tree.find(node, "gr_text", "text") or node


def _is_hidden(node: tree.Node) -> bool:
    effects = tree.find(node, "effects") or []
    return any("hide" in tree.words(one) or tree.flag(one, "hide") is True for one in (node, effects))


def _words(node: tree.Node) -> str:
    """What a text says; of a footprint's text its kind, and of a property its name, stands before it."""
    words = tree.words(node)
    return words[1 if tree.head_of(node) in ("fp_text", "property") and len(words) > 1 else 0] if words else ""


def _rectangle(
    node: tree.Node, said: tree.Node, turned_deg: float = 0.0, *, of_footprint: bool = False
) -> tuple[complex, list[complex]]:
    """The anchor of a text, and the corners of what it lies within; the angle is that on the board."""
    where = tree.find(said, "at")
    at = complex(*tree.pair(where)) if where is not None else 0j
    angle = tree.number(where[3], "at") if where is not None and len(where) > 3 and where[3] != "unlocked" else 0.0
    if tree.head_of(node) == "barcode":
        return _barcode(node, said, turned_deg)
    left, top, right, bottom = _extents(said)
    if of_footprint:  # KiCad turns it over where it would stand on its head
        right, bottom = max(right, -left), max(bottom, -top)
        left, top = -right, -bottom
    turn = np.exp(-1j * np.radians(angle - turned_deg))
    box = [at + complex(*one) * turn for one in ((left, top), (right, top), (right, bottom), (left, bottom))]
    around = _points(node)
    if not around:
        return at, box
    around += box if where is not None else []
    reach = sum(abs(tree.value(node, name) or 0.0) for name in ("height", "leader_length"))
    left, right = min(one.real for one in around) - reach, max(one.real for one in around) + reach
    top, bottom = min(one.imag for one in around) - reach, max(one.imag for one in around) + reach
    corners = [complex(left, top), complex(right, top), complex(right, bottom), complex(left, bottom)]
    return complex(left + right, top + bottom) / 2, corners


def _barcode(node: tree.Node, said: tree.Node, turned_deg: float) -> tuple[complex, list[complex]]:
    """The same of a barcode: its text is below it as it lies, and its margins are copper where it is inverse."""
    where, margins = tree.find(node, "at") or [], tree.find(node, "margins")
    at, angle = complex(*tree.point(node, "at")), tree.number(where[3], "at") if len(where) > 3 else 0.0
    wide, high = (0.5 * one for one in tree.point(node, "size"))
    letters = 0.0 if tree.flag(node, "hide") else tree.value(node, "text_height") or 0.0
    right = max(wide, letters * _width(_words(said), has_face=False) / 2) + (tree.pair(margins)[0] if margins else 0.0)
    bottom = high + BELOW_BARCODE * letters + (tree.pair(margins)[1] if margins else 0.0)
    turn = np.exp(-1j * np.radians(angle - turned_deg))
    return at, [at + complex(x * right, y * bottom) * turn for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def _points(node: tree.Node) -> list[complex]:
    """The corners of a text box or of the cells of a table, and the points of a dimension."""
    cells = tree.lists(tree.find(node, "cells") or [], "table_cell")
    ends = [(one, name) for one in (node, *cells) for name in ("start", "end") if tree.find(one, name)]
    found = [complex(*tree.point(*end)) for end in ends]
    listed = tree.find(node, "pts")
    return [*found, *(complex(*tree.pair(one)) for one in tree.lists(listed or [], "xy"))]


def _extents(node: tree.Node) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a text from its anchor, where it is not turned."""
    effects = tree.find(node, "effects") or []
    font, justified = tree.find(effects, "font") or [], set(tree.words(tree.find(effects, "justify") or []))
    size = tree.find(font, "size")
    high, wide = (abs(one) for one in tree.pair(size)) if size else (USUAL_FONT_MM, USUAL_FONT_MM)
    pen = (tree.value(font, "thickness") or 0.2 * min(wide, high)) / 2 + (SLANT * high if "italic" in str(font) else 0)
    lines = _words(node).split("\n")
    width = max(_width(line, has_face=tree.find(font, "face") is not None) for line in lines) * wide
    left = {"left": 0.0, "right": -width}.get(next(iter({"left", "right"} & justified), ""), -width / 2)
    if "mirror" in justified:
        left = -width - left
    hangs = {"top": 1, "bottom": -1}.get(next(iter({"top", "bottom"} & justified), ""), 0)
    middle = hangs * (HANGS_BY + (len(lines) - 1) * LINE_PITCH / 2)
    rest = (len(lines) - 1) * LINE_PITCH / 2
    top = middle - rest - (HIGH_ABOVE if HIGH & set(lines[0]) else ABOVE)
    bottom = middle + rest + (DEEP_BELOW if DEEP & set(lines[-1]) else BELOW)
    return left - pen, top * high - pen, left + width + pen, bottom * high + pen


def _width(line: str, *, has_face: bool) -> float:
    """The advance of a line as a share of the font's width, no less than KiCad's; of another font by its widest."""
    widths = {} if has_face else _widths()
    return sum(widths.get(letter, WIDEST) for letter in line) + WIDEST * VARIABLE_LETTERS * line.count("${")


@cache
def _widths() -> dict[str, float]:
    data = tomli.loads(Path(__file__).with_name("letter_widths.toml").read_text(encoding="utf-8"))
    return {letter: int(parts) / data["parts"] for parts, letters in data["letters"].items() for letter in letters}
