"""Work that a second thread does while this one goes on: hashing and searching of bytes, which let others run."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

from stackup_lib.core.stopwatch import note_failure
from stackup_lib.core.system import IN_BROWSER

T = TypeVar("T")


class ThreadTask(Generic[T]):
    """A result computed by a second thread, or else by the one who wants it.

    Args:
        work: what to do; done again by the one who asks if it fails, and so it says there what is wrong.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._answer: list[T] = []
        self._failure = ""
        self._thread = Thread(target=self._run, daemon=True) if not IN_BROWSER else None
        if self._thread:
            self._thread.start()

    def _run(self) -> None:
        try:
            self._answer.append(self._work())
        except Exception as error:  # the one who asks does the work again, and so it says what is wrong
            self._failure = type(error).__name__

    def result(self) -> T:
        """Return the answer; waits for the thread."""
        if self._thread:
            self._thread.join()
        if self._failure:
            note_failure(self._failure)
            self._failure = ""
        return self._answer[0] if self._answer else self._work()
