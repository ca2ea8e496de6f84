"""A guard against hanging: far above what the work takes, far below for ever. Speed itself is measured in `bench`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

FOR_EVER_S = 120


@contextmanager
def no_hang(seconds: int = FOR_EVER_S) -> Iterator[None]:
    """Raise `TimeoutError` inside the block when it does not end; without effect where there are no alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
