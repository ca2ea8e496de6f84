"""TOML from a user: it is read, or it is refused as TOML that makes no sense, whatever it holds."""

from __future__ import annotations

import re

import tomli


class TomlError(ValueError):
    """A text is no TOML, or none that makes sense."""


_UNSEEN = "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
"""Controls, marks of direction and blanks of no width, which an editor or a terminal obeys instead of showing."""


def read_toml(text: str) -> dict[str, object]:
    """Return what a TOML text holds; a byte order mark in front is ignored.

    Raises:
        TomlError: the text is no TOML, nests too deep, or holds an integer of thousands of digits. For the last two the
            parser lets other errors through.
    """
    try:
        return tomli.loads(text.removeprefix("\ufeff"))
    except tomli.TOMLDecodeError as error:
        raise TomlError(str(error)) from error
    except RecursionError:
        raise TomlError("nests too deep") from None
    except ValueError:
        raise TomlError("holds a number that is too long") from None


def written_out(text: str) -> str:
    """Return TOML or JSON in which characters that are obeyed instead of shown are written as escapes."""
    return re.sub(_UNSEEN, lambda found: f"\\u{ord(found[0]):04x}", text)
