"""Distinct values and the median, as NumPy has them, without its masked arrays.

`np.unique` of one argument and `np.median` load these to ask whether they were given one: 5 ms of every check.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """Return each value of an array once, rising, shape (n,); there must be no NaN among them."""
    ordered: NDArray[Any] = np.sort(values, axis=None)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def median(values: ArrayLike) -> float:
    """Return the middle of some numbers, at least one and none of them NaN; of an even count the mean of both."""
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=None)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)
