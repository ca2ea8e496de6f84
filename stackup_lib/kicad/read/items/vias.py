"""Vias, and the secondary machining that vias and pads share."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from stackup_lib.board.board import NO_LAYER, Drilling, Floats, ViaKind, Vias
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText, flags, floats, ints, small, texts
from stackup_lib.kicad.syntax.tokens import known

_KINDS = {"blind": ViaKind.BLIND, "buried": ViaKind.BURIED, "micro": ViaKind.MICRO}
_DRILLING = ("backdrill", "tertiary_drill", "front_post_machining", "back_post_machining")
_N = rb"(-?\d{1,9}(?:\.\d{0,30})?)"
_USUAL = re.compile(
    rb"\(via\s*\(at\s+" + _N + rb"\s+" + _N + rb"\)\s*\(size\s+" + _N + rb"\)\s*\(drill\s+" + _N + rb"\)\s*"
    rb'\(layers\s+"F\.Cu"\s+"B\.Cu"\)\s*(?:\(free\s+(?:yes|no)\)\s*)?'
    rb'(?:\(net\s+(\d{1,9}|"[^"\\]*")\)\s*)?(?:\((?:uuid|tstamp)\s+"?([-0-9A-Za-z]*)"?\)\s*)?\)'
)  # fmt: skip
"""A plain through via as KiCad 6 to 10 write it; anything else goes to the general parser."""

_SIDES = ("tenting", "covering", "plugging")
_UNSTATED = (-1,) * 8

DrillingRow = tuple[float, int, int, float, int, int, str, float, float, float, str, float, float, float]
NO_DRILLING: DrillingRow = (
    math.nan, NO_LAYER, NO_LAYER, math.nan, NO_LAYER, NO_LAYER,
    "", math.nan, math.nan, math.nan, "", math.nan, math.nan, math.nan,
)  # fmt: skip


@workpiece
class _Via:
    place: tuple[float, float, float, float]
    kind: int
    span: tuple[int, int]
    net: int
    uuid: str
    offset: int
    pads: Floats | None = None
    unused: tuple[int, int] = (0, 0)
    fill_layers: int = 0
    protection: tuple[int, ...] = _UNSTATED
    drilling: DrillingRow = NO_DRILLING


def read_vias(source: BoardText) -> Vias:
    """Return all vias, in file order."""
    rows: list[_Via] = []
    chosen = source.items("via")
    span = source.blocks.items
    through = (0, source.layer_count - 1)
    for start, end in zip(span.start[chosen].tolist(), span.end[chosen].tolist(), strict=True):
        usual = _USUAL.fullmatch(source.data, start, end)
        if usual is not None:
            x, y, size, drill, net, uuid = usual.groups()
            place = (float(x), float(y), float(size), float(drill) or math.nan)
            index = 0 if net is None else source.nets.of_bytes(net)
            rows.append(_Via(place, int(ViaKind.THROUGH), through, index, (uuid or b"").decode("ascii"), start))
            continue
        with source.at(start):
            via = _general(source, tree.parse(source.data, start, end), start)
        if via is not None:
            rows.append(via)
    return _columns(source, rows)


def _general(source: BoardText, node: tree.Node, offset: int) -> _Via | None:
    source.count_unknown(node, "via", known("via"))
    kind = next((_KINDS[w] for w in node[1:] if isinstance(w, str) and w in _KINDS), ViaKind.THROUGH)
    layers_node = tree.find(node, "layers")
    names = tree.words(layers_node) if layers_node is not None else ["F.Cu", "B.Cu"]
    if len(names) < 2:
        raise tree.MalformedError("(via ...) needs two names in (layers ...)")
    if kind is ViaKind.THROUGH:
        ends = [0, source.layer_count - 1]
    else:
        ends = sorted((source.layer(names[0]), source.layer(names[-1])))
        if NO_LAYER in ends:
            source.left_out[f'vias from "{names[0]}" to "{names[-1]}", not both copper layers of the board'] += 1
            return None
    if kind in (ViaKind.BLIND, ViaKind.BURIED):  # KiCad 9 calls both blind, and KiCad 10 leaves it so when it upgrades
        inside = ends[0] > 0 and ends[1] < source.layer_count - 1
        kind = ViaKind.BURIED if inside else ViaKind.BLIND
    size, drill = tree.value(node, "size"), tree.value(node, "drill")
    if size is None:
        raise tree.MalformedError("(via ...) has no (size ...)")
    return _Via(
        place=(*tree.point(node, "at"), size, drill or math.nan),  # as KiCad: 0 leaves it to the class
        kind=int(kind),
        span=(ends[0], ends[1]),
        net=source.nets.of_item(node),
        uuid=tree.word(tree.find(node, "uuid", "tstamp")),
        offset=offset,
        pads=_pads(source, node, size, ends),
        unused=(1, 1) if tree.flag(node, "start_end_only") else unused_pads(node),
        fill_layers=fill_layers(source, node),
        protection=protection(node),
        drilling=drilling(source, node),
    )


def unused_pads(node: tree.Node) -> tuple[int, int]:
    """Return whether pads on unused layers are left out, and whether those on the end layers are kept even so."""
    unused = tree.flag(node, "remove_unused_layers") or tree.flag(node, "remove_unused_layer")
    return int(bool(unused)), int(bool(tree.flag(node, "keep_end_layers")))


def fill_layers(source: BoardText, node: tree.Node) -> int:
    """Return a bit mask of the layers on which a fill joins a via or pad, where its unused pads are left out."""
    stated = tree.find(node, "zone_layer_connections")
    layers = [source.layer(name) for name in tree.words(stated)] if stated is not None else []
    return sum(1 << layer for layer in set(layers) - {NO_LAYER})


def _pads(source: BoardText, node: tree.Node, size: float, ends: Sequence[int]) -> Floats | None:
    """Pad diameter on every copper layer, NaN between the ends where it has pads there alone; None when all alike."""
    sizes = _padstack(source, node, size)
    if tree.flag(node, "start_end_only"):
        sizes = np.full(source.layer_count, size) if sizes is None else sizes
        sizes[ends[0] + 1 : ends[1]] = math.nan
    return sizes


def _padstack(source: BoardText, node: tree.Node, size: float) -> Floats | None:
    """Pad diameter on every copper layer; None when they are all alike."""
    stack = tree.find(node, "padstack")
    if stack is None:
        return None
    sizes = np.full(source.layer_count, size)
    for row in tree.lists(stack, "layer"):
        stated = tree.value(row, "size")
        if stated is None:
            continue
        name = tree.word(row)
        if name == "Inner":
            sizes[1:-1] = stated
        elif source.layer(name) != NO_LAYER:
            sizes[source.layer(name)] = stated
    return sizes


def protection(node: tree.Node) -> tuple[int, ...]:
    """Return tenting, covering and plugging of front and back, capping and filling: 1 yes, 0 no, -1 not stated.

    KiCad 10 writes `(tenting (front yes) (back no))`, KiCad 9 `(tenting front back)` or `(tenting none)`; a side that
    version 9 does not list follows the board, as KiCad 10 shows when it upgrades such a file.
    """
    found: list[int] = []
    for name in _SIDES:
        child = tree.find(node, name)
        for side in ("front", "back"):
            if child is None or len(child) < 2:
                found.append(-1)
            elif isinstance(child[1], list):
                found.append(_yes_no(tree.word(tree.find(child, side))))
            else:
                found.append(1 if side in child else -1)
    return (*found, _yes_no(tree.word(tree.find(node, "capping"))), _yes_no(tree.word(tree.find(node, "filling"))))


def _yes_no(stated: str) -> int:
    return {"yes": 1, "no": 0}.get(stated, -1)


def drilling(source: BoardText, node: tree.Node) -> DrillingRow:
    """Return backdrill, tertiary drill and post-machining of a via or pad as one row of `Drilling`."""
    if not any(isinstance(c, list) and c and c[0] in _DRILLING for c in node):
        return NO_DRILLING
    return (
        *_secondary(source, tree.find(node, "backdrill")),
        *_secondary(source, tree.find(node, "tertiary_drill")),
        *_post(tree.find(node, "front_post_machining")),
        *_post(tree.find(node, "back_post_machining")),
    )


def _secondary(source: BoardText, node: tree.Node | None) -> tuple[float, int, int]:
    if node is None:
        return math.nan, NO_LAYER, NO_LAYER
    size, layers = tree.value(node, "size"), tree.find(node, "layers")
    names = tree.words(layers) if layers is not None else []
    if size is None or len(names) < 2:
        raise tree.MalformedError(f"({tree.head_of(node)} ...) needs (size ...) and (layers start must-cut)")
    ends = source.layer(names[0]), source.layer(names[1])
    if NO_LAYER in ends:
        source.left_out[f'layers of backdrills from "{names[0]}" to "{names[1]}"'] += 1
        return math.nan, NO_LAYER, NO_LAYER
    return size, *ends


def _post(node: tree.Node | None) -> tuple[str, float, float, float]:
    if node is None:
        return "", math.nan, math.nan, math.nan
    values = (tree.value(node, name) for name in ("size", "depth", "angle"))
    size, depth, angle = (math.nan if value is None else value for value in values)
    kind = tree.word(node)
    if kind not in ("counterbore", "countersink"):
        return "", math.nan, math.nan, math.nan
    return kind, size, depth, angle


def drilling_columns(rows: Sequence[DrillingRow]) -> Drilling:
    """Return the rows of `drilling` as columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(NO_DRILLING)
    sizes = [floats(columns[i]) for i in (0, 3, 7, 8, 9, 11, 12, 13)]
    return Drilling(
        backdrill_size_mm=sizes[0],
        backdrill_start=small(columns[1]),
        backdrill_must_cut=small(columns[2]),
        tertiary_size_mm=sizes[1],
        tertiary_start=small(columns[4]),
        tertiary_must_cut=small(columns[5]),
        front_post=texts(columns[6]),
        front_post_size_mm=sizes[2],
        front_post_depth_mm=sizes[3],
        front_post_angle_deg=sizes[4],
        back_post=texts(columns[10]),
        back_post_size_mm=sizes[5],
        back_post_depth_mm=sizes[6],
        back_post_angle_deg=sizes[7],
    )


def _columns(source: BoardText, rows: list[_Via]) -> Vias:
    place = np.array([r.place for r in rows], dtype=np.float64).reshape(-1, 4).T.copy()
    start, end = (small([r.span[i] for r in rows]) for i in (0, 1))
    layer = np.arange(source.layer_count)
    pads = np.repeat(place[2][:, None], source.layer_count, axis=1)
    for i, row in enumerate(rows):
        if row.pads is not None:
            pads[i] = row.pads
    pads[(layer < start[:, None]) | (layer > end[:, None])] = math.nan
    ipc = np.array([r.protection for r in rows], dtype=np.int8).reshape(-1, 8).T.copy()
    return Vias(
        x_mm=place[0],
        y_mm=place[1],
        size_mm=place[2],
        drill_mm=place[3],
        kind=flags([r.kind for r in rows]),
        start_layer=start,
        end_layer=end,
        net=ints([r.net for r in rows]),
        pad_size_mm=pads,
        remove_unused=flags([r.unused[0] for r in rows]),
        keep_end=flags([r.unused[1] for r in rows]),
        fill_layers=np.array([r.fill_layers for r in rows], dtype=np.uint64),
        tented_front=ipc[0],
        tented_back=ipc[1],
        covered_front=ipc[2],
        covered_back=ipc[3],
        plugged_front=ipc[4],
        plugged_back=ipc[5],
        capped=ipc[6],
        filled=ipc[7],
        drilling=drilling_columns([r.drilling for r in rows]),
        uuid=texts([r.uuid for r in rows]),
        offset=ints([r.offset for r in rows]),
    )
