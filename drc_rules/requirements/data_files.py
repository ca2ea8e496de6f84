"""Reading the TOML next to the loaders, and a user's own profile, with errors that a user can act on."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from drc_rules.requirements.value_kinds import ALONE, misfit_in
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.files.plain_file import cure_of, read_plain_text
from stackup_lib.core.files.toml_text import TomlError, read_toml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound=BaseModel)

MOST_WORD = 100
"""Characters of a word that may be meant for another one."""
ALIKE = 0.75
"""From this likeness on a key is a misspelt one rather than another word for it."""
ALIKE_CHOICE = 0.6
"""From this likeness on a word of few is a misspelt one: "water" is no "air"."""
ALIKE_BEGUN = 0.5

OF_ANOTHER_KIND = {
    "float_parsing": ("is no number", ALONE),
    "float_type": ("is no number", ALONE),
    "finite_number": ("is no number", ALONE),
    "int_parsing": ("is no whole number", "write a whole number alone"),
    "int_type": ("is no whole number", "write a whole number alone"),
    "int_from_float": ("is no whole number", "write a whole number alone"),
    "bool_parsing": ("is neither true nor false", "write true or false, without quotes"),
    "bool_type": ("is neither true nor false", "write true or false, without quotes"),
    "string_type": ("is no text", "put it in quotes"),
}
"""Complaint about the kind of a value -> what is wrong, and what to write."""
LIMITS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
"""Complaint about a number -> how to say its limit, and where pydantic has it."""
LAYER_ENDS_WITH = "Cu"
"""What TOML takes for a key of its own in a layer's name without quotes."""
UNION_NAMES = ("constrained-float", "constrained-int", "float", "int")
"""What pydantic adds to a place for the choice of a union that it tried."""

KeysMeant = Callable[[str], Iterable[str]]
"""What people call a key, in lower case -> the keys that may be meant, of which the table's own is taken."""


def no_keys(_word: str) -> tuple[str, ...]:
    """Return what files mean in which only misspelt keys are expected, ours: nothing."""
    return ()


def read_model(path: Path, model: type[Model], keys_meant: KeysMeant = no_keys) -> Model:
    """Read a TOML file into a model.

    Raises:
        ConfigError: unreadable, not TOML, or with a key or value that makes no sense; says where.
    """
    return parse_model(read_text(path), model, str(path), keys_meant)


def read_text(path: Path) -> str:
    """Read a text file; raises `ConfigError` where it cannot be read."""
    try:
        return read_plain_text(path)
    except OSError as error:
        fix = cure_of(error, "name a readable file")
        raise ConfigError(str(path), f"cannot be read ({error.strerror or 'error'})", fix) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "is not UTF-8 text", "save it as UTF-8") from error


def parse_model(text: str, model: type[Model], where: str, keys_meant: KeysMeant = no_keys) -> Model:
    """Read TOML text into a model; raises `ConfigError` like `read_model`, naming `where`."""
    try:
        data = read_toml(text)
    except TomlError as error:
        raise ConfigError(where, f"is not valid TOML: {error}", _cure_of_line(text, str(error))) from error
    try:
        read = model.model_validate(data)
    except ValidationError as error:
        raise _explain(error, where, model, keys_meant) from error
    wrong = misfit_in(data, read) if keys_meant is not no_keys else None
    if wrong is not None:
        raise ConfigError(where, *wrong)
    return read


def _cure_of_line(text: str, said: str) -> str:
    """Return what to do about the line that the parser names: `8,5` is how half the world writes eight and a half."""
    found, lines = re.search(r"at line (\d+)", said), text.splitlines()
    line = lines[int(found[1]) - 1] if found and int(found[1]) <= len(lines) else ""
    comma = re.search(r"=\s*([+-]?\d{1,9}),(\d{1,9})\s*(?:#|$)", line)
    return f"write {comma[1]}.{comma[2]}, with a decimal point" if comma else "correct that line"


def _explain(error: ValidationError, where: str, model: type[BaseModel], keys_meant: KeysMeant) -> ConfigError:
    """Turn pydantic's most telling complaint into one line with the key as the user wrote it."""
    complaints = error.errors()
    first = next((one for one in complaints if one["type"] == "extra_forbidden"), complaints[0])
    key = _spell(first["loc"])
    if first["type"] == "extra_forbidden":
        return ConfigError(where, f'unknown key "{key}"', _cure_of_key(first, model, keys_meant))
    if first["type"] == "missing" and not isinstance(first["loc"][-1], int):
        return ConfigError(where, f'"{key}" is missing', "add it")
    if first["type"] in ("tuple_type", "missing", "too_long"):
        return _no_list(first, where, model)
    if first["type"] in ("dict_type", "model_type"):
        return _no_table(first, where, model)
    if first["type"] in ("literal_error", "enum"):
        return _no_choice(first, where, key)
    if "fix" in first.get("ctx", {}):
        return ConfigError(where, first["ctx"]["what"], first["ctx"]["fix"])
    if first["type"] in OF_ANOTHER_KIND or first["type"] in LIMITS:
        return _no_value(first, where, key)
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return ConfigError(where, f'"{key}": {said}' if key else said, "correct it")
    return ConfigError(where, f'"{key}": {said} (got {_given(first["input"])})', "correct that value")


def _given(value: object) -> str:
    """A value as the user wrote it; tables and lists, which may nest without end, by what they are."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return str(value) if isinstance(value, date | time) else repr(value)


def _cure_of_key(complaint: ErrorDetails, model: type[BaseModel], keys_meant: KeysMeant) -> str:
    """Return what to do about an unknown key: `[declared.copper.F.Cu]` without quotes is a table in a table."""
    *around, word = complaint["loc"]
    if word == LAYER_ENDS_WITH and isinstance(complaint["input"], dict) and len(around) > 1:
        return f'put the name of the layer in quotes: [{_spell(tuple(around[:-1]))}."{around[-1]}.{word}"]'
    known = _keys_at(model, tuple(around))
    return _meant(str(word), known, keys_meant) if known else "remove it"


def _meant(word: str, known: list[str], keys_meant: KeysMeant) -> str:
    """Return the key that was meant: one spelt alike, else one that people call so, else the nearest."""
    close = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=1, cutoff=ALIKE)
    called = next((key for key in keys_meant(word.lower()) if key in known), None)
    return f'did you mean "{called}"?' if called and not close else did_you_mean(word, known)


def _no_list(complaint: ErrorDetails, where: str, model: type[BaseModel]) -> ConfigError:
    """What is wrong with a value, or a table, that stands where a list belongs, or with a list of another length."""
    given, place = complaint["input"], complaint["loc"]
    place = place[:-1] if isinstance(place[-1], int) else place
    key, length = _spell(place), _length_at(model, place)
    if isinstance(given, dict):
        return ConfigError(where, f'"{key}" is a list of tables', f"write [[{key}]] in place of [{key}]")
    if _keys_at(model, place) and not isinstance(given, list):
        return ConfigError(where, f'"{key}" is a list of tables', f"begin each with [[{key}]] and write its keys below")
    shown = json.dumps(given, ensure_ascii=False) if isinstance(given, str | int | float) else "..."
    what = f'"{key}" is a list' if length is None else f'"{key}" is a list of {length} values'
    values = ", ".join([shown, *["..."] * ((length or 1) - 1)])
    return ConfigError(where, what, f"write {key.rpartition('.')[2]} = [{values}]")


def _no_table(complaint: ErrorDetails, where: str, model: type[BaseModel]) -> ConfigError:
    """What is wrong with a value that stands where a table belongs; in a list of tables none has a heading."""
    given, place = complaint["input"], complaint["loc"]
    key, last = _spell(place), place[-1]
    if isinstance(last, int):
        key = _spell(place[:-1])
        return ConfigError(where, f'"{key}" is a list of tables', f"begin each with [[{key}]] and write its keys below")
    if complaint["type"] == "model_type" and any(isinstance(part, int) for part in place):
        keys = ", ".join(f"{one} = ..." for one in _keys_at(model, place)[:3])
        return ConfigError(where, f'"{key}" is a table', f"write {last} = {{ {keys} }}")
    if complaint["type"] == "model_type":
        return ConfigError(where, f'"{key}" is a table', f"begin it with [{key}] and write its keys below")
    shown = json.dumps(given, ensure_ascii=False) if isinstance(given, str | int | float) else "..."
    return ConfigError(where, f'"{key}" is a table', f'write {last} = {{ "..." = {shown} }}')


def _no_choice(complaint: ErrorDetails, where: str, key: str) -> ConfigError:
    """What is wrong with a value that is none of a few words."""
    choices = re.findall(r"'([^']*)'", complaint["msg"])
    given = complaint["input"]
    what = f'"{key}" cannot be {_given(given)}' if not isinstance(given, str) else f'"{key}" cannot be "{given}"'
    if not choices:  # numbers
        return ConfigError(where, what, f"known: {complaint.get('ctx', {}).get('expected', 'other values')}")
    word = _given(given)[:MOST_WORD].strip("'")
    is_begun = any(choice.startswith(word.lower()) for choice in choices)  # "diff" for "differential"
    return ConfigError(where, what, did_you_mean(word, choices, cutoff=ALIKE_BEGUN if is_begun else ALIKE_CHOICE))


def _no_value(complaint: ErrorDetails, where: str, key: str) -> ConfigError:
    """What is wrong with a value of another kind than its key takes, or beyond what it may be."""
    given = complaint["input"]
    shown = json.dumps(given, ensure_ascii=False) if isinstance(given, str | bool) else _given(given)
    if complaint["type"] in LIMITS and not isinstance(given, bool) and math.isfinite(given):
        words, limit = LIMITS[complaint["type"]]
        return ConfigError(where, f'"{key}" cannot be {shown}', f"give {words} {complaint['ctx'][limit]:g}")
    what, fix = OF_ANOTHER_KIND.get(complaint["type"], OF_ANOTHER_KIND["finite_number"])
    if complaint["type"] == "string_type" and isinstance(given, dict | list):
        fix = "write one text, in quotes"
    return ConfigError(where, f'"{key}": {shown} {what}', fix)


def _spell(place: tuple[int | str, ...]) -> str:
    """Write a place as people count: the second table of an array is number 2; a union's own names are left out."""
    kept = (part for part in place if part not in UNION_NAMES and not str(part).endswith("]"))
    return ".".join(f"{part + 1}" if isinstance(part, int) else part for part in kept)


def _keys_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Keys that may stand at a place of the file; empty where any key may."""
    here: type[BaseModel] | None = model
    for part in place:
        if isinstance(part, str) and here is not None:
            field = here.model_fields.get(part)
            here = model_in(field.annotation) if field else here
    return [field.alias or name for name, field in here.model_fields.items()] if here else []


def _length_at(model: type[BaseModel], place: tuple[int | str, ...]) -> int | None:
    """How many values a list at a place has; None where any number may stand."""
    here: type[BaseModel] | None = model
    annotation: object = None
    for part in place:
        field = here.model_fields.get(part) if isinstance(part, str) and here is not None else None
        annotation = field.annotation if field else annotation
        here = model_in(annotation) if field else here
    return _fixed_length(annotation)


def _fixed_length(annotation: object) -> int | None:
    parts = get_args(annotation)
    if get_origin(annotation) is tuple:
        return None if Ellipsis in parts else len(parts)
    return next((found for one in parts if (found := _fixed_length(one))), None)


def model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation is, or holds in a container."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := model_in(one))), None)
