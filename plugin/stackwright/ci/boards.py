"""Which boards of a git repository to check, and which of them a push or merge request touches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

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


def touched(boards: Iterable[str], base: str, shared: Iterable[str] = ()) -> list[str]:
    """Return the boards that differ from a commit: their own files, their project, rules and settings.

    Args:
        boards: paths relative to the current folder.
        base: a commit that git has.
        shared: files that decide over every board, such as settings for all; when one differs, every board counts.
    """
    changed = set(
        names(
            git(
                "diff",
                "--no-ext-diff",
                "--no-textconv",
                "--name-only",
                "--no-renames",
                "--relative",
                "-z",
                base,
                "HEAD",
                "--",
            )
        )
    )
    given = list(boards)
    if changed & {PurePosixPath(path).as_posix() for path in shared}:
        return given
    return [board for board in given if _is_touched(PurePosixPath(board), changed)]


def base_of(environment: Mapping[str, str]) -> str | None:
    """Return the commit that a GitHub or GitLab job compares with; None where the event has none."""
    candidates: list[object] = [environment.get("STACKWRIGHT_BASE", "")]
    if environment.get("GITHUB_EVENT_PATH"):
        event = _event(Path(environment["GITHUB_EVENT_PATH"]))
        request = event.get("pull_request")
        base = request.get("base") if isinstance(request, dict) else None
        candidates += [base.get("sha") if isinstance(base, dict) else None, event.get("before")]
    candidates += [environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"), environment.get("CI_COMMIT_BEFORE_SHA")]
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


def _is_touched(board: PurePosixPath, changed: Iterable[str]) -> bool:
    """A board's own files, or settings (a profile of the user's own may lie in a folder above)."""
    own = {str(board.with_suffix(suffix)) for suffix in OF_BOARD}
    return any(
        name in own or (name.endswith(".toml") and PurePosixPath(name).parent in board.parents) for name in changed
    )


def _event(path: Path) -> dict[str, object]:
    try:
        event = json.loads(read_plain_text(path))
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}
