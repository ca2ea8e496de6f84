"""Files of public repositories, out of a git mirror or from the network."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
from pathlib import Path, PurePosixPath

from stackup_lib.core.errors import StackwrightError


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Let a command line say where boards are kept, and whether they come from mirrors in place of the network."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--cache", type=Path, default=home / "stackwright-corpus", metavar="FOLDER")
    parser.add_argument("--mirrors", type=Path, metavar="FOLDER", help="git repositories in place of the network")


def git(folder: Path, *arguments: str) -> bytes:
    """Run git on a repository's git directory and return what it prints."""
    done = subprocess.run(["git", f"--git-dir={folder}", *arguments], capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise StackwrightError(str(folder), said[-1], "look whether the repository and the commit are still public")
    return done.stdout


def mirror_of(mirrors: Path, repository: str) -> Path:
    """Return the git directory of OWNER/NAME below a folder of mirrors."""
    owner, name = repository.split("/")
    for base in (mirrors / f"{owner}+{name}", mirrors / owner / name):
        for folder in (base / "repo" / ".git", base / "repo", base / ".git", base, base.with_name(f"{base.name}.git")):
            if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
                return folder
    raise StackwrightError(str(mirrors), f"no mirror of {repository}", f"expected {owner}+{name} or {owner}/{name}")


def repository_with(repository: str, commit: str, cache: Path, mirrors: Path | None) -> Path:
    """Return a git directory that holds a commit; without mirrors it is fetched, files as they are read.

    Raises:
        StackwrightError: it cannot be had.
    """
    if mirrors is not None:
        return mirror_of(mirrors, repository)
    folder = cache / "git" / f"{repository.replace('/', '+')}.git"
    if not (folder / "HEAD").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "--quiet", "--bare")
        git(folder, "remote", "add", "origin", f"https://github.com/{repository}.git")
        git(folder, "config", "remote.origin.promisor", "true")
        git(folder, "config", "remote.origin.partialclonefilter", "blob:none")
    if not git(folder, "rev-list", "--all", "--ignore-missing", "--max-count=1", commit):
        git(folder, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit)
    return folder


def names_in(folder: Path, commit: str, below: PurePosixPath) -> set[str]:
    """Return the names of the files in a folder of a commit."""
    where = [] if str(below) == "." else [f"{below}/"]
    listed = git(folder, "ls-tree", "-z", "--name-only", commit, *where).decode(errors="replace")
    return {PurePosixPath(name).name for name in listed.split("\0") if name}


def sha256_of(data: bytes) -> str:
    """Return the hash in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
