"""File names as different systems spell them.

macOS may hand out `Gerät` with the dots of its umlaut as a letter of their own, where Git and every other system have
one letter; macOS and Windows open a file under its name in any case.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path


def composed(name: str) -> str:
    """Return a name with one letter for each accented letter (Unicode's form C), by which names are compared."""
    return unicodedata.normalize("NFC", name)


def found_among(name: str, names: Iterable[str]) -> str | None:
    """Return the one of the names that is meant: the same, else the same letters otherwise composed."""
    known = list(names)
    if name in known:
        return name
    return next((one for one in known if composed(one) == composed(name)), None)


def place_of(path: Path) -> Path:
    """Return where a file lies: its folder without links, then its own name, also where that is a link itself.

    Settings and projects lie next to the name, so that a board and a link to it in another folder are two boards.
    """
    if path.name in ("", os.pardir):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent)) / path.name


def as_stored(path: Path, entries: Callable[[Path], Iterable[str]] = os.listdir) -> Path:
    """Return the path of a file that is there as the disk spells it, whatever spelling the file system let pass.

    Args:
        path: as it was typed.
        entries: names in a folder.
    """
    stored = Path(path.anchor)
    for part in path.parts[1 if path.anchor else 0 :]:
        stored /= _entry(stored, part, entries)
    return stored


def _entry(folder: Path, part: str, entries: Callable[[Path], Iterable[str]]) -> str:
    try:
        names = list(entries(folder))
        if part in names or part == os.pardir:
            return part
        alike = (name for name in names if _folded(name) == _folded(part))
        return next((name for name in alike if (folder / name).samefile(folder / part)), part)
    except OSError:  # a folder that may be passed, not read
        return part


def _folded(name: str) -> str:
    return composed(composed(name).casefold())
