"""Distinct values and medians are those that NumPy finds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.core.arrays import distinct, median


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 3, 2, 1]),
        np.zeros(0, dtype=np.int64),
        np.array([7], dtype=np.int16),
        np.array([[2.5, -0.5], [2.5, 1.0]]),
        np.array(["B2", "A1", "B2", ""]),
        np.array([True, False, True]),
    ],
    ids=["numbers", "none", "one", "two dimensions", "text", "flags"],
)
def test_numpy_finds_the_same(values: NDArray[np.generic]) -> None:
    """The order, the type and the values are those of `np.unique`."""
    found, expected = distinct(values), np.unique(values)

    assert found.tolist() == expected.tolist()
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("values", [[4.0], [3, 1, 2], [0.1, 7.0, 0.3, 2.0]], ids=["one", "odd", "even"])
def test_the_median_is_numpys(values: list[float]) -> None:
    """Of an even count it is the mean of the middle two."""
    assert median(values) == np.median(values)
