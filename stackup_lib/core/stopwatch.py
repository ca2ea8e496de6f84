"""Where the time of a check goes: named spans of work, each second counted once.

Nothing is measured, and next to nothing is spent, outside `measuring`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import wraps
from time import perf_counter
from typing import ParamSpec, TypeVar

from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.core.record import workpiece

P = ParamSpec("P")
R = TypeVar("R")

OTHER = "other"


@workpiece
class Stopwatch:
    """Seconds by name; what runs inside another span counts for itself alone.

    Attributes:
        seconds: by name, in the order of first use.
        calls: how often each was entered.
        background_s: seconds of these that another process worked at the same time.
        failures: why work of another process or thread failed, so that it was done again; names of exceptions.
        tell: called with the name of each span that begins, for a progress line.
    """

    tell: Callable[[str], None] | None = None
    clock: Callable[[], float] = perf_counter
    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    background_s: float = 0.0
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._open = [OTHER]
        self._since = self.clock()

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Count the block under a name; the span around it pauses for that time."""
        self._turn()
        self.calls[name] = self.calls.get(name, 0) + 1
        self._open.append(name)
        if self.tell is not None:
            self.tell(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def add_background(self, seconds: Mapping[str, float]) -> None:
        """Count what another process has measured."""
        for name, value in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + value
            self.background_s += value

    def stop(self) -> None:
        """Count what has run since the last span ended."""
        self._turn()

    def _turn(self) -> None:
        now = self.clock()
        name = self._open[-1]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


_running: ContextVar[Stopwatch | None] = ContextVar("stopwatch", default=None)


@contextmanager
def measuring(watch: Stopwatch) -> Iterator[Stopwatch]:
    """Measure every span inside the block."""
    token = _running.set(watch)
    try:
        yield watch
    finally:
        watch.stop()
        _running.reset(token)


def add_background(seconds: Mapping[str, float]) -> None:
    """Count what another process has measured, inside `measuring`."""
    watch = _running.get()
    if watch is not None:
        watch.add_background(seconds)


def note_failure(why: str) -> None:
    """Note that another process or thread failed at its work, inside `measuring`."""
    watch = _running.get()
    if watch is not None:
        watch.failures.append(why)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Count the block under a name, inside `measuring`.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed and got lost; Python drops what is raised while it collects garbage.
    """
    raise_if_interrupted()
    watch = _running.get()
    if watch is None:
        yield
        return
    with watch.span(name):
        yield


def timed(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Count every call of the decorated function under a name, inside `measuring`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            with span(name):
                return function(*args, **kwargs)

        return counted

    return decorate
