"""Counts and lists as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 error`, `2 errors`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def some(words: Iterable[str], shown: int = 4) -> str:
    """Return the first few words, and how many were left out."""
    every = list(words)
    rest = len(every) - shown
    return ", ".join(every[:shown]) + (f" and {rest} more" if rest > 0 else "")


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`; "" for none."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
