"""Entry point of the `stackwright` command: what a user sees is a report or one line, never a traceback."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from stackup_lib.core.interrupts import raise_if_interrupted, watch_interrupts
from stackwright.run.limits import GARBAGE_EVERY, NO_PLUGINS, SINGLE_THREAD
from stackwright.text.streams import prepare, reader_has_gone

BROKEN = 2
INTERRUPTED = 130
REPORT_IT = (
    "this is a defect of Stackwright, not of your board; please report it (STACKWRIGHT_DEBUG=1 shows the traceback)"
)


def main() -> None:
    """Run the command line and exit with its code: 0 nothing to complain about, 1 findings, 2 could not be checked."""
    for name in SINGLE_THREAD:
        os.environ.setdefault(name, "1")
    os.environ.setdefault(*NO_PLUGINS)
    gc.set_threshold(*GARBAGE_EVERY)
    watch_interrupts()
    prepare()
    code = guarded(_run)
    _leave(_flushed(code))


def _leave(code: int) -> NoReturn:
    """End the process; taking a large board's columns apart one by one first costs 4 % of its check."""
    if threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(code)


def _run() -> int:
    from stackwright.cli.app import run

    return run(sys.argv[1:])


def guarded(action: Callable[[], int]) -> int:
    """Turn whatever an action raises into one line on the error stream and an exit code."""
    try:
        return _interruptible(action)
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and reader_has_gone(error):
            return 0
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
            _complain(_unwritten(error))  # help and completion scripts are written by click
            _swallow_output()
            return BROKEN
        from stackup_lib.core.errors import StackwrightError
        from stackwright.text.words import clean

        known = isinstance(error, StackwrightError)
        if not known and os.environ.get("STACKWRIGHT_DEBUG"):
            raise
        text = str(error) if known else f"{type(error).__name__}: {error}; {REPORT_IT}"
        if isinstance(error, PermissionError) and error.filename is not None:
            text = f"{os.fsdecode(error.filename)}: {error.strerror}; check its rights and those of its folder"
        _complain(clean(f"error: {text}"))
        return BROKEN


def _interruptible(action: Callable[[], int]) -> int:
    try:
        return action()
    except Exception:
        raise_if_interrupted()
        raise


def _flushed(code: int) -> int:
    """Empty the output stream; a reader that has gone away changes nothing, a full disk does."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _swallow_output()
        if reader_has_gone(error):
            return code
        _complain(_unwritten(error))
        return BROKEN
    return code


def _unwritten(error: OSError) -> str:
    return f"error: standard output: {error.strerror}; the report is not complete"


def _swallow_output() -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr)  # noqa: T201 - the one place that does


if __name__ == "__main__":
    main()
