"""`stackwright schema`: the JSON schema of `stackwright.toml`, for editors."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.core.frozen import Frozen
from stackwright.commands.request import OutputRequest

ATTRIBUTE = re.compile(r"^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", re.MULTILINE)


class _Described(GenerateJsonSchema):
    """Schemas whose texts are those of the models' docstrings, key by key."""

    def model_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - as in pydantic
        """Return the schema of one table."""
        made = super().model_schema(schema)
        made["description"], meanings = described(schema["cls"])
        for name, field in schema["cls"].model_fields.items():
            key = made.get("properties", {}).get(field.alias or name)
            if key is None:
                continue
            if schema["cls"] is not Config:
                key = made["properties"][field.alias or name] = _or_placeholder(key)
            if name in meanings:
                key["description"] = meanings[name]
        return made


def _or_placeholder(key: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a key that may also hold the placeholder, which counts as absent."""
    around: dict[str, Any] = {name: key[name] for name in ("default", "title", "description") if name in key}
    own = {name: value for name, value in key.items() if name not in around}
    if own == {"type": "string"}:
        return key
    choices = own["anyOf"] if set(own) == {"anyOf"} else [own]
    return {"anyOf": [*choices, {"const": PLACEHOLDER}], **around}


def write_schema(request: OutputRequest) -> int:
    """Write the schema.

    Raises:
        StackwrightError: the file cannot be written.
    """
    request.check_file()
    request.deliver(json.dumps(settings_schema(), indent=2) + "\n", "schema")
    return 0


def settings_schema() -> dict[str, Any]:
    """Return the schema of `stackwright.toml`, JSON Schema 2020-12."""
    made = Config.model_json_schema(by_alias=True, schema_generator=_Described)
    return {"$schema": GenerateJsonSchema.schema_dialect, **made, "title": FILE_NAME}


def described(model: type[BaseModel]) -> tuple[str, dict[str, str]]:
    """Return what docstrings say of a model and of those it extends: its text, and the meaning of each key listed."""
    meanings: dict[str, str] = {}
    texts: list[str] = []
    for one in model.__mro__:
        if not issubclass(one, BaseModel) or one in (BaseModel, Frozen) or not one.__doc__:
            continue
        text, _, attributes = inspect.cleandoc(one.__doc__).partition("\nAttributes:\n")
        texts += [" ".join(part.split()) for part in text.split("\n\n")]
        for found in ATTRIBUTE.finditer(attributes):
            meaning = " ".join(found[2].split())
            meanings |= {name.strip(): meaning for name in found[1].split(",") if name.strip() not in meanings}
    return "\n\n".join(texts), meanings
