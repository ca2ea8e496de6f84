"""Which boards of a git repository to check, and which of them a push or merge request touches."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from stackup_lib.core.errors import ConfigError
from stackup_lib.core.files.plain_file import read_plain_text
from stackwright.run.git import GitError, fetch_commit, git, git_does, names
from stackwright.run.read_files import boards_reading, file_key, reached_through
from stackwright.text.words import count, some

BOARD = ".kicad_pcb"
LEAVES_OUT = re.compile(r":[!^]|:\([^)]*exclude")
"""How a pattern of git begins that leaves files out."""
SUBMODULE = "160000 "
"""How git's list of files begins the line of a submodule."""
COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def tracked_boards(patterns: Sequence[str]) -> list[str]:
    """Return the tracked boards under the patterns (files, folders, git's wildcards), sorted; without patterns, all.

    Boards of submodules are among them. Patterns that begin with `:!` leave out what they match.

    Raises:
        GitError: this is no git repository, a pattern matches no board, or the checkout lacks boards.
    """
    wanted, without = _parted(patterns)
    found: set[str] = set()
    for pattern in wanted or (".",):
        files = names(git("ls-files", "-z", "--recurse-submodules", "--", pattern, *without))
        boards = {name for name in files if _is_board_name(name)}
        if not boards and wanted:
            raise GitError(pattern, "matches no .kicad_pcb file that git knows", "correct the boards of the job")
        found |= boards
    if missing := sorted(board for board in found if not Path(board).is_file()):
        what = f"not in this checkout, or links that lead nowhere: {some(missing)}"
        raise GitError(count(len(missing), "tracked board"), what, "check them out, or choose the boards of the job")
    return sorted(found)


def missing_submodules(patterns: Sequence[str]) -> list[str]:
    """Return the submodules under the patterns that are not checked out: whether they have boards is not known."""
    wanted, without = _parted(patterns)
    entries = names(git("ls-files", "-z", "--stage", "--", *(wanted or (".",)), *without))
    submodules = sorted(entry.partition("\t")[2] for entry in entries if entry.startswith(SUBMODULE))
    return [name for name in submodules if not (Path(name) / ".git").exists()]


def _parted(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """What the patterns choose, and what they leave out."""
    without = [pattern for pattern in patterns if LEAVES_OUT.match(pattern)]
    return [pattern for pattern in patterns if pattern not in without], without


def touched(boards: Iterable[str], base: str, shared: Iterable[Path] = ()) -> list[str]:
    """Return the boards that differ from a commit: own files, project, rules, settings, and what the settings name.

    A link on the way to one of these counts as well as the file.

    Args:
        boards: paths relative to the current folder.
        base: a commit that git has.
        shared: files that decide over every board, such as settings for all; when one differs, every board counts.
    """
    top = Path(git("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")).resolve()
    words = ("diff-tree", "-r", "--name-only", "--no-renames", "--ignore-submodules=none", "-z")
    changed = {file_key(top / name) for name in names(git(*words, base, "HEAD", "--"))}
    given, here = list(boards), Path.cwd().resolve()
    if any(_has_changed(step, changed) for path in shared for step in reached_through(here / path)):
        return given
    reading = set(boards_reading((here / board for board in given), lambda step: _has_changed(step, changed)))
    folders = {name.rpartition("/")[0] for name in changed if name.endswith(".toml")}
    return [
        board
        for board in given
        if here / board in reading or any(file_key(parent) in folders for parent in (here / board).parents)
    ]


def base_of(environment: Mapping[str, str], *, of_push: bool = True) -> str | None:
    """Return the commit that a GitHub or GitLab job compares with; None where the event has none.

    `of_push`: of a push the commit before it, as well as the base of a pull or merge request.

    Raises:
        ConfigError: the commit that the job states is a name, or a part of an id, which a shallow clone cannot look up.
    """
    stated = environment.get("STACKWRIGHT_BASE", "").strip()
    if stated and not COMMIT.fullmatch(stated):
        step = f"give all 40 digits, as `git rev-parse {shlex.quote(stated)}` prints them"
        raise ConfigError("base", f'"{stated}" is no full id of a commit', step)
    candidates: list[object] = [stated]
    if environment.get("GITHUB_EVENT_PATH"):
        event = _event(Path(environment["GITHUB_EVENT_PATH"]))
        request = event.get("pull_request")
        base = request.get("base") if isinstance(request, dict) else None
        candidates += [base.get("sha") if isinstance(base, dict) else None, event.get("before") if of_push else None]
    candidates += [environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")]
    candidates += [environment.get("CI_COMMIT_BEFORE_SHA") if of_push else None]
    commits = [c for c in candidates if isinstance(c, str) and COMMIT.fullmatch(c) and c.strip("0")]
    return commits[0] if commits else None


def have(commit: str, *, fetch: bool = False) -> bool:
    """Tell whether git has a commit; with `fetch` it is fetched into a shallow clone, where that works."""
    question = ("cat-file", "-e", f"{commit}^{{commit}}")
    return git_does(*question) or (fetch and fetch_commit(commit) and git_does(*question))


def _is_board_name(name: str) -> bool:
    return name.endswith(BOARD) and not PurePosixPath(name).name.startswith((".", "_autosave-"))


def _has_changed(file: Path, changed: set[str]) -> bool:
    """Tell whether a file differs, or a submodule that it is in."""
    return any(file_key(one) in changed for one in (file, *file.parents))


def _event(path: Path) -> dict[str, object]:
    try:
        event = json.loads(read_plain_text(path))
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}
