"""From what the user typed to the board file, with messages that repeat what was typed."""

from __future__ import annotations

import sys
from pathlib import Path

from stackup_lib.core.errors import BoardFileError, did_you_mean
from stackup_lib.core.files.file_names import as_stored, composed
from stackup_lib.core.files.plain_file import refuse_unplain

BOARD = ".kicad_pcb"
PROJECT = ".kicad_pro"


def relative_to_run(path: str) -> tuple[str, bool]:
    """Return a path with slashes, relative to the folder of the run, and whether it lies inside; else absolute.

    An absolute path has no slash in front: it is for names, not for opening files.
    """
    real = Path(path).resolve()
    try:
        return as_git_has_it(real.relative_to(Path.cwd().resolve()).as_posix()), True
    except ValueError:
        return as_git_has_it(real.as_posix().lstrip("/")), False


def as_git_has_it(name: str, platform: str = sys.platform) -> str:
    """Return a path as Git keeps it: on macOS it composes the letters that the disk may hold apart."""
    return composed(name) if platform == "darwin" else name


def find_board(typed: Path) -> Path:
    """Return the board meant by a board file, a project file or a folder with one board, as the disk spells it.

    Raises:
        BoardFileError: there is none, or there are several.
    """
    try:
        if typed.is_dir():
            return as_stored(_board_in(typed))
        if typed.suffix == PROJECT:
            return as_stored(_board_of_project(typed))
        if not typed.exists():
            raise BoardFileError(str(typed), "no such file", _nearest(typed))
        refuse_unplain(typed)
    except OSError as error:
        raise BoardFileError(
            str(typed), f"cannot be read ({error.strerror})", "check the path and its rights"
        ) from error
    return as_stored(typed)


def _board_in(folder: Path) -> Path:
    boards = _boards(folder)
    if not boards:
        raise BoardFileError(str(folder), "holds no .kicad_pcb file", "give the board file")
    if len(boards) > 1:
        names = ", ".join(board.name for board in boards)
        raise BoardFileError(str(folder), f"holds {len(boards)} boards ({names})", "give the one you mean")
    return boards[0]


def _board_of_project(project: Path) -> Path:
    board = project.with_suffix(BOARD)
    if board.exists():
        return board
    what = "has no board of the same name beside it" if project.exists() else "no such file"
    raise BoardFileError(str(project), what, _nearest(board))


def _boards(folder: Path) -> list[Path]:
    """Boards of a folder by name, without hidden files and KiCad's autosaves."""
    files = folder.glob(f"*{BOARD}")
    return sorted(f for f in files if f.is_file() and not f.name.startswith((".", "_autosave-")))


def _nearest(path: Path) -> str:
    boards = [board.name for board in _boards(path.parent)] if path.parent.is_dir() else []
    return did_you_mean(path.name, boards) if boards else "give the path of a .kicad_pcb file"
