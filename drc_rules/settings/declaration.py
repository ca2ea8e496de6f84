"""The base of the tables of `stackwright.toml`."""

from pydantic import model_validator

from stackup_lib.core.frozen import Frozen

PLACEHOLDER = "?"
"""What `stackwright init` and the report write where the user has to fill in a value; it declares nothing."""


class Declaration(Frozen):
    """A table; a key that still holds the placeholder is as good as absent."""

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        return {k: v for k, v in data.items() if v != PLACEHOLDER} if isinstance(data, dict) else data
