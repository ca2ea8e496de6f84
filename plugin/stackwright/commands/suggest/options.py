"""The options of `stackwright suggest` as choices; what makes no sense is said in the user's own words."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from drc_rules.requirements.interfaces import interface
from drc_rules.stackup_design.goals import GoalChoices
from stackup_lib.core.errors import ConfigError

LIMITS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}
"""How to say a limit of a number, by Pydantic's name of the miss."""


def choices_of(
    *, interfaces: Iterable[str] | None = None, lengths: Iterable[str] | None = None, **others: object
) -> GoalChoices:
    """Return what the user chose; only what was said is set.

    Raises:
        ConfigError: an option makes no sense.
    """
    said = {name: value for name, value in others.items() if value is not None}
    ids = tuple(word for part in interfaces or () for word in part.replace(",", " ").split())
    found = dict(_length(one) for one in lengths or ())
    if ids or found:
        said["interfaces"] = tuple(dict.fromkeys((*ids, *(one for one in found))))
    if found:
        said["longest_mm"] = found
    try:
        return GoalChoices.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        name = "--" + str(first["loc"][0]).replace("_", "-") if first["loc"] else "the options"
        if first["type"] in LIMITS:
            (limit,) = first["ctx"].values()
            raise ConfigError(name, f"cannot be {first['input']}", f"give {LIMITS[first['type']]} {limit:g}") from None
        raise ConfigError(name, first["msg"].removeprefix("Value error, "), f"not {first['input']}") from None


def _length(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return interface(name.strip()).id, float(value)
    except ValueError:
        raise ConfigError(f"--length {text}", "is no length of an interface", "write e.g. pcie5=120, in mm") from None
