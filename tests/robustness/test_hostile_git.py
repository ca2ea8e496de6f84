"""Repositories whose settings name programs and addresses: nothing of them is run, nothing is fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from stackwright.__main__ import guarded
from stackwright.ci import job
from stackwright.cli.app import run
from stackwright.run.git import fetch_commit
from tests.support.boards import board_file
from tests.support.git import git

FIT, CARD = "default_stackup", "hw/card.kicad_pcb"
pytestmark = pytest.mark.skipif(shutil.which("git") is None or os.name != "posix", reason="no git, or no shell")

ADDRESSES = {
    "ssh": "ssh://nowhere.invalid/boards.git",
    "a helper": "ext::{command} helper",
    "a program at the far end": "{origin}",
    "git": "git://nowhere.invalid/boards.git",
    "https": "https://127.0.0.1:9/boards.git",
}
"""Where the lacking objects are said to be; each would run a program of the settings, or use the network."""


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Three commits of one board: the clone has the content of the last one only."""
    folder = tmp_path / "origin"
    (folder / "hw").mkdir(parents=True)
    text = (board_file(FIT)).read_text(encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    for n in range(3):
        (folder / CARD).write_text(text + "\n" * n, encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"{n}")
    return folder


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    folder = tmp_path / "ran"
    folder.mkdir()
    return folder


@pytest.fixture
def hostile(origin: Path, ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A partial clone whose settings name a program wherever git knows a place for one."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{origin}", str(clone))
    command = tmp_path / "command"
    command.write_text(f'#!/bin/sh\ntouch "{ran}/$1-$(date +%N)"\n', encoding="utf-8")
    command.chmod(0o755)
    named = {
        "core.fsmonitor": "fsmonitor",
        "core.sshCommand": "ssh",
        "core.gitProxy": "proxy",
        "core.pager": "pager",
        "pager.diff": "pager",
        "pager.ls-tree": "pager",
        "core.askPass": "askpass",
        "credential.helper": "credential",
        "diff.external": "external",
        "diff.board.command": "diff",
        "diff.board.textconv": "textconv",
        "filter.board.clean": "clean",
        "filter.board.smudge": "smudge",
        "filter.board.process": "process",
        "core.alternateRefsCommand": "alternates",
        "remote.origin.uploadpack": "uploadpack",
        "uploadpack.packObjectsHook": "pack",
        "gpg.program": "gpg",
    }
    for key, name in named.items():
        git(clone, "config", key, f"{command} {name}")
    for protocol in ("ssh", "ext", "file", "git", "https"):
        git(clone, "config", f"protocol.{protocol}.allow", "always")
    git(clone, "config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    for hook in ("reference-transaction", "post-index-change", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        (tmp_path / "hooks" / hook).write_text(f'#!/bin/sh\ntouch "{ran}/{hook}"\n', encoding="utf-8")
        (tmp_path / "hooks" / hook).chmod(0o755)
    (clone / ".gitattributes").write_text("*.kicad_pcb diff=board filter=board\n", encoding="utf-8")
    git_config = (clone / ".git" / "config").read_text(encoding="utf-8")
    assert "promisor = true" in git_config
    for path in ran.iterdir():  # making the trap set some of it off
        path.unlink()
    monkeypatch.chdir(clone)
    return clone


def aim(clone: Path, origin: Path, address: str) -> None:
    place = ADDRESSES[address].format(command=clone.parent / "command", origin=f"file://{origin}")
    subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "config", "remote.origin.url", place],
        cwd=clone,
        check=True,
    )


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_runs_a_program_of_the_repository_or_completes_a_partial_clone(
    hostile: Path, origin: Path, ran: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The earlier board's content is lacking: that is said in one line, with what the user can do."""
    aim(hostile, origin, address)
    for words in (
        ["check", CARD, "--against", "HEAD~1"],
        ["diff", "HEAD~2", "HEAD~1", CARD],
        ["diff", "HEAD~1", CARD],
    ):
        assert guarded(partial(run, words)) == 2
        said = capsys.readouterr().err
        assert "this clone has the name, not the content" in said
        assert "git fetch --refetch --no-filter" in said
    assert [path.name for path in ran.iterdir()] == []


@pytest.mark.parametrize("address", ["ssh", "a program at the far end"])
def test_the_job_runs_no_program_of_the_repository(
    hostile: Path, origin: Path, ran: Path, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Boards are listed and compared by git's own trees; a base that is lacking is fetched on demand only."""
    base = git(origin, "rev-parse", "HEAD~1")
    aim(hostile, origin, address)
    settings = {"STACKWRIGHT_CHANGED_ONLY": "true", "STACKWRIGHT_BASE": base}
    assert list(job.choose(settings, job._request(settings)).boards) == [CARD]
    absent = {**settings, "STACKWRIGHT_BASE": "f" * 40}
    assert "is not in this clone" in job.choose(absent, job._request(absent)).why
    against = {**settings, "STACKWRIGHT_AGAINST_BASE": "true"}
    assert job.run_job(against) == 2
    assert "this clone has the name, not the content" in capfd.readouterr().err
    assert [path.name for path in ran.iterdir()] == []


def test_the_trap_works(hostile: Path, origin: Path, ran: Path) -> None:
    """Fetching on purpose does what the settings say: it is for clones of the runner's own."""
    aim(hostile, origin, "ssh")
    assert not fetch_commit("f" * 40)
    assert any(path.name.startswith("ssh") for path in ran.iterdir())
