"""From what the user typed to the board file, with messages that repeat what was typed."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import NoReturn

from drc_rules.settings import FILE_NAME
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.file_names import as_stored, composed, place_of
from stackup_lib.core.files.plain_file import refuse_unplain
from stackwright.run.read_files import OF_BOARD, boards_reading, file_key, reached_through
from stackwright.text.words import some

BOARD = ".kicad_pcb"
PROJECT = ".kicad_pro"
BACKUPS = "*-backups"
"""Folders in which KiCad keeps former boards."""
SKIPPED_FOLDERS = (".*", "_autosave-*", BACKUPS, "node_modules")
"""Folders that are not searched for boards: hidden ones, backups, packages of programs."""

FIXES = {errno.EINVAL: "save the board as a file", errno.ELOOP: "correct the link, or remove it"}
"""What to do about a board that is no plain file, by the system's number of the error."""

MOST_NAMED = 5
"""As many boards of a folder as an error names."""


def relative_to_run(path: str) -> tuple[str, bool]:
    """Return a path with slashes, relative to the folder of the run, and whether it lies inside; else absolute.

    An absolute path has no slash in front: it is for names, not for opening files.
    """
    real = place_of(Path(path))
    try:
        return as_git_has_it(real.relative_to(Path.cwd().resolve()).as_posix()), True
    except ValueError:
        return as_git_has_it(real.as_posix().lstrip("/")), False


def as_git_has_it(name: str, platform: str = sys.platform) -> str:
    """Return a path as Git keeps it: on macOS it composes the letters that the disk may hold apart."""
    return composed(name) if platform == "darwin" else name


def boards_of(typed: Iterable[Path]) -> list[Path]:
    """Return the boards meant by files and folders, each once; a folder is searched with the folders below it.

    A link to a board is a board of its own: other settings may lie next to it. A folder without boards stays as it is,
    for `find_board` to refuse.
    """
    found: dict[str, Path] = {}
    for path in typed:
        for board in _below(path) or [path]:
            found.setdefault(os.path.normcase(place_of(board)), board)
    return list(found.values())


def boards_touched(files: Iterable[Path], shared: Iterable[Path] = ()) -> list[Path]:
    """Return the boards that belong to files of a change: a board, project, rules, settings, or what settings name.

    A file that has no board, such as the project of a schematic alone, brings none.

    Args:
        files: they may be of boards anywhere; who reads them otherwise is looked up in the current folder and below it.
        shared: files that decide over every board; one of them brings every board below the current folder.
    """
    found: list[Path] = []
    given = list(files)
    for file in given:
        if file.name == FILE_NAME:
            found += _boards(file.parent) if file.parent.is_dir() else []
        elif file.suffix in OF_BOARD:
            found += [board for board in [file.with_suffix(BOARD)] if os.path.lexists(board)]
        elif not file.exists() or (file.is_dir() and not file.is_symlink()):
            found.append(file)
    return [*found, *(_boards_reading(given, shared) if given else ())]


def _boards_reading(files: Iterable[Path], shared: Iterable[Path]) -> Iterator[Path]:
    """Yield the boards below the current folder that read one of these files: by a link, or named by their settings."""
    changed = {file_key(place_of(file)) for file in files}
    boards = _found_below(Path(), _is_board_name)
    if any(file_key(step) in changed for file in shared for step in reached_through(file)):
        yield from boards
    else:
        yield from boards_reading(boards, lambda step: file_key(step) in changed)


def _below(path: Path) -> list[Path]:
    try:
        return boards_below(path) if path.is_dir() else []
    except OSError:  # `find_board` says what is wrong with it
        return []


def boards_below(folder: Path) -> list[Path]:
    """Return the boards of a folder and of those below it, by path; not those of backups, nor through linked folders.

    A link that leads nowhere is among them, for `find_board` to refuse: a board was meant to be there.

    Raises:
        BoardFileError: the folder cannot be read.
    """
    return _found_below(as_stored(folder), _is_board_name, _refuse)


def _found_below(
    folder: Path,
    is_meant: Callable[[str], bool],
    refuse: Callable[[OSError], object] | None = None,
    *,
    skipped: Sequence[str] = SKIPPED_FOLDERS,
) -> list[Path]:
    """Return the files whose names are meant, by path; a folder that cannot be read is passed over or refused."""
    found = []
    for root, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not any(fnmatchcase(name, one) for one in skipped)]
        found += [Path(root, name) for name in files if is_meant(name)]
    return sorted(found)


def is_board_below(inside: PurePath) -> bool:
    """Tell whether `boards_below` would return a file, by its path inside the folder."""
    skipped = any(fnmatchcase(part, one) for part in inside.parts[:-1] for one in SKIPPED_FOLDERS)
    return _is_board_name(inside.name) and not skipped


def boards_in_backups(typed: Iterable[Path]) -> list[Path]:
    """Return the boards that `boards_of` leaves out of folders because they lie in folders of backups."""
    given = list(typed)
    searched = [name for name in SKIPPED_FOLDERS if name != BACKUPS]
    known = {place_of(board) for board in boards_of(given)}
    return [
        board
        for folder in given
        for board in _found_below(folder, _is_board_name, skipped=searched)
        if place_of(board) not in known
    ]


def _refuse(error: OSError) -> NoReturn:
    raise BoardFileError(
        str(error.filename), f"cannot be read ({error.strerror})", "check its rights, or name the boards"
    ) from error


def find_board(typed: Path) -> Path:
    """Return the board meant by a board file, a project file or a folder with one board, as the disk spells it.

    Raises:
        BoardFileError: there is none, or there are several.
    """
    try:
        if typed.is_dir():
            return _board_in(typed)
        if typed.suffix == PROJECT:
            return as_stored(_board_of_project(typed))
        if not os.path.lexists(typed):
            raise BoardFileError(str(typed), "no such file", _nearest(typed))
        refuse_unplain(typed)
    except OSError as error:
        fix = FIXES.get(error.errno or 0, "check the path and its rights")
        raise BoardFileError(str(typed), f"cannot be read ({error.strerror})", fix) from error
    return as_stored(typed)


def _board_in(folder: Path) -> Path:
    """Return the only board of a folder, else the only one below it."""
    boards = _boards(folder) or boards_below(folder)
    if not boards:
        raise BoardFileError(str(folder), "holds no .kicad_pcb file", "give the board file")
    if len(boards) > 1:
        names = some((os.path.relpath(board, folder) for board in boards), MOST_NAMED)
        raise BoardFileError(str(folder), f"holds {len(boards)} boards ({names})", "give the one you mean")
    return as_stored(boards[0])


def _board_of_project(project: Path) -> Path:
    board = project.with_suffix(BOARD)
    if board.exists():
        return board
    what = "has no board of the same name next to it" if project.exists() else "no such file"
    raise BoardFileError(str(project), what, _nearest(board))


def _boards(folder: Path) -> list[Path]:
    """Boards of a folder by name, without hidden files and KiCad's autosaves."""
    return sorted(file for file in folder.iterdir() if _is_board_name(file.name) and not file.is_dir())


def _is_board_name(name: str) -> bool:
    return name.endswith(BOARD) and not name.startswith((".", "_autosave-"))


def _nearest(path: Path) -> str:
    boards = {board.stem: board.name for board in _boards(path.parent)} if path.parent.is_dir() else {}
    near = get_close_matches(path.stem, boards, n=1)  # without the suffix, which makes any two boards alike
    if near:
        return f'did you mean "{boards[near[0]]}"?'
    return f"boards there: {some(boards.values())}" if boards else "give the path of a .kicad_pcb file"
