"""The command line without a process of its own: what it prints and its exit code are those of `python -m`."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import typer

from stackwright.__main__ import guarded
from stackwright.cli.app import run
from tests.cli.test_cli import Ran

get_command = functools.cache(typer.main.get_command)


def run_here(*arguments: str | Path, cwd: Path, **settings: str) -> Ran:
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
        patch.object(typer.main, "get_command", get_command),
        patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        return guarded(partial(run, arguments))
