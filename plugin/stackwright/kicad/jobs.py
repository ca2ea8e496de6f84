"""A worker process and what it says; at most one at a time, and it can be stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

from stackup_lib.core.errors import StackwrightError
from stackwright.run.limits import NO_PLUGINS, SINGLE_THREAD

REPORT_IT = "please report it, with the board if you may"
WORKER = "stackwright.kicad.worker"


@dataclass
class Job:
    """A worker that runs.

    Attributes:
        doing: the step of work that it named last.
        steps: how many it has named.
    """

    process: subprocess.Popen[str]
    doing: str = ""
    steps: int = 0
    stopped: bool = False

    def stop(self) -> None:
        """End it; it writes only whole files."""
        self.stopped = True
        self.process.kill()


Done = Callable[[dict[str, Any] | None, StackwrightError | None], None]


class Worker:
    """A worker that loads what every job needs, while KiCad hands over the board, and waits for a job.

    As a context it ends with it, unless it was given a job.
    """

    def __init__(self) -> None:
        self._has_job = False
        self.process = subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-P", "-m", WORKER],  # -P: no module of the current folder is imported
            env={
                **dict.fromkeys(SINGLE_THREAD, "1"),
                **dict([NO_PLUGINS]),
                **os.environ,
                "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                "PYTHONUTF8": "1",
            },
            stdin=subprocess.PIPE,  # a job, and then nothing: closed by the end of this process, which ends the worker
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if not self._has_job:
            self.process.kill()
            self.process.communicate()

    def start(self, wanted: Mapping[str, object], live: bytes, done: Done) -> Job:
        """Work on a board's bytes; `done` is called with the result or an error, from another thread.

        A worker that was stopped calls nothing.
        """
        folder = tempfile.TemporaryDirectory(prefix="stackwright-", ignore_cleanup_errors=True)
        board = Path(folder.name) / "live.kicad_pcb"
        board.write_bytes(live)
        self._has_job, job = True, Job(self.process)
        _send(self.process.stdin, json.dumps({**wanted, "live": str(board)}))

        def follow() -> None:
            with folder, self.process:
                result, error = _coupled(job)
            if not job.stopped:
                done(result, error)

        threading.Thread(target=follow, daemon=True).start()
        return job


def _send(pipe: IO[str] | None, line: str) -> None:
    """Write a line to a worker; to one that has ended the pipe is closed, and what it said last is read as usual."""
    try:
        print(line, file=pipe, flush=True)
    except OSError:
        with suppress(OSError):  # closing writes what is left, which fails once more
            cast("IO[str]", pipe).close()


def _coupled(job: Job) -> tuple[dict[str, Any] | None, StackwrightError | None]:
    """Read what a worker says to its end."""
    said: list[str] = []
    listener = threading.Thread(target=lambda: said.extend(job.process.stderr or ()), daemon=True)
    listener.start()
    result: dict[str, Any] | None = None
    error: StackwrightError | None = None
    for line in job.process.stdout or ():
        match json.loads(line):
            case {"doing": str(name)}:
                job.doing, job.steps = name, job.steps + 1
            case {"done": dict(found)}:
                result = found
            case {"error": {"where": where, "what": what, "next_step": step}}:
                error = StackwrightError(where, what, step)
    code = job.process.wait()
    listener.join(5)
    if result is None and error is None:
        last = said[-1].strip() if said else f"exit code {code}"
        error = StackwrightError("the check", f"stopped ({last})", REPORT_IT)
    return result, error
