"""Distinct values, alike rows and medians are those that NumPy finds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.core.arrays import alike_rows, are_among, distinct, median


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


@pytest.mark.parametrize("count", [0, 1, 50])
def test_alike_rows_are_those_of_numpy(count: int) -> None:
    """The first row of each kind, the kinds rising by their columns, and the kind of every row."""
    table = np.random.default_rng(1).integers(0, 3, (count, 3))
    rows, first, kind = np.unique(table, axis=0, return_index=True, return_inverse=True)
    found_first, found_kind = alike_rows(table)
    assert found_first.tolist() == first.tolist()
    assert found_kind.tolist() == kind.ravel().tolist()
    assert table[found_first].tolist() == rows.tolist()


@pytest.mark.parametrize(("values", "others"), [([], []), ([1, 5], []), ([], [3]), ([0, 3, 9, 3, 4], [9, 3, 3, 7])])
def test_values_are_among_others(values: list[int], others: list[int]) -> None:
    """Below, between and above the others, repeated ones, and none at all."""
    found = are_among(np.array(values, dtype=np.int64), np.array(others, dtype=np.int64))
    assert found.tolist() == [value in others for value in values]
