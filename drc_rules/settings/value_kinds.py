"""Values of another kind than the schema for editors has for their key: `"12"` for 12, `"false"`, 1."""

from collections.abc import Iterator

from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from drc_rules.settings.declaration import is_open

MISFIT = "kind_of_value"
"""Type of the complaint; its context has `what` and `fix`."""


def refuse_misfits(written: object, read: object) -> None:
    """Raise the first complaint about a value that was read as another kind than it is written in."""
    for place, value in _misfits(written, read):
        key, is_switch = place.rpartition(".")[2], isinstance(value, bool)
        what = f'"{place}" is {"true or false" if is_switch else "a number"}, without quotes'
        fix = f"write {key} = {str(value).lower() if is_switch else format(value, '.12g')}"
        raise PydanticCustomError(MISFIT, "{what}; {fix}", {"what": what, "fix": fix})


def _misfits(written: object, read: object, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield the place of each, and what was read; a key without its own value in what was read is left out."""
    if isinstance(written, dict):
        values = read if isinstance(read, dict) else _by_key(read)
        for key, value in written.items():
            yield from _misfits(value, values.get(key), f"{place}.{key}" if place else key)
    elif isinstance(written, list) and isinstance(read, tuple) and len(written) == len(read):
        for number, (value, inner) in enumerate(zip(written, read, strict=True), start=1):
            yield from _misfits(value, inner, f"{place}.{number}")
    elif isinstance(read, int | float) and not is_open(written) and _is_unlike(written, read):
        yield place, read


def _is_unlike(written: object, read: float) -> bool:
    return isinstance(written, str) or isinstance(written, bool) is not isinstance(read, bool)


def _by_key(read: object) -> dict[str, object]:
    fields = type(read).model_fields if isinstance(read, BaseModel) else {}
    return {field.alias or name: getattr(read, name) for name, field in fields.items()}
