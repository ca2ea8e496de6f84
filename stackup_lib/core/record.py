"""Classes of named fields, as frozen dataclasses are, that take a fraction of their time to define.

`dataclass(frozen=True)` writes and compiles up to seven methods of each class at every start of the program; for the
300 classes of a check that was a sixth of its work. The fields of a record are looked at when the first one is made: a
check makes few of the classes that it loads. An `__init__` is written for classes of which many are made: of most a
check makes less than a dozen. The other methods are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, Protocol, TypeVar, cast, dataclass_transform

T = TypeVar("T")

FEW = 16
"""Instances of a class whose fields are set one by one: to write an `__init__` takes as long as some 50 of them."""


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
    """Give a class methods where it has none of its own, and an `__init__` that looks at its fields when called."""
    made: Any = cls
    cls.__doc__ = cls.__doc__ or cls.__name__  # in place of the signature that `dataclass` would write
    made.__dataclass_fields__ = _FieldsWhenAsked(cls)
    for name, method in {"__init__": _first_init(cls), **methods}.items():
        if name not in vars(cls):
            setattr(cls, name, method)
    return cls


def _first_init(cls: Any) -> Callable[..., None]:  # noqa: ANN401 - a class whose methods are set
    """Return an `__init__` that sets the fields of the first few, and then puts a written one in its place."""
    defaults: dict[str, object] = {}
    left = FEW

    def init(self: object, *values: object, **named: object) -> None:
        nonlocal left
        left -= 1
        if not defaults:
            defaults.update(_defaults(cls))
        given = dict(zip(defaults, values, strict=False)) | named
        lacking = [default for name, default in defaults.items() if name not in given]
        is_right = len(given) == len(values) + len(named) == len(defaults) - len(lacking) and MISSING not in lacking
        if left < 0 or not is_right:
            cls.__init__ = _written_init(cls)  # which says what is wrong with the call, if anything is
            cls.__init__(self, *values, **named)
            return
        for name, default in defaults.items():
            setattr(self, name, given[name] if name in given else _made(default))
        if hasattr(cls, "__post_init__"):
            cls.__post_init__(self)

    return init


def _defaults(cls: type) -> dict[str, object]:
    """Return the default of each field: a `Field` where each instance gets a new one, `MISSING` where there is none."""
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        asked = vars(base).get("__dataclass_fields__")
        if isinstance(asked, _FieldsWhenAsked):
            found |= {name: vars(base).get(name, MISSING) for name in base.__annotations__}
        elif asked is not None:
            found |= {one.name: one for one in fields(base)}
    return {name: _plain(default) for name, default in found.items()}


def _plain(default: object) -> object:
    return default.default if isinstance(default, Field) and default.default_factory is MISSING else default


def _made(default: Any) -> object:  # noqa: ANN401 - of any field
    return default.default_factory() if isinstance(default, Field) else default  # type: ignore[operator]


def _written_init(cls: type) -> Callable[..., None]:
    """Return an `__init__` that sets every field, in their order; `dataclass` takes twice as long to write one."""
    scope: dict[str, object] = {"MISSING": MISSING}
    parameters, lines = ["self"], []
    for name, default in _defaults(cls).items():
        given = name
        if isinstance(default, Field):
            scope[f"new_{name}"] = default.default_factory
            parameters.append(f"{name}=MISSING")
            given = f"new_{name}() if {name} is MISSING else {name}"
        elif default is not MISSING:
            scope[f"default_{name}"] = default
            parameters.append(f"{name}=default_{name}")
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
