"""The command line as a process of its own, and without one: what it prints and its exit code are the same."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

from stackwright.__main__ import guarded
from stackwright.cli.app import run

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str


def run_process(*arguments: str | Path, cwd: Path = ROOT, **settings: str) -> Ran:
    """Run the command as a process of its own, with nothing on its standard input."""
    absolute = os.pathsep.join([str(ROOT), str(ROOT / "plugin")])
    done = subprocess.run(
        [sys.executable, "-m", "stackwright", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": absolute, **settings},
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def run_here(*arguments: str | Path, cwd: Path = ROOT, **settings: str) -> Ran:
    """Run a command line in this process, with nothing on its standard input."""
    out, err = io.StringIO(), io.StringIO()
    code = _run(list(map(str, arguments)), cwd, out, err, patch.dict(os.environ, settings))
    assert "Traceback" not in err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def run_as_read(*arguments: str, cwd: Path, environment: dict[str, str]) -> Ran:
    """The same with both streams in one, in the order in which they are read on a terminal."""
    both = io.StringIO()
    code = _run(list(arguments), cwd, both, both, patch.dict(os.environ, environment, clear=True))
    return Ran(code, both.getvalue(), "")


def _run(
    arguments: list[str], cwd: Path, out: io.StringIO, err: io.StringIO, environment: AbstractContextManager[object]
) -> int:
    with (
        contextlib.chdir(cwd),
        environment,
        patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        return guarded(partial(run, arguments))


def environment() -> dict[str, str]:
    """Return an environment in which the checkout can be imported, installed or not."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([".", "plugin"])}
