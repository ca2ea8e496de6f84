"""Choosing nets as `stackwright.toml` does: by net class, or by wildcards over the whole net name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache
from itertools import groupby, takewhile

from stackup_lib.board.board import Board
from stackup_lib.core.files.toml_text import written_out
from stackup_lib.core.kicad_text import as_kicad_shows

NOTHING = "(?!)"
"""A regular expression that no text matches."""


@lru_cache(maxsize=1024)
def _any_of(*patterns: str) -> re.Pattern[str]:
    """Wildcards `*` and `?` only: KiCad's net names hold brackets and braces, which stand for themselves here."""
    each = [translate(pattern.replace("[", "[[]")) for pattern in patterns]
    return re.compile("|".join(each) or NOTHING)


def matches(pattern: str, name: str) -> bool:
    """Tell whether a whole name matches the wildcards `*` and `?`, as the file spells it or as KiCad shows it."""
    return _is_met(_any_of(pattern), name)


def _is_met(wildcards: re.Pattern[str], name: str) -> bool:
    if wildcards.match(name):
        return True
    shown = as_kicad_shows(name)
    return shown != name and wildcards.match(shown) is not None


def chosen_nets(board: Board, net_classes: Iterable[str], patterns: Iterable[str]) -> frozenset[int]:
    """Return the nets in one of the classes or under one of the wildcards; net 0 (no net) is never chosen."""
    classes, wanted = set(net_classes), _any_of(*patterns)
    found = set()
    for index, name in enumerate(board.nets):
        if not name:
            continue
        of_class = classes.intersection(board.project.net_classes_of.get(name, ()))
        if of_class or _is_met(wanted, name):
            found.add(index)
    return frozenset(found)


def unmatched_in(board: Board, net_classes: Iterable[str], patterns: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the classes that no net is in, and the wildcards that match no net."""
    names = [name for name in board.nets if name]
    used = {of_class for name in names for of_class in board.project.net_classes_of.get(name, ())}
    empty = [net_class for net_class in net_classes if net_class not in used]
    shown = {*names, *map(as_kicad_shows, names)}
    return empty, [pattern for pattern in patterns if not any(map(_any_of(pattern).match, shown))]


SHORTEST_START = 3
"""Net names that share fewer characters at the start are listed one by one."""


def nets_line(board: Board, nets: Iterable[int]) -> str:
    """Return the `nets = [...]` line that chooses exactly these nets: by what they begin with, else by name."""
    wanted = frozenset(nets)
    names = sorted({board.nets[net] for net in wanted})
    others = [name for net, name in enumerate(board.nets) if name and net not in wanted]
    patterns = list(_starts(names, others))
    exact = chosen_nets(board, (), patterns) == wanted
    return f"nets = {toml_value(patterns if exact else names)}"


def _starts(names: list[str], others: list[str]) -> Iterator[str]:
    """Yield wildcards for sorted names that take none of the others: the fewest that differ by their start."""
    start = _shared_start(names[0], names[-1])
    strangers = [name for name in others if name.startswith(start)]
    if len(names) == 1:
        yield names[0]
    elif len(start) >= SHORTEST_START and not strangers:
        yield f"{start}*"
    else:
        for _, branch in groupby(names, key=lambda name: name[len(start) : len(start) + 1]):
            yield from _starts(list(branch), strangers)


def toml_value(value: object) -> str:
    """Return a string or a list of strings as TOML; marks that turn the writing around are written out."""
    return written_out(json.dumps(value, ensure_ascii=False))


def _shared_start(first: str, last: str) -> str:
    """Return what the first and the last of sorted names, and so all of them, begin with."""
    pairs = zip(first, last, strict=False)
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
