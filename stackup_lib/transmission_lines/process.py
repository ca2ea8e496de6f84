"""What a fabrication process does to a line: how far each dimension and permittivity may stray, and how it is spread.

Every tolerance is two-sided, and its limit is a number of standard deviations of a normal distribution.
What moves together, because physics moves it together:

- Both traces of a pair, and all edges of a trace: over-etching by d takes d from every trace and adds d to the gap of a
  pair (the pitch stays), and d to the gap to coplanar ground, whose edge is etched too.
- Taper and copper thickness: at one etch factor (thickness over undercut) thicker copper has proportionally more taper.
- All plies of one stackup row, in thickness and in Dk: they are pressed at once, mostly of one lot.
- All thicknesses of the solder mask: next to, between and on the traces.

Rows of the stackup are independent of each other.
"""

import math

from pydantic import Field, model_validator

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.frozen import Frozen

SIGMAS = 3.0
"""Limits are three standard deviations unless stated otherwise: a process that is just capable (Cp = 1)."""


class ProcessError(StackwrightError):
    """A tolerance that makes no sense, or a process that takes a line beyond what can exist."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__("fabrication process", what, next_step)


class Tolerance(Frozen):
    """A two-sided limit on a number without unit, as a share of it: 0.05 is +-5 %.

    Attributes:
        sigmas: standard deviations that the limit is.
    """

    relative: float = 0.0
    sigmas: float = SIGMAS

    @model_validator(mode="after")
    def _can_be(self) -> "Tolerance":
        if not 0 <= self.relative < 1:
            raise ProcessError(f"a relative tolerance of {self.relative:g}", "give a share from 0 to below 1")
        _check_sigmas(self.sigmas)
        return self

    @property
    def sigma(self) -> float:
        """Standard deviation, as a share."""
        return self.relative / self.sigmas


class LengthTolerance(Frozen):
    """A two-sided limit on a length: the larger of a share of it and a number of mm, and no more than another."""

    relative: float = 0.0
    absolute_mm: float = 0.0
    most_mm: float = Field(default=math.inf, gt=0)
    sigmas: float = SIGMAS

    @model_validator(mode="after")
    def _can_be(self) -> "LengthTolerance":
        if not 0 <= self.relative < 1:
            raise ProcessError(f"a relative tolerance of {self.relative:g}", "give a share from 0 to below 1")
        if not 0 <= self.absolute_mm < math.inf:
            raise ProcessError(f"a tolerance of {self.absolute_mm:g} mm", "give 0 or more")
        _check_sigmas(self.sigmas)
        return self

    def limit_mm(self, nominal_mm: float) -> float:
        """Return the limit for a length."""
        return min(max(self.relative * nominal_mm, self.absolute_mm), self.most_mm)

    def sigma_mm(self, nominal_mm: float) -> float:
        """Return the standard deviation for a length."""
        return self.limit_mm(nominal_mm) / self.sigmas


def _check_sigmas(sigmas: float) -> None:
    if not 0 < sigmas < math.inf:
        raise ProcessError(f"a limit of {sigmas:g} standard deviations", "give a positive number, such as 3")


class Process(Frozen):
    """The tolerances of a fabrication process; each is zero unless given.

    Attributes:
        width: of a trace, by etching; the taper stays.
        taper: base less top width.
        copper: finished thickness.
        core_thickness: of each core.
        prepreg_thickness: of each ply of prepreg, pressed; the errors of a row's plies add up.
        core_dk, prepreg_dk: relative permittivity from lot to lot.
        mask_thickness: of all of the solder mask, as one factor.
        mask_dk: its relative permittivity.
        etches_coplanar_ground: whether the edge of coplanar ground moves like the edges of the trace.
        taper_follows_copper: whether taper stays in proportion to copper thickness.
        prepreg_dk_per_thickness: d ln Dk / d ln thickness of pressed prepreg at the same glass: what is thinner has
            less resin and a higher Dk (negative, a few tenths). 0 where the Dk tolerance contains it.
    """

    name: str = ""
    width: LengthTolerance = Field(default_factory=LengthTolerance)
    taper: Tolerance = Field(default_factory=Tolerance)
    copper: Tolerance = Field(default_factory=Tolerance)
    core_thickness: LengthTolerance = Field(default_factory=LengthTolerance)
    prepreg_thickness: LengthTolerance = Field(default_factory=LengthTolerance)
    core_dk: Tolerance = Field(default_factory=Tolerance)
    prepreg_dk: Tolerance = Field(default_factory=Tolerance)
    mask_thickness: Tolerance = Field(default_factory=Tolerance)
    mask_dk: Tolerance = Field(default_factory=Tolerance)
    etches_coplanar_ground: bool = True
    taper_follows_copper: bool = True
    prepreg_dk_per_thickness: float = Field(default=0.0, ge=-2, le=0)
