"""Small words of the user interface: harmless text, counts, values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stackup_lib.core.kicad_text import with_slashes
from stackup_lib.core.words import count, some

__all__ = ["clean", "count", "no_command", "number", "sentence", "some", "together"]

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Return text that a terminal only prints.

    Board files may hold anything in a net name: escape sequences, line breaks, marks that turn the writing around.
    White space becomes a blank, the rest is written out as `\x1b`; so is what a CI runner obeys wherever it stands in
    a line of the log, `##[...]`. A slash in the label of a net, `{slash}` in the file, reads as KiCad shows it.
    """
    shown = with_slashes(text)
    harmless = _UNSAFE.sub(lambda m: " " if m[0] in "\t\n\r\v\f\x85\u2028\u2029" else _written_out(m[0]), shown)
    return harmless.replace("##[", "\\x23#[")


def no_command(line: str) -> str:
    """Return a line of a page that a CI runner only logs: GitHub's obeys one that begins with two colons."""
    return line.replace("::", "\\x3a:", 1) if line.lstrip().startswith("::") else line


def _written_out(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def number(value: float | str | None, unit: str = "") -> str:
    """Return a value as people write it: at most five digits, the unit behind it."""
    if value is None:
        return ""
    text = f"{value:.5g}" if isinstance(value, float) else str(value)
    if isinstance(value, float) and "e+" in text:
        text = f"{value:.0f}"  # no powers of ten
    if unit.startswith(":"):
        return text + unit  # an aspect ratio of 12:1
    return f"{text} {_singular(unit) if text == '1' else unit}".strip()


def _singular(unit: str) -> str:
    """Return `via` for `vias`; units that are no counted things, such as `ps`, stay."""
    return unit[:-1] if unit.endswith("s") and not unit.endswith("ss") and len(unit) > 3 else unit


def sentence(text: str) -> str:
    """Return text with a capital at its beginning; what stands behind it is left alone."""
    return text[:1].upper() + text[1:]


def together(names: Iterable[str]) -> str:
    """Return names in a list, words that neighbours share once: `dielectric 2, 4, 6, B.Mask`."""
    found: list[str] = []
    last = ""
    for name in names:
        head, _, tail = name.rpartition(" ")
        found.append(tail if head and head == last else name)
        last = head
    return ", ".join(found)
