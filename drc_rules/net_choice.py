"""Choosing nets as `stackwright.toml` does: by net class, or by wildcards over the whole net name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache

from stackup_lib.board import Board


@lru_cache(maxsize=1024)
def _wildcard(pattern: str) -> re.Pattern[str]:
    """Wildcards `*` and `?` only: KiCad's net names hold brackets and braces, which stand for themselves here."""
    return re.compile(translate(pattern.replace("[", "[[]")))


def matches(pattern: str, name: str) -> bool:
    """Tell whether a whole name matches the wildcards `*` and `?`."""
    return _wildcard(pattern).match(name) is not None


def chosen_nets(board: Board, net_classes: Iterable[str], patterns: Iterable[str]) -> frozenset[int]:
    """Return the nets in one of the classes or under one of the wildcards; net 0 (no net) is never chosen."""
    classes, compiled = set(net_classes), [_wildcard(pattern) for pattern in patterns]
    found = set()
    for index, name in enumerate(board.nets):
        if not name:
            continue
        of_class = classes.intersection(board.project.net_classes_of.get(name, ()))
        if of_class or any(pattern.match(name) for pattern in compiled):
            found.add(index)
    return frozenset(found)
