"""Lines of settings, table by table, and lines put into the table that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from drc_rules.settings import FILE_NAME
from drc_rules.settings.declaration import PLACEHOLDER

CHOOSERS = ("net_classes", "nets")
"""Keys that tell which nets a table is about."""

ADD_TO = re.compile(rf"# add to (\[.+\]) in {re.escape(FILE_NAME)}(?:, in place of its .+)?:")
ADD_ABOVE = f"# add above all tables of {FILE_NAME}:"


def blocks_of(lines: Iterable[str]) -> list[list[str]]:
    """Split lines before each head of a table; the first block is what stands above all tables."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("["):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def put_in(blocks: list[list[str]], needed: Sequence[str]) -> list[list[str]]:
    """Put needed lines into the tables of settings; return the tables for which there is no place yet.

    Args:
        blocks: tables of the settings, changed in place.
        needed: lines that supply what is missing; a comment says of rows in which table they belong.
    """
    first, *tables = blocks_of(needed)
    new: list[list[str]] = [[]]
    place: list[str] | None = None
    for line in first:
        if found := ADD_TO.fullmatch(line):
            place = next((block for block in blocks[1:] if _head(block) == found[1]), [])
        elif line == ADD_ABOVE:
            place = blocks[0]
        elif place is not None and re.match(r'# ["\w.-]+ *=', line):
            _add(place, [line.removeprefix("# ")])
        else:
            place = None
            new[0] += [line] if line not in (row for block in blocks for row in block) else []
    for table in tables:
        there = next((block for block in blocks[1:] if _is_same(block, table)), None)
        if there is None:
            new.append(table)
        elif table[0].startswith("[[") and _choice(there):
            _add(there, table[1:])
    return new


def _add(block: list[str], rows: Iterable[str]) -> None:
    """Add rows below the keys of a table, those that it does not have."""
    end = max((k for k, line in enumerate(block) if line.strip() and not line.startswith("#")), default=-1) + 1
    block[end:end] = [row for row in rows if _key(row) not in {_key(line) for line in block}]


def _is_same(block: Sequence[str], table: Sequence[str]) -> bool:
    """Tell whether a table is there already: by its nets, or one that is still to be filled in."""
    if _head(block) != _head(table):
        return False
    if not _head(table).startswith("[["):
        return True
    return _choice(block) == _choice(table) if _choice(table) else any(f'"{PLACEHOLDER}"' in line for line in block)


def _choice(block: Iterable[str]) -> list[str]:
    return sorted(line.partition("#")[0].strip() for line in block if _key(line) in CHOOSERS)


def _head(block: Sequence[str]) -> str:
    return block[0].partition("#")[0].strip() if block else ""


def _key(line: str) -> str:
    return line.partition("=")[0].strip()
