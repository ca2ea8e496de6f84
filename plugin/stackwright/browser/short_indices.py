"""NumPy where an index has 32 bits, as for Python in a browser: counts of 64 bits are taken as they are elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_bincount, _repeat = np.bincount, np.repeat


def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0) -> NDArray[Any]:
    """Do what `numpy.bincount` does on a system of 64 bits."""
    return _bincount(as_indices(x), weights, minlength)


def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> NDArray[Any]:
    """Do what `numpy.repeat` does on a system of 64 bits."""
    return _repeat(np.asarray(a), as_indices(repeats), axis)


def as_indices(numbers: ArrayLike) -> NDArray[np.intp]:
    """Return whole numbers as indices.

    Raises:
        TypeError: they are not whole.
        OverflowError: one does not fit.
    """
    given = np.asarray(numbers)
    if not given.size:  # an empty list is one of floats
        return np.zeros(given.shape, dtype=np.intp)
    made = given.astype(np.intp, casting="same_kind", copy=False)
    if given.dtype.itemsize > made.dtype.itemsize and not np.array_equal(given, made):
        raise OverflowError("an index does not fit")
    return made


def take_long_indices() -> None:
    """Put these in NumPy's place, which here refuses numbers of 64 bits even where they are small."""
    np.bincount = bincount  # type: ignore[assignment]
    np.repeat = repeat  # type: ignore[assignment]
