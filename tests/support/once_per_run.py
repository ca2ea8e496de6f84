"""What several test files and the documentation's build compute alike: once for all processes of a run of the tests.

Nothing outlives the run, so no result is of other code or other data than the run's own.
"""

from __future__ import annotations

import functools
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

T = TypeVar("T")

FOLDER = "STACKWRIGHT_RESULTS_OF_RUN"
"""Where the processes of a run leave results for each other; set by the process that began the run."""


@contextmanager
def shared_results() -> Iterator[None]:
    """Let the processes that are started inside share results; within a process that shares already, nothing."""
    if FOLDER in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="stackwright-results-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER]


def once_per_run(compute: Callable[[], T]) -> Callable[[], T]:
    """Return a function that computes once; two processes that begin at the same time both do, with equal results."""

    @functools.cache
    def answer() -> T:
        return shared(f"{compute.__module__}.{compute.__qualname__}", compute)

    functools.update_wrapper(answer, compute)
    return answer


def shared(name: str, compute: Callable[[], T]) -> T:
    """Return what another process of the run has computed under a name that can name a file, else compute it."""
    if FOLDER not in os.environ:
        return compute()
    kept = Path(os.environ[FOLDER]) / f"{name}.pickle"
    if kept.is_file():
        return cast("T", pickle.loads(kept.read_bytes()))  # noqa: S301 - written by this run
    found = compute()
    own = kept.with_suffix(f".{os.getpid()}")
    own.write_bytes(pickle.dumps(found))
    own.replace(kept)
    return found
