"""The copper of pads that size and corners do not tell: custom, slanted, chamfered, and different on some layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stackup_lib.board.board import Floats
from stackup_lib.kicad.read.items import shapes
from stackup_lib.kicad.read.items.outline import corners
from stackup_lib.kicad.syntax import tree

DRAWN = tuple(f"gr_{s}" for s in ("line", "arc", "circle", "rect", "poly", "curve"))
_CORNERS = (("top_left", -1, -1), ("top_right", 1, -1), ("bottom_right", 1, 1), ("bottom_left", -1, 1))
_HOLLOW = ("no", "none")
_OWN_RATIO = 0.25
_MOST_RATIO = 0.5


class DrawnShape(NamedTuple):
    """A polyline with a pen; of an area, `is_filled`, the edge. Around the pad's position, before rotation; mm."""

    x_mm: Floats
    y_mm: Floats
    width_mm: float
    is_filled: bool


def graphic(node: tree.Node) -> DrawnShape:
    """Return a graphic shape as it is written."""
    x, y = corners(node)
    stroke = tree.find(node, "stroke")
    width = tree.value(stroke if stroke is not None else node, "width") or 0.0
    return DrawnShape(np.array(x), np.array(y), width, _is_filled(node, width))


def corner_ratio(node: tree.Node) -> float:
    """Return the radius of round corners by the narrow side: KiCad's own where a pad, no layer of it, states none."""
    stated = tree.value(node, "roundrect_rratio")
    if stated is None:
        return _OWN_RATIO if tree.head_of(node) == "pad" else 0.0
    return min(max(stated, 0.0), _MOST_RATIO)


def pad_shapes(pad: tree.Node) -> Iterator[tuple[str, list[DrawnShape]]]:
    """Yield (layer, shapes) of a pad that is not told by its size and corners; "" is every layer without its own.

    The layer is a name, or "Inner" for all inner ones. Of a pad that is the same everywhere, the anchor of a custom one
    is left out where it is round.
    """
    name, hole = tree.words(pad)[2], tree.find(pad, "drill") or []
    stack, shift = tree.find(pad, "padstack"), _pair(hole, "offset")
    if stack is None:
        yield "", _placed(_shapes(pad, name, tree.point(pad, "size"), is_alone=True), shift)
        return
    yield "", _placed(_shapes(pad, name, tree.point(pad, "size")), shift)
    for layer in tree.lists(stack, "layer"):
        own = tree.word(tree.find(layer, "shape"), name)
        yield tree.word(layer), _placed(_shapes(layer, own, tree.point(layer, "size")), _pair(layer, "offset"))


def _pair(node: tree.Node, name: str) -> tuple[float, float]:
    found = tree.find(node, name)
    return (0.0, 0.0) if found is None else tree.pair(found)


def _placed(found: list[DrawnShape], shift: tuple[float, float]) -> list[DrawnShape]:
    return [one._replace(x_mm=one.x_mm + shift[0], y_mm=one.y_mm + shift[1]) for one in found]


def _shapes(node: tree.Node, name: str, size: tuple[float, float], *, is_alone: bool = False) -> list[DrawnShape]:
    """The shapes of a pad, or of its layer, about its middle."""
    if name == "custom":
        options, drawn = tree.find(node, "options") or [], tree.find(node, "primitives") or []
        anchor = tree.word(tree.find(options, "anchor"), "circle")
        middle = [] if is_alone and anchor == "circle" else _shapes(node, anchor, size)
        return [graphic(one) for one in tree.lists(drawn) if tree.head_of(one) in DRAWN] + middle
    half_x, half_y = size[0] / 2, size[1] / 2
    if name == "trapezoid":
        slant_y, slant_x = (part / 2 for part in _pair(node, "rect_delta"))
        across = [-half_x - slant_x, half_x + slant_x, half_x - slant_x, -half_x + slant_x]
        return [_area(across, [half_y + slant_y, half_y - slant_y, -half_y + slant_y, -half_y - slant_y])]
    narrow = min(size)
    cut, cut_at = (tree.value(node, "chamfer_ratio") or 0.0) * narrow, tree.find(node, "chamfer")
    ratio = _MOST_RATIO if name in ("circle", "oval") else corner_ratio(node)
    radius = narrow * ratio if name != "rect" else 0.0
    if cut > 0.0 and cut_at is not None:
        return [_chamfered((half_x, half_y), radius, cut, tree.words(cut_at))]
    half_y = half_x if name == "circle" else half_y
    x, y = half_x - radius, half_y - radius
    return [_area([-x, x, x, -x], [-y, -y, y, y], 2 * radius)]


def _area(x: list[float], y: list[float], width_mm: float = 0.0) -> DrawnShape:
    return DrawnShape(np.array([*x, x[0]]), np.array([*y, y[0]]), width_mm, is_filled=True)


def _chamfered(half: tuple[float, float], radius: float, cut: float, cut_at: list[str]) -> DrawnShape:
    """A rectangle with some corners cut, the others round."""
    x: list[float] = []
    y: list[float] = []
    for k, (corner, right, down) in enumerate(_CORNERS):
        at_x, at_y = right * half[0], down * half[1]
        if corner in cut_at:
            ends = [(at_x - right * cut, at_y), (at_x, at_y - down * cut)]
            ends = ends if right * down < 0 else ends[::-1]
            x += [one for one, _ in ends]
            y += [other for _, other in ends]
        elif radius > 0.0:
            middle, begin = (at_x - right * radius, at_y - down * radius), math.pi + k * math.pi / 2
            around = shapes.sweep(middle, radius, begin, math.pi / 2)
            x += around[0]
            y += around[1]
        else:
            x.append(at_x)
            y.append(at_y)
    return _area(x, y)


def _is_filled(node: tree.Node, width_mm: float) -> bool:
    """Tell whether a shape is an area; KiCad 5 fills polygons, and circles that have no line."""
    kind = tree.head_of(node)[3:]
    if kind not in ("circle", "rect", "poly"):
        return False
    fill = tree.find(node, "fill")
    if fill is None:
        return kind == "poly" or width_mm == 0.0
    return tree.word(fill, "yes") not in _HOLLOW
