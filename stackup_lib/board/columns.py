"""Tables as NumPy columns of one length, one row each: some of their rows, several tables as one, first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Ints


class Columns:
    """Base of dataclasses whose fields are all columns."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def where(self, rows: Ints | NDArray[np.bool_]) -> Self:
        """Return some of the rows."""
        return type(self)(*(getattr(self, column.name)[rows] for column in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of at least one table one after the other."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


def first_of_each(order: Ints, *keys: NDArray[Any]) -> Ints:
    """Return those of some rows, in an order sorted by the keys, that are the first with their combination of keys."""
    table = np.column_stack(keys)[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = np.any(table[1:] != table[:-1], axis=1)
    return np.asarray(order[is_first], dtype=np.int64)
