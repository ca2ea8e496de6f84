"""What people call keys of `stackwright.toml`, for who gets one wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.files.toml_text import read_toml

FILE = Path(__file__).with_name("key_synonyms.toml")


@cache
def key_synonyms() -> Mapping[str, list[str]]:
    """Return what people call keys, in lower case, and the keys that may be meant."""
    return cast("dict[str, list[str]]", read_toml(read_plain_text(FILE)))


def keys_meant(word: str) -> list[str]:
    """Return the keys that may be meant by another word, the likeliest first."""
    return key_synonyms().get(word, [])
