"""What a part is by the letters of its reference designator: `references.toml` lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

import tomli

_LETTERS = re.compile(r"[A-Za-z]+")


class ReferenceKind(StrEnum):
    """What a part is by its reference."""

    CAPACITOR = "capacitor"
    CAPACITOR_ARRAY = "capacitor_array"
    RESISTOR = "resistor"
    RESISTOR_ARRAY = "resistor_array"
    INDUCTOR = "inductor"
    FERRITE = "ferrite"
    TRANSFORMER = "transformer"
    DIODE = "diode"
    FUSE = "fuse"
    TRANSISTOR = "transistor"
    CHIP = "chip"
    ANTENNA = "antenna"
    SOCKET = "socket"
    JUMPER = "jumper"
    TEST_POINT = "test_point"
    HOLE = "hole"
    OTHER = "other"


def letters_of(reference: str) -> str:
    """Return the letters that a reference begins with, in capitals."""
    found = _LETTERS.match(reference)
    return found[0].upper() if found else ""


@lru_cache(maxsize=65536)
def reference_kind(reference: str) -> ReferenceKind:
    """Return what a part is by all the letters of its reference: `L1` is an inductor, `LED1` is none."""
    return _kinds().get(letters_of(reference), ReferenceKind.OTHER)


@cache
def _kinds() -> Mapping[str, ReferenceKind]:
    table = tomli.loads(Path(__file__).with_name("references.toml").read_text(encoding="utf-8"))
    return {letters: ReferenceKind(kind) for kind, words in table.items() for letters in words}
