"""The `[[part_model]]` tables of `stackwright.toml`: files of measured or simulated parts."""

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from drc_rules.settings.declaration import Declaration, is_open
from drc_rules.settings.net_selection import matches


class PartModelDeclaration(Declaration):
    """A file that says what parts are between their pads; `*` and `?` stand for any letters. The first that fits holds.

    Attributes:
        parts: references: `["C12", "C3?"]`.
        values: texts of the value: `["220n*"]`.
        libraries: footprints: `["Capacitor_SMD:C_0402*"]`. Of parts, values and libraries each that is given fits.
        file: a Touchstone 1.1 file (`.s2p`, `.s4p`) or a SPICE subcircuit of R, L and C, next to this file or by path.
        subcircuit: its name, where the file has several.
        mounted: how the S2P file of a capacitor was measured: in series between the ports, or from the line to ground.
        bias_v: DC voltage at which the file of a capacitor holds, 0 where it was measured without.
    """

    parts: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    file: str = Field(min_length=1)
    subcircuit: str = ""
    mounted: Literal["series", "shunt"] = "series"
    bias_v: float = Field(default=0.0, ge=0, le=10_000)

    @classmethod
    def open_keys(cls, table: Mapping[str, object]) -> tuple[str, ...]:
        """Return the keys that are open and needed: without one that narrows, the file would hold for other parts."""
        narrow = ("parts", "values", "libraries")
        return (*super().open_keys(table), *(key for key in narrow if is_open(table.get(key))))

    @property
    def is_network(self) -> bool:
        """A Touchstone file, as against a subcircuit."""
        return re.fullmatch(r"(?i).*\.s\d+p", self.file) is not None

    @model_validator(mode="after")
    def _chooses(self) -> "PartModelDeclaration":
        if not (self.parts or self.values or self.libraries):
            raise ValueError("state parts, values or libraries: whose file it is")
        return self

    def fits(self, reference: str, value: str, library: str) -> bool:
        """Tell whether the table is about a part."""
        asked = ((self.parts, reference), (self.values, value), (self.libraries, library))
        return all(not patterns or any(matches(one, text) for one in patterns) for patterns, text in asked)
