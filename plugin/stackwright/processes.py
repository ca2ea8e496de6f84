"""Work shared among processes, on every system: how many there may be, and who hears Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from threading import current_thread, main_thread
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_ON_WINDOWS = 61
"""Processes of a `ProcessPoolExecutor`: Windows waits for no more."""


def worker_count(items: int, wanted: int | None, platform: str = sys.platform) -> int:
    """Return how many processes share so many pieces of work: as many as are wanted, by default one per core."""
    most = MOST_ON_WINDOWS if platform == "win32" else items
    return min(wanted or os.cpu_count() or 1, items, most)


def shared_out(work: Callable[[Item], Answer], items: Iterable[Item], workers: int) -> Iterator[Answer]:
    """Yield the answers in the order of the items; at Ctrl-C, or when nobody wants more of them, the processes end.

    Args:
        work: a function that can be pickled, as its items and answers.
        items: pieces of work.
        workers: how many processes.
    """
    with ProcessPoolExecutor(workers, initializer=_deaf) as pool:
        try:
            with _deaf_children():
                answers = [pool.submit(work, item) for item in items]
            for answer in answers:
                yield answer.result()
        except BaseException:  # nothing is cancelled: older Pythons' pools stumble over that when their processes end
            for child in active_children():
                child.terminate()
            raise


def _deaf() -> None:
    """Let the parent alone hear Ctrl-C, which a terminal sends to everybody: each child would show a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that are started in this block are deaf from their birth, where that is inherited."""
    if current_thread() is not main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
