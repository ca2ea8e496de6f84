"""A cache of results that take long to compute, where a program provides one.

Outside `using_cache` nothing is cached. The key of a result is everything that decides it: all numbers of the arguments
to the last bit, the source of the modules that compute it, and the version of NumPy. An entry that is not whole is
ignored.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from hashlib import blake2b
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from stackup_lib.core.files.plain_file import read_plain

P = ParamSpec("P")
Result = TypeVar("Result")

DIGEST_BYTES = 16


class ResultCache(Protocol):
    """Entries by key. A cache may lose entries; it never raises."""

    def get(self, key: bytes) -> bytes | None:
        """Return an entry, None where there is none."""

    def put(self, key: bytes, entry: bytes) -> None:
        """Add an entry."""


_cache: ContextVar[ResultCache | None] = ContextVar("result_cache", default=None)


@contextmanager
def using_cache(cache: ResultCache | None) -> Iterator[None]:
    """Inside the block results are cached, with None not."""
    token = _cache.set(cache)
    try:
        yield
    finally:
        _cache.reset(token)


def is_caching() -> bool:
    """Tell whether results are cached here."""
    return _cache.get() is not None


def cached_result(
    to_numbers: Callable[[Result], Sequence[float]], from_numbers: Callable[[Sequence[float]], Result]
) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Cache the results of a function; its arguments show all their numbers in `repr`. Errors are not cached.

    Args:
        to_numbers: writes a result as numbers.
        from_numbers: makes the same result of them.
    """

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        folder = Path(function.__code__.co_filename).parent

        @wraps(function)
        def computed_or_cached(*args: P.args, **kwargs: P.kwargs) -> Result:
            cache = _cache.get()
            source = _digest_of(folder) if cache else None
            if cache is None or source is None:
                return function(*args, **kwargs)
            key = _digest(repr((source, function.__name__, args, sorted(kwargs.items()))).encode())
            numbers = _unpacked(key, cache.get(key))
            if numbers is not None:
                return from_numbers(numbers)
            result = function(*args, **kwargs)
            cache.put(key, _packed(key, to_numbers(result)))
            return result

        return computed_or_cached

    return decorate


@lru_cache
def _digest_of(folder: Path) -> str | None:
    """Return what tells the modules of a folder from another version's, None where their source is not there."""
    import numpy as np  # noqa: PLC0415 - heavy, and not every command solves

    try:
        sources = [read_plain(module) for module in sorted(folder.glob("*.py"))]
    except OSError:
        return None
    return _digest(b"\0".join([np.__version__.encode(), *sources])).hex() if sources else None


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=DIGEST_BYTES).digest()


def _packed(key: bytes, numbers: Sequence[float]) -> bytes:
    plain = struct.pack(f"<{len(numbers)}d", *numbers)
    return _digest(key + plain) + plain


def _unpacked(key: bytes, entry: bytes | None) -> Sequence[float] | None:
    """Return the numbers of an entry, None where it is missing, damaged, or of another key."""
    if entry is None or entry[:DIGEST_BYTES] != _digest(key + entry[DIGEST_BYTES:]):
        return None
    plain = entry[DIGEST_BYTES:]
    return struct.unpack(f"<{len(plain) // 8}d", plain)
