"""The one family of errors that a user may see: what, where, and the next step to take."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Hashable, Iterable, MutableMapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_SAID = 1000
"""Characters of what an error says."""
MOST_PLACE = 3000
"""Characters of where; a path may be long."""


class StackwrightError(Exception):
    """The check could not be made.

    Args:
        where: file, or file and line, or option that is at fault.
        what: what is wrong with it, in a few words.
        next_step: what to do about it.
    """

    exit_code = 2

    def __init__(self, where: str, what: str, next_step: str) -> None:
        super().__init__(where, what, next_step)
        self.where = _shortened(where, MOST_PLACE)
        self.what = _shortened(what, MOST_SAID)
        self._next_step = next_step

    @property
    def next_step(self) -> str:
        """What to do about it."""
        return self._next_step

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.next_step}"


def _shortened(text: str, most: int) -> str:
    """A text without its middle where a file's own words make it long: an error stays one line."""
    return text if len(text) <= most else f"{text[: most - 100]} ... {text[-90:]}"


def answer_once(answers: MutableMapping[K, V | StackwrightError], key: K, answer: Callable[[], V]) -> V:
    """Return the answer that is kept under a key, or work it out and keep it; an error is kept and raised as well."""
    if key not in answers:
        try:
            answers[key] = answer()
        except StackwrightError as error:
            answers[key] = error
    found = answers[key]
    if isinstance(found, StackwrightError):
        raise found
    return found


class BoardFileError(StackwrightError):
    """A board or project file that cannot be read."""


class ConfigError(StackwrightError):
    """A setting, profile or declaration that makes no sense."""


class NotWrittenError(StackwrightError):
    """A file that was not changed; it is as it was."""


MOST_SHOWN = 24


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """Return the nearest known word, "" where none is near."""
    lowered = {w.lower(): w for w in sorted(known)}
    near = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[near[0]] if near else ""


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """Return `did you mean "x"?` for the nearest known word, else the known words where they are few, and some."""
    words = sorted(known)
    near = nearest(word, words, cutoff=cutoff)
    if near:
        return f'did you mean "{near}"?'
    if not words:
        return "there is none at all"
    return "known: " + ", ".join(words) if len(words) <= MOST_SHOWN else "no known name is like it"
