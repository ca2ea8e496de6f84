"""Git as we use it: questions, and files of a commit. Nothing is ever written to a repository, nothing is fetched.

The settings of a repository (`.git/config`) may come with boards of another author: none of the programs that they name
is run, and no object that a partial clone lacks is fetched. `fetch_commit` is the one exception, for jobs that ask.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackup_lib.core.errors import StackwrightError
from stackwright.run.programs import program


class GitError(StackwrightError):
    """Git does not answer, or not what was hoped for."""


STEP = "correct what git says, or check the repository out before this step"
"""Git refuses a repository of another user, a path outside of it, and where there is none."""

NO_PROGRAMS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "safe.bareRepository=explicit",
)
"""A repository, and one inside the one that is checked, must not name programs for git to run."""

NO_NETWORK = (
    "-c",
    "protocol.allow=never",
    "-c",
    "core.sshCommand=",
    "-c",
    "core.gitProxy=",
    "-c",
    "credential.helper=",
)

OFFLINE = {
    "GIT_NO_LAZY_FETCH": "1",  # git 2.45, and 2.39.4
    "GIT_ALLOW_PROTOCOL": "none",  # outweighs `protocol.ssh.allow=always` of a repository, which outweighs NO_NETWORK
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}


def git(*arguments: str, folder: Path | None = None, given: bytes = b"") -> bytes:
    """Return what git prints, without any program of the repository's settings and without the network.

    Args:
        arguments: the question.
        folder: where git runs.
        given: its standard input.

    Raises:
        GitError: there is no git, or it refuses.
    """
    return _asked((*NO_PROGRAMS, *NO_NETWORK), arguments, OFFLINE, folder, given)


def fetch_commit(commit: str) -> bool:
    """Fetch one commit from `origin`, by the remote's settings and credentials of this clone; tell whether it came.

    Only for a job that requests it: the clone's settings name the address and may name a program (`core.sshCommand`).
    """
    words = ("fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit)
    try:
        _asked(NO_PROGRAMS, words, {"GIT_TERMINAL_PROMPT": "0"}, None)
    except GitError:
        return False
    return True


def _asked(
    options: Sequence[str],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None,
    given: bytes = b"",
) -> bytes:
    path = program("git")
    if path is None:
        raise GitError("git", "is not to be found on the PATH", "install git")
    try:
        return subprocess.run(  # noqa: S603 - git of the machine
            [path, *options, *arguments],
            check=True,
            capture_output=True,
            cwd=folder,
            env={**os.environ, **environment},
            input=given,
        ).stdout
    except OSError as error:
        raise GitError("git", f"cannot be run ({error.strerror})", "install git") from error
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())
        raise GitError(f"git {arguments[0]}", said or "failed", STEP) from error


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
