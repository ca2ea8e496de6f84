"""`[[suppress]]` in `stackwright.toml`: findings that the user has accepted, with a reason."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue

from drc_rules.report.findings import Finding
from drc_rules.settings.net_selection import matches
from stackup_lib.core.frozen import Frozen

ONE_OR_SEVERAL: JsonSchemaValue = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}

Names = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    WithJsonSchema(ONE_OR_SEVERAL),
]
"""One name, or several."""


class Suppression(Frozen):
    """One `[[suppress]]` table.

    Attributes:
        code: rule whose findings are accepted.
        key: exact key of one finding, as the report gives it.
        layer, net, object_: wildcards (`*`, `?`); *every* layer, net or object of a finding has to match one of them,
            so that nothing is accepted that was not meant.
        clause: only against this clause.
        board: only on boards whose file name matches, where several share one `stackwright.toml`.
        expires: last day on which it holds.
    """

    code: str | None = None
    key: str | None = None
    layer: Names = ()
    net: Names = ()
    object_: Names = Field(default=(), alias="object")
    clause: str | None = None
    board: str | None = None
    reason: str
    owner: str
    expires: date | None = None

    @field_validator("reason", "owner")
    @classmethod
    def _filled(cls, value: str) -> str:
        if value.strip() in ("", "?"):
            raise ValueError("is empty; a suppression needs a reason and an owner")
        return value.strip()

    @field_validator("expires", mode="before")
    @classmethod
    def _day(cls, value: object) -> object:
        if type(value) is date:
            return value
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            raise ValueError(f'"{value}" is not a date such as 2027-01-31') from None

    @model_validator(mode="after")
    def _says_what(self) -> "Suppression":
        if not (self.key or self.layer or self.net or self.object_):
            raise ValueError('says no place: give layer, net, object or key (object = "*" means every one)')
        if self.code is None and self.key is None:
            raise ValueError("says no code, such as STK006")
        if self.code and self.key and not self.key.startswith(f"{self.code}-"):
            raise ValueError(f'key "{self.key}" is not of code {self.code}')
        return self

    @property
    def rule_code(self) -> str:
        """Code of the rule whose findings are accepted."""
        return self.code or (self.key or "").partition("-")[0]

    def __str__(self) -> str:
        """Return what is accepted, as text: `STK006, layer In1.Cu`."""
        parts = [self.rule_code]
        several = {"layer": self.layer, "net": self.net, "object": self.object_}
        single = {"key": self.key, "clause": self.clause, "board": self.board}
        parts += [f"{name} {' '.join(value)}" for name, value in several.items() if value]
        return ", ".join(parts + [f"{name} {value}" for name, value in single.items() if value])

    def covers(self, finding: Finding) -> bool:
        """Tell whether the finding is meant, whatever the date."""
        if finding.code != self.rule_code or self.clause not in (None, finding.clause):
            return False
        if self.key not in (None, finding.key):
            return False
        asked = (
            (self.layer, [place.layer for place in finding.places if place.layer]),
            (self.net, [place.net for place in finding.places if place.net]),
            (self.object_, finding.objects),
        )
        return all(_all_match(patterns, names) for patterns, names in asked if patterns)


def _all_match(patterns: Sequence[str], names: Sequence[str]) -> bool:
    return bool(names) and all(any(matches(pattern, name) for pattern in patterns) for name in names)
