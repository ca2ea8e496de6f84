"""Which boards of a git repository to check, and which of them a push or merge request touches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from drc_rules.settings import FILE_NAME
from drc_rules.settings.named_files import named_by_settings
from stackup_lib.core.files.file_names import composed
from stackup_lib.core.files.plain_file import read_plain_text
from stackwright.run.git import GitError, fetch_commit, git, git_does, names

BOARD = ".kicad_pcb"
OF_BOARD = (BOARD, ".kicad_pro", ".kicad_dru")
COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def tracked_boards(patterns: Sequence[str]) -> list[str]:
    """Return the tracked boards under the patterns (files, folders, git's wildcards), sorted; without patterns, all.

    Raises:
        GitError: this is no git repository, or a pattern matches no board.
    """
    found: set[str] = set()
    for pattern in patterns or (".",):
        boards = {name for name in names(git("ls-files", "-z", "--", pattern)) if _is_board(name)}
        if not boards and patterns:
            raise GitError(pattern, "matches no .kicad_pcb file that git knows", "correct the boards of the job")
        found |= boards
    return sorted(found)


def touched(boards: Iterable[str], base: str, shared: Iterable[Path] = ()) -> list[str]:
    """Return the boards that differ from a commit: own files, project, rules, settings, and what the settings name.

    Args:
        boards: paths relative to the current folder.
        base: a commit that git has.
        shared: files that decide over every board, such as settings for all; when one differs, every board counts.
    """
    top = Path(git("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")).resolve()
    differing = names(git("diff-tree", "-r", "--name-only", "--no-renames", "-z", base, "HEAD", "--"))
    changed = {_key(top / name) for name in differing}
    given, here = list(boards), Path.cwd().resolve()
    if any(_has_changed(here / path, changed) for path in shared):
        return given
    named: dict[Path, bool] = {}  # whether a file that the settings of a folder name has changed
    found = []
    for board in given:
        path = here / board
        settings = path.with_name(FILE_NAME)
        if settings not in named:
            named[settings] = _has_changed(settings.resolve(), changed) or any(
                _has_changed(one, changed) for file in named_by_settings(settings) for one in (file.place, file.real)
            )
        if named[settings] or _is_touched(path, changed):
            found.append(board)
    return found


def base_of(environment: Mapping[str, str], *, of_push: bool = True) -> str | None:
    """Return the commit that a GitHub or GitLab job compares with; None where the event has none.

    `of_push`: of a push the commit before it, as well as the base of a pull or merge request.
    """
    candidates: list[object] = [environment.get("STACKWRIGHT_BASE", "")]
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


def _is_board(name: str) -> bool:
    return (
        name.endswith(BOARD) and not PurePosixPath(name).name.startswith((".", "_autosave-")) and Path(name).is_file()
    )


def _is_touched(board: Path, changed: set[str]) -> bool:
    """A board's own files, or a `.toml` in its folder or above."""
    parents = {_key(parent) for parent in board.parents}
    return any(_key(board.with_suffix(suffix)) in changed for suffix in OF_BOARD) or any(
        name.endswith(".toml") and name.rpartition("/")[0] in parents for name in changed
    )


def _has_changed(file: Path, changed: set[str]) -> bool:
    """Tell whether a file differs, or a link or a repository in the repository through which it is reached."""
    return any(_key(one) in changed for one in (file, *file.parents))


def _key(path: Path) -> str:
    """Return what two spellings of a file have in common: settings may name it in other case than git."""
    return composed(path.as_posix()).casefold()


def _event(path: Path) -> dict[str, object]:
    try:
        event = json.loads(read_plain_text(path))
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}
