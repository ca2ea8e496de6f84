"""JSON schemas as text: the type of a value, its bounds, and tables of keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from docs.pages.markdown import code, prose

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | float | bool | None"
Schema: TypeAlias = Mapping[str, "Json"]
Refer: TypeAlias = Callable[[str], str]
"""From the name of a definition to a link."""

BOUNDS = {
    "minimum": "{} or more",
    "exclusiveMinimum": "above {}",
    "maximum": "{} or less",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {} letters",
    "minItems": "at least {}",
    "pattern": "like `{}`",
}


def as_schema(value: Json) -> Schema:
    """Return a value that has to be a schema; `true`, and what is none, allow anything."""
    return value if isinstance(value, Mapping) else {}


def type_words(schema: Schema, refer: Refer) -> str:
    """Return the type of a value as text, with links to definitions."""
    if "$ref" in schema:
        return refer(str(schema["$ref"]).rpartition("/")[2])
    for several in ("anyOf", "oneOf", "allOf"):
        if isinstance(options := schema.get(several), list):
            words = dict.fromkeys(type_words(as_schema(one), refer) for one in options)
            return " or ".join(words)
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if isinstance(choices := schema.get("enum"), list):
        return ", ".join(code(json.dumps(choice)) for choice in choices)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(type_words({**schema, "type": one}, refer) for one in kind)
    if kind == "array":
        inner = type_words(as_schema(schema.get("items")), refer)
        return f"list of {inner}" if inner else "list"
    if kind == "object":
        values = as_schema(schema.get("additionalProperties"))
        inner = type_words(values, refer)
        return f"table of {inner} by name" if inner else "table"
    return prose(str(kind)) if kind else ""


def bounds_words(schema: Schema) -> str:
    """Return the bounds of a value, those of its alternatives too."""
    found = [words.format(_plain(schema[key])) for key, words in BOUNDS.items() if key in schema]
    for several in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(several), list):
            found += [words for one in options if (words := bounds_words(as_schema(one)))]
    return ", ".join(dict.fromkeys(found))


def keys_of(schema: Schema) -> Iterator[tuple[str, Schema, bool]]:
    """Keys of an object with their schemas, and whether they have to be there; items of a list count as itself."""
    required = schema.get("required")
    for name, value in as_schema(schema.get("properties")).items():
        yield name, as_schema(value), isinstance(required, list) and name in required


def _plain(value: Json) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
