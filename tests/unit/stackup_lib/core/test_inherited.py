"""What a worker inherits is its parent's to close: a socket that is closed twice ends the process."""

from __future__ import annotations

import gc
import os
import sys

import pytest

from stackwright.run.processes import shared_out

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers inherit nothing there")


class Socket:
    """Garbage that only this process may close."""

    def __init__(self) -> None:
        self.own, self.cycle = os.getpid(), self

    def __del__(self) -> None:
        if os.getpid() != self.own:
            os._exit(3)


def tidy(item: int) -> int:
    """Work, and collect garbage on the way."""
    gc.collect()
    return item


@pytest.fixture(autouse=True)
def _garbage() -> None:
    for _ in range(50):
        Socket()


def test_the_workers_of_a_pool_close_nothing_of_their_parents() -> None:
    """Garbage of the parent stays in it."""
    assert list(shared_out(tidy, [1, 2, 3], 2)) == [1, 2, 3]
