"""Tables whose columns are set apart by single blanks, as text copied from a PDF: cells by what each value can be.

The header is cut where its words name columns. Of a row every word goes to a column, in the order of the columns, so
that as many values as possible are of their column's kind; a column may stay blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from drc_rules.fab_exchange.answer.headers import UNIT, column_of, find_head

MOST_WORDS = 24
"""A row of a stackup has fewer; longer lines are text."""

MOST_IN_HEAD = 4
MOST_TOGETHER = 7
"""Words of one cell: `Isola 370HR 1 x 2116 RC 53%`."""

LEAST_COLUMNS, MOST_UNKNOWN = 3, 1
REMARK = "columns are set apart by single blanks: values are read by what they can be, check the rows above"

_LENGTH = re.compile(rf"\d*[.,]?\d+\s*{UNIT}?", re.IGNORECASE)
_UNIT = re.compile(rf"[\[(]?(?:{UNIT}|oz|%)[\])]?", re.IGNORECASE)
_KIND = re.compile(
    r"(?:signal|plane|mixed|power|ground|gnd|pwr|sig|pln|copper|foil|conductor|core|pre-?preg|pp|p-p|c-l|dielectric"
    r"|solder ?mask|mask|s/m|silk ?screen|legend|paste|laminate)(?: layer)?",
    re.IGNORECASE,
)
_FORMS: dict[str, re.Pattern[str]] = {
    "dk": re.compile(r"(?:[2-9]|1[0-2]|1(?=[.,]))(?:[.,]\d+)?"),
    "df": re.compile(r"0?[.,]\d+"),
    "tg": re.compile(r"[12]\d\d(?: ?°?c)?", re.IGNORECASE),
    "oz": re.compile(r"(?:\d/\d|\d?[.,]?\d+|h)(?: ?oz)?", re.IGNORECASE),
    "number": re.compile(r"\d{1,2}"),
    "resin": re.compile(r"\d{2}(?:[.,]\d+)?\s*%?"),
    "layer": re.compile(
        r"(?:l|ly|layer)?[\s_-]*\d{1,2}|top|bottom|bot|[fb]\.cu|in\d+\.cu|[A-Za-z]{2,}[\w./-]*", re.IGNORECASE
    ),
    "kind": _KIND,
}
_TEXT = ("material", "glass", "description")
_BLANK = frozenset({"-", "--", "n/a", "na"})


def cut_by_kind(lines: Sequence[str]) -> list[tuple[int, list[str]]] | None:
    """Return lines and cells, None where no line is such a header; the remark stands at line 0."""
    found: list[tuple[int, list[str]]] = []
    keys: tuple[str, ...] = ()
    for number, line in enumerate(lines, start=1):
        words = line.split()
        head = _header(words) if LEAST_COLUMNS <= len(words) <= MOST_WORDS else None
        if head is not None:
            keys = tuple(column_of(cell) or "" for cell in head)
            found.append((number, head))
        elif keys and 1 < len(words) <= MOST_WORDS and any(re.search(r"\d", word) for word in words):
            found.append((number, _cells(words, keys) or [" ".join(words)]))
        else:
            found.append((number, [line.strip()]))
    return [(0, [REMARK]), *found] if keys else None


def _header(words: Sequence[str]) -> list[str] | None:
    """Return the cells of a header line: as many different columns as can be, then few words that name none."""
    cells = max(_cuts(tuple(words)), key=_order, default=())
    different, unknown, _ = _order(cells)
    is_head = different >= LEAST_COLUMNS and -unknown <= MOST_UNKNOWN and find_head(cells) is not None
    return list(cells) if is_head else None


def _cuts(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the ways to cut a line into single words and runs of words that name a column."""
    if not words:
        yield ()
    if words and _UNIT.fullmatch(words[0]):
        return  # a unit belongs to the column in front of it
    for end in range(1, min(len(words), MOST_IN_HEAD) + 1):
        cell = " ".join(words[:end])
        if end == 1 or column_of(cell) is not None:
            yield from ((cell, *rest) for rest in _cuts(words[end:]))


def _order(cells: tuple[str, ...]) -> tuple[int, int, int]:
    """Return different columns, words that name none, and cells, the last two below 0."""
    keys = [column_of(cell) for cell in cells]
    return len(set(keys) - {None}), -keys.count(None), -len(keys)


def _cells(words: Sequence[str], keys: Sequence[str]) -> list[str] | None:
    """Return the words of a row below their columns, None where not all of them fit."""

    @cache
    def best(at: int, column: int) -> tuple[float, tuple[str, ...]] | None:
        if column == len(keys):
            return (0.0, ()) if at == len(words) else None
        options = []
        for end in range(at, min(len(words), at + MOST_TOGETHER) + 1):
            cell = " ".join(words[at:end])
            worth = _worth(cell, keys[column], words[end].lower() if end < len(words) else "")
            rest = best(end, column + 1) if worth is not None else None
            if worth is not None and rest is not None:
                options.append((worth + rest[0], (cell, *rest[1])))
        return max(options, key=lambda option: option[0], default=None)

    found = best(0, 0)
    return list(found[1]) if found else None


def _worth(cell: str, key: str, following: str) -> float | None:
    """Return how well a cell fits a column, None where it cannot be there; a blank one fits everywhere."""
    if not cell or cell in _BLANK:
        return 0.0 if not cell else 0.5
    if key.endswith(("thickness", "width", "gap")):
        return 3.2 if _LENGTH.fullmatch(cell) and following != "oz" else None
    if key in _TEXT:
        if _UNIT.fullmatch(cell.split(" ", 1)[0]):
            return None
        return 1.0 - 0.1 * cell.count(" ") - (0.5 if _KIND.fullmatch(cell) else 0.0)
    form = _FORMS.get(key.rpartition(" ")[2])
    if form is None:  # of a column that is not read
        return None if " " in cell else 0.2
    return (3.0 if key != "layer" else 1.5) if form.fullmatch(cell) else None
