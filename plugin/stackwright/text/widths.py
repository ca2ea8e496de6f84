"""How wide the columns of a table are: each as wide as its text while there is room, else those that wrap share it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.cells import cell_len

from stackup_lib.core.record import record

GAP = 2
"""Blanks between two columns."""

SHORTEST_WRAP = 8
"""Words up to this length are not broken in a column that wraps."""


@record
class Column:
    """A column of `Page.rows`: as wide as its text, or, when it wraps, as wide as what is left.

    `below` is for the last one: with less room than this for longer cells, they stand under their rows.
    """

    wraps: bool = False
    right: bool = False
    min_width: int | None = None
    max_width: int | None = None
    below: int = 0

    @property
    def may_wrap(self) -> bool:
        """Whether its cells may be broken into lines."""
        return self.wraps or self.max_width is not None


def column_widths(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], head: Sequence[str], room: int
) -> list[int]:
    """Return the width of each column.

    Args:
        columns: of the table.
        cells: its rows.
        head: names of the columns, or nothing; a name breaks into lines before a cell does.
        room: columns of the terminal, without indent. Cells that cannot be broken may need more.
    """
    texts = [[row[k] for row in cells] for k in range(len(columns))]
    columns = [_wrapped_if_long(column, text, room) for column, text in zip(columns, texts, strict=True)]
    names = head or [""] * len(columns)
    widths = [_least(*of_column) for of_column in zip(columns, texts, names, strict=True)]
    left = room - GAP * (len(columns) - 1) - sum(widths)
    words = [_most(column, map(_longest_word, text)) for column, text in zip(columns, texts, strict=True)]
    for lack, k in sorted((word - width, k) for k, (word, width) in enumerate(zip(words, widths, strict=True))):
        if 0 < lack <= left:
            widths[k] += lack
            left -= lack
    for wished in (texts, [[*text, name] for text, name in zip(texts, names, strict=True)]):
        most = [_most(column, map(cell_len, text)) for column, text in zip(columns, wished, strict=True)]
        while left > 0 and (short := [k for k, width in enumerate(widths) if width < most[k]]):
            widths[min(short, key=lambda k: widths[k])] += 1  # what is short stays in one line
            left -= 1
    return widths


def _wrapped_if_long(column: Column, cells: Sequence[str], room: int) -> Column:
    """Return the column as one that wraps where sentences would fill half of the room or more."""
    is_long = max(map(cell_len, cells), default=0) >= room // 2
    if column.may_wrap or not is_long or max(map(_longest_word, cells)) >= room // 4:
        return column
    return replace(column, wraps=True)


def _least(column: Column, cells: Sequence[str], name: str) -> int:
    """Return the width below which a column would lose letters; one that wraps breaks long words."""
    if not column.may_wrap:
        return max(*map(cell_len, cells), _in_two_lines(name), column.min_width or 0)
    longest = max(map(_longest_word, (*cells, name)), default=0)
    return max(min(longest, SHORTEST_WRAP, column.max_width or SHORTEST_WRAP), column.min_width or 0)


def _most(column: Column, lengths: Iterable[int]) -> int:
    """Return what a column may take: the longest, up to what it is allowed."""
    most = max(lengths, default=0)
    return min(most, column.max_width) if column.max_width is not None else most


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _in_two_lines(name: str) -> int:
    """Return the width in which the name of a column has two lines at most."""
    words = name.split()
    splits = ((" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words)))
    return min((max(map(cell_len, pair)) for pair in splits), default=cell_len(name))
