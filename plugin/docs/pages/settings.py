"""`stackwright.toml`: every table and key, from the models that read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.pages.markdown import Page, block, code, page, prose, table, title
from docs.pages.schema_words import Schema, as_schema, bounds_words, type_words
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.data_files import model_in
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config
from stackup_lib.kicad import read_board
from stackwright.commands.setup.settings_file import InitAnswers, compose
from stackwright.commands.setup.settings_schema import described

BOARDS = Path(__file__).resolve().parents[3] / "fixtures" / "boards"
EXAMPLE = BOARDS / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit.kicad_pcb"


def pages() -> Iterator[Page]:
    """One page, a section per table."""
    yield page(
        "settings/index",
        title("Settings"),
        f"`{FILE_NAME}` is next to the board, or in a folder above it. It holds what KiCad has no field for. "
        "`stackwright init` writes one with comments, filled with what it can infer. A key that does not exist is an "
        'error that names the one that is meant; a value `"?"` counts as not given.',
        "`stackwright schema --output stackwright.schema.json` writes a JSON schema, with which editors complete and "
        "check the keys: Taplo and Even Better TOML find it by the first line `#:schema ./stackwright.schema.json`.",
        title("What init writes", 2),
        f"`stackwright init` next to `{EXAMPLE.name}`, which comes with the program:",
        block(_written(), "toml"),
        *_model(Config, (), FILE_NAME),
    )


def _written() -> str:
    context, _, _ = prepare(read_board(EXAMPLE), Config(), Overrides())
    return compose(context, InitAnswers())


def _model(model: type[BaseModel], place: tuple[str, ...], heading: str) -> Iterator[str]:
    """A model's section, then those of the tables within it."""
    schema = model.model_json_schema(by_alias=True)
    text, meanings = described(model)
    inner = {name: model_in(field.annotation) for name, field in model.model_fields.items()}
    if place:
        yield title(heading, 2)
    else:
        yield title("At the top", 2)
    yield prose(text)
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
