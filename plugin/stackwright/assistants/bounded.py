"""A part of a large JSON document that a reader can take in, with what was cut and how to get it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from stackup_lib.core.errors import ConfigError, did_you_mean

Json = Any
"""What JSON holds."""
MOST_CHARS = 12_000
"""Characters of an answer: some 4,000 tokens, a few of which fit any conversation."""
MOST_NAMED = 12
"""Cuts that an answer names."""
STEPS = tuple(
    (rows, depth, text)
    for depth in (9, 4, 3, 2, 1)
    for rows, text in (
        *((400, 4000), (200, 4000), (100, 4000), (50, 2000), (35, 2000), (25, 1000), (18, 1000), (12, 600), (9, 600)),
        *((6, 400), (4, 400), (3, 300), (2, 300), (1, 200)),
    )
)
"""How much is kept, the first that fits: levels, rows of a list or table, characters of a text. Few rows that are whole
say more than many that are hollow."""
FIELDS = 40
"""Fields of one object that are always kept."""
INDEX = re.compile(r"(?<=/)\d+(?=/|$)")


@dataclass
class Cutter:
    """Cuts a document; `cuts` says where something is left out, and what.

    Attributes:
        rows: entries kept of each list.
        depth: levels kept.
        text: characters kept of each text.
        first: entry that the outermost list begins with.
    """

    rows: int
    depth: int
    text: int
    first: int = 0
    cuts: list[tuple[str, str]] = field(default_factory=list)

    def cut(self, value: Json, at: str = "", level: int = 0) -> Json:
        """Return a value with its long lists, deep parts and long texts shortened."""
        if isinstance(value, str) and len(value) > self.text:
            self.cuts.append((at, f"{self.text} of {len(value)} characters"))
            return value[: self.text] + "..."
        if not isinstance(value, dict | list) or not value:
            return value
        if level > self.depth:
            self.cuts.append((at, f'{len(value)} entries; ask again with at="{at}"'))
            return f"{len(value)} entries"
        begin = self.first if level == 0 else 0
        end = begin + (max(self.rows, FIELDS) if isinstance(value, dict) else self.rows)
        if begin or end < len(value):
            more = f", and first={end} for more" if end < len(value) else ""
            shown = f"entries {begin} to {min(end, len(value)) - 1} of {len(value)}"
            self.cuts.append((at, f'{shown}; ask again with at="{at}"{more}'))
        if isinstance(value, list):
            return [self.cut(one, _joined(at, str(begin + i)), level + 1) for i, one in enumerate(value[begin:end])]
        kept = list(value.items())[begin:end]
        return {name: self.cut(one, _joined(at, name), level + 1) for name, one in kept}


def _joined(at: str, name: str) -> str:
    name = name.replace("~", "~0").replace("/", "~1")
    return f"{at}/{name}" if at else name


def part_of(document: Json, at: str) -> Json:
    """Return the part of a document at a JSON pointer, whose first slash may be left out.

    Raises:
        ConfigError: there is no such part; says what there is.
    """
    value = document
    done = ""
    for word in at.strip("/").split("/") if at.strip("/") else ():
        name = word.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise ConfigError(
                f'at="{at}"', f"there is no {name!r} in {done or 'the answer'}", _what_there_is(value, name)
            )
        done = _joined(done, name)
    return value


def _what_there_is(value: Json, name: str) -> str:
    if isinstance(value, list):
        return f"it has entries 0 to {len(value) - 1}" if value else "it is empty"
    if isinstance(value, dict):
        hint = did_you_mean(name, value)
        return hint if hint.startswith("did") else f"it has {', '.join(list(value)[:MOST_NAMED])}"
    return "it has no parts"


def bounded(document: Json, at: str = "", first: int = 0, most_chars: int = MOST_CHARS) -> dict[str, Json]:
    """Return `answer`, a part of a document that fits, and `cut`, what is left out of it and how to get it.

    Args:
        document: what JSON holds.
        at: JSON pointer of the part; "" for all of it.
        first: entry that it begins with, where it is a list.
        most_chars: characters that the answer takes as JSON at most.

    Raises:
        ConfigError: there is no such part, or no such entry.
    """
    value = part_of(document, at)
    if first and (not isinstance(value, dict | list) or first >= len(value)):
        size = f"{len(value)} entries" if isinstance(value, dict | list) else "no entries"
        raise ConfigError(f"first={first}", f"{at or 'the answer'} has {size}", "give an earlier one")
    pointer = at.strip("/")
    for rows, depth, text in STEPS:
        cutter = Cutter(rows, depth, text, first)
        answer = cutter.cut(value, pointer)
        if len(json.dumps(answer, ensure_ascii=False)) <= most_chars:
            return {"answer": answer, **_cut_text(cutter.cuts)}
    return {"answer": None, "cut": [f"{pointer or 'the answer'}: too much to show; name a part of it by at"]}


def _cut_text(cuts: list[tuple[str, str]]) -> dict[str, Json]:
    """Return what is said of the cuts: of those that differ in a number of their place only, the first."""
    alike: dict[str, list[str]] = {}
    for at, what in cuts:
        alike.setdefault(INDEX.sub("*", at), []).append(f"{at or 'the answer'}: {what}")
    said = [same[0] + (f"; {len(same) - 1} more like it" if len(same) > 1 else "") for same in alike.values()]
    more = [f"and {len(said) - MOST_NAMED} more kinds of cuts"] if len(said) > MOST_NAMED else []
    return {"cut": [*said[:MOST_NAMED], *more]} if said else {}
