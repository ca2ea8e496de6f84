"""Work of a second thread, or of the one who asks."""

from __future__ import annotations

import threading

import pytest

from stackup_lib.core import background_thread
from stackup_lib.core.background_thread import ThreadTask
from stackup_lib.core.stopwatch import Stopwatch, measuring


def test_the_work_is_done_once_by_another_thread() -> None:
    """And its answer is had as often as it is asked for."""
    by: list[int] = []

    def work() -> int:
        by.append(threading.get_ident())
        return len(by)

    task = ThreadTask(work)

    assert [task.result(), task.result()] == [1, 1]
    assert by != [threading.get_ident()]


def test_without_threads_the_one_who_asks_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser."""
    monkeypatch.setattr(background_thread, "IN_BROWSER", True)

    assert ThreadTask(threading.get_ident).result() == threading.get_ident()


def test_what_fails_fails_where_it_is_asked_for() -> None:
    """Not in a thread that no one listens to."""
    task = ThreadTask(lambda: int("none"))

    with measuring(Stopwatch()) as watch, pytest.raises(ValueError, match="none"):
        task.result()
    assert watch.failures == ["ValueError"]
