"""A page per JSON format, from its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from docs.pages.markdown import Page, code, link, page, prose, table, title, tree
from docs.pages.schema_words import Schema, as_schema, bounds_words, keys_of, type_words

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "schemas"


def pages() -> Iterator[Page]:
    """Index and formats."""
    schemas = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    rows = [(link(_title(stem), f"formats/{stem}"), prose(s.get("description", ""))) for stem, s in schemas.items()]
    yield page(
        "formats/index",
        title("JSON formats"),
        "What the commands write for other programs. Each names its format and version; within a version keys are only "
        "ever added. The schemas are JSON Schema 2020-12.",
        table(("format", "what writes it"), rows),
        tree(f"formats/{stem}" for stem in schemas),
    )
    for stem, schema in schemas.items():
        yield _page(stem, schema)


def _title(stem: str) -> str:
    name, _, version = stem.rpartition("-v")
    return f"{name.capitalize()}, version {version}"


def _page(stem: str, schema: Schema) -> Page:
    definitions = as_schema(schema.get("$defs"))
    blocks = [_keys(stem, schema)]
    for name, value in definitions.items():
        found = as_schema(value)
        blocks += [f"({stem}-{_slug(name)})=", title(name, 2), prose(str(found.get("description", "")))]
        blocks.append(_keys(stem, found) or type_words(found, lambda one: _refer(stem, one)))
    return page(
        f"formats/{stem}",
        title(_title(stem)),
        prose(str(schema.get("description", ""))),
        f'The schema itself: <a href="../{stem}.json">{stem}.json</a>.',
        *blocks,
    )


def _slug(name: str) -> str:
    return name.lower().replace("_", "-")


def _refer(stem: str, name: str) -> str:
    return f"[{prose(name)}](#{stem}-{_slug(name)})"


def _keys(stem: str, schema: Schema) -> str:
    return table(("key", "type", "there", "meaning"), _rows(stem, schema, ""))


def _rows(stem: str, schema: Schema, above: str) -> Iterator[tuple[str, str, str, str]]:
    """Keys of an object and of the objects within it that have no name of their own."""
    for name, value, required in keys_of(schema):
        type_ = type_words(value, lambda one: _refer(stem, one))
        bounds = bounds_words(value)
        meaning = prose(str(value.get("description", "")))
        yield (
            code(above + name),
            type_ + (f", {bounds}" if bounds else ""),
            "always" if required else "may be absent",
            meaning,
        )
        inner = as_schema(value.get("items")) if value.get("type") == "array" else value
        mark = "[]." if inner is not value else "."
        yield from _rows(stem, inner, f"{above}{name}{mark}")
