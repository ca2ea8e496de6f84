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
from stackup_lib.core.files.plain_file import LFS
from stackwright.run.git import GitError, git, git_does, names
from stackwright.run.paths import relative_to_run
from stackwright.run.read_files import OF_BOARD

SETTINGS = ".toml"
LINK = "120000 "
"""How git's list of a tree begins the line of a link."""
BLOB = re.compile(rb"([0-9a-f]+) blob [0-9]+\n")
DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]", re.IGNORECASE)
"""Names that Windows reserves (Microsoft, "Naming Files, Paths, and Namespaces")."""


def is_revision(word: str, folder: Path) -> bool:
    """Tell whether git, run in a folder, knows a commit by that name."""
    return (
        bool(word)
        and not word.startswith("-")
        and git_does("rev-parse", "--verify", "-q", f"{word}^{{commit}}", folder=folder)
    )


def refusal(folder: Path) -> str:
    """Return why git answers nothing about a folder, in its own words; "" where it answers."""
    try:
        git("rev-parse", "--git-dir", folder=folder)
    except GitError as error:
        return error.what
    return ""


def has_board(revision: str, board: Path) -> bool:
    """Tell whether a commit has a board; raises `GitError` where there is no such commit."""
    folder = board.parent.resolve()
    commit = _commit(revision, folder)
    inside = str(_inside(commit, board))
    return bool(git("ls-tree", "-z", "--name-only", "--full-tree", commit, "--", inside, folder=folder))


def files_below(revision: str, folder: Path) -> list[PurePosixPath]:
    """Return the files that a commit has in a folder and below it, relative to that folder."""
    commit = _commit(revision, folder.resolve())
    return [PurePosixPath(name) for name in _listed("-r", commit, "./", folder=folder.resolve())]


def _inside(commit: str, board: Path) -> PurePosixPath:
    """Return a board's path in its repository, spelt as the commit has it."""
    folder = board.parent.resolve()
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
    folder = board.parent.resolve()
    commit = _commit(revision, folder)
    inside = _inside(commit, board)
    with tempfile.TemporaryDirectory(prefix="stackwright-") as temporary:
        target = Path(temporary).resolve()
        for name, is_link in _files(commit, inside, folder):
            _lay_out(commit, name, folder, target, is_link=is_link)
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
        listed = _listed("-r", "--full-tree", commit, "--", name, folder=folder)
        if name not in listed:
            continue
        if listed[name] and name.endswith(SETTINGS):  # what it extends is meant from where it leads
            step = "name the profile itself in the settings"
            raise GitError(f"{commit[:12]}:{name}", "is a link to a profile, which is not followed in a commit", step)
        _lay_out(commit, name, folder, target, is_link=listed[name])


def _as_in_commit(words: str, target: Path, revision: str) -> str:
    """Return an error's words with `revision:path` in place of paths of the folder in which a commit is laid out."""
    path = re.compile(re.escape(f"{target}{os.sep}") + r"([^,:\"\n]*)")
    return path.sub(lambda found: f"{revision}:{Path(os.path.normpath(found[1])).as_posix()}", words)


def _commit(revision: str, folder: Path) -> str:
    if not is_revision(revision, folder):
        if why := refusal(folder):
            raise GitError(revision, f"cannot be looked up in {folder} ({why})", "do as git says, or compare two files")
        step = "name a commit, tag or branch of the board's repository (a shallow clone has few)"
        inside, is_inside = relative_to_run(str(folder))
        raise GitError(revision, f"is no commit that git knows in {inside if is_inside else folder}", step)
    return git("rev-parse", "--verify", f"{revision}^{{commit}}", folder=folder).decode("ascii").strip()


def _files(commit: str, board: PurePosixPath, folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the board's own files and settings, and every settings file in its folder and those above that is no link.

    Each comes with whether it is a link.
    """
    top = git("rev-parse", "--show-toplevel", folder=folder).decode("utf-8", "surrogateescape").rstrip("\n")
    own = {*(str(board.with_suffix(suffix)) for suffix in OF_BOARD), str(board.with_name(FILE_NAME))}
    for parent in board.parents:
        listed = _listed(commit, f"{parent}/" if parent.name else "./", folder=Path(top))
        for name, is_link in listed.items():
            is_settings = name.endswith(SETTINGS) and not is_link and not is_device(PurePosixPath(name).name)
            if name in own or is_settings:
                yield name, is_link


def _listed(*words: str, folder: Path) -> dict[str, bool]:
    """Return the names that `git ls-tree` lists, with whether each is a link."""
    entries = (entry.partition("\t") for entry in names(git("ls-tree", "-z", *words, folder=folder)))
    return {name: about.startswith(LINK) for about, _, name in entries}


def is_device(name: str) -> bool:
    """Tell whether Windows takes a file name for a device such as `NUL`, whatever folder it is in."""
    return DEVICE.fullmatch(name.partition(".")[0].rstrip()) is not None


def _lay_out(commit: str, name: str, folder: Path, target: Path, *, is_link: bool) -> None:
    """Write one file of a commit; in place of a link, the file of that commit to which it leads."""
    data = _blob(commit, name, _leads_to(commit, name, folder) if is_link else f"{commit}:{name}", folder)
    if data.startswith(LFS):
        raise GitError(f"{commit[:12]}:{name}", "is kept in Git LFS, which is not read", "compare two files instead")
    path = target / name
    if not path.resolve().is_relative_to(target.resolve()):
        raise GitError(f"{commit[:12]}:{name}", "leads out of the repository", "do not check what you do not trust")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _leads_to(commit: str, name: str, folder: Path) -> str:
    """Return git's id of the file to which a link leads within its commit."""
    question = f"{commit}:{name}\n".encode("utf-8", "surrogateescape")
    found = BLOB.fullmatch(git("cat-file", "--batch-check", "--follow-symlinks", folder=folder, given=question))
    if found is None or "\n" in name:
        what = "is a link that leads to no file of that commit"
        raise GitError(f"{commit[:12]}:{name}", what, "compare with a commit that has the file, or two files")
    return found[1].decode("ascii")


def _blob(commit: str, name: str, what: str, folder: Path) -> bytes:
    try:
        return git("cat-file", "blob", what, folder=folder)
    except GitError as error:
        said = "cannot be read: this clone has the name, not the content"
        step = "nothing is fetched here; run `git fetch --refetch --no-filter` if you trust the repository's settings"
        raise GitError(f"{commit[:12]}:{name}", said, step) from error
