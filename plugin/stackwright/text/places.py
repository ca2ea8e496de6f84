"""Lists of layer names as people write them: `dielectrics 2 to 9 and 19`, each name once."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from stackup_lib.core.words import listed, some


def places(names: tuple[str, ...]) -> str:
    """Return layers or dielectrics in short: `dielectrics 2 to 9`, `In2.Cu, In4.Cu and 6 more`."""
    if names and all(name.startswith("dielectric ") for name in names):
        return short(names)
    return some(names, 3)


def short(names: Iterable[str]) -> str:
    """Return all names, those of dielectrics as ranges of their numbers."""
    once = list(dict.fromkeys(names))
    if not all(name.startswith("dielectric ") for name in once):
        return listed(once)
    numbers = sorted(int(name.partition(" ")[2]) for name in once)
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"dielectrics {listed(parts)}" if len(numbers) > 1 else once[0]
