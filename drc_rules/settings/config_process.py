"""`[process]` of `stackwright.toml`: what etching, plating and solder mask make of a line."""

from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from drc_rules.requirements.fabs.presets import Preset, known_preset, presets
from drc_rules.requirements.profiles.profile import BOARD, load_profile
from drc_rules.settings.declaration import Declaration

LEAST_TAPER_UM = 0.1
"""Less is no statement about an etched trace, whose copper is rougher than that, but a length in millimetres."""


def thickest_mask_um() -> float:
    """Return the thickest solder mask over copper: the limit of the clause by which STK014 judges the file's rows."""
    clause = next(clause for clause in load_profile(BOARD).clauses if clause.kind == "mask_thickness")
    return 1000 * (clause.limit.max or 0.0)


class ProcessDeclaration(Declaration):
    """How the fab etches, plates and coats, in um; a KiCad stackup has no field for it.

    What is not given is assumed, and counts as uncertainty of every impedance. The file's own copper and mask rows are
    used where neither a key nor the preset says otherwise.

    Attributes:
        preset: a fab's published numbers; other keys of the table win. Its outer copper and its etch taper are of usual
            boards (up to 1 oz), and are left out where a stackup row or `copper_oz` is of another weight.
        inner_etch_taper_um: base less top width of a trace on an inner layer, both sides together (W1 - W2).
        outer_etch_taper_um: the same on an outer layer.
        outer_copper_um: finished copper of the outer layers, foil and plating, in place of the stackup's rows; rails
            are solved with it too, unless their own `copper_um` says otherwise.
        plating_um: copper plated onto the outer foils; with `copper_oz` of an outer layer it gives `outer_copper_um`.
        mask_over_copper_um: solder mask on a trace, at most what STK014 takes of a stackup row; 0 for bare copper.
        mask_over_laminate_um: solder mask next to a trace and between the traces of a pair.
        mask_dk, mask_df: of the solder mask.
    """

    preset: Annotated[str | None, AfterValidator(known_preset)] = None
    inner_etch_taper_um: float | None = Field(default=None, ge=0, le=200)
    outer_etch_taper_um: float | None = Field(default=None, ge=0, le=200)
    outer_copper_um: float | None = Field(default=None, ge=5, le=500)
    plating_um: float | None = Field(default=None, gt=0, le=200)
    mask_over_copper_um: float | None = Field(default=None, ge=0)
    mask_over_laminate_um: float | None = Field(default=None, ge=1, le=200)
    mask_dk: float | None = Field(default=None, ge=2, le=6)
    mask_df: float | None = Field(default=None, gt=0, lt=0.2)

    @field_validator("inner_etch_taper_um", "outer_etch_taper_um")
    @classmethod
    def _is_a_taper_or_none(cls, value: float | None) -> float | None:
        if value is not None and 0 < value < LEAST_TAPER_UM:
            raise ValueError(f"{value:g} um is no etch taper; give micrometres, or 0 for straight sides")
        return value

    @field_validator("mask_over_copper_um")
    @classmethod
    def _is_a_mask_or_none(cls, value: float | None) -> float | None:
        if value is not None and 0 < value < 1:
            raise ValueError(f"{value:g} um is no mask; give 1 or more, or 0 for bare copper")
        if value is not None and value > thickest_mask_um():
            raise ValueError(f"{value:g} um of solder mask cannot be right, maximum {thickest_mask_um():g} um")
        return value

    @property
    def from_preset(self) -> Preset | None:
        """The preset that is named."""
        return presets()[self.preset] if self.preset else None

    def given(self, key: str) -> float | None:
        """Return a number of the table, else of the preset; None where neither states it."""
        own: float | None = getattr(self, key)
        return own if own is not None or self.from_preset is None else self.from_preset.value(key)

    def source(self, key: str) -> str:
        """Return where a given number comes from, as text."""
        if getattr(self, key) is not None or self.from_preset is None:
            return f"stackwright.toml, process.{key}"
        return f'stackwright.toml, process.preset = "{self.preset}": {self.from_preset.sources[key].text}'
