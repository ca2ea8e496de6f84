"""Values of another kind than their key has: `"12"` or `true` for a number, `"false"` or 1 for a switch."""

import json
import re
from collections.abc import Iterator

from pydantic import BaseModel

PLACEHOLDER = "?"
"""What stands in a file of the user's where a value is still open; it declares nothing."""

ALONE = "write the number alone, with a decimal point and without a unit"


def misfit_in(written: object, read: object) -> tuple[str, str] | None:
    """Return what is wrong, and what to write, of the first value that was read as another kind than it is written in.

    Pydantic takes `"12"` for 12 and `true` for 1, which the schema for editors does not.
    """
    for place, key, value, given in _misfits(written, read):
        if isinstance(value, bool):
            return f'"{place}" is true or false, without quotes', f"write {_toml_key(key)} = {str(value).lower()}"
        if isinstance(given, bool):
            return f'"{place}": {str(given).lower()} is no number', ALONE
        return f'"{place}" is a number, without quotes', f"write {_toml_key(key)} = {format(value, '.12g')}"
    return None


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _misfits(
    written: object, read: object, place: str = "", last: str = ""
) -> Iterator[tuple[str, str, float, object]]:
    """Yield place and key of each, what was read, and what is written; keys that were not read are left out."""
    if isinstance(written, dict):
        values = read if isinstance(read, dict) else _by_key(read)
        for key, value in written.items():
            yield from _misfits(value, values.get(key), f"{place}.{key}" if place else key, key)
    elif isinstance(written, list) and isinstance(read, tuple) and len(written) == len(read):
        for number, (value, inner) in enumerate(zip(written, read, strict=True), start=1):
            yield from _misfits(value, inner, f"{place}.{number}", last)
    elif isinstance(read, int | float) and written != PLACEHOLDER and _is_unlike(written, read):
        yield place, last, read, written


def _is_unlike(written: object, read: float) -> bool:
    return isinstance(written, str) or isinstance(written, bool) is not isinstance(read, bool)


def _by_key(read: object) -> dict[str, object]:
    fields = type(read).model_fields if isinstance(read, BaseModel) else {}
    return {field.alias or name: getattr(read, name) for name, field in fields.items()}
