"""Reading the TOML beside the loaders, and a user's own profile, with errors that a user can act on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from stackup_lib.errors import ConfigError, did_you_mean

Model = TypeVar("Model", bound=BaseModel)


def read_model(path: Path, model: type[Model]) -> Model:
    """Read a TOML file into a model.

    Raises:
        ConfigError: unreadable, not TOML, or with a key or value that makes no sense; says where.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read ({error.strerror or 'error'})", "name a readable file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(str(path), f"is not valid TOML: {error}", "mend that line") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _explain(error, str(path), model) from error


def _explain(error: ValidationError, where: str, model: type[BaseModel]) -> ConfigError:
    """Turn pydantic's first complaint into one line with the key as the user wrote it."""
    first = error.errors()[0]
    place = [str(part) for part in first["loc"]]
    key = ".".join(place)
    if first["type"] == "extra_forbidden":
        known = list(model.model_fields) if len(place) == 1 else []
        return ConfigError(where, f'unknown key "{key}"', did_you_mean(place[-1], known) if known else "remove it")
    if first["type"] == "missing":
        return ConfigError(where, f'"{key}" is missing', "add it")
    return ConfigError(where, f'"{key}": {first["msg"]} (got {first["input"]!r})', "mend that value")
