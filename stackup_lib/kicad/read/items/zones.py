"""Zones, rule areas and their stored fills."""

from __future__ import annotations

import re
from dataclasses import field

import numpy as np
from pydantic_core import from_json

from stackup_lib.board.board import Floats, Ints, Zones
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.read.items.footprints import layer_mask
from stackup_lib.kicad.read.items.legacy_fills import copper_of, pen_mm
from stackup_lib.kicad.read.items.shapes import points
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.scan import head, scan
from stackup_lib.kicad.syntax.source import BoardText, flags, ints, small, texts
from stackup_lib.kicad.syntax.tokens import known

_POINTS = ("polygon", "filled_polygon")
_UNREAD = ("fill_segments",)
_PTS = re.compile(rb"\(\s*pts(?=[\s()])")
ENCLOSING = 3
"""Corners of the smallest ring with copper in it; a fill with fewer is none."""
_PLAIN = b" \t\r\n()xy0123456789.-+"
_COMMAS = bytes.maketrans(b" )", b", ")
"""For JSON, where commas stand between numbers and spaces mean nothing."""


@workpiece
class _Rows:
    name: list[str] = field(default_factory=list)
    net: list[int] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    priority: list[int] = field(default_factory=list)
    rule_area: list[int] = field(default_factory=list)
    forbids_fill: list[int] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)
    hatched: list[int] = field(default_factory=list)
    uuid: list[str] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    outline: list[Floats] = field(default_factory=list)
    fill: list[Floats] = field(default_factory=list)
    fill_zone: list[int] = field(default_factory=list)
    fill_layer: list[int] = field(default_factory=list)


def read_zones(source: BoardText) -> Zones:
    """Return the board's zones in file order, then those inside footprints (KiCad writes both in board coordinates)."""
    rows = _Rows()
    blocks = source.blocks
    for item in source.items("zone").tolist():
        first, last = np.searchsorted(blocks.parent, (item, item + 1)).tolist()
        begin, end = blocks.children.start[first:last].tolist(), blocks.children.end[first:last].tolist()
        _zone(source, rows, int(blocks.items.start[item]), list(zip(begin, end, strict=True)))
    inside = source.children(source.items("footprint", "module"), "zone")
    for begin, end in zip(blocks.children.start[inside].tolist(), blocks.children.end[inside].tolist(), strict=True):
        parts = scan(source.data[begin:end]).items
        spans = zip((parts.start + begin).tolist(), (parts.end + begin).tolist(), strict=True)
        _zone(source, rows, begin, list(spans))
    return _columns(rows)


def _zone(source: BoardText, rows: _Rows, offset: int, parts: list[tuple[int, int]]) -> None:
    node: tree.Node = ["zone"]
    polygons: list[tuple[str, int, int]] = []
    for begin, end in parts:
        name = head(source.data, begin).decode("utf-8", "replace")
        if name in _POINTS:
            polygons.append((name, begin, end))
        elif name in _UNREAD:
            continue
        else:
            with source.at(begin):
                node.append(tree.parse(source.data, begin, end))
    with source.at(offset):
        _properties(source, rows, node, offset)
        pen = pen_mm(source.version, node)
    outline: Floats | None = None
    for name, begin, end in polygons:
        with source.at(begin):
            layer, corners = polygon(source.data, begin, end)
        if name == "polygon":
            outline = corners if outline is None else outline
            continue
        own = tree.word(tree.find(node, "layer"))
        for ring in copper_of(corners, pen) if pen > 0 else [corners]:
            if len(ring) < ENCLOSING:
                continue
            rows.fill.append(ring)
            rows.fill_zone.append(len(rows.offset) - 1)
            rows.fill_layer.append(source.layer(layer or own))
    rows.forbids_fill[-1] &= int(sum(name == "polygon" for name, _, _ in polygons) == 1)
    rows.outline.append(np.zeros((0, 2)) if outline is None else outline)


def _properties(source: BoardText, rows: _Rows, node: tree.Node, offset: int) -> None:
    source.count_unknown(node, "zone", known("zone"))
    names = tree.words(tree.find(node, "layers") or tree.find(node, "layer") or [])
    priority = tree.value(node, "priority")
    fill = tree.find(node, "fill")
    rows.name.append(tree.word(tree.find(node, "name")))
    rows.net.append(source.nets.of_zone(node))
    rows.layers.append(layer_mask(source, names))
    rows.priority.append(0 if priority is None else int(priority))
    keepout = tree.find(node, "keepout")
    rows.rule_area.append(int(keepout is not None))
    rows.forbids_fill.append(int(keepout is not None and tree.word(tree.find(keepout, "copperpour")) == "not_allowed"))
    rows.filled.append(int(fill is not None and "yes" in fill))
    rows.hatched.append(int(tree.word(tree.find(fill or [], "mode")) == "hatch"))
    rows.uuid.append(tree.word(tree.find(node, "uuid", "tstamp")))
    rows.offset.append(offset)


def polygon(data: bytes, begin: int, end: int) -> tuple[str, Floats]:
    """Return layer ("" when none is written) and corners, shape (n, 2) in mm, of one polygon of a zone."""
    found = _PTS.search(data, begin, end)
    if found is None:
        raise tree.MalformedError("a polygon of a zone has no (pts ...)")
    text = data[found.end() : end]
    if not text.translate(None, _PLAIN):
        values = _numbers(text)
        if values is not None:
            heading = tree.parse(data[begin : found.start()] + b")", 0, found.start() - begin + 1)
            return tree.word(tree.find(heading, "layer")), values
    node = tree.parse(data, begin, end)
    listed = tree.find(node, "pts")
    x, y = points(listed if listed is not None else [])
    return tree.word(tree.find(node, "layer")), np.array([x, y], dtype=np.float64).T.copy()


def _numbers(text: bytes) -> Floats | None:
    """Corners of a plain list `(xy 1 2) (xy 3 4)`, None when it is not plain; as JSON they are read twice as fast."""
    values = _listed(text.replace(b") (xy ", b"),").translate(_COMMAS, b"(xy"))
    if values is None:  # spaces elsewhere than KiCad 8 and later write them
        values = _listed(b",%b" % b",".join(text.translate(None, b"()xy").split()))
    if values is None or len(values) != 2 * text.count(b"xy") or not (np.abs(values) <= tree.MOST).all():
        return None
    return values.reshape(-1, 2)


def _listed(text: bytes) -> Floats | None:
    """Numbers with a comma before each, None where it is anything else."""
    try:
        return np.array(from_json(b"[0%b]" % text), dtype=np.float64)[1:]
    except (ValueError, OverflowError):
        return None


def _joined(parts: list[Floats]) -> tuple[Ints, Floats, Floats]:
    start = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)
    corners = np.concatenate(parts) if parts else np.zeros((0, 2))
    return start, corners[:, 0].copy(), corners[:, 1].copy()


def _columns(rows: _Rows) -> Zones:
    outline_start, outline_x, outline_y = _joined(rows.outline)
    fill_start, fill_x, fill_y = _joined(rows.fill)
    return Zones(
        name=texts(rows.name),
        net=ints(rows.net),
        layers=np.array(rows.layers, dtype=np.uint64),
        priority=ints(rows.priority),
        is_rule_area=flags(rows.rule_area),
        forbids_fill=flags(rows.forbids_fill),
        is_filled=flags(rows.filled),
        is_hatched=flags(rows.hatched),
        outline_start=outline_start,
        outline_x_mm=outline_x,
        outline_y_mm=outline_y,
        fill_zone=ints(rows.fill_zone),
        fill_layer=small(rows.fill_layer),
        fill_start=fill_start,
        fill_x_mm=fill_x,
        fill_y_mm=fill_y,
        uuid=texts(rows.uuid),
        offset=ints(rows.offset),
    )
