"""A test of a whole table tells every row that fails."""

from __future__ import annotations

import pytest

from tests.support.each import each


def test_all_rows_that_fail_are_told() -> None:
    @each(first=[1, 2, 3], second=[2, 3])
    def table(first: int, second: int) -> None:
        assert first != second, "equal"

    with pytest.raises(AssertionError, match=r"(?s)2 of 6 rows fail:\n2, 2: AssertionError: equal.*\n3, 3: "):
        table()


def test_an_error_is_a_failure_and_an_empty_table_too() -> None:
    @each(key=["a"])
    def broken(key: str) -> None:
        raise KeyError(key)

    @each(key=[])
    def empty(key: str) -> None: ...

    with pytest.raises(AssertionError, match="a: KeyError"):
        broken()
    with pytest.raises(AssertionError, match="the table is empty"):
        empty()
