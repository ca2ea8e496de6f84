"""Git as we use it: questions, and files of a commit. Nothing is ever written to a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

from stackup_lib.errors import StackwrightError
from stackwright.programs import program


class GitError(StackwrightError):
    """Git does not answer, or not what was hoped for."""


SAFE = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit")
"""A repository inside the one that is checked must not name programs for git to run."""


def git(*arguments: str, folder: Path | None = None) -> bytes:
    """Return what git prints; `folder` is where it runs.

    Raises:
        GitError: there is no git, or it refuses.
    """
    path = program("git")
    if path is None:
        raise GitError("git", "is not to be found on the PATH", "install git")
    try:
        return subprocess.run([path, *SAFE, *arguments], check=True, capture_output=True, cwd=folder).stdout  # noqa: S603 - git of the machine
    except OSError as error:
        raise GitError("git", f"cannot be run ({error.strerror})", "install git") from error
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())
        raise GitError(f"git {arguments[0]}", said or "failed", "check the repository out before this step") from error


def git_does(*arguments: str, folder: Path | None = None) -> bool:
    """Tell whether git does it."""
    try:
        git(*arguments, folder=folder)
    except GitError:
        return False
    return True


def names(output: bytes) -> list[str]:
    """Return the paths of an answer to a question with `-z`."""
    return [part.decode("utf-8", "surrogateescape") for part in output.split(b"\0") if part]
