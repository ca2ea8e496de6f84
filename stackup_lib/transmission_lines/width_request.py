"""What is asked of a search for a width: the impedance to be met, the limits, and what of a pair is kept.

Lengths in mm, at the base.
"""

import math
from typing import Literal

from pydantic import model_validator

from stackup_lib.core.frozen import Frozen
from stackup_lib.field_solver.sections import SMALLEST_MM, GeometryError


class Target(Frozen):
    """An impedance to be met: Z0 of a single line, or Zdiff of a pair, in ohm."""

    ohm: float
    kind: Literal["single", "differential"] = "single"

    @model_validator(mode="after")
    def _positive(self) -> "Target":
        if not (math.isfinite(self.ohm) and self.ohm > 0):
            raise GeometryError(f"a target of {self.ohm:g} ohm", "give a positive impedance in ohm")
        return self

    def __str__(self) -> str:
        return f"{self.ohm:g} ohm {'differential' if self.kind == 'differential' else 'single-ended'}"


class WidthLimits(Frozen):
    """Between which widths and gaps, at the base, a solution is sought."""

    min_width_mm: float
    max_width_mm: float
    min_gap_mm: float = 2 * SMALLEST_MM
    max_gap_mm: float = 10.0

    @model_validator(mode="after")
    def _in_order(self) -> "WidthLimits":
        for what, low, high in (
            ("width", self.min_width_mm, self.max_width_mm),
            ("gap", self.min_gap_mm, self.max_gap_mm),
        ):
            if not SMALLEST_MM <= low <= high < math.inf:
                raise GeometryError(f"{what} limits from {low:g} to {high:g} mm", "give minimum and maximum in mm")
        return self


class KeepGap(Frozen):
    """Seek the width of a pair with this gap."""

    gap_mm: float


class KeepPitch(Frozen):
    """Seek the width of a pair whose traces keep their distance, centre to centre: as a fab compensates."""

    pitch_mm: float


class GapPerWidth(Frozen):
    """Seek width and gap of a pair in this ratio of gap to width."""

    ratio: float


class KeepWidth(Frozen):
    """Seek the gap of a pair with this width."""

    width_mm: float


PairRule = KeepGap | KeepPitch | GapPerWidth | KeepWidth
