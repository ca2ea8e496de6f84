"""Footprints and their pads, at their board positions."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from stackup_lib.board.board import Flags, Footprints, Ints, PadKind, Pads
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.read.items.net_ties import jumper_groups, tie_groups
from stackup_lib.kicad.read.items.pad_shapes import corner_ratio
from stackup_lib.kicad.read.items.shapes import placed
from stackup_lib.kicad.read.items.vias import DrillingRow, drilling, drilling_columns, fill_layers, unused_pads
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, flags, floats, ints, texts
from stackup_lib.kicad.syntax.tokens import known

_PAD_KINDS = {
    "smd": PadKind.SMD,
    "thru_hole": PadKind.THROUGH,
    "np_thru_hole": PadKind.NON_PLATED,
    "connect": PadKind.CONNECTOR,
}
_WORD = rb'("(?:[^"\\]|\\.)*"|[^\s()"]+)'
_NAMED = re.compile(rb'\(\s*(?:property\s*"?(Reference|Value)"?|fp_text\s+(reference|value))\s*' + _WORD, re.DOTALL)
_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_VARYING = re.compile(
    rb"(\((?:at|net|uuid|tstamp|pinfunction|pintype)\s(?:" + _STRING + rb'|\\[\\"]?|[^()"\\])*+\)'
    rb"|(?<=^\(pad)\s+(?:" + _STRING + rb'|(?:\\[\\"]?|[^\s()"\\])++))',
    re.DOTALL,
)
"""What differs between the pads of one kind: they are parsed once per kind, these pieces once per pad."""
_N = rb"(-?\d{1,9}(?:\.\d{0,30})?)"
_USUAL = re.compile(
    rb'\s+("[^"\\]*"|[^\s()"\\]+)\(at ' + _N + rb" " + _N + rb"(?: " + _N + rb")?\)"
    rb'(?:\(net (\d{1,9}(?: "[^"\\]*")?|"[^"\\]*")\))?'
    rb'(?:\(pinfunction "([^"\\]*)"\))?(?:\(pintype "[^"\\]*"\))?'
    rb'(?:\((?:uuid|tstamp) "?([-0-9A-Za-z]*)"?\))?'
)  # fmt: skip
"""Those pieces as KiCad 6 to 10 write them one after the other; anything else goes to the general parser."""
_LONGEST_DIE_MM = 100.0
"""No package is so large that a pad is farther from its die."""

_KICAD_9 = 20241229
"""Newest version of KiCad 9. KiCad 10 writes a pin's name with its pad's number behind it: `D+_3` for `D+` at pad 3."""
_DNP = re.compile(rb"\sdnp[\s)]")
_NAME = re.compile(rb"\(\s*(?:footprint|module)\s*" + _WORD)


@workpiece
class _Places:
    """Where each footprint is, by its row."""

    x: list[float]
    y: list[float]
    rotation: list[float]
    back: list[int]
    uuid: list[str]


def read_footprints(source: BoardText) -> tuple[Footprints, Pads]:
    """Return all footprints and all pads, in file order."""
    items = source.items("footprint", "module")
    for name, count in source.child_counts(items).items():
        if name not in known("footprint"):
            source.unknown[f"footprint/{name}"] += count
    row_of = np.full(len(source.blocks.items), -1, dtype=np.int64)
    row_of[items] = np.arange(len(items))
    places = _places(source, items, row_of)
    reference, value = _names(source, items, row_of)
    start = source.blocks.items.start[items]
    footprints = Footprints(
        reference=texts(reference),
        value=texts(value),
        library_id=texts([_library_id(source, at) for at in start.tolist()]),
        x_mm=floats(places.x),
        y_mm=floats(places.y),
        rotation_deg=floats(places.rotation),
        back=flags(places.back),
        unfitted=_unfitted(source, items, row_of),
        uuid=texts(places.uuid),
        offset=start,
    )
    return footprints, _pads(source, items, row_of, footprints)


def _library_id(source: BoardText, start: int) -> str:
    found = _NAME.match(source.data, start)
    return tree.unquoted(found.group(1).decode("utf-8", "replace")) if found else ""


def _places(source: BoardText, items: Ints, row_of: Ints) -> _Places:
    count = len(items)
    places = _Places([math.nan] * count, [math.nan] * count, [0.0] * count, [0] * count, [""] * count)
    chosen = source.children(items, "at", "layer", "uuid", "tstamp")
    rows = row_of[source.blocks.parent[chosen]].tolist()
    for row, (offset, node) in zip(rows, source.nodes(chosen, child=True), strict=True):
        if node[0] == "at":
            with source.at(offset):
                places.x[row], places.y[row] = tree.pair(node)
                places.rotation[row] = tree.number(node[3], "at") if len(node) > 3 and node[3] != "unlocked" else 0.0
        elif node[0] == "layer":
            places.back[row] = int(source.layer(tree.word(node)) == source.layer_count - 1)
        else:
            places.uuid[row] = tree.word(node)
    for row, x in enumerate(places.x):
        if math.isnan(x):
            raise source.error(int(source.blocks.items.start[items[row]]), "(footprint ...) has no (at x y)")
    return places


def _unfitted(source: BoardText, items: Ints, row_of: Ints) -> Flags:
    """Return 1 for each footprint that KiCad 7 or later marks as one not to populate: `(attr smd dnp)`."""
    chosen = source.children(items, "attr")
    marked = flags([0] * len(items))
    rows = row_of[source.blocks.parent[chosen]]
    spans = zip(source.blocks.children.start[chosen], source.blocks.children.end[chosen], strict=True)
    marked[rows[[bool(_DNP.search(source.data, start, end)) for start, end in spans]]] = 1
    return marked


def _names(source: BoardText, items: Ints, row_of: Ints) -> tuple[list[str], list[str]]:
    reference, value = [""] * len(items), [""] * len(items)
    chosen = source.children(items, "property", "fp_text")
    rows = row_of[source.blocks.parent[chosen]].tolist()
    for row, start in zip(rows, source.blocks.children.start[chosen].tolist(), strict=True):
        found = _NAMED.match(source.data, start)
        if found is None:
            continue
        column = reference if (found.group(1) or found.group(2)).lower() == b"reference" else value
        column[row] = tree.unquoted(found.group(3).decode("utf-8", "replace"))
    return reference, value


class _Pad(NamedTuple):
    number: str
    function: str
    at: tuple[float, float, float]
    kind: int
    shape: str
    size: tuple[float, float]
    drill: tuple[float, float]
    layers: int
    net: int
    drilling: DrillingRow
    shift: tuple[float, float]
    corner: float
    has_stack: bool
    unused: tuple[int, int]
    fill_layers: int
    die: tuple[float, float]
    uuid: str


def _pads(source: BoardText, items: Ints, row_of: Ints, footprints: Footprints) -> Pads:
    chosen = source.children(items, "pad")
    rows: list[_Pad] = []
    kinds: dict[bytes, _Pad] = {}
    span = source.blocks.children
    for start, end in zip(span.start[chosen].tolist(), span.end[chosen].tolist(), strict=True):
        with source.at(start):
            rows.append(_pad_of_kind(source, start, end, kinds))
    owner = row_of[source.blocks.parent[chosen]]
    numbers = [r.number for r in rows]
    local = np.array([r.at for r in rows], dtype=np.float64).reshape(-1, 3).T
    x, y = placed(local[0], local[1], (footprints.x_mm[owner], footprints.y_mm[owner]), footprints.rotation_deg[owner])
    return Pads(
        number=texts(numbers),
        function=texts(_pin_names(source.version, numbers, [r.function for r in rows], owner.tolist())),
        x_mm=np.round(x, 6),  # KiCad's grid is one nanometre
        y_mm=np.round(y, 6),
        rotation_deg=local[2].copy(),
        kind=flags([r.kind for r in rows]),
        shape=texts([r.shape for r in rows]),
        size_x_mm=floats([r.size[0] for r in rows]),
        size_y_mm=floats([r.size[1] for r in rows]),
        drill_x_mm=floats([r.drill[0] for r in rows]),
        drill_y_mm=floats([r.drill[1] for r in rows]),
        layers=np.array([r.layers for r in rows], dtype=np.uint64),
        net=ints([r.net for r in rows]),
        footprint=owner,
        drilling=drilling_columns([r.drilling for r in rows]),
        shift_x_mm=floats([r.shift[0] for r in rows]),
        shift_y_mm=floats([r.shift[1] for r in rows]),
        corner_mm=floats([r.corner for r in rows]),
        has_stack=flags([int(r.has_stack) for r in rows]),
        remove_unused=flags([r.unused[0] for r in rows]),
        keep_end=flags([r.unused[1] for r in rows]),
        fill_layers=np.array([r.fill_layers for r in rows], dtype=np.uint64),
        tie=tie_groups(source, items, row_of, owner, numbers),
        jumper=jumper_groups(source, items, row_of, owner, numbers),
        die_length_mm=floats([r.die[0] for r in rows]),
        die_delay_ps=floats([r.die[1] for r in rows]),
        uuid=texts([r.uuid for r in rows]),
        offset=source.blocks.children.start[chosen],
    )


def _pin_names(version: int, numbers: list[str], functions: list[str], owner: list[int]) -> list[str]:
    """Return the pins' names without the number that KiCad 10 adds; it has updated some parts only, perhaps."""
    if version <= _KICAD_9:
        return functions
    named = [
        (part, name.endswith(f"_{number}"))
        for part, name, number in zip(owner, functions, numbers, strict=True)
        if name
    ]
    kept = {part for part, numbered in named if not numbered}
    return [
        name if not name or part in kept else name.removesuffix(f"_{number}")
        for part, name, number in zip(owner, functions, numbers, strict=True)
    ]


def _pad_of_kind(source: BoardText, start: int, end: int, kinds: dict[bytes, _Pad]) -> _Pad:
    """Parse a pad; of a kind that was met before, only what varies."""
    parts = _VARYING.split(source.data[start:end])
    rest = b"".join(parts[::2])
    like = kinds.get(rest)
    if like is None:
        unknown = source.unknown.total()
        like = _pad(source, tree.parse(source.data, start, end))
        if source.unknown.total() == unknown:  # pads with unknown words are each parsed, and each counted
            kinds[rest] = like
        return like
    pieces = b"".join(parts[1::2])
    usual = _USUAL.fullmatch(pieces)
    if usual is None:
        node = tree.parse(b"(pad" + pieces + b")", 0, len(pieces) + 5)
        net_row = source.nets.of_item(node)
        return like._replace(
            number=_number(node), function=_function(node), at=_at(node), net=net_row, uuid=_uuid(node)
        )
    number, x, y, turn, net, function, uuid = usual.groups()
    return like._replace(
        number=tree.unquoted(number.decode("utf-8", "replace")),
        function=(function or b"").decode("utf-8", "replace"),
        at=(float(x), float(y), float(turn or 0.0)),
        net=0 if net is None else source.nets.of_bytes(net),
        uuid=(uuid or b"").decode("ascii"),
    )


def _number(node: tree.Node) -> str:
    return next(iter(tree.words(node)), "")


def _function(node: tree.Node) -> str:
    return tree.word(tree.find(node, "pinfunction"))


def _at(node: tree.Node) -> tuple[float, float, float]:
    at = tree.find(node, "at")
    if at is None:
        raise tree.MalformedError("(pad ...) has no (at x y)")
    return (*tree.pair(at), tree.number(at[3], "at") if len(at) > 3 else 0.0)


def _uuid(node: tree.Node) -> str:
    return tree.word(tree.find(node, "uuid", "tstamp"))


def _pad(source: BoardText, node: tree.Node) -> _Pad:
    source.count_unknown(node, "pad", known("pad"))
    words = tree.words(node)
    if len(words) < 3 or words[1] not in _PAD_KINDS:
        raise tree.MalformedError(f"(pad ...) is of no known kind: {' '.join(words)[:60]!r}")
    layers, hole, size = tree.find(node, "layers", "layer"), tree.find(node, "drill"), tree.point(node, "size")
    shift = tree.find(hole or [], "offset")
    return _Pad(
        number=words[0],
        function=_function(node),
        at=_at(node),
        kind=int(_PAD_KINDS[words[1]]),
        shape=words[2],
        size=size,
        drill=_drill(hole),
        layers=layer_mask(source, tree.words(layers) if layers is not None else []),
        net=source.nets.of_item(node),
        drilling=drilling(source, node),
        shift=(0.0, 0.0) if shift is None else tree.pair(shift),
        corner=_corner(node, words[2], size),
        has_stack=tree.find(node, "padstack") is not None,
        unused=unused_pads(node),
        fill_layers=fill_layers(source, node),
        die=(_die_length(node), tree.value(node, "die_delay") or 0.0),
        uuid=_uuid(node),
    )


def _die_length(node: tree.Node) -> float:
    """The pad-to-die length, 0 where none is set: early KiCad wrote whatever the memory held, mostly -2147.483648."""
    length_mm = tree.value(node, "die_length") or 0.0
    return length_mm if 0.0 < length_mm <= _LONGEST_DIE_MM else 0.0


def _corner(node: tree.Node, shape: str, size: tuple[float, float]) -> float:
    """The radius of the corners; NaN where that and the size do not tell the shape."""
    narrow = min(size)
    if tree.find(node, "padstack") is not None or (tree.value(node, "chamfer_ratio") or 0.0) > 0.0:
        return math.nan
    if shape in ("circle", "oval"):
        return size[0] / 2 if shape == "circle" else narrow / 2
    if shape == "roundrect":
        return narrow * corner_ratio(node)
    return 0.0 if shape == "rect" else math.nan


def _drill(node: tree.Node | None) -> tuple[float, float]:
    """The hole's size along x and y; NaN when `(drill ...)` holds no size, only an offset."""
    sizes = [tree.number(w, "drill") for w in (node or [])[1:] if isinstance(w, str) and w != "oval"]
    if not sizes:
        return math.nan, math.nan
    return sizes[0], sizes[1] if len(sizes) > 1 else sizes[0]


def layer_mask(source: BoardText, names: list[str]) -> int:
    """Return a bit mask over the copper layers of layer names, KiCad's wildcards included."""
    count, mask = source.layer_count, 0
    for name in names:
        if name == "*.Cu":
            mask |= (1 << count) - 1
        elif name == "F&B.Cu":
            mask |= 1 | 1 << (count - 1)
        elif name == "*In.Cu":
            mask |= (1 << count) - 1 & ~(1 | 1 << (count - 1))
        elif name in source.layer_index:
            mask |= 1 << source.layer_index[name]
    return mask
