"""One board file while it is read: its bytes, its blocks, its names for layers and nets, and what was odd."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import NO_LAYER, Floats, Ints, Text
from stackup_lib.core.arrays import distinct
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.line_numbers import LineNumbers
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.scan import Blocks, TextSpan, heads

_COPPER = re.compile(rb"\.Cu")
_PLAIN = ("segment", "arc", "via")
"""Most of the items of a board, each read as a whole: their children are not sorted by their first words."""
TEXT_LIMIT = 200
"""Longer texts are cut: a column of texts takes the room of its longest."""
REPAIR = "open the board in KiCad and save it again, or restore a backup"


@workpiece
class Nets:
    """The nets of one board; index 0 is "no net"."""

    names: list[str] = field(default_factory=lambda: [""])
    index: dict[str, int] = field(default_factory=lambda: {"": 0})
    numbers: dict[int, int] = field(default_factory=lambda: {0: 0})
    written: dict[str, int] = field(default_factory=lambda: {"": 0})
    """Names as the net table spells them, with overbars of old files."""
    missing: Counter[str] = field(default_factory=Counter)
    torn: Counter[str] = field(default_factory=Counter)
    """What has a number and a name that are not of one net."""
    _memo: dict[bytes, int] = field(default_factory=dict)

    def add(self, name: str) -> int:
        """Return the index of a name, new or not."""
        found = self.index.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found

    def of_word(self, token: str, name: str | None = None) -> int:
        """Return the index of a net as an item names it: by number in files before KiCad 10, else by name.

        Pads of such files state both. As in KiCad, one whose name is not that of its number has no net.
        """
        if not (token.isascii() and token.isdecimal() and len(token) < 10):
            return self.add(tree.unquoted(token))
        known = self.numbers.get(int(token))
        if name is None:
            if known is None:
                self.missing[token] += 1
            return known or 0
        if known is None:
            return self.of_name(name)
        if known != self.written.get(name):
            self.torn["pads"] += 1
            return 0
        return known

    def of_name(self, name: str) -> int:
        """Return the index of a net that an item names as the net table may spell it."""
        found = self.written.get(name)
        return self.add(name) if found is None else found

    def of_bytes(self, token: bytes) -> int:
        """As `of_word`, for a word as it stands in the file."""
        found = self._memo.get(token)
        if found is None:
            odd = self.missing.total() + self.torn.total()
            number, blank, name = token.partition(b' "')
            text = name[:-1].decode("utf-8", "replace") if blank and number.isdigit() else None
            found = self.of_word((token if text is None else number).decode("utf-8", "replace"), text)
            if self.missing.total() + self.torn.total() == odd:
                self._memo[token] = found
        return found

    def of_item(self, node: tree.Node) -> int:
        """Return the net of a track, via or pad; 0 when it has none."""
        child = tree.find(node, "net")
        if child is None or len(child) < 2 or not isinstance(child[1], str):
            return 0
        return self.of_word(child[1], tree.words(child)[1] if len(tree.words(child)) > 1 else None)

    def of_zone(self, node: tree.Node) -> int:
        """Return the net of a zone; where it states a number and a name, the name counts, as in KiCad."""
        stated = tree.find(node, "net_name")
        if stated is None or len(stated) < 2:
            return self.of_item(node)
        found, number = self.of_name(tree.word(stated)), tree.word(tree.find(node, "net"))
        if number.isascii() and number.isdecimal() and self.numbers.get(int(number[:10]), found) != found:
            self.torn["zones"] += 1
        return found


@workpiece
class BoardText:
    """What every reader of a part needs: the bytes, the blocks, the names, and where to put what was odd."""

    data: bytes
    label: str
    blocks: Blocks
    version: int = 0
    layer_index: dict[str, int] = field(default_factory=dict)
    nets: Nets = field(default_factory=Nets)
    unknown: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unmasked: list[tree.Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = LineNumbers(self.data)
        self._kind, self._names = heads(self.data, self.blocks.items.start)
        plain = self._inside(self.items(*_PLAIN))[self.blocks.parent]
        self._child_kind = np.full(len(plain), -1)
        self._child_kind[~plain], names = heads(self.data, self.blocks.children.start[~plain])
        self._child_names = [*names, ""]  # the last is that of -1

    @property
    def layer_count(self) -> int:
        """Number of copper layers."""
        return max(self.layer_index.values(), default=-1) + 1

    def line(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return self.lines.of(offset)

    def error(self, offset: int, what: str, next_step: str = REPAIR) -> BoardFileError:
        """Return an error that names file and line."""
        return BoardFileError(f"{self.label}, line {self.line(offset)}", " ".join(what.split())[:TEXT_LIMIT], next_step)

    def layer(self, name: str) -> int:
        """Return the index of a copper layer, `NO_LAYER` for any other."""
        return self.layer_index.get(name, NO_LAYER)

    def items(self, *names: str) -> Ints:
        """Return the indices of the top-level items with one of these first words, in file order."""
        return _of_kind(self._kind, self._names, names)

    def item_counts(self) -> dict[str, int]:
        """Return how many top-level items there are of each first word."""
        return _counts(self._kind, self._names)

    def child_counts(self, parents: Ints) -> dict[str, int]:
        """Return how many lists of each first word stand directly inside the given items, no tracks or vias."""
        return _counts(self._child_kind[self._inside(parents)[self.blocks.parent]], self._child_names)

    def children(self, parents: Ints, *names: str) -> Ints:
        """Return the indices of the children of the given items with one of these first words, in file order.

        Those of tracks and vias are not found.
        """
        chosen = _of_kind(self._child_kind, self._child_names, names)
        return chosen[self._inside(parents)[self.blocks.parent[chosen]]]

    def _inside(self, parents: Ints) -> NDArray[np.bool_]:
        inside = np.zeros(len(self.blocks.items.start), dtype=np.bool_)  # one more where the file is cut short
        inside[parents] = True
        return inside

    @cached_property
    def copper_marks(self) -> Ints:
        """Offsets of what the names of copper layers end with; `Edge.Cuts` holds it as well."""
        return np.array([found.start() for found in _COPPER.finditer(self.data)], dtype=np.int64)

    def on_copper(self, rows: Ints, *, child: bool = False) -> Ints:
        """Return those of some items (or children) that name a copper layer, and perhaps some that do not."""
        return rows[self._names_copper[child][rows]]

    @cached_property
    def _names_copper(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which items, and which children, name a copper layer."""
        items, children = (np.zeros(len(span), dtype=np.bool_) for span in (self.blocks.items, self.blocks.children))
        items[holding(self.copper_marks, self.blocks.items)] = True
        children[holding(self.copper_marks, self.blocks.children)] = True
        return items, children

    def item_name(self, item: int) -> str:
        """Return the first word of a top-level item."""
        return self._names[int(self._kind[item])]

    def child_name(self, child: int) -> str:
        """Return the first word of a list inside a top-level item, "" inside a track or via."""
        return self._child_names[int(self._child_kind[child])]

    def nodes(self, rows: Ints, *, child: bool = False) -> Iterator[tuple[int, tree.Node]]:
        """Yield offset and parsed list of the given items (or children)."""
        span = self.blocks.children if child else self.blocks.items
        for start, end in zip(span.start[rows].tolist(), span.end[rows].tolist(), strict=True):
            with self.at(start):
                node = tree.parse(self.data, start, end)
            yield start, node

    def at(self, offset: int) -> _At:
        """Within this block, what is malformed becomes an error that names the line of `offset`."""
        return _At(self, offset)

    def count_unknown(self, node: tree.Node, parent: str, known: frozenset[str]) -> None:
        """Count the lists inside `node` whose first word is not known there."""
        for child in node:
            if isinstance(child, list) and (name := tree.head_of(child)) not in known:
                self.unknown[f"{parent}/{name}"] += 1


def holding(marks: Ints, span: TextSpan) -> Ints:
    """Return the lists that hold at least one of some offsets, ascending."""
    rows = np.searchsorted(span.start, marks, side="right") - 1
    rows, marks = rows[rows >= 0], marks[rows >= 0]
    return distinct(rows[marks < span.end[rows]])


class _At:
    """What `BoardText.at` returns; there is one for each pad, and a generator would cost three times as much."""

    __slots__ = ("offset", "source")

    def __init__(self, source: BoardText, offset: int) -> None:
        self.source, self.offset = source, offset

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, bad: BaseException | None, _trace: object) -> None:
        if isinstance(bad, tree.MalformedError):
            raise self.source.error(self.offset, str(bad)) from None


def _of_kind(kind: Ints, all_names: Sequence[str], names: Iterable[str]) -> Ints:
    wanted = np.array([name in names for name in all_names], dtype=np.bool_)
    return np.flatnonzero(wanted[kind]) if wanted.any() else np.zeros(0, dtype=np.int64)


def _counts(kind: Ints, names: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(kind, minlength=len(names)) if len(kind) else np.zeros(len(names), dtype=np.int64)
    return {name: int(n) for name, n in zip(names, counts.tolist(), strict=True) if n}


def floats(values: Sequence[float]) -> Floats:
    """Return a float column."""
    return np.array(values, dtype=np.float64)


def ints(values: Sequence[int]) -> Ints:
    """Return an integer column."""
    return np.array(values, dtype=np.int64)


def small(values: Sequence[int]) -> NDArray[np.int16]:
    """Return a column of layer indices."""
    return np.array(values, dtype=np.int16)


def flags(values: Sequence[int]) -> NDArray[np.int8]:
    """Return a column of small codes."""
    return np.array(values, dtype=np.int8)


def texts(values: Sequence[str]) -> Text:
    """Return a text column; texts longer than `TEXT_LIMIT` are cut."""
    return np.array([v[:TEXT_LIMIT] for v in values], dtype=np.str_)
