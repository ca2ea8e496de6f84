"""One test for a whole table: every row is tried, and all rows that fail are reported together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any


def each(**tables: Iterable[Any] | Callable[[], Iterable[Any]]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a test with every row of a table; with several tables, with every combination.

    Args:
        tables: name of the test's parameter and its values, or what returns them when the test runs.
    """

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def run() -> None:
            values = [list(table() if callable(table) else table) for table in tables.values()]
            rows = [dict(zip(tables, row, strict=True)) for row in product(*values)]
            assert rows, f"{test.__name__}: the table is empty"
            failures = [failure for row in rows if (failure := _failure(test, row))]
            assert not failures, f"{len(failures)} of {len(rows)} rows fail:\n" + "\n".join(failures)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__dict__.update(test.__dict__)  # markers
        return run

    return decorate


def _failure(test: Callable[..., None], row: dict[str, Any]) -> str:
    try:
        test(**row)
    except Exception as error:
        name = ", ".join(
            str(getattr(value, "name", None) or getattr(value, "id", value))[:80] for value in row.values()
        )
        return f"{name}: {type(error).__name__}: {error}"
    return ""
