"""Lists of a board file with the places where each word stands, so that single words can be replaced in the bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.record import record
from stackup_lib.kicad.syntax import tree

_TOKEN = re.compile(rb'[()]|"[^"\\]*(?:\\.[^"\\]*)*"|(?:\\[\\"]?|[^\s()"\\])+', re.DOTALL)


@record
class Edit:
    """Bytes to put in place of `start:end`; an insertion where both are equal."""

    start: int
    end: int
    new: str


@record
class Word:
    """A word and where it stands; `text` is without quotes."""

    text: str
    start: int
    end: int


@record
class EditSpan:
    """A list and where it stands, both parentheses included."""

    parts: tuple[Part, ...]
    start: int
    end: int

    @property
    def head(self) -> str:
        """The first word, "" when the list does not begin with one."""
        return self.word(0)

    def word(self, index: int) -> str:
        """The word at a place of the list, "" when none is there."""
        part = self.parts[index] if index < len(self.parts) else None
        return part.text if isinstance(part, Word) else ""

    def lists(self, name: str | None = None) -> Iterator[EditSpan]:
        """Yield the lists inside, all or those with this first word."""
        for part in self.parts:
            if isinstance(part, EditSpan) and name in (None, part.head):
                yield part

    def find(self, name: str) -> EditSpan | None:
        """The first list inside with this first word."""
        return next(self.lists(name), None)

    def end_before(self, part: Part) -> int:
        """Where the word or list in front of `part` ends; after the opening parenthesis when there is none."""
        at = self.parts.index(part)
        return self.parts[at - 1].end if at else self.start + 1


Part: TypeAlias = "Word | EditSpan"


def spans(data: bytes, start: int, end: int) -> EditSpan:
    """Return the list between two offsets of a file; its parentheses are known to balance."""
    stack: list[tuple[int, list[Part]]] = [(start, [])]
    for token in _TOKEN.finditer(data, start, end):
        word = token.group()
        if word == b"(":
            stack.append((token.start(), []))
        elif word == b")":
            opened, parts = stack.pop()
            stack[-1][1].append(EditSpan(tuple(parts), opened, token.end()))
        else:
            text = tree.unquoted(word.decode("utf-8", "replace"))
            stack[-1][1].append(Word(text, token.start(), token.end()))
    found = stack[0][1][0]
    assert isinstance(found, EditSpan)  # noqa: S101 - the scan found an opening parenthesis at `start`
    return found


def apply_edits(text: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `text` with the edits made; insertions at one place stand in the order given.

    Raises:
        NotWrittenError: two edits overlap, which would be a mistake of ours.
    """
    parts: list[bytes] = []
    done = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < done:
            raise NotWrittenError("the board", f"two changes meet at byte {edit.start}", "report this with the board")
        parts += [text[done : edit.start], edit.new.encode()]
        done = edit.end
    return b"".join([*parts, text[done:]])


def quoted(text: str) -> str:
    """Return a text as KiCad writes it, in quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def length_text(value_mm: float) -> str:
    """Return a length as KiCad writes it: whole nanometres, no trailing zeros."""
    text = f"{value_mm:.6f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def number_text(value: float) -> str:
    """Return a number without unit as KiCad 10 writes it: ten digits, never an exponent."""
    text = f"{value:.10g}"
    return f"{value:.16f}".rstrip("0").rstrip(".") if "e" in text else text
