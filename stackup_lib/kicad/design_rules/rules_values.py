"""Whether KiCad 10 takes the values of a constraint: where not, it ignores the whole file. Each was tried on 10.0.6."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

WORDS = {
    "disallow": frozenset(
        [
            "track",
            "via",
            "through_via",
            "micro_via",
            "blind_via",
            "buried_via",
            "pad",
            "zone",
            "text",
            "graphic",
            "hole",
            "footprint",
        ]
    ),
    "zone_connection": frozenset(["solid", "thermal_reliefs", "none"]),
}
"""Constraints that take words, in small letters: `disallow` any number of them, `zone_connection` one."""

BARE = frozenset([*WORDS, "assertion", "min_resolved_spokes"])
"""Constraints without `(min ...)` and the like."""

NUMBERS = frozenset(["bridged_mask", "track_angle", "via_count", "via_dangling"])
"""Constraints whose limits are plain numbers; those of all others are lengths."""

_TIMED = frozenset(["length", "skew"])
_LENGTH_UNITS, _TIME_UNITS = ("mm", "mil", "in"), ("ps", "fs")
_NUMBER = r"(?P<number>[-+]?\d+\.?\d*)(?P<unit>[a-zA-Zµ\"%]*)"
_BEGINS_WITH_DOT = r"[-+]?\.\d"
_WHOLE = r"-?\d+(?:\.\d*)?"
_EXPONENT = r"(?<![a-zA-Z_.\d])\d+\.?\d*[eE][-+]?\d"
_ENDS, _BEGINS = r"[\w.)]$", r"[\w.(]"
"""How one operand of an expression ends and the next begins: between them stands an operator."""


def limit_problem(kind: str, head: str, words: Sequence[str]) -> str | None:
    """Return what KiCad rejects in a limit such as `(min 0.1mm)`; None for nothing, and for expressions."""
    text, shown = "".join(words), f"({head} {' '.join(words)}) of {kind}"
    if not words:
        return f"({head}) of {kind} without a value"
    if not any(sign.isdigit() for sign in text):
        return f"{shown} without a number"
    if re.match(_BEGINS_WITH_DOT, text):
        return f"{shown} begins with a dot: KiCad needs the 0 before it"
    if re.search(_EXPONENT, text):
        return f"{shown} has an exponent, which KiCad does not read"
    if any(_are_two_numbers(*pair) for pair in pairwise(words)):
        return f"{shown}, which is more than one number"
    found = re.fullmatch(_NUMBER, text)
    if found is None:
        return None
    unit = found["unit"]
    if not unit and text.startswith("-"):  # KiCad takes it for an expression
        return None
    if kind in NUMBERS:
        return f'{shown} has the unit "{unit}"; KiCad takes a plain number' if unit else None
    known = (*_LENGTH_UNITS, *(_TIME_UNITS if kind in _TIMED else ()))
    if unit in known:
        return None
    has = f'the unit "{unit}"' if unit else "no unit"
    return f"{shown} has {has}; KiCad knows {', '.join(known[:-1])} and {known[-1]}"


def _are_two_numbers(word: str, following: str) -> bool:
    """Tell whether two words are a number each, with no operator between; `1 mm` is a number and its unit."""
    return bool(re.search(_ENDS, word) and re.match(_BEGINS, following)) and any(sign.isdigit() for sign in following)


def mixed_problem(kind: str, limits: Sequence[Sequence[str]]) -> str | None:
    """Return what KiCad rejects in the limits of one constraint together: lengths and times."""
    units = {unit for words in limits for unit in re.findall(r"(?<=[\d. ])(?:mm|mil|in|ps|fs)\b", " ".join(words))}
    if kind in _TIMED and units & {*_TIME_UNITS} and units & {*_LENGTH_UNITS}:
        return f"lengths and times in one constraint {kind}"
    return None


def bare_problem(kind: str, words: Sequence[str | None], *, is_quoted: bool) -> str | None:
    """Return what KiCad rejects behind the name of one of the `BARE` constraints.

    Args:
        kind: of the constraint.
        words: what stands there; None for something in parentheses.
        is_quoted: the first of them is in quotes.
    """
    if None in words:
        return f"parentheses in the constraint {kind}"
    if kind != "disallow" and len(words) != 1:
        return f"{len(words)} values in the constraint {kind}, which takes one"
    if kind == "min_resolved_spokes" and (is_quoted or not re.fullmatch(_WHOLE, words[0] or "")):
        return f'"{words[0]}" in the constraint {kind}, which takes a number'
    odd = next((word for word in words if kind in WORDS and word not in WORDS[kind]), None)
    return f'"{odd}" in the constraint {kind}' if odd is not None else None
