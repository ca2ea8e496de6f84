"""Classes of named fields, as frozen dataclasses are, that take a fraction of their time to define.

`dataclass(frozen=True)` writes and compiles up to seven methods of each class at every start of the program; for the
300 classes of a check that was a sixth of its work. Of a record only `__init__` is written, when the first one is made:
a check makes few of the classes that it loads. The other methods are here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar, Protocol, TypeVar, cast, dataclass_transform

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
    own = set(vars(cls))
    made = _with_fields(cls)
    made.compared_fields = staticmethod(_getter([one.name for one in fields(made) if one.compare]))
    for name, method in _METHODS.items():
        if name not in own:
            setattr(made, name, method)
    return cls


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def entity(cls: type[T]) -> type[T]:
    """Make a class a record that is equal to itself alone, such as one that holds arrays."""
    made = _with_fields(cls)
    if "__repr__" not in vars(cls):
        made.__repr__ = _shown
    return cls


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def workpiece(cls: type[T]) -> type[T]:
    """Make a class an entity whose fields change while it is worked on."""
    return entity(cls)


def _with_fields(cls: type) -> Any:  # noqa: ANN401 - a class whose methods are set
    """Make a class a dataclass without any method but an `__init__` that is written when it is first called."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # in place of the signature that `dataclass` would write
    made: Any = dataclass(eq=False, repr=False, init=False)(cls)
    if "__init__" not in vars(cls):
        made.__init__ = _first_init(made)
    return made


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
