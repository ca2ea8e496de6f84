"""Facts of a stackup into the text of a `stackwright.toml`: comments, order and other keys stay.

Lines are edited as text; then the result is read as TOML and compared with what was meant. Where they differ (inline
tables, dotted keys), nothing is written, and the message says which lines to set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy

from drc_rules.settings.config import parse_config
from drc_rules.settings.net_selection import toml_value
from drc_rules.stackup_design.plan_file import Plan
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.files.toml_text import TomlError, read_toml
from stackup_lib.core.record import record

Value = str | float
Key = tuple[tuple[str, ...], str]
"""A table's path and a key in it."""

_HEAD = re.compile(r"\s*\[(?!\[)(?P<path>.+?)\]\s*(?:#.*)?$")
_KEY = re.compile(r"\s*(?P<key>[A-Za-z0-9_-]+)\s*=")


@record
class SettingsEdit:
    """New text of the settings.

    Attributes:
        set: what was set, as lines for the user.
        retired: keys that were declared for rows that change; they stand as comments now.
    """

    text: str
    set: tuple[str, ...]
    retired: tuple[str, ...]


def facts_of(plan: Plan, digest: str) -> dict[Key, Value]:
    """Return what a plan declares beyond KiCad's fields, with the hash of the stackup for which it holds."""
    found: dict[Key, Value] = {}
    if plan.impedance_tolerance_pct is not None:
        found[("declared",), "impedance_tolerance_pct"] = plan.impedance_tolerance_pct
    for row, planned in zip(plan.rows, plan.planned.rows, strict=True):
        copper, dielectric = ("declared", "copper", planned.name), ("declared", "dielectric", planned.name)
        if row.foil is not None:
            found[copper, "foil"] = row.foil
        if row.copper_oz is not None:
            found[copper, "copper_oz"] = row.copper_oz
        if row.at_ghz is not None and row.df_of_all is not None:
            found[dielectric, "df"] = row.df_of_all
            found[dielectric, "at_ghz"] = row.at_ghz
        if row.dk_at_ghz is not None and all(sheet.dk is not None for sheet in row.sheets):
            found[dielectric, "dk_at_ghz"] = row.dk_at_ghz
    declared: dict[Key, Value] = {(("declared",), "stackup_hash"): digest, **found} if found else {}
    return declared if plan.process is None else {**declared, (("process",), "preset"): plan.process}


def edit_settings(
    text: str, facts: Mapping[Key, Value], retire: Iterable[Key] = (), *, label: str = "stackwright.toml"
) -> SettingsEdit:
    """Return the settings with the facts set, and the retired keys commented out.

    Raises:
        NotWrittenError: the text is laid out in a way that cannot be edited safely.
    """
    try:
        before = read_toml(text)
    except TomlError as bad:
        raise NotWrittenError(label, f"is not valid TOML: {bad}", "correct that line") from None
    wanted, lines = deepcopy(before), text.removesuffix("\n").split("\n")
    was, done = [], []
    for path, key in retire:
        if (value := _get(before, path, key)) is not None and (path, key) not in facts:
            _drop(wanted, path, key)
            _comment_out(lines, path, key)
            was.append(f"{'.'.join(path)}.{key} = {_shown(value)}")
    for (path, key), value in facts.items():
        if _get(before, path, key) != value:
            _put(wanted, path, key, value)
            _set(lines, path, key, value)
            done.append(f"{'.'.join(path)}.{key} = {_shown(value)}")
    if not was and not done:
        return SettingsEdit(text, (), ())
    new = "\n".join(lines) + "\n"
    try:
        agrees = _without_empty(read_toml(new)) == _without_empty(wanted)
    except TomlError:
        agrees = False
    if not agrees:
        step = "set them by hand: " + "; ".join([*done, *(f"remove {one}" for one in was)])
        raise NotWrittenError(label, "is laid out so that these facts cannot be set safely", step)
    parse_config(new, where=label)
    return SettingsEdit(new, tuple(done), tuple(was))


def _get(data: Mapping[str, object], path: tuple[str, ...], key: str) -> object:
    here: object = data
    for part in (*path, key):
        here = here.get(part) if isinstance(here, dict) else None
    return here


def _table(data: dict[str, object], path: tuple[str, ...]) -> dict[str, object]:
    for part in path:
        inner = data.setdefault(part, {})
        data = inner if isinstance(inner, dict) else {}
    return data


def _put(data: dict[str, object], path: tuple[str, ...], key: str, value: Value) -> None:
    _table(data, path)[key] = value


def _drop(data: dict[str, object], path: tuple[str, ...], key: str) -> None:
    _table(data, path).pop(key, None)


def _without_empty(value: object) -> object:
    """An empty table states nothing: `[declared.copper."In1.Cu"]` may stand alone."""
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(inner) for key, inner in value.items()}
    return {key: inner for key, inner in kept.items() if inner != {}}


def _path_of(line: str) -> tuple[str, ...] | None:
    """The path of a table's head; None for any other line."""
    if not _HEAD.match(line):
        return None
    try:
        data: object = read_toml(line)
    except TomlError:
        return None
    path: list[str] = []
    while isinstance(data, dict) and data:
        key, data = next(iter(data.items()))
        path.append(key)
    return tuple(path)


def _span(lines: list[str], path: tuple[str, ...]) -> tuple[int, int] | None:
    """First line behind a table's head, and the first line that is not in it any more."""
    heads = [k for k, line in enumerate(lines) if _path_of(line) == path]
    if not heads:
        return None
    start = heads[0] + 1
    return start, next((k for k in range(start, len(lines)) if lines[k].lstrip().startswith("[")), len(lines))


def _line_of(lines: list[str], path: tuple[str, ...], key: str) -> int | None:
    span = _span(lines, path)
    matches = ((k, _KEY.match(lines[k])) for k in range(*span)) if span else ()
    return next((k for k, match in matches if match and match["key"] == key), None)


def _comment_out(lines: list[str], path: tuple[str, ...], key: str) -> None:
    at = _line_of(lines, path, key)
    if at is not None:
        lines[at] = f"# of a former stackup: {lines[at].strip()}"


def _set(lines: list[str], path: tuple[str, ...], key: str, value: Value) -> None:
    at = _line_of(lines, path, key)
    written = f"{key} = {_shown(value)}"
    if at is not None:
        old = lines[at]
        comment = re.search(r"(\s+#[^\"']*)$", old)
        lines[at] = old[: len(old) - len(old.lstrip())] + written + (comment[1] if comment else "")
        return
    span = _span(lines, path)
    if span is None:
        if lines and lines[-1].strip():
            lines.append("")
        lines += [f"[{_head(path)}]", written]
        return
    end = span[1]
    while end > span[0] and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1  # comments in front of the next table belong to that one
    lines.insert(end, written)


def _head(path: tuple[str, ...]) -> str:
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else toml_value(part) for part in path)


def _shown(value: object) -> str:
    return toml_value(value) if isinstance(value, str) else repr(value)
