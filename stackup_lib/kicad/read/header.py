"""General, layer table, setup and stackup of a board, parsed by sexpdata.

Words without quotes are compared as text: sexpdata would turn `t` into True, `nil` into a list, `00E1` into a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

import sexpdata

from stackup_lib.board.board import CopperLayer, LayerKind, Ply, Stackup, StackupLayer
from stackup_lib.kicad.read.possible import STEP
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText
from stackup_lib.kicad.syntax.tokens import known
from stackup_lib.kicad.syntax.tree import MalformedError, number

Listed: TypeAlias = "list[str | Listed]"

_KINDS = {"copper": LayerKind.COPPER, "core": LayerKind.CORE, "prepreg": LayerKind.PREPREG}
_COPPER_TYPES = ("signal", "power", "mixed", "jumper")
_LISP_ONLY = re.compile(r"[;'\[\]]")
"""To sexpdata a comment, a quote and brackets; to KiCad, which writes them without quotes, parts of a word."""

_OF_AN_EMPTY_BOARD = {"version", "generator", "generator_version", "host"}
_DRAW = "draw the board in KiCad and save it"
_INNER = re.compile(r"In([1-9]\d{0,2})\.Cu", re.ASCII)
_BOTTOM = 10_000
_CANONICAL_NAMES_SINCE = 20200922
"""Older files name a copper layer as the user does; its number says which layer it is."""

_TOP_IS_ZERO_SINCE = 4
"""Before, the front was number 15, the back 0, and inner layers counted down; KiCad 10 goes by their order."""


class _TextParser(sexpdata.Parser):  # type: ignore[misc] # sexpdata has no types
    def atom(self, token: str) -> str:
        return token


def load(text: str) -> Listed:
    """Return one list of a board as nested lists of strings, parsed by sexpdata where it reads as KiCad does."""
    if _LISP_ONLY.search(text):
        written = text.encode()
        return _unquoted(tree.parse(written, 0, len(written)))
    try:
        parsed = _TextParser(text, nil=None, true=None).parse()
        return _plain(parsed[0])
    except (sexpdata.ExpectClosingBracket, sexpdata.ExpectNothing, sexpdata.ExpectSExp) as bad:
        raise MalformedError(f"this block cannot be parsed: {bad}") from None
    except (AttributeError, IndexError, AssertionError, TypeError, RecursionError):
        raise MalformedError("this block cannot be parsed") from None


def _unquoted(node: tree.Node) -> Listed:
    return [_unquoted(part) if isinstance(part, list) else tree.unquoted(part) for part in node]


def _plain(parsed: object) -> Listed:
    return [_plain(p) if isinstance(p, list) else str(p) for p in parsed] if isinstance(parsed, list) else [str(parsed)]


def read_block(source: BoardText, name: str) -> tuple[int, Listed]:
    """Return offset and content of the first top-level block of a name; an empty list when there is none."""
    found = source.items(name)
    if not len(found):
        return 0, []
    start = int(source.blocks.items.start[found[0]])
    text = source.data[start : int(source.blocks.items.end[found[0]])].decode("utf-8", "replace")
    return start, load_at(source, start, text)


def load_at(source: BoardText, offset: int, text: str) -> Listed:
    """As `load`; what is malformed becomes an error with the line of `offset`."""
    try:
        return load(text)
    except MalformedError as bad:
        raise source.error(offset, str(bad)) from None


def _child(node: Listed, name: str) -> Listed | None:
    return next((c for c in node if isinstance(c, list) and c and c[0] == name), None)


def _first(node: Listed, name: str) -> str | None:
    """The word in `(name word)`, None when absent or empty."""
    child = _child(node, name)
    found = child[1] if child is not None and len(child) > 1 else None
    return found if isinstance(found, str) and found else None


def _number(node: Listed, name: str) -> float | None:
    child = _child(node, name)
    if child is None:
        return None
    found = child[1] if len(child) > 1 else ""
    return number(found, name)


def general_thickness(source: BoardText) -> float | None:
    """Return `(general (thickness ...))` in mm, None when absent."""
    offset, block = read_block(source, "general")
    try:
        return _number(block, "thickness")
    except MalformedError as bad:
        raise source.error(offset, str(bad)) from None


def copper_layers(source: BoardText) -> tuple[tuple[CopperLayer, ...], dict[str, int]]:
    """Return the copper layers, top to bottom, and every name that items may use for them."""
    offset, block = read_block(source, "layers")
    found: dict[int, tuple[CopperLayer, str]] = {}
    numbers: set[str] = set()
    for row in block[1:]:
        if not isinstance(row, list) or len(row) < 3 or not all(isinstance(w, str) for w in row[:3]):
            raise source.error(offset, "(layers ...) holds a row that is not (number name type)")
        code, name, kind = (str(w) for w in row[:3])
        place = _place(code, name, kind, source.version)
        if place is None:
            continue
        user = str(row[3]) if len(row) > 3 and isinstance(row[3], str) and row[3] != "hide" else None
        canonical = _canonical(place)
        if name != canonical:
            user = user or name
        if place in found:
            raise source.error(offset, f'(layers ...) lists "{canonical}" twice')
        if code in numbers:
            raise source.error(offset, f"(layers ...) uses the number {code} twice")
        numbers.add(code)
        found[place] = CopperLayer(name=canonical, user_name=user, kicad_type=kind), name
    if not found and set(source.item_counts()) <= _OF_AN_EMPTY_BOARD:
        raise source.error(offset, "the board is empty, as KiCad makes it for a new project", _DRAW)
    if not found:
        raise source.error(offset, "no copper layer is listed in (layers ...)")
    ordered = [found[place] for place in sorted(found)]
    if source.version < _TOP_IS_ZERO_SINCE:
        inner = [
            (layer.model_copy(update={"name": f"In{k}.Cu"}), written) for k, (layer, written) in enumerate(ordered)
        ]
        ordered[1:-1] = inner[1:-1]
    index = {layer.name: i for i, (layer, _) in enumerate(ordered)}
    index |= {written: i for i, (_, written) in enumerate(ordered)}
    return tuple(layer for layer, _ in ordered), index


def _place(code: str, name: str, kind: str, version: int) -> int | None:
    """Where a row of the layer table stands among the copper layers, top down; None when it is no copper layer."""
    if name == "F.Cu":
        return 0
    if name == "B.Cu":
        return _BOTTOM
    if version < _TOP_IS_ZERO_SINCE and kind in _COPPER_TYPES and re.fullmatch("[0-9]|1[0-5]", code):
        return 15 - int(code) if int(code) else _BOTTOM
    if version < _CANONICAL_NAMES_SINCE and kind in _COPPER_TYPES and re.fullmatch("[0-9]{1,2}", code):
        return _BOTTOM if int(code) == 31 else int(code) if int(code) < 31 else None
    inner = _INNER.fullmatch(name)
    return int(inner.group(1)) if inner else None


def _canonical(place: int) -> str:
    return "F.Cu" if place == 0 else "B.Cu" if place == _BOTTOM else f"In{place}.Cu"


def setup(source: BoardText) -> tuple[Stackup | None, Mapping[str, bool]]:
    """Return the stackup (None when there is none) and the board's own defaults for via protection."""
    offset, block = read_block(source, "setup")
    _count(source, block, "setup", known("setup"))
    node = _child(block, "stackup")
    try:
        return (None if node is None else _stackup(source, node, offset)), protection(block)
    except MalformedError as bad:
        raise source.error(offset, str(bad)) from None


def _count(source: BoardText, node: Listed, parent: str, words: frozenset[str]) -> None:
    for child in node:
        if isinstance(child, list) and (name := str(child[0]) if child else "") not in words:
            source.unknown[f"{parent}/{name}"] += 1


def protection(block: Listed) -> dict[str, bool]:
    """Return the via protection that a `(setup ...)` states: v9 `(tenting front back)`, v10 `(tenting (front yes))`."""
    found: dict[str, bool] = {}
    for name in ("tenting", "covering", "plugging"):
        node = _child(block, name)
        if node is None:
            continue
        sides = {str(c[0]): str(c[1]) for c in node if isinstance(c, list) and len(c) > 1}
        for side in ("front", "back"):
            if side in sides:
                found[f"{name}_{side}"] = sides[side] == "yes"
            elif not sides and len(node) > 1:
                found[f"{name}_{side}"] = side in node
    for name in ("capping", "filling"):
        stated = _first(block, name)
        if stated in ("yes", "no"):
            found[name] = stated == "yes"
    return found


def _stackup(source: BoardText, node: Listed, setup_offset: int) -> Stackup:
    _count(source, node, "stackup", known("stackup"))
    offset = _offset_of(source.data, rb"\(\s*stackup[\s()]", setup_offset)
    layers, cursor = [], offset
    for row in (c for c in node if isinstance(c, list) and c and c[0] == "layer"):
        cursor = _offset_of(source.data, rb"\(\s*layer[\s()]", cursor + 1)
        layers.append(_stackup_layer(source, row, cursor))
    edge, plating = _first(node, "edge_connector"), _first(node, "edge_plating")
    controlled, finish = _first(node, "dielectric_constraints"), _first(node, "copper_finish")
    return Stackup(
        layers=tuple(layers),
        copper_finish=None if finish in (None, "None") else finish,
        impedance_controlled=None if controlled is None else controlled == "yes",
        edge_connector=edge if edge in ("yes", "bevelled") else None,
        edge_plating=None if plating is None else plating == "yes",
        offset=offset,
    )


def _offset_of(data: bytes, pattern: bytes, begin: int) -> int:
    found = re.compile(pattern).search(data, begin)
    return found.start() if found else begin


def _stackup_layer(source: BoardText, row: Listed, offset: int) -> StackupLayer:
    name = row[1] if len(row) > 1 and isinstance(row[1], str) else ""
    if not name:
        raise source.error(offset, "a layer of the stackup has no name")
    type_text = _first(row, "type") or ""
    parts: list[Listed] = [[]]
    for child in row[2:]:
        if child == "addsublayer":
            parts.append([])
        elif isinstance(child, list) and child and child[0] == "addsublayer":
            parts.append([c for c in child[1:] if isinstance(c, list)])
        else:
            parts[-1].append(child)
    for part in parts:
        _count(source, part, "stackup/layer", known("stackup_layer"))
    try:
        plies = tuple(_ply(part) for part in parts)
    except MalformedError as bad:
        raise source.error(offset, f'stackup layer "{name}": {bad}') from None
    below = next((stated for part in parts if (stated := _number(part, "epsilon_r") or 0.0) < 0), None)
    if below is not None:
        raise source.error(offset, f'stackup layer "{name}": its permittivity is {below:g}', STEP)
    return StackupLayer(name=name, kind=_kind(name, type_text), type_text=type_text, plies=plies, offset=offset)


def _kind(name: str, type_text: str) -> LayerKind:
    text = type_text.lower()
    if text in _KINDS:
        return _KINDS[text]
    for word, kind in (("mask", LayerKind.MASK), ("paste", LayerKind.PASTE), ("silk", LayerKind.SILK)):
        if word in text:
            return kind
    return LayerKind.COPPER if name.endswith(".Cu") and not text else LayerKind.OTHER


def _ply(part: Listed) -> Ply:
    thickness = _child(part, "thickness")
    stated = _number(part, "epsilon_r")
    return Ply(
        thickness_mm=_number(part, "thickness"),
        thickness_locked=thickness is not None and "locked" in thickness[1:],
        material=_first(part, "material"),
        # KiCad writes 1 back for a permittivity that was not entered; no laminate is air.
        dk=stated if stated and stated > 1 else None,
        df=_number(part, "loss_tangent") or None,
        color=_first(part, "color"),
    )
