"""TOML that somebody else wrote: it is read, or it is refused as TOML that makes no sense, whatever it holds."""

from __future__ import annotations

import tomllib

TomlError = tomllib.TOMLDecodeError


def read_toml(text: str) -> dict[str, object]:
    """Return what a TOML text holds; a byte order mark in front is ignored.

    Raises:
        TomlError: the text is no TOML, nests too deep, or holds an integer of thousands of digits. Python's own parser
            lets other errors through for the last two.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except TomlError:
        raise
    except RecursionError:
        raise TomlError("nests too deep") from None
    except ValueError:
        raise TomlError("holds a number that is too long") from None
