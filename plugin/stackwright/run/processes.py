"""Work shared among processes, on every system: how many there may be, and which one handles Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar

from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.core.orphans import end_after
from stackup_lib.core.result_cache import is_caching
from stackwright.run.line_cache import using_line_cache

if TYPE_CHECKING:
    from concurrent.futures import Executor

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_ON_WINDOWS = 61
"""Processes of a `ProcessPoolExecutor`: Windows waits for no more."""

SAFE_PATH = "PYTHONSAFEPATH"
"""Python's own switch; as `-P`, but a process hands it on."""


def worker_count(items: int, wanted: int | None, platform: str = sys.platform) -> int:
    """Return the number of processes for a number of work items: as many as requested, by default one per core."""
    most = MOST_ON_WINDOWS if platform == "win32" else items
    return min(wanted or os.cpu_count() or 1, items, most)


def is_one_of_several() -> bool:
    """Tell whether this process works for another one, see `shared_out`."""
    from multiprocessing import parent_process

    return parent_process() is not None


def shared_out(work: Callable[[Item], Answer], items: Iterable[Item], workers: int) -> Iterator[Answer]:
    """Yield the answers in the order of the items; at Ctrl-C, or when the caller stops reading, the processes end.

    They end, too, when this process is killed.

    Args:
        work: a function that can be pickled, as its items and answers.
        items: pieces of work.
        workers: how many processes.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children

    with _own_modules_only():
        pool = ProcessPoolExecutor(workers, initializer=_begin, initargs=(is_caching(),))
    with pool:
        try:
            with _own_modules_only(), _ignoring_interrupts():
                answers = [pool.submit(work, item) for item in items]
            for answer in answers:
                raise_if_interrupted()  # Python drops what is raised while it collects garbage
                yield answer.result()
        except BaseException:  # nothing is cancelled: older Pythons' pools stumble over that when their processes end
            for child in active_children():
                child.terminate()
            _close_answers(pool)
            raise


def _close_answers(pool: Executor) -> None:
    """Close this process's own end of the pipe that its workers write to.

    A worker that ends in the middle of an answer leaves half of it there. While anybody can still write, the pool waits
    for the rest of it without end; Python has no public way to tell it.
    """
    writer = getattr(vars(pool).get("_result_queue"), "_writer", None)
    if writer is not None:
        writer.close()


def _begin(caches: bool) -> None:  # noqa: FBT001 - as the pool hands it on
    """Begin as a worker, which ends with its parent and uses the cache of solved cross sections where that does.

    Only the parent handles Ctrl-C, which a terminal sends to all of them: each worker would show a traceback.
    """
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    gc.freeze()  # what this process inherited, such as sockets, is its parent's to close
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if caches:
        using_line_cache().__enter__()
    parent = parent_process()
    if parent is not None:
        end_after(lambda: wait([parent.sentinel]))


@contextmanager
def _own_modules_only() -> Iterator[None]:
    """Processes that are started in this block look for no module in the current folder, which holds a user's boards.

    Where workers are not copies of this process, each is a new Python that runs `-c`, which would look there first.
    """
    former = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if former is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = former


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Processes that are started in this block are deaf from their birth, where that is inherited."""
    if current_thread() is not main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
