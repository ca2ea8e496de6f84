"""The folders that a server may read, and the boards in them; a link counts by where it leads."""

from __future__ import annotations

import os
from pathlib import Path

from stackup_lib.core.errors import BoardFileError, ConfigError
from stackup_lib.core.files.file_names import place_of
from stackup_lib.core.record import record
from stackwright.run.paths import boards_below

MOST_FOLDERS = 20


@record
class ServedBoard:
    """A board or folder of boards that a tool was called with.

    Attributes:
        folder: the served folder that it is in, without links.
        path: its path from there, which may be `.`.
    """

    folder: Path
    path: Path


def served(given: list[Path]) -> tuple[Path, ...]:
    """Return the folders of a command line without links, each once.

    Raises:
        ConfigError: one is no folder, or there are too many.
    """
    if len(given) > MOST_FOLDERS:
        raise ConfigError("--folder", f"{len(given)} folders, maximum {MOST_FOLDERS}", "give a folder above them")
    for folder in given:
        if not folder.is_dir():
            raise ConfigError(str(folder), "is not a folder", "give --folder a folder with boards")
    return tuple(dict.fromkeys(folder.resolve() for folder in given))


def board_in(typed: str, folders: tuple[Path, ...]) -> ServedBoard:
    """Return the board that a path names, from one of the folders or as a whole path; a link stays one.

    Raises:
        BoardFileError: it is in none of the folders, is not there, or is in several.
    """
    if not typed or "\0" in typed:
        raise BoardFileError("board", "no path", "the tool boards lists the boards")
    places = {folder: place_of(folder / typed) for folder in folders}
    inside = {folder: path for folder, path in places.items() if path.is_relative_to(folder) and _is_in(path, folder)}
    if not inside:
        names = ", ".join(map(str, folders))
        raise BoardFileError(typed, f"is outside of the folders that are served ({names})", "name a board in them")
    found = {path: folder for folder, path in inside.items() if path.exists()}
    if not found:
        raise BoardFileError(typed, "no such file", "the tool boards lists the boards")
    if len(found) > 1:
        raise BoardFileError(typed, f"is in {len(found)} of the folders", "give its whole path")
    path, folder = found.popitem()
    return ServedBoard(folder, path.relative_to(folder))


def _is_in(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def boards_in(folders: tuple[Path, ...]) -> list[dict[str, object]]:
    """Return the boards of each folder, by their paths from it."""
    return [
        {
            "folder": str(folder),
            "boards": [board.relative_to(folder).as_posix() for board in boards_below(folder) if _is_in(board, folder)],
        }
        for folder in folders
    ]
