"""Work that a copy of this process does while this one goes on: a large board's rules need not wait for one core.

Nothing is copied outside `sharing_cores`: a command that checks one board does, on systems that copy a
process at once (Linux). What the copy computes comes back pickled through a file without a name. Whatever goes wrong
there, the work is done here instead, and says itself what is wrong; the stopwatch notes that the copy failed. A copy
ends when this process does.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import BinaryIO, Generic, NamedTuple, NoReturn, TypeVar

from stackup_lib.core.orphans import end_with_pipe
from stackup_lib.core.stopwatch import Stopwatch, add_background, measuring, note_failure
from stackup_lib.core.system import IN_BROWSER

T = TypeVar("T")

_sharing: ContextVar[bool] = ContextVar("sharing_cores", default=False)


@contextmanager
def sharing_cores(*, on: bool = True) -> Iterator[None]:
    """Inside the block work may be given to a copy of this process."""
    token = _sharing.set(on)
    try:
        yield
    finally:
        _sharing.reset(token)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def may_copy() -> bool:
    """Tell whether work may be given to a copy of this process: what both need is best known before."""
    return _sharing.get() and cores() > 1


class _Copy(NamedTuple):
    """A copy of this process: its number, the file it will write to, and a pipe's end whose closing ends it."""

    child: int
    file: BinaryIO
    lifeline: BinaryIO


class BackgroundTask(Generic[T]):
    """A result computed by a background process, or else when it is needed.

    Args:
        work: what to do; its answer can be pickled. What it changes in the copy stays there.
        when: whether it is worth a copy.
    """

    def __init__(self, work: Callable[[], T], *, when: bool = True) -> None:
        self._work = work
        self._copy: _Copy | None = None
        if when and may_copy():
            self._copy = _copied(work)

    @property
    def is_running(self) -> bool:
        """True while a copy of this process is at it."""
        return self._copy is not None

    def result(self) -> T:
        """Return the answer; waits for the copy, and does the work itself where that has failed."""
        if self._copy is None:
            return self._work()
        copy, self._copy = self._copy, None
        with copy.lifeline, copy.file:
            try:
                _, status = os.waitpid(copy.child, 0)
                code = os.waitstatus_to_exitcode(status)
                copy.file.seek(0)
                if code == 0:
                    answered: tuple[T, dict[str, float]] = pickle.load(copy.file)  # noqa: S301 - by our own copy, in a nameless file
                    add_background(answered[1])
                    return answered[0]
                note_failure(copy.file.read().decode() if code == FAILED else f"exit code {code}")
            except Exception as error:  # whatever it was, the work done here says what is wrong
                note_failure(type(error).__name__)
        return self._work()


FAILED = 1
"""The exit code of a copy that has written the name of its exception."""

MOST_PIECES = 256
"""Numbers that fit into a byte; what is beyond stays untaken."""


class WorkQueue:
    """Numbers from 0, each taken once: by this process, or by a copy of it that is made later.

    Close it when all is done. Where the system gives no pipe, it is empty from the start.
    """

    def __init__(self, count: int) -> None:
        self._end: int | None = None
        if IN_BROWSER:
            return
        with suppress(OSError):
            self._end, write = os.pipe()
            os.write(write, bytes(range(min(count, MOST_PIECES))))
            os.close(write)

    def __iter__(self) -> Iterator[int]:
        while self._end is not None and (taken := os.read(self._end, 1)):
            yield taken[0]

    def close(self) -> None:
        """Leave what was not taken."""
        if self._end is not None:
            os.close(self._end)
            self._end = None


def _copied(work: Callable[[], T]) -> _Copy | None:
    """Start the copy; None where the system refuses one."""
    if sys.platform != "linux":
        return None
    with ExitStack() as opened:
        try:
            file = opened.enter_context(tempfile.TemporaryFile())  # read and closed in `result`
            watched, end = os.pipe()
            opened.callback(os.close, watched)
            lifeline = opened.enter_context(os.fdopen(end, "wb", buffering=0))
            with warnings.catch_warnings():
                # other threads only hash and draw the line of patience: no lock of theirs is taken in the copy
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
        except OSError:
            return None
        if not child:
            _work_as_copy(work, file, watched, end)
        opened.pop_all()
        os.close(watched)
        return _Copy(child, file, lifeline)


def _work_as_copy(work: Callable[[], T], file: BinaryIO, watched: int, end: int) -> NoReturn:
    """Do the work in the copy, which must neither return nor write anything else."""
    code = FAILED
    gc.freeze()  # what the copy inherited, such as sockets, is its parent's to close
    try:
        os.close(end)  # the parent's alone
        end_with_pipe(watched)
        with sharing_cores(on=False), measuring(Stopwatch()) as watch:
            answer = work()
        pickle.dump((answer, watch.seconds), file, protocol=pickle.HIGHEST_PROTOCOL)
        file.flush()
        code = 0
    except BaseException as error:  # a copy ends here, whatever it was
        file.seek(0)
        file.truncate()
        file.write(type(error).__name__.encode())
        file.flush()
    finally:
        os._exit(code)
