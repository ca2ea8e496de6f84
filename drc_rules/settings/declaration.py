"""The base of the tables of `stackwright.toml`."""

from collections.abc import Mapping

from pydantic import ConfigDict, model_validator

from drc_rules.requirements.value_kinds import PLACEHOLDER
from stackup_lib.core.frozen import Frozen

__all__ = ["PLACEHOLDER", "Declaration", "is_open", "without_open_entries"]


class Declaration(Frozen):
    """A table; a key that still holds the placeholder is as good as absent.

    TOML has `inf` and `nan`; a limit of either would be met by everything.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        return {k: v for k, v in data.items() if not is_open(v)} if isinstance(data, dict) else data

    @classmethod
    def open_keys(cls, table: Mapping[str, object]) -> tuple[str, ...]:
        """Return the keys that a table as written cannot do without, and that still hold the placeholder."""
        needed = (field.alias or name for name, field in cls.model_fields.items() if field.is_required())
        return tuple(key for key in needed if is_open(table.get(key)))


def is_open(value: object) -> bool:
    """Tell whether a value as written is the placeholder, or a list that holds it."""
    return value == PLACEHOLDER or (isinstance(value, list) and PLACEHOLDER in value)


def without_open_entries(value: object) -> object:
    """Return a table without the entries that hold the placeholder; any other value as it is."""
    return {k: v for k, v in value.items() if not is_open(v)} if isinstance(value, dict) else value
