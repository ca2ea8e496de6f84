"""A JSON text in which single values are replaced or added, and everything else keeps its bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.record import record

Value: TypeAlias = "dict[str, Value] | list[Value] | str | int | float | bool | None"
Path: TypeAlias = "Sequence[str | int]"

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_REPAIR = "correct the JSON, or open the project in KiCad and save it again"


@record
class _Member:
    """A member of an object, or an element of an array (without key): where it begins, and where its value stands."""

    key: str
    begin: int
    start: int
    end: int


@record
class JsonDocument:
    """The text; a document is not changed, its methods return another."""

    text: str
    label: str
    mark: bytes = b""

    @classmethod
    def of(cls, content: bytes, label: str) -> JsonDocument:
        """Return the document in a file's bytes.

        Raises:
            NotWrittenError: it is not a JSON object.
        """
        mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
        try:
            made = cls(content[len(mark) :].decode("utf-8"), label, mark)
            if not isinstance(json.loads(made.text), dict):
                raise made.error("is not a KiCad project (no JSON object)")
        except (ValueError, RecursionError):
            raise NotWrittenError(label, "is not valid JSON", _REPAIR) from None
        return made

    def error(self, what: str) -> NotWrittenError:
        """Return an error about this document."""
        return NotWrittenError(self.label, what, _REPAIR)

    def encoded(self) -> bytes:
        """Return the document's bytes.

        Raises:
            NotWrittenError: what was copied holds half of a character pair, which JSON can escape and UTF-8 cannot.
        """
        try:
            return self.mark + self.text.encode("utf-8")
        except UnicodeEncodeError:
            raise self.error("holds half of a character pair") from None

    def value(self, path: Path) -> Value:
        """Return the value at a path of keys and indices; None where there is none."""
        place = self._place(path)
        if place is None:
            return None
        found: Value = _DECODER.raw_decode(self.text, place[0])[0]
        return found

    def with_member(self, path: Path, key: str, value: Value) -> JsonDocument:
        """Return the document with a member of the object at `path` set; a new one goes where KiCad sorts it."""
        members = list(self._members(path))
        known = [m for m in members if m.key == key]
        start, end = self._need(path)
        if known:
            last = known[-1]
            return self._spliced(last.start, last.end, self._dumped(value, self._indent(last.begin)))
        if not members:
            inner = self._indent(start) + self._unit()
            return self._spliced(
                start, end, f"{{{inner}{_pair(key, self._dumped(value, inner))}{self._indent(start)}}}"
            )
        blanks = self._blanks_before(members[0].begin)
        text = _pair(key, self._dumped(value, blanks))
        keys = [m.key for m in members]
        after = next((m for m in members if m.key > key), None) if keys == sorted(keys) else None
        if after is None:
            return self._spliced(members[-1].end, members[-1].end, f",{blanks}{text}")
        return self._spliced(after.begin, after.begin, f"{text},{blanks}")

    def with_element(self, path: Path, value: Value) -> JsonDocument:
        """Return the document with a value added at the end of the array at `path`."""
        start, end = self._need(path)
        members = list(self._members(path))
        if members:
            blanks = self._blanks_before(members[0].begin)
            return self._spliced(members[-1].end, members[-1].end, f",{blanks}{self._dumped(value, blanks)}")
        outer = self._indent(start)
        inner = outer + self._unit()
        return self._spliced(start, end, f"[{inner}{self._dumped(value, inner)}{outer}]")

    def _spliced(self, start: int, end: int, new: str) -> JsonDocument:
        return replace(self, text=self.text[:start] + new + self.text[end:])

    def _need(self, path: Path) -> tuple[int, int]:
        place = self._place(path)
        if place is None:
            raise self.error(f"holds no {'.'.join(map(str, path))}")
        return place

    def _place(self, path: Path) -> tuple[int, int] | None:
        """Where the value at a path begins and ends."""
        start = self._skip(0)
        end = _DECODER.raw_decode(self.text, start)[1]
        for step in path:
            members = list(self._inside(start))
            if isinstance(step, int):
                chosen = members[step : step + 1] if self.text[start] == "[" else []
            else:
                chosen = [m for m in members if m.key == step][-1:] if self.text[start] == "{" else []
            if not chosen:
                return None
            start, end = chosen[0].start, chosen[0].end
        return start, end

    def _members(self, path: Path) -> Iterator[_Member]:
        return self._inside(self._need(path)[0])

    def _inside(self, start: int) -> Iterator[_Member]:
        """Yield the members of the object, or the elements of the array, that begins at `start`."""
        is_object = self.text[start] == "{"
        if not is_object and self.text[start] != "[":
            return
        at = self._skip(start + 1)
        while self.text[at] not in "}]":
            begin, key = at, ""
            if is_object:
                key, at = _DECODER.raw_decode(self.text, at)
                at = self._skip(self._skip(at) + 1)
            end = _DECODER.raw_decode(self.text, at)[1]
            yield _Member(key, begin, at, end)
            at = self._skip(end)
            if self.text[at] == ",":
                at = self._skip(at + 1)

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def _blanks_before(self, at: int) -> str:
        return self.text[len(self.text[:at].rstrip(" \t\r\n")) : at]

    def _indent(self, at: int) -> str:
        """The line break and indentation of the line that holds a place; "" in a text of one line."""
        line = self.text.rfind("\n", 0, at)
        if line < 0:
            return "\n" if "\n" in self.text else ""
        found = re.compile(r"[ \t]*").match(self.text, line + 1)
        return ("\r\n" if self.text[line - 1 : line] == "\r" else "\n") + (found.group() if found else "")

    def _unit(self) -> str:
        """One step of indentation: what stands in front of the first member; two blanks when there is none."""
        first = next(self._inside(self._skip(0)), None)
        blanks = "\n  " if first is None else self._blanks_before(first.begin)
        return blanks.rpartition("\n")[2] if "\n" in blanks else ""

    def _dumped(self, value: Value, blanks: str) -> str:
        """A value as text, its lines indented like the line that begins with `blanks`."""
        if "\n" not in blanks:
            return json.dumps(value, ensure_ascii=False)
        return json.dumps(value, ensure_ascii=False, indent=self._unit() or 2).replace("\n", blanks)


def _pair(key: str, value: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {value}"
