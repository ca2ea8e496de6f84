"""The `.kicad_pro`: net classes resolved per net as KiCad resolves them, text variables, tuning profiles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from stackup_lib.board.board import NetClass, Project, TuningLayer, TuningProfile
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.plain_file import cure_of, read_plain_text
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.class_fields import PROJECT_KEYS
from stackup_lib.kicad.read.buses import members
from stackup_lib.kicad.read.patterns import is_literal, matcher

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

DEFAULT = "Default"
LAST_PRIORITY = 2147483647
"""The number KiCad gives to Default: the larger the number, the later the class applies."""
_NM_PER_MM = 1_000_000
_EXCLUSION_PARTS = 5
MOST = 1e12
"""No number of a project is larger: sizes, also those in nanometres, and priorities end near 2e9."""


@workpiece
class Parts:
    """What a project states about its nets, before it is resolved."""

    classes: dict[str, NetClass] = field(default_factory=dict)
    patterns: list[tuple[str, str]] = field(default_factory=list)
    assignments: dict[str, tuple[str, ...]] = field(default_factory=dict)
    text_variables: dict[str, str] = field(default_factory=dict)
    tuning: tuple[TuningProfile, ...] = ()
    stated: dict[str, frozenset[str]] = field(default_factory=dict)
    limits: dict[str, Json] = field(default_factory=dict)
    severities: dict[str, str] = field(default_factory=dict)
    exclusions: frozenset[tuple[str, frozenset[str]]] = frozenset()


class _Reader:
    """Typed access to the JSON; a wrong type is an error that names the key."""

    def __init__(self, label: str) -> None:
        self.label = label

    def error(self, key: str, what: str) -> BoardFileError:
        return BoardFileError(self.label, f"{key} {what}", "open the project in KiCad and save it again")

    def mapping(self, holder: Mapping[str, Json], key: str, path: str) -> dict[str, Json]:
        found = holder.get(key)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise self.error(f"{path}{key}", "is not an object")
        return found

    def rows(self, holder: Mapping[str, Json], key: str, path: str) -> list[dict[str, Json]]:
        found = holder.get(key)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(r, dict) for r in found):
            raise self.error(f"{path}{key}", "is not a list of objects")
        return [r for r in found if isinstance(r, dict)]

    def text(self, holder: Mapping[str, Json], key: str, path: str) -> str:
        found = holder.get(key, "")
        if not isinstance(found, str):
            raise self.error(f"{path}{key}", "is not a text")
        return found

    def number(self, holder: Mapping[str, Json], key: str, path: str) -> float | None:
        found = holder.get(key)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= MOST:
            raise self.error(f"{path}{key}", "is not a number that a project can hold")
        return float(found)


def read_project(path: Path | None, nets: Iterable[str]) -> Project:
    """Return what a `.kicad_pro` says, with the classes of every net of `nets`; see `project_and_remarks`."""
    return project_and_remarks(path, nets)[0]


def project_and_remarks(path: Path | None, nets: Iterable[str]) -> tuple[Project, tuple[str, ...]]:
    """Return what a `.kicad_pro` says, and what was odd about it.

    Args:
        path: the file; None for a board without one, which has the class Default only.
        nets: names of the board's nets.

    Raises:
        BoardFileError: the file cannot be read, is no JSON, or holds a value of the wrong type.
    """
    parts = Parts() if path is None else _read(path)
    return resolve(path, parts, nets)


def resolve(path: Path | None, parts: Parts, nets: Iterable[str]) -> tuple[Project, tuple[str, ...]]:
    """Return a project whose classes are resolved for every net, and remarks.

    All classes of matching patterns and of the net's own assignment hold together, the smallest priority number first,
    then by name; classes that do not exist set no size, but conditions of rules see their names (KiCad 10.0.6). A net
    that nothing names takes the classes of its bus members when they all have the same.
    """
    classes = parts.classes
    classes.setdefault(DEFAULT, NetClass(name=DEFAULT, priority=LAST_PRIORITY))
    known = [(p, c) for p, c in parts.patterns if c != DEFAULT]
    alternatives = [(member, name) for pattern, name in known for member in members(pattern)]
    names = list(nets)
    asked = {"longest": max(map(len, names), default=0), "names": len(names)}
    tests = [(matcher(member, **asked), name) for member, name in alternatives if not is_literal(member)]
    literal: dict[str, set[str]] = {}
    for member, name in alternatives:
        if is_literal(member):
            literal.setdefault(member, set()).add(name)

    def direct(net: str) -> frozenset[str]:
        named = {name for name in parts.assignments.get(net, ()) if name != DEFAULT}
        return frozenset(named | literal.get(net, set()) | {name for (test, _), name in tests if test(net)})

    def resolved(net: str) -> frozenset[str]:
        found = direct(net)
        parts_of_bus = members(net)
        if found or parts_of_bus == [net]:
            return found
        of_members = {direct(member) for member in parts_of_bus}
        return of_members.pop() if len(of_members) == 1 else frozenset()

    net_classes_of: dict[str, tuple[str, ...]] = {}
    undefined_classes_of: dict[str, tuple[str, ...]] = {}
    for net in names:
        if not net or not (found := resolved(net)):
            continue
        if defined := sorted(found & classes.keys(), key=lambda name: (classes[name].priority, name)):
            net_classes_of[net] = tuple(defined)
        if undefined := sorted(found - classes.keys()):
            undefined_classes_of[net] = tuple(undefined)
    project = Project(
        path=path,
        classes=classes,
        patterns=tuple(parts.patterns),
        assignments=parts.assignments,
        text_variables=parts.text_variables,
        tuning_profiles=parts.tuning,
        net_classes_of=net_classes_of,
        undefined_classes_of=undefined_classes_of,
        stated=parts.stated,
        limits=parts.limits,
        severities=parts.severities,
        exclusions=parts.exclusions,
    )
    return project, tuple(dict.fromkeys(remark for (_, remark), _ in tests if remark))


def _read(path: Path) -> Parts:
    reader = _Reader(str(path))
    holder = _load(path)
    settings = reader.mapping(holder, "net_settings", "")
    parts = Parts()
    for order, row in enumerate(reader.rows(settings, "classes", "net_settings.")):
        net_class = _net_class(reader, row, order)
        parts.classes[net_class.name] = net_class
        parts.stated[net_class.name] = frozenset(key for key, value in row.items() if value is not None)
        for net in _names(reader, row, "nets", "net_settings.classes."):
            parts.assignments[net] = (*parts.assignments.get(net, ()), net_class.name)
    for row in reader.rows(settings, "netclass_patterns", "net_settings."):
        at = "net_settings.netclass_patterns."
        parts.patterns.append((reader.text(row, "pattern", at), reader.text(row, "netclass", at)))
    assigned = reader.mapping(settings, "netclass_assignments", "net_settings.")
    for net in assigned:
        parts.assignments[net] = tuple(_names(reader, assigned, net, "net_settings.netclass_assignments."))
    variables = reader.mapping(holder, "text_variables", "")
    parts.text_variables = {key: reader.text(variables, key, "text_variables.") for key in variables}
    design = _board_settings(holder)
    parts.limits = _mapping_or_none(design.get("rules"))
    severities = _mapping_or_none(design.get("rule_severities"))
    parts.severities = {name: word for name, word in severities.items() if isinstance(word, str)}
    parts.exclusions = frozenset(_exclusions(design.get("drc_exclusions")))
    parts.tuning = _tuning(reader, reader.mapping(holder, "tuning_profiles", ""))
    return parts


def _board_settings(holder: Mapping[str, Json]) -> dict[str, Json]:
    """Return Board Setup's part of the project; nothing where the file does not hold it as KiCad writes it."""
    return _mapping_or_none(_mapping_or_none(holder.get("board")).get("design_settings"))


def _mapping_or_none(found: Json) -> dict[str, Json]:
    return found if isinstance(found, dict) else {}


def _exclusions(rows: Json) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield type and items of `type|x|y|uuid|uuid`, which newer files put into a list with a comment."""
    for row in rows if isinstance(rows, list) else ():
        text = row[0] if isinstance(row, list) and row else row
        parts = text.split("|") if isinstance(text, str) else []
        if len(parts) >= _EXCLUSION_PARTS:
            yield parts[0], frozenset(uuid for uuid in parts[3:5] if uuid.strip("0-"))


def _load(path: Path) -> dict[str, Json]:
    try:
        text = read_plain_text(path, "utf-8-sig")
    except OSError as bad:
        fix = cure_of(bad, "check the name and its permissions")
        raise BoardFileError(str(path), f"cannot be read ({bad.strerror})", fix) from None
    except UnicodeDecodeError:
        raise BoardFileError(str(path), "is not UTF-8 text", "open the project in KiCad and save it again") from None
    repair = "correct the JSON, or delete the file and let KiCad make a new one"
    try:
        found: Json = json.loads(text)
    except json.JSONDecodeError as bad:
        raise BoardFileError(f"{path}, line {bad.lineno}", f"is not valid JSON ({bad.msg})", repair) from None
    except (RecursionError, ValueError):
        raise BoardFileError(str(path), "is not a JSON that can be read", repair) from None
    if not isinstance(found, dict):
        raise BoardFileError(str(path), "is not a KiCad project (no JSON object)", repair)
    return found


def _names(reader: _Reader, holder: Mapping[str, Json], key: str, path: str) -> list[str]:
    """A list of names, one name as a plain text, or null."""
    found = holder.get(key)
    if found is None:
        return []
    if isinstance(found, str):
        return [found]
    if isinstance(found, list) and all(isinstance(n, str) for n in found):
        return [str(n) for n in found]
    raise reader.error(f"{path}{key}", "is not a list of names")


def _net_class(reader: _Reader, row: Mapping[str, Json], order: int) -> NetClass:
    """One class; files before KiCad 9 state no priority, there the order decides."""
    at = "net_settings.classes."
    name = reader.text(row, "name", at)
    if not name:
        raise reader.error(at[:-1], "holds a class without a name")
    priority = reader.number(row, "priority", at)
    fallback = LAST_PRIORITY if name == DEFAULT else order
    sizes = {field_name: reader.number(row, key, at) for field_name, key in PROJECT_KEYS.items()}
    return NetClass(
        name=name,
        priority=fallback if priority is None else int(priority),
        tuning_profile=reader.text(row, "tuning_profile", at) or None,
        **sizes,
    )


def _tuning(reader: _Reader, block: Mapping[str, Json]) -> tuple[TuningProfile, ...]:
    at = "tuning_profiles.tuning_profiles_impedance_geometric."
    profiles = []
    for row in reader.rows(block, "tuning_profiles_impedance_geometric", "tuning_profiles."):
        target = reader.number(row, "target_impedance", at)
        profiles.append(
            TuningProfile(
                name=reader.text(row, "profile_name", at),
                differential=reader.number(row, "type", at) == 1.0,
                target_ohm=0.0 if target is None else target,
                layers=tuple(_tuning_layer(reader, r, at) for r in reader.rows(row, "layer_entries", at)),
            )
        )
    return tuple(profiles)


def _tuning_layer(reader: _Reader, row: Mapping[str, Json], at: str) -> TuningLayer:
    def reference(key: str) -> str | None:
        found = reader.text(row, key, at)
        return None if found in ("", "UNDEFINED") else found

    def size_mm(key: str) -> float | None:
        found = reader.number(row, key, at)
        return None if found is None else found / _NM_PER_MM

    return TuningLayer(
        signal_layer=reader.text(row, "signal_layer", at),
        top_reference=reference("top_reference_layer"),
        bottom_reference=reference("bottom_reference_layer"),
        width_mm=size_mm("width"),
        gap_mm=size_mm("diff_pair_gap"),
    )
