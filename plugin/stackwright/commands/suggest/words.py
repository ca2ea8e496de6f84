"""Lists of layer names as people write them: `dielectrics 2 to 9 and 19`, each name once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from stackup_lib.core.words import listed, some

_NAME = r"(?:dielectric \d+|[A-Za-z0-9]+\.Cu)"
_LIST = re.compile(rf"{_NAME}(?:(?:, | and ){_NAME})+")


STAYS = " widths stay "
"""In a phrase that says of routed lines that nothing is to be done."""


def what_changes(words: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases about something that changes."""
    return tuple(one for one in words if STAYS not in one)


def what_stays(words: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases about routed widths that stay as they are."""
    return tuple(one for one in words if STAYS in one)


def shortened(words: str) -> str:
    """Return a phrase with its lists of layers written short."""
    return _LIST.sub(lambda found: _short(re.findall(_NAME, found[0])), words)


def places(names: tuple[str, ...]) -> str:
    """Return layers or dielectrics in short: `dielectrics 2 to 9`, `In2.Cu, In4.Cu and 6 more`."""
    if names and all(name.startswith("dielectric ") for name in names):
        return _short(names)
    return some(names, 3)


def _short(names: Iterable[str]) -> str:
    once = list(dict.fromkeys(names))
    if not all(name.startswith("dielectric ") for name in once):
        return listed(once)
    numbers = sorted(int(name.partition(" ")[2]) for name in once)
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"dielectrics {listed(parts)}" if len(numbers) > 1 else once[0]
