"""`[rail.pdn]` of `stackwright.toml`: what the impedance of a rail over frequency needs and no board file has."""

from typing import Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from drc_rules.settings.declaration import Declaration, is_open


class CapacitorDeclaration(Declaration):
    """Data of capacitors on the rail, from their maker.

    Attributes:
        parts: references, `*` and `?` stand for any letters: `["C12", "C3?"]`.
        uf: capacitance at the rail's voltage.
        esr_mohm: at the series resonance.
        esl_ph: without mounting.
        tolerance_pct: of `uf`, plus and minus; 0 counts as sure.
        source: where the numbers stand.
    """

    parts: tuple[str, ...] = Field(min_length=1)
    uf: float = Field(gt=0, le=1e6)
    esr_mohm: float = Field(gt=0, le=1e6)
    esl_ph: float = Field(gt=0, le=1e6)
    tolerance_pct: float = Field(default=0.0, ge=0, lt=100)
    source: str = ""


class PdnDeclaration(Declaration):
    """Elements of the network that are not on the drawing.

    Attributes:
        regulator: its kind, where nothing of it is known.
        regulator_mohm: output resistance, or slope of the load line.
        regulator_nh: output inductance; or `regulator_khz`, the bandwidth of its loop.
        package_mohm, package_ph: from the balls to the die, all of them together.
        die_nf, die_mohm: on the die; with it the impedance is that at the die.
        up_to_mhz: up to where board capacitors help, as the maker of the load states it.
        capacitor: data of capacitors.
    """

    model_config = ConfigDict(populate_by_name=True)

    regulator: Literal["multiphase", "buck", "ldo"] | None = None
    regulator_mohm: float | None = Field(default=None, gt=0, le=1e5)
    regulator_nh: float | None = Field(default=None, gt=0, le=1e5)
    regulator_khz: float | None = Field(default=None, gt=0, le=1e5)
    package_mohm: float | None = Field(default=None, ge=0, le=1e4)
    package_ph: float | None = Field(default=None, gt=0, le=1e6)
    die_nf: float | None = Field(default=None, gt=0, le=1e6)
    die_mohm: float | None = Field(default=None, ge=0, le=1e4)
    up_to_mhz: float | None = Field(default=None, gt=0, le=1000)
    capacitor: tuple[CapacitorDeclaration, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        """A key that is open is as good as absent, and so is what says nothing without it."""
        if not isinstance(data, dict):
            return data
        rests = {"regulator_mohm": ("regulator_khz",), "package_ph": ("package_mohm", "die_nf")}
        without = {one for key, others in rests.items() if is_open(data.get(key)) for one in others}
        return {key: value for key, value in data.items() if key not in without and not is_open(value)}

    @field_validator("capacitor", mode="before")
    @classmethod
    def _filled_in(cls, rows: object) -> object:
        """Leave out rows of which a number or a part is open: the parts then count as without the maker's data."""
        if not isinstance(rows, list | tuple):
            return rows
        return [row for row in rows if not (isinstance(row, dict) and _is_without_data(row))]

    @model_validator(mode="after")
    def _said_once(self) -> "PdnDeclaration":
        if self.regulator_nh is not None and self.regulator_khz is not None:
            raise ValueError("state regulator_nh or regulator_khz, not both")
        if self.regulator_khz is not None and self.regulator_mohm is None:
            raise ValueError("regulator_khz needs regulator_mohm: L = R / (2 pi f)")
        if self.package_ph is None and (self.package_mohm is not None or self.die_nf is not None):
            raise ValueError("package_mohm and die_nf need package_ph")
        return self


def _is_without_data(row: dict[str, object]) -> bool:
    return any(is_open(value) for key, value in row.items() if key != "source")
