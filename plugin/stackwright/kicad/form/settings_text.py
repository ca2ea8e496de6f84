"""Answers in the text of `stackwright.toml`: comments, order and unknown keys stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, SingleKey, Table, Whitespace

from drc_rules.settings import FILE_NAME
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.core.errors import ConfigError
from stackwright.kicad.form.answers import Value, Values
from stackwright.kicad.form.model import FormQuestion

HEAD = "# Facts about {name} that KiCad has no field for.\n"


def with_answers(
    text: str, questions: Mapping[str, FormQuestion], values: Values, *, board: str, digest: str = ""
) -> str:
    """Return the settings with answers.

    Args:
        text: the settings as they are, empty where there are none.
        questions: by their ids.
        values: what was answered, by question and key.
        board: name of the board, for the head of new settings.
        digest: of the stackup; facts of it are stated for this one where no other is named.

    Raises:
        ConfigError: the settings are no TOML, or hold something else where a table is needed.
    """
    if not values:
        return text
    start = text or HEAD.format(name=board)
    try:
        settings = _Settings(tomlkit.parse(start if start.endswith("\n") else f"{start}\n"))
        if digest and any(questions[ident].is_of_stackup for ident in values):
            settings.state_stackup(digest)
        for ident, of in sorted(values.items(), key=lambda pair: len(questions[pair[0]].tables), reverse=True):
            settings.put(questions[ident], of)  # the answer for all rows first: that for one row wins
        return settings.text()
    except (TOMLKitError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(FILE_NAME, f"cannot take the answers ({error})", "correct the file in an editor") from error


class _Settings:
    """Settings that take answers: tables that are there in their place, new ones behind all others."""

    def __init__(self, document: TOMLDocument) -> None:
        self._document = document
        self._new: list[tuple[str, dict[str, Any]]] = []

    def text(self) -> str:
        """Return the settings with all of them."""
        text = tomlkit.dumps(self._document)
        for head, values in self._new:
            text = f"{text.rstrip()}\n\n{head}\n{tomlkit.dumps(values)}"
        return text

    def state_stackup(self, digest: str) -> None:
        """Say which stackup the facts are about, where they do not say it."""
        declared = self._document.get("declared", {})
        if declared.get("stackup_hash", PLACEHOLDER) == PLACEHOLDER:
            self._fill_table(("declared",), {"stackup_hash": digest})

    def put(self, question: FormQuestion, values: Mapping[str, Value]) -> None:
        """Write one answer."""
        for keys in question.tables:
            self._fill_table(keys, values)
        if question.array:
            self._fill_element(question, values)

    def _fill_table(self, keys: Sequence[str], values: Mapping[str, Value]) -> None:
        if keys and keys[0] not in self._document:
            head = ".".join(SingleKey(key).as_string() for key in keys)
            made = next((of for known, of in self._new if known == f"[{head}]"), None)
            if made is None:
                self._new.append((f"[{head}]", dict(values)))
            else:
                made.update(values)
            return
        table: Any = self._document
        for depth, key in enumerate(keys):
            if key not in table:
                _add_table(table, keys[depth:], values)
                return
            table = table[key]
        _fill(table, values)

    def _fill_element(self, question: FormQuestion, values: Mapping[str, Value]) -> None:
        """Fill the element that an answer is about, or one that is still to be filled in; else add one."""
        name = question.array
        added = {"is": values["is"]} if "is" in values else {}
        added |= {key: _plain(value) for key, value in question.match.items()} | dict(values)
        if name not in self._document:
            self._new.append((f"[[{name}]]", added))
            return
        array = self._document[name]
        if not isinstance(array, AoT):
            raise TypeError(f"{name} is no array of tables")
        found = next((e for e in array if (_is_match if question.match else _is_open)(e, question)), None)
        if found is not None:
            _fill(found, values)
            return
        behind = _behind(array[-1])
        array.append(tomlkit.table())
        _end(array[-1], added, behind)


def _is_match(table: Table, question: FormQuestion) -> bool:
    """Tell whether a table is about what a question is about."""
    for key, value in question.match.items():
        said = table.get(key)
        if isinstance(said, list) and isinstance(value, str):
            if value not in said:
                return False
        elif _plain(said) != _plain(value):
            return False
    choosers = {key for key in ("net_classes", "nets") if key in table}
    return question.array != "interface" or choosers == set(question.match)


def _is_open(table: Table, question: FormQuestion) -> bool:
    """Tell whether a table still lacks its name."""
    first = question.fields[0].key
    return table.get(first) in (PLACEHOLDER, [PLACEHOLDER])


def _fill(table: Any, values: Mapping[str, Value]) -> None:  # noqa: ANN401 - the document, a table or parts of one
    """Set keys; new ones follow the last one that is there, so that comments stay above what they are about."""
    body = table if isinstance(table, Container) else getattr(table, "value", None)
    for key, value in values.items():
        there = body.body if isinstance(body, Container) else []
        plain = [name for name, one in there if name and not isinstance(one, (Table, AoT))]
        if key not in table and plain and isinstance(body, Container):
            body._insert_after(plain[-1], key, tomlkit.item(value))
        elif key not in table and isinstance(table, TOMLDocument):
            _open_with(table, key, value)
        else:
            table[key] = value


def _open_with(document: TOMLDocument, key: str, value: Value) -> None:
    """Put a key above all tables: behind the comment at the head of the file, not between a table and its comment."""
    body, item = document.body, tomlkit.item(value)
    comments = next((at for at, (_, one) in enumerate(body) if not isinstance(one, Comment)), len(body))
    if comments == len(body):
        document[key] = item
    elif isinstance(body[comments][1], Whitespace):
        document._insert_at(comments, SingleKey(key), item)
    else:
        item.trivia.trail = "\n\n"
        document._insert_at(0, SingleKey(key), item)


def _add_table(parent: Any, keys: Sequence[str], values: Mapping[str, Value]) -> None:  # noqa: ANN401 - as in `_fill`
    """Add a table below one that is there, behind those that it has."""
    behind = _behind(parent)
    table = parent
    for depth, key in enumerate(keys, 1):
        table[key] = tomlkit.table(is_super_table=depth < len(keys))
        table = table[key]
    _end(table, values, behind, gap=len(keys) == 1)  # the first of its kind gets a blank line by itself


def _behind(table: Any) -> list[Any]:  # noqa: ANN401 - as in `_fill`
    """Take blank lines and comments off the end of a table: they belong to what follows it."""
    body = getattr(table.value, "body", []) if isinstance(table, Table) else []
    if body and isinstance(body[-1][1], (Table, AoT)):
        last = body[-1][1]
        return _behind(last[-1] if isinstance(last, AoT) else last)
    found: list[Any] = []
    while body and body[-1][0] is None:
        found.insert(0, body.pop())
    return found


def _end(table: Table, values: Mapping[str, Any], behind: list[Any], *, gap: bool = True) -> None:
    """Fill a table that is new at the end of others, and put back what stood there."""
    table.trivia.indent = "\n" if gap else ""
    for key, value in values.items():
        table[key] = value
    table.value.body.extend(behind)


def _plain(value: object) -> Any:  # noqa: ANN401 - TOML has a list for what is a tuple here
    return list(value) if isinstance(value, (list, tuple)) else value
