"""Files that the settings of a board name; a copy, a comparison or a watch of the board needs them too."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.files.toml_text import read_toml
from stackup_lib.core.record import record

PROFILE_SUFFIX = ".toml"
"""A profile of the user's own is named by its path, which ends so; others are shipped."""
MOST_PROFILES = 1000
"""Profiles that are looked at; a file of another author could name more without end."""


@record
class NamedFile:
    """A file that is named; it need not be there.

    Attributes:
        place: where it is named to be, without `..`.
        real: where it lies, links followed; what it names itself is meant from there.
    """

    place: Path
    real: Path


def named_by_settings(settings: Path) -> Iterator[NamedFile]:
    """Yield the files that a `stackwright.toml` names, and those that these name: models of parts, and profiles.

    Each is yielded once, and before it is read. What cannot be read names nothing: to complain is the check's part.
    """
    table = _table(settings)
    folder = _file(settings.parent, settings.parent, "")
    rows = table.get("part_model")
    models = {row.get("file") for row in rows if isinstance(row, dict)} if isinstance(rows, list) else set()
    for name in sorted(name for name in models if isinstance(name, str) and name and "\0" not in name):
        yield _file(folder.place, folder.real, name)
    yield from _profiles(folder, [table.get("profile")])


def named_by_profile(profile: str) -> Iterator[NamedFile]:
    """Yield the file of a profile that is named by its path, and those that it rests on; none for a shipped one."""
    yield from _profiles(_file(Path(), Path(), ""), [profile])


def _profiles(folder: NamedFile, names: list[object]) -> Iterator[NamedFile]:
    """Yield profiles by the names that a file in a folder has for them."""
    todo = deque((folder, name) for name in names)
    seen: set[NamedFile] = set()
    while todo and len(seen) < MOST_PROFILES:
        within, name = todo.popleft()
        if not isinstance(name, str) or not name.endswith(PROFILE_SUFFIX) or "\0" in name:
            continue
        file = _file(within.place, within.real, name)
        if file in seen:
            continue
        seen.add(file)
        yield file
        bases = _table(file.real).get("extends")
        folder_of_file = NamedFile(file.place.parent, file.real.parent)
        todo.extend((folder_of_file, base) for base in (bases if isinstance(bases, list) else []))


def _file(place: Path, real: Path, name: str) -> NamedFile:
    return NamedFile(Path(os.path.abspath(place / name)), Path(os.path.realpath(real / name)))  # noqa: PTH100


def _table(file: Path) -> Mapping[str, object]:
    try:
        return read_toml(read_plain_text(file))
    except (OSError, ValueError):
        return {}
