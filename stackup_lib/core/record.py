"""Classes of named fields, as frozen dataclasses are, that take a quarter of their time to define.

`dataclass(frozen=True)` writes and compiles up to seven methods of each class at every start of the program; for the
300 classes of a check that was a sixth of its work. A record has its `__init__` alone written; the others are here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar, Protocol, TypeVar, dataclass_transform

T = TypeVar("T")


class _Record(Protocol):
    """What the methods below know of a record."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @staticmethod
    def compared_fields(one: object, /) -> object:
        """Return the values by which it is compared."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a dataclass whose instances are compared, hashed and shown by their fields.

    Type checkers refuse to set a field; nothing does when the program runs, so instances are made faster as well.
    `dataclasses.replace` makes a changed copy. Methods that the class has itself are left.
    """
    cls.__doc__ = cls.__doc__ or cls.__name__  # in place of the signature that `dataclass` would write
    own = set(vars(cls))
    made: Any = dataclass(eq=False, repr=False)(cls)
    made.compared_fields = staticmethod(_getter([one.name for one in fields(made) if one.compare]))
    for name, method in _METHODS.items():
        if name not in own:
            setattr(made, name, method)
    return cls


def _getter(names: list[str]) -> Callable[[object], object]:
    """Return what reads the values of some fields as a tuple; of one name `attrgetter` alone would make none."""
    return attrgetter(*names) if len(names) > 1 else lambda one: tuple(getattr(one, name) for name in names)


def _equals(self: _Record, other: object) -> object:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self.compared_fields(self) == self.compared_fields(other)


def _hash(self: _Record) -> int:
    return hash(self.compared_fields(self))


def _shown(self: _Record) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


_METHODS = {"__eq__": _equals, "__hash__": _hash, "__repr__": _shown}
