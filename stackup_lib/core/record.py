"""Classes of named fields, as frozen dataclasses are, that take a fraction of their time to define.

`dataclass(frozen=True)` writes and compiles up to seven methods of each class at every start of the program; for the
300 classes of a check that was a sixth of its work. The fields of a record are looked at, and its `__init__` written,
when the first one is made: a check makes few of the classes that it loads. The other methods are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, Protocol, TypeVar, cast, dataclass_transform

T = TypeVar("T")


class _Record(Protocol):
    """What the methods below know of a record."""

    @staticmethod
    def compared_fields(one: object, /) -> object:
        """Return the values by which it is compared."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a dataclass whose instances are compared, hashed and shown by their fields.

    Type checkers refuse to set a field; nothing does when the program runs, so instances are made faster as well.
    `dataclasses.replace` makes a changed copy. Methods that the class has itself are left.
    """
    made: Any = cls
    made.compared_fields = staticmethod(_first_comparison(cls))
    return _with_fields(cls, {"__eq__": _equals, "__hash__": _hash, "__repr__": _shown})


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def entity(cls: type[T]) -> type[T]:
    """Make a class a record that is equal to itself alone, such as one that holds arrays."""
    return _with_fields(cls, {"__repr__": _shown})


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def workpiece(cls: type[T]) -> type[T]:
    """Make a class an entity whose fields change while it is worked on."""
    return entity(cls)


class _FieldsWhenAsked:
    """Stands for the fields of a class until they are first read: then the class becomes a dataclass."""

    def __init__(self, of: type) -> None:
        self.of = of

    def __get__(self, instance: object, owner: type) -> dict[str, Field[object]]:
        made: Any = dataclass(eq=False, repr=False, init=False)(self.of)  # puts the fields in place of this
        return cast("dict[str, Field[object]]", made.__dataclass_fields__)


def _with_fields(cls: type[T], methods: Mapping[str, Callable[..., object]]) -> type[T]:
    """Give a class methods where it has none of its own, and an `__init__` that is written when it is first called."""
    made: Any = cls
    cls.__doc__ = cls.__doc__ or cls.__name__  # in place of the signature that `dataclass` would write
    made.__dataclass_fields__ = _FieldsWhenAsked(cls)
    for name, method in {"__init__": _first_init(cls), **methods}.items():
        if name not in vars(cls):
            setattr(cls, name, method)
    return cls


def _first_init(cls: Any) -> Callable[..., None]:  # noqa: ANN401 - a class whose methods are set
    """Return an `__init__` that puts the true one in its place."""

    def init(self: object, *values: object, **named: object) -> None:
        cls.__init__ = _written_init(cls)
        cls.__init__(self, *values, **named)

    return init


def _written_init(cls: type) -> Callable[..., None]:
    """Return an `__init__` that sets every field, in their order; `dataclass` takes twice as long to write one."""
    scope: dict[str, object] = {"MISSING": MISSING}
    parameters, lines = ["self"], []
    for one in fields(cls):
        name, given = one.name, one.name
        if one.default is not MISSING:
            scope[f"default_{name}"] = one.default
            parameters.append(f"{name}=default_{name}")
        elif one.default_factory is not MISSING:
            scope[f"new_{name}"] = one.default_factory
            parameters.append(f"{name}=MISSING")
            given = f"new_{name}() if {name} is MISSING else {name}"
        else:
            parameters.append(name)
        lines.append(f"    self.{name} = {given}")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or ["    pass"]), scope)  # noqa: S102 - of names
    written = cast("Callable[..., None]", scope["__init__"])
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written


def _first_comparison(cls: Any) -> Callable[[object], object]:  # noqa: ANN401 - a class whose methods are set
    """Return a `compared_fields` that puts the true one in its place; `attrgetter` of one name would make no tuple."""

    def compared_fields(one: object) -> object:
        names = [one.name for one in fields(cls) if one.compare]
        read: Callable[[object], object] = attrgetter(*names) if len(names) > 1 else _reader(names)
        cls.compared_fields = staticmethod(read)
        return read(one)

    return compared_fields


def _reader(names: list[str]) -> Callable[[object], object]:
    return lambda one: tuple(getattr(one, name) for name in names)


def _equals(self: _Record, other: object) -> object:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self.compared_fields(self) == self.compared_fields(other)


def _hash(self: _Record) -> int:
    return hash(self.compared_fields(self))


def _shown(self: object) -> str:
    cls: Any = type(self)
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(cls) if one.repr)
    return f"{cls.__qualname__}({shown})"
