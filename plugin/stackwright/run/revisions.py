"""A board as it was in a commit: its files, read out of git into a folder of their own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from drc_rules.settings import FILE_NAME
from drc_rules.settings.named_files import named_by_settings
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.file_names import found_among
from stackwright.run.git import GitError, git, git_does, names

OF_BOARD = (".kicad_pcb", ".kicad_pro", ".kicad_dru")
SETTINGS = ".toml"
LFS = b"version https://git-lfs"
DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]", re.IGNORECASE)
"""Names that Windows reserves (Microsoft, "Naming Files, Paths, and Namespaces")."""


def is_revision(word: str, folder: Path) -> bool:
    """Tell whether git, run in a folder, knows a commit by that name."""
    return (
        bool(word)
        and not word.startswith("-")
        and git_does("rev-parse", "--verify", "-q", f"{word}^{{commit}}", folder=folder)
    )


def has_board(revision: str, board: Path) -> bool:
    """Tell whether a commit has a board; raises `GitError` where there is no such commit."""
    folder = board.resolve().parent
    commit = _commit(revision, folder)
    inside = str(_inside(commit, board))
    return bool(git("ls-tree", "-z", "--name-only", "--full-tree", commit, "--", inside, folder=folder))


def _inside(commit: str, board: Path) -> PurePosixPath:
    """Return a board's path in its repository, spelt as the commit has it."""
    folder = board.resolve().parent
    prefix = git("rev-parse", "--show-prefix", folder=folder).decode("utf-8", "surrogateescape").rstrip("\n")
    listed = names(git("ls-tree", "-z", "--name-only", commit, "./", folder=folder))
    name = found_among(board.name, (one.rpartition("/")[2] for one in listed))
    return PurePosixPath(prefix) / (name or board.name)


@contextmanager
def board_at(revision: str, board: Path) -> Iterator[Path]:
    """Lay a board out as it was in a commit: with project, rules, settings next to and above it, and what these name.

    Args:
        revision: anything that git takes for a commit.
        board: the board's path; the file need not be there any more, its folder does.

    Raises:
        GitError: this is no git repository, there is no such commit, or the board is not in it.
        StackwrightError: what is done with the board failed; files of the commit are told as `revision:path`.
    """
    folder = board.resolve().parent
    commit = _commit(revision, folder)
    inside = _inside(commit, board)
    with tempfile.TemporaryDirectory(prefix="stackwright-") as temporary:
        target = Path(temporary).resolve()
        for name in _files(commit, inside, folder):
            _lay_out(commit, name, folder, target)
        laid = target / inside
        if not laid.exists():
            raise GitError(f"{revision}:{inside}", "is not in that commit", "name the board as that commit has it")
        _lay_out_named(commit, laid.with_name(FILE_NAME), folder, target)
        try:
            yield laid
        except StackwrightError as error:
            if str(target) not in error.where + error.what:
                raise
            where, what = (_as_in_commit(words, target, revision) for words in (error.where, error.what))
            raise type(error)(where, what, error.next_step) from error


def _lay_out_named(commit: str, settings: Path, folder: Path, target: Path) -> None:
    """Lay out the files that settings name and that the commit has; each is there before it is read for more names."""
    for file in named_by_settings(settings):
        if not file.real.is_relative_to(target) or file.real.exists():
            continue  # outside of the repository, or a settings file above the board
        inside = file.real.relative_to(target)
        name = inside.as_posix()
        if name.startswith(":") or any(is_device(part) for part in inside.parts):
            continue  # git would take the one, and Windows the other for something else
        listed = names(git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", name, folder=folder))
        if name in listed:
            _lay_out(commit, name, folder, target)


def _as_in_commit(words: str, target: Path, revision: str) -> str:
    """Return an error's words with `revision:path` in place of paths of the folder in which a commit is laid out."""
    path = re.compile(re.escape(f"{target}{os.sep}") + r"([^,:\"\n]*)")
    return path.sub(lambda found: f"{revision}:{Path(os.path.normpath(found[1])).as_posix()}", words)


def _commit(revision: str, folder: Path) -> str:
    if not is_revision(revision, folder):
        known = git_does("rev-parse", "--git-dir", folder=folder)
        what = "is no commit that git knows here" if known else f"cannot be looked up: {folder} is in no git repository"
        raise GitError(
            revision, what, "name a commit, tag or branch of the board's repository (a shallow clone has few)"
        )
    return git("rev-parse", "--verify", f"{revision}^{{commit}}", folder=folder).decode("ascii").strip()


def _files(commit: str, board: PurePosixPath, folder: Path) -> Iterator[str]:
    """Yield the board's own files, and every settings file in its folder and those above."""
    top = git("rev-parse", "--show-toplevel", folder=folder).decode("utf-8", "surrogateescape").rstrip("\n")
    wanted = {str(board.with_suffix(suffix)) for suffix in OF_BOARD}
    for parent in board.parents:
        listed = git("ls-tree", "-z", "--name-only", commit, f"{parent}/" if parent.name else "./", folder=Path(top))
        for name in names(listed):
            if name in wanted or (name.endswith(SETTINGS) and not is_device(PurePosixPath(name).name)):
                yield name


def is_device(name: str) -> bool:
    """Tell whether Windows takes a file name for a device such as `NUL`, whatever folder it is in."""
    return DEVICE.fullmatch(name.partition(".")[0].rstrip()) is not None


def _lay_out(commit: str, name: str, folder: Path, target: Path) -> None:
    """Write one file of a commit; a link of a commit is written as what it says, never followed."""
    data = _blob(commit, name, folder)
    if data.startswith(LFS):
        raise GitError(f"{commit[:12]}:{name}", "is kept in Git LFS, which is not read", "compare two files instead")
    path = target / name
    if not path.resolve().is_relative_to(target.resolve()):
        raise GitError(f"{commit[:12]}:{name}", "leads out of the repository", "do not check what you do not trust")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _blob(commit: str, name: str, folder: Path) -> bytes:
    try:
        return git("cat-file", "blob", f"{commit}:{name}", folder=folder)
    except GitError as error:
        what = "cannot be read: this clone has the name, not the content"
        step = "nothing is fetched here; run `git fetch --refetch --no-filter` if you trust the repository's settings"
        raise GitError(f"{commit[:12]}:{name}", what, step) from error
