"""Processes that work for another one and end with it, however that one ends: nothing is left running.

Such a process watches a pipe whose other end only its parent has. The system closes it when the parent is gone, killed
or not, on Linux, macOS and Windows alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread

ORPHANED = 1
"""Exit code of a process whose parent has gone; it is not read."""


def end_after(waiting: Callable[[], object]) -> None:
    """End this process, with all that it does, as soon as `waiting` returns or fails, in a thread of its own."""

    def watch() -> None:
        try:
            waiting()
        finally:
            os._exit(ORPHANED)

    Thread(target=watch, name="parent", daemon=True).start()


def end_with_pipe(handle: int) -> None:
    """End this process as soon as the other end of a pipe is closed; nothing may be written to it."""
    end_after(lambda: os.read(handle, 1))
