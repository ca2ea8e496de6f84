"""Workers of a check end with it: a check that is ended, or killed, leaves nothing running."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackwright.kicad import jobs
from tests.support.boards import board_file

ROOT = Path(__file__).parents[4]
CARD = board_file("default_stackup")
SHOWN_AFTER_S = 60
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

POOL = """
import multiprocessing, os, sys, time
from stackwright.run.processes import shared_out

def work(seconds):
    os.write(1, b"works\\n")
    time.sleep(seconds)

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    list(shared_out(work, [900.0, 900.0], 2))
"""

COPIES = """
import os, time
from stackup_lib.core import background_process
from stackup_lib.core.background_process import BackgroundTask, sharing_cores

def work():
    os.write(1, b"works\\n")
    time.sleep(900)

background_process.cores = lambda: 2
with sharing_cores():
    copies = [BackgroundTask(work), BackgroundTask(work)]
    assert all(one.is_running for one in copies)
    copies[0].result()
"""


def started(*command: str, words: int) -> subprocess.Popen[bytes]:
    """Start a Python program; return it when as many of its processes as `words` have said that they work."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "plugin")))
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}, cwd=ROOT
    )
    assert process.stdout
    for _ in range(words):
        assert process.stdout.readline() == b"works\n"
    return process


def assert_all_gone(process: subprocess.Popen[bytes]) -> None:
    """The pipe's end comes when the last process that holds it has ended: parent, workers and their helpers."""
    assert process.stdout
    until = time.monotonic() + SHOWN_AFTER_S
    while time.monotonic() < until:
        if select.select([process.stdout], [], [], 1)[0] and not os.read(process.stdout.fileno(), 4096):
            process.wait(SHOWN_AFTER_S)
            process.stdout.close()
            return
    pytest.fail("something is left running")


@pytest.mark.slow
@posix
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_end_with_their_parent(tmp_path: Path, method: str, how: signal.Signals) -> None:
    """However they were started: Linux forks, macOS spawns, newer Pythons have a server for it."""
    program = tmp_path / "pool.py"
    program.write_text(POOL, encoding="utf-8")
    process = started(str(program), method, words=2)
    process.send_signal(how)
    assert_all_gone(process)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux copies processes")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_copies_of_a_process_end_with_it(how: signal.Signals) -> None:
    """What works out the rules of a large board on the second core."""
    process = started("-c", COPIES, words=2)
    process.send_signal(how)
    assert_all_gone(process)


@pytest.mark.slow
@posix
def test_a_check_of_many_boards_that_is_ended_leaves_nothing_running(tmp_path: Path) -> None:
    """12 boards, two at a time, and SIGTERM in the middle of it."""
    boards = []
    for number in range(12):
        boards.append(tmp_path / f"{number}.kicad_pcb")
        shutil.copyfile(CARD, boards[-1])
    process = started("-m", "stackwright", "check", *map(str, boards), "--jobs", "2", words=0)
    assert process.stdout
    assert select.select([process.stdout], [], [], SHOWN_AFTER_S)[0]  # the first board's report
    process.terminate()
    assert_all_gone(process)
    assert process.returncode == -signal.SIGTERM


@posix
def test_the_worker_behind_kicads_page_ends_with_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is killed, so that it cannot stop its worker; here the session's end of the pipe closes."""
    monkeypatch.setattr(jobs, "WORKER", "tests.support.kicad.idle_worker")
    said: list[object] = []
    job = jobs.Worker().start({"kind": "check"}, b"", lambda *answer: said.append(answer))
    until = time.monotonic() + SHOWN_AFTER_S
    while job.doing != "waiting" and time.monotonic() < until:
        time.sleep(0.05)
    assert job.doing == "waiting"
    assert job.process.poll() is None
    assert job.process.stdin
    job.process.stdin.close()
    assert job.process.wait(SHOWN_AFTER_S) == 1
