"""A worker process and what it says; at most one at a time, and it can be stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def start(wanted: Mapping[str, object], live: bytes, done: Done) -> Job:
    """Start a worker on a board's bytes; `done` is called with its result or an error, from another thread.

    A worker that was stopped calls nothing.
    """
    folder = tempfile.TemporaryDirectory(prefix="stackwright-", ignore_cleanup_errors=True)
    board, order = Path(folder.name) / "live.kicad_pcb", Path(folder.name) / "job.json"
    board.write_bytes(live)
    order.write_text(json.dumps({**wanted, "live": str(board), "watches_stdin": True}), encoding="utf-8")
    process = subprocess.Popen(  # noqa: S603 - our own module, no shell
        [sys.executable, "-P", "-m", WORKER, str(order)],  # -P: no module of the current folder is imported
        env={
            **dict.fromkeys(SINGLE_THREAD, "1"),
            **dict([NO_PLUGINS]),
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "PYTHONUTF8": "1",
        },
        stdin=subprocess.PIPE,  # nothing comes: closed by the end of this process, which ends the worker
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    job = Job(process)

    def follow() -> None:
        with folder, process:
            result, error = _coupled(job)
        if not job.stopped:
            done(result, error)

    threading.Thread(target=follow, daemon=True).start()
    return job


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
