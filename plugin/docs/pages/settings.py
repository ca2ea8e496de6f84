"""`stackwright.toml`: every table and key, from the models that read it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.pages.markdown import Page, block, code, page, prose, table, title
from docs.pages.schema_words import Schema, as_schema, bounds_words, type_words
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import CommandLine
from drc_rules.settings.config import FILE_NAME, Config
from stackup_lib.kicad import read_board
from stackwright.commands.setup.settings_file import InitAnswers, compose

BOARDS = Path(__file__).resolve().parents[3] / "fixtures" / "boards"
EXAMPLE = BOARDS / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit.kicad_pcb"
ATTRIBUTE = re.compile(r"^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", re.MULTILINE)


def pages() -> Iterator[Page]:
    """One page, a section per table."""
    yield page(
        "settings/index",
        title("Settings"),
        f"`{FILE_NAME}` stands beside the board, or in a folder above it. It holds what KiCad has no field for. "
        "`stackwright init` writes one with comments, filled with what it can infer. A key that does not exist is an "
        'error that names the one that is meant; a value `"?"` counts as not given.',
        title("What init writes", 2),
        f"`stackwright init` beside `{EXAMPLE.name}`, which comes with the program:",
        block(_written(), "toml"),
        *_model(Config, (), FILE_NAME),
    )


def _written() -> str:
    context, _, _ = prepare(read_board(EXAMPLE), Config(), CommandLine())
    return compose(context, InitAnswers())


def _model(model: type[BaseModel], place: tuple[str, ...], heading: str) -> Iterator[str]:
    """A model's section, then those of the tables within it."""
    schema = model.model_json_schema(by_alias=True)
    text, meanings = explained(model)
    inner = {name: _model_in(field.annotation) for name, field in model.model_fields.items()}
    if place:
        yield title(heading, 2)
    else:
        yield title("At the top", 2)
    yield text
    rows = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        one = as_schema(as_schema(schema.get("properties")).get(key))
        if inner[name] is None:
            rows.append((code(key), _type(one), _default(field), prose(meanings.get(name, ""))))
    yield table(("key", "value", "unless given", "meaning"), rows)
    for name, field in model.model_fields.items():
        within = inner[name]
        if within is not None:
            path = (*place, field.alias or name)
            yield from _model(within, path, _heading(path, as_schema(schema["properties"])[path[-1]]))


def _heading(path: tuple[str, ...], schema: object) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    dotted = ".".join(path)
    return f"[[{dotted}]]" if kind == "array" else f'[{dotted}."NAME"]' if kind == "object" else f"[{dotted}]"


def _type(schema: Schema) -> str:
    bounds = bounds_words(schema)
    words = type_words(schema, prose).replace(" or null", "")
    return words + (f", {bounds}" if bounds else "")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "has to be given"
    value = field.get_default(call_default_factory=True)
    return code(json.dumps(value)) if value not in (None, (), {}) else ""


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation is, or holds in a container."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _model_in(one))), None)


def explained(model: type[BaseModel]) -> tuple[str, dict[str, str]]:
    """Docstrings of a model and of those it extends, without lists of attributes; the meaning of each key listed."""
    meanings: dict[str, str] = {}
    texts: list[str] = []
    for one in model.__mro__:
        if not issubclass(one, BaseModel) or one is BaseModel or not one.__doc__:
            continue
        text, _, attributes = inspect.cleandoc(one.__doc__).partition("\nAttributes:\n")
        texts += [prose(" ".join(part.split())) for part in text.split("\n\n")]
        for found in ATTRIBUTE.finditer(attributes):
            meaning = " ".join(found[2].split())
            meanings |= {name.strip(): meaning for name in found[1].split(",") if name.strip() not in meanings}
    return "\n\n".join(texts), meanings
