"""Net classes into the bytes of a `.kicad_pro`; every other byte of it stays.

KiCad writes the project anew whenever it saves one: while it is open, what is written here would be lost
(`stackup_lib.kicad.write.file_edit` refuses then).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from stackup_lib.board.planned import PlannedClass
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.record import record
from stackup_lib.kicad.class_fields import PROJECT_KEYS
from stackup_lib.kicad.read.project import DEFAULT, LAST_PRIORITY
from stackup_lib.kicad.write.json_spans import JsonDocument, Value

_NO_COLOR = "rgba(0, 0, 0, 0.000)"
_DIGITS = 6
"""KiCad keeps whole nanometres."""


@record
class ProjectChange:
    """One thing that changed: a key of a net class, or a pattern; `before` is None where there was none."""

    net_class: str
    key: str
    before: float | str | None
    after: float | str

    def __str__(self) -> str:
        was = "" if self.before is None else f"{self.before} -> "
        return f"net class {self.net_class}: {self.key} {was}{self.after}"


@record
class ProjectEdit:
    """The new content of a project, and what changed in it; without changes the bytes are the same."""

    content: bytes
    changes: tuple[ProjectChange, ...]


def set_net_classes(text: bytes, classes: Iterable[PlannedClass], *, label: str = "the project") -> ProjectEdit:
    """Return a project's bytes with the planned net classes in it.

    A class that is there changes only in what the plan states. A new class follows the others; where the project's
    classes carry no priority (KiCad 6 to 8) it takes what the plan leaves open from Default, as those versions ask.

    Raises:
        NotWrittenError: the project is no JSON of the expected shape, or the plan contains what Default cannot have.
    """
    document = JsonDocument.of(text, label)
    changes: list[ProjectChange] = []
    for planned in classes:
        if planned.name == DEFAULT and (planned.patterns or planned.priority not in (None, LAST_PRIORITY)):
            what = "Default takes neither patterns nor a priority: it holds where no other class does"
            raise NotWrittenError(label, what, "give the class a name of its own")
        document = _ensured(document)
        document, changed = _with_class(document, planned)
        changes += changed
        for pattern in planned.patterns:
            document, added = _with_pattern(document, planned.name, pattern)
            changes += added
    return ProjectEdit(document.encoded() if changes else text, tuple(changes))


def least_width_mm(text: bytes, *, label: str = "the project") -> float | None:
    """Return the narrowest track that a project's own constraints allow, None where it states no limit.

    Raises:
        NotWrittenError: the project is no JSON of the expected shape.
    """
    stated = JsonDocument.of(text, label).value(("board", "design_settings", "rules", "min_track_width"))
    return float(stated) if _is_number(stated) else None


def _ensured(document: JsonDocument) -> JsonDocument:
    """The document with a place for net classes and patterns."""
    if not isinstance(document.value(("net_settings",)), dict):
        document = document.with_member((), "net_settings", {"classes": [], "netclass_patterns": []})
    for key in ("classes", "netclass_patterns"):
        found = document.value(("net_settings", key))
        if found is None:
            document = document.with_member(("net_settings",), key, [])
        elif not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise document.error(f"net_settings.{key} is not a list of objects")
    return document


def _rows(document: JsonDocument, key: str) -> list[dict[str, Value]]:
    found = document.value(("net_settings", key))
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _with_class(document: JsonDocument, planned: PlannedClass) -> tuple[JsonDocument, list[ProjectChange]]:
    rows = _rows(document, "classes")
    wanted = _wanted(planned)
    named = [i for i, row in enumerate(rows) if row.get("name") == planned.name]
    if not named:
        row = _new_class(rows, planned, wanted)
        stated = [(key, row[key]) for key in sorted({*wanted, *(["priority"] if "priority" in row else [])})]
        changes = [ProjectChange(planned.name, key, None, v) for key, v in stated if isinstance(v, float | int | str)]
        added = ProjectChange(planned.name, "class", None, "added")
        return document.with_element(("net_settings", "classes"), dict(sorted(row.items()))), [added, *changes]
    at = named[-1]
    if planned.priority is not None and planned.name != DEFAULT:
        wanted["priority"] = planned.priority
    changes = []
    for key, value in sorted(wanted.items()):
        before = rows[at].get(key)
        if _is_number(before) and round(float(before), _DIGITS) == value:
            continue
        document = document.with_member(("net_settings", "classes", at), key, value)
        shown = before if isinstance(before, float | int | str) else None
        changes.append(ProjectChange(planned.name, key, shown, value))
    return document, changes


def _wanted(planned: PlannedClass) -> dict[str, float | int]:
    stated = {key: getattr(planned, field) for field, key in sorted(PROJECT_KEYS.items())}
    return {key: round(float(value), _DIGITS) for key, value in stated.items() if value is not None}


def _is_number(found: Value) -> TypeGuard[float]:
    return isinstance(found, int | float) and not isinstance(found, bool)


def _new_class(
    rows: Sequence[dict[str, Value]], planned: PlannedClass, wanted: dict[str, float | int]
) -> dict[str, Value]:
    priorities = [row["priority"] for row in rows if isinstance(row.get("priority"), int)]
    if rows and not priorities:
        default = next((row for row in rows if row.get("name") == DEFAULT), {})
        return {**{k: v for k, v in default.items() if k != "nets"}, **wanted, "name": planned.name}
    others = [p for p in priorities if isinstance(p, int) and p < LAST_PRIORITY]
    following = max(others, default=-1) + 1
    priority = following if planned.priority is None else planned.priority
    colors: dict[str, Value] = {"pcb_color": _NO_COLOR, "schematic_color": _NO_COLOR}
    return {**colors, **wanted, "name": planned.name, "priority": priority}


def _with_pattern(document: JsonDocument, name: str, pattern: str) -> tuple[JsonDocument, list[ProjectChange]]:
    row: dict[str, Value] = {"netclass": name, "pattern": pattern}
    if any(r.get("netclass") == name and r.get("pattern") == pattern for r in _rows(document, "netclass_patterns")):
        return document, []
    document = document.with_element(("net_settings", "netclass_patterns"), row)
    return document, [ProjectChange(name, "pattern", None, json.dumps(pattern, ensure_ascii=False))]
