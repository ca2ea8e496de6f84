"""Bus names as KiCad takes them apart: `D[0..3]`, `D[0..3]_P` is none, `{CLK DATA}`, `USB{DP DM}`.

KiCad does so with net class patterns before it matches them, and with net names that nothing matched. A group gives
its members without the name in front. Seen on KiCad 10.0.6: pattern `/D[0..2]` takes `/D1` but not `/D.`; pattern
`G{A B}` takes the nets `A` and `B`; a net `N{slash}1` counts as a group whose only member is `slash`.
"""

from __future__ import annotations

import re

_VECTOR = re.compile(r"([^\[\] ]*)\[(\d{1,6})\.\.(\d{1,6})\]([}+\-PN]*)")
_FORMATTING = "_^~"
MAX_MEMBERS = 4096
"""Longer vectors are not taken apart: no bus has them, and `[0..999999]` must not fill the memory."""
MOST_OF_GROUP = 65_536
"""The same for a group of vectors: a short name must not become millions of words."""


def members(name: str) -> list[str]:
    """Return the members of a bus, or the name itself when it is none."""
    vector = _vector(name)
    if vector is not None:
        return vector
    group = _group(name)
    if group is None:
        return [name]
    found: list[str] = []
    for part in group:
        found += members(part)
        if len(found) > MOST_OF_GROUP:
            return [name]
    return found


def _vector(name: str) -> list[str] | None:
    found = _VECTOR.fullmatch(name)
    if found is None or not _only_formatting_braces(found.group(1) + found.group(4)):
        return None
    low, high = sorted((int(found.group(2)), int(found.group(3))))
    if low == high or high - low >= MAX_MEMBERS:
        return None
    return [f"{found.group(1)}{i}{found.group(4)}" for i in range(low, high + 1)]


def _only_formatting_braces(text: str) -> bool:
    """True when every brace belongs to `_{}`, `^{}` or `~{}` and all are closed."""
    depth = 0
    for i, char in enumerate(text):
        if char == "{":
            if i == 0 or text[i - 1] not in _FORMATTING:
                return False
            depth += 1
        elif char == "}":
            depth -= 1
    return depth == 0


def _group(name: str) -> list[str] | None:
    """The words between the first brace that is no formatting and its end; None when there are none."""
    begin = next((i for i, c in enumerate(name) if c == "{" and (i == 0 or name[i - 1] not in _FORMATTING)), None)
    if begin is None or any(c in " []" for c in name[:begin]) or not _only_formatting_braces(name[:begin]):
        return None
    depth = 0
    for i in range(begin + 1, len(name)):
        if name[i] == "{":
            if name[i - 1] not in _FORMATTING:
                return None
            depth += 1
        elif name[i] == "}" and depth:
            depth -= 1
        elif name[i] == "}":
            words = re.split("[ ,]", name[begin + 1 : i])
            return [word.replace("/", "{slash}") for word in words if word]
    return None
