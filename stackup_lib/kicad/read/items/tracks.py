"""Track segments and arcs."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from stackup_lib.board.board import NO_LAYER, Floats, Tracks
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, ints, small, texts
from stackup_lib.kicad.syntax.tokens import known

_N = rb"(-?\d{1,9}(?:\.\d{0,30})?)"
_W = rb"\s*"
_USUAL = re.compile(
    rb"\((?:segment|(arc))\s+\(start\s+" + _N + rb"\s+" + _N + rb"\)" + _W
    + rb"(?(1)\(mid\s+" + _N + rb"\s+" + _N + rb"\)" + _W + rb")"
    + rb"\(end\s+" + _N + rb"\s+" + _N + rb"\)" + _W
    + rb"\(width\s+" + _N + rb"\)" + _W
    + rb"(?:\(locked\s+(?:yes|no)\)" + _W + rb")?"
    + rb'\(layer\s+"([^"\\]{1,60})"\)' + _W
    + rb'(?:\(net\s+(\d{1,9}|"[^"\\]*")\)' + _W + rb")?"
    + rb'(?:\((?:uuid|tstamp)\s+"?([-0-9A-Za-z]*)"?\)' + _W + rb")?\)"
)  # fmt: skip
"""What KiCad 6 to 10 write for a plain track; anything else goes to the general parser."""


MASK_OVER = {"F.Mask": "F.Cu", "B.Mask": "B.Cu"}
"""The layer under each solder mask; a track that lists a mask as well has none over it."""

Point = tuple[Floats, Floats]
_STRAIGHT = (math.nan, math.nan)


class _Row(NamedTuple):
    numbers: tuple[float, ...]
    layer: str
    net: int
    uuid: str
    offset: int


def read_tracks(source: BoardText) -> Tracks:
    """Return all segments and arcs, in file order; those on a layer that the board does not have are left out."""
    rows: list[_Row] = []
    chosen = source.items("segment", "arc")
    span = source.blocks.items
    for start, end in zip(span.start[chosen].tolist(), span.end[chosen].tolist(), strict=True):
        usual = _USUAL.fullmatch(source.data, start, end)
        if usual is None:
            with source.at(start):
                rows.append(_general(source, tree.parse(source.data, start, end), start))
            continue
        _, x0, y0, xm, ym, x1, y1, width, layer, net, uuid = usual.groups()
        middle = _STRAIGHT if xm is None else (float(xm), float(ym))
        numbers = (float(x0), float(y0), *middle, float(x1), float(y1), float(width))
        net_index = 0 if net is None else source.nets.of_bytes(net)
        rows.append(_Row(numbers, layer.decode("utf-8", "replace"), net_index, (uuid or b"").decode("ascii"), start))
    return _columns(source, rows)


def _general(source: BoardText, node: tree.Node, offset: int) -> _Row:
    kind = tree.head_of(node)
    source.count_unknown(node, kind, known("track"))
    width = tree.value(node, "width")
    if width is None:
        raise tree.MalformedError(f"({kind} ...) has no (width ...)")
    on = tree.find(node, "layer", "layers")
    layer = tree.word(on)
    if not layer:
        raise tree.MalformedError(f"({kind} ...) has no (layer ...)")
    if on is not None and any(name in MASK_OVER for name in tree.words(on)):
        source.unmasked.append(node)
    middle = tree.point(node, "mid") if kind == "arc" else _STRAIGHT
    return _Row(
        numbers=(*tree.point(node, "start"), *middle, *tree.point(node, "end"), width),
        layer=layer,
        net=source.nets.of_item(node),
        uuid=tree.word(tree.find(node, "uuid", "tstamp")),
        offset=offset,
    )


def _columns(source: BoardText, rows: list[_Row]) -> Tracks:
    layer = [source.layer(r.layer) for r in rows]
    if NO_LAYER in layer:
        source.left_out.update(
            f'tracks on "{r.layer}", which is no copper layer of the board'
            for r in rows
            if source.layer(r.layer) == NO_LAYER
        )
        rows = [r for r, index in zip(rows, layer, strict=True) if index != NO_LAYER]
        layer = [index for index in layer if index != NO_LAYER]
    x0, y0, xm, ym, x1, y1, width = np.array([r.numbers for r in rows], dtype=np.float64).reshape(-1, 7).T.copy()
    return Tracks(
        start_x_mm=x0,
        start_y_mm=y0,
        mid_x_mm=xm,
        mid_y_mm=ym,
        end_x_mm=x1,
        end_y_mm=y1,
        width_mm=width,
        length_mm=np.where(np.isnan(xm), np.hypot(x1 - x0, y1 - y0), arc_length_mm((x0, y0), (xm, ym), (x1, y1))),
        layer=small(layer),
        net=ints([r.net for r in rows]),
        uuid=texts([r.uuid for r in rows]),
        offset=ints([r.offset for r in rows]),
    )


def arc_length_mm(start: Point, middle: Point, end: Point) -> Floats:
    """Return the length of circular arcs that run from start through middle to end.

    The turn between the chords start-middle and middle-end is half of the arc's angle, and the radius follows from the
    circumscribed circle, R = abc / 4A. A middle in line with the ends gives the straight length; an end on the start
    gives a full circle with the middle opposite.
    """
    ax, ay, bx, by = middle[0] - start[0], middle[1] - start[1], end[0] - middle[0], end[1] - middle[1]
    a, b, c = np.hypot(ax, ay), np.hypot(bx, by), np.hypot(end[0] - start[0], end[1] - start[1])
    cross = np.abs(ax * by - ay * bx)
    turn = np.arctan2(cross, ax * bx + ay * by)
    straight = cross <= 1e-12 * np.maximum(a * b, 1e-12)
    radius = a * b * c / (2.0 * np.where(straight, 1.0, cross))
    return np.where(c < 1e-7, np.pi * a, np.where(straight, a + b, 2.0 * turn * radius))
