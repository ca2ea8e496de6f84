"""Finds the blocks of a `.kicad_pcb` in one pass over its bytes, whatever the file's layout.

The pass looks only at parentheses and quotes. It keeps the depth, leaves out what stands inside strings, and so gives
the same blocks for KiCad's own tab layout, for one long line, and for anything in between. Its time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

_CHUNK = 1 << 20
_OPEN, _CLOSE, _QUOTE, _HASH, _BACKSLASH = b'()"#\\'
_BACKSLASHES = re.compile(rb'\\\\*+"?')
"""A run of them and the quote behind it; it begins with a letter so that Python looks for that alone."""
_HEAD = re.compile(rb'\(\s*([^\s()"]*)')
_BEFORE_STRING = np.isin(np.arange(256), np.frombuffer(b' \t\r\n\v\f()"', dtype=np.uint8))
_WORD_OR_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\s()"]+"[^\s()]*', re.DOTALL)
_KEY_BYTES = 8
_SHALLOW = 2
"""How many lists are around a child: its item and the outermost list."""
MAX_DEPTH = 200
"""KiCad's own files stay below twenty; far deeper nesting is not a board and would exhaust any recursive parser."""


class UnreadableError(ValueError):
    """What no board of KiCad has: where it stands, what it is, and what to do where saving again is no way out."""

    fix = ""

    def __init__(self, offset: int, what: str) -> None:
        super().__init__(what)
        self.offset, self.what = offset, what


class TooDeepError(UnreadableError):
    """The parentheses nest deeper than `MAX_DEPTH`."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset, f"nests more than {MAX_DEPTH} parentheses, no board does")


class UnclosedQuoteError(UnreadableError):
    """A string goes on past the end of its line: KiCad writes line breaks as escapes and reads no such file."""

    fix = "close it in a text editor, or restore a backup"

    def __init__(self, offset: int) -> None:
        super().__init__(offset, "has a quote that is not closed on its line")


class InnerQuoteError(ValueError):
    """A quote stands inside a word without quotes, as in `0.062"`, where KiCad takes it for a letter."""


@entity
class TextSpan:
    """Lists at one depth of a file: byte offsets of the opening parenthesis and just past the closing one."""

    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.end)


@entity
class Blocks:
    """The lists inside the outermost list (`items`), the lists inside those (`children`), and how the file ends.

    Attributes:
        parent: for each child the index of its item.
        end: offset just past the outermost list; None when the file ends before it closes.
        open_item: offset of the item that is still open when the file ends, None when there is none.
    """

    items: TextSpan
    children: TextSpan
    parent: Ints
    end: int | None
    open_item: int | None


class _Collector:
    """The state that the pass carries from one chunk to the next."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.letters = np.frombuffer(data, dtype=np.uint8)
        self.depth = 0
        self.open_string: int | None = None
        """Where a string begins that goes on into the next chunk."""
        self.end: int | None = None
        self.found: dict[str, list[Ints]] = {k: [] for k in ("item", "item_end", "child", "child_end")}

    def take(self, positions: Ints, kinds: NDArray[np.uint8]) -> None:
        """Take the unescaped parentheses and quotes of one chunk of the file, in order."""
        if self.open_string is not None:
            positions, kinds = np.append(self.open_string, positions), np.append(np.uint8(_QUOTE), kinds)
        if not len(positions):
            return
        opening = kinds == _OPEN
        step = opening.view(np.int8) - (kinds == _CLOSE).view(np.int8)
        self._leave_out_strings(positions, np.flatnonzero(kinds == _QUOTE), step)
        depth = np.cumsum(step, dtype=np.int32)
        depth += np.int32(self.depth)
        self.depth = int(depth[-1])
        outside = depth - opening
        shallow = np.flatnonzero((outside <= _SHALLOW) & (step != 0))
        self._sort(positions[shallow], opening[shallow], outside[shallow])
        if depth.max() > MAX_DEPTH:
            first = int(positions[int(np.argmax(depth > MAX_DEPTH))])
            if self.end is None or first < self.end:
                raise TooDeepError(first)

    def _leave_out_strings(self, positions: Ints, quotes: Ints, step: NDArray[np.int8]) -> None:
        """Parentheses inside strings open and close nothing; most strings hold none.

        One that is not closed on its line goes on into the lists behind it.
        """
        begins, ends = quotes[::2], quotes[1::2]
        starts = positions[begins]
        if not _BEFORE_STRING[self.letters[starts - 1]].all():
            raise InnerQuoteError
        self.open_string = int(starts[-1]) if len(begins) > len(ends) else None
        if self.open_string is not None:
            ends = np.append(ends, len(step))
        for k in np.flatnonzero(ends > begins + 1).tolist():
            step[begins[k] : ends[k]] = 0
            start = int(starts[k])
            if self.data.find(b"\n", start, self.data.find(b'"', start + 1)) >= 0:
                raise UnclosedQuoteError(start)

    def _sort(self, positions: Ints, opening: NDArray[np.bool_], outside: NDArray[np.int32]) -> None:
        closed = np.flatnonzero(~opening & (outside <= 0))
        if len(closed):
            last = int(closed[0])
            self.end = int(positions[last]) + 1
            positions, opening, outside = positions[: last + 1], opening[: last + 1], outside[: last + 1]
        for name, around in (("item", 1), ("child", 2)):
            here, opens = positions[outside == around], opening[outside == around]
            self.found[name].append(here[opens])
            self.found[f"{name}_end"].append(here[~opens] + 1)

    def column(self, name: str) -> Ints:
        return _joined(self.found[name])


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def scan(data: bytes) -> Blocks:
    """Return the blocks of the outermost list of `data`.

    Raises:
        TooDeepError: the parentheses nest deeper than `MAX_DEPTH`.
        UnclosedQuoteError: a string with parentheses goes on past the end of its line.
        InnerQuoteError: a quote stands inside a word.
    """
    state = _Collector(data)
    for begin, stop in _chunks(data):
        state.take(*_marks(data, begin, stop))
        if state.end is not None:
            break
    item, child = state.column("item"), state.column("child")
    items, children = TextSpan(item, state.column("item_end")), TextSpan(child, state.column("child_end"))
    open_item = int(item[-1]) if len(item) > len(items.end) else None
    first_child = np.append(np.searchsorted(child, item), len(child))
    parent = np.repeat(np.arange(len(item)), np.diff(first_child))
    return Blocks(items, children, parent, state.end, open_item)


def scanned(content: bytes) -> tuple[bytes, Blocks]:
    """Return what of a file is no comment, of the same length, and its blocks.

    A quote inside a word is an apostrophe in it.

    Raises:
        UnreadableError: the parentheses nest too deep, or a string goes on past the end of its line.
    """
    data = without_comments(content)
    try:
        return data, scan(data)
    except InnerQuoteError:
        data = _WORD_OR_STRING.sub(_without_inner_quotes, data)
        return data, scan(data)


def _without_inner_quotes(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else found[0].replace(b'"', b"'")


def _chunks(data: bytes) -> Iterator[tuple[int, int]]:
    begin, size = 0, len(data)
    while begin < size:
        stop = min(size, begin + _CHUNK)
        while stop < size and data[stop - 1] == _BACKSLASH:  # an escape stays whole
            stop += 1
        yield begin, stop
        begin = stop


def _marks(data: bytes, begin: int, stop: int) -> tuple[Ints, NDArray[np.uint8]]:
    """The offsets of unescaped parentheses and quotes of one chunk, and which each is."""
    chunk = np.frombuffer(data, dtype=np.uint8, count=stop - begin, offset=begin)
    positions = np.flatnonzero(((chunk & 0xFE) == _OPEN) | (chunk == _QUOTE))
    if data.find(b"\\", begin, stop) >= 0:
        positions = np.setdiff1d(positions, _escaped_quotes(data, begin, stop), assume_unique=True)
    return positions + begin, chunk[positions]


def _escaped_quotes(data: bytes, begin: int, stop: int) -> Ints:
    """Offsets, from `begin`, of the quotes that an odd number of backslashes precedes."""
    runs = (run.span() for run in _BACKSLASHES.finditer(data, begin, stop))
    found = [last - 1 - begin for first, last in runs if data[last - 1] == _QUOTE and (last - first) % 2 == 0]
    return np.array(found, dtype=np.int64)


def without_comments(data: bytes) -> bytes:
    """Return `data` with comment lines (first character that is not blank: `#`) blanked out, same length.

    KiCad reads such lines as comments.
    """
    blanked: bytearray | None = None
    mark, line = data.find(b"#"), 0
    while mark >= 0:  # only the first mark of a line counts, so that long lines stay cheap
        line = data.rfind(b"\n", line, mark) + 1 or line
        end = data.find(b"\n", mark)
        end = len(data) if end < 0 else end
        if not data[line:mark].strip():
            blanked = bytearray(data) if blanked is None else blanked
            blanked[mark:end] = b" " * (end - mark)
        line = end
        mark = data.find(b"#", end)
    return data if blanked is None else bytes(blanked)


def heads(data: bytes, start: Ints) -> tuple[Ints, list[str]]:
    """Return, for lists that open at `start`, an index into the also returned list of their first words."""
    names: dict[bytes, int] = {}
    codes = np.full(len(start), -1, dtype=np.int64)
    whole = np.flatnonzero(start + 1 + _KEY_BYTES <= len(data))
    if len(whole):
        window = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, dtype=np.uint8), _KEY_BYTES)
        keys = np.ascontiguousarray(window[start[whole] + 1]).view(np.uint64).ravel()
        opens = np.append(True, keys[1:] != keys[:-1])  # alike ones stand together: a drawing is a thousand lines
        known = distinct(keys[opens])
        table = np.array([_short_name(key.tobytes(), names) for key in known], dtype=np.int64)
        codes[whole] = table[np.searchsorted(known, keys[opens])][np.cumsum(opens) - 1]
    rest = np.flatnonzero(codes < 0)
    codes[rest] = [names.setdefault(head(data, at), len(names)) for at in start[rest].tolist()]
    return codes, [name.decode("utf-8", "replace") for name in names]


def _short_name(key: bytes, names: dict[bytes, int]) -> int:
    """The index of the word that ends within `key`; -1 when it is longer than the key or blanks come first."""
    found = _HEAD.match(b"(" + key)
    word = found.group(1) if found else b""
    if word == key or key[:1].isspace():
        return -1
    return names.setdefault(word, len(names))


def head(data: bytes, start: int) -> bytes:
    """Return the first word of the list that opens at `start`; empty when a string or a list comes first."""
    found = _HEAD.match(data, start)
    return found.group(1) if found else b""
