"""What is between two planes: the series impedance of a square and the admittance of an area, with their losses.

The series impedance is that of the gap and of two copper sheets, the permittivity is complex (I. Novak, J. Miller,
Frequency-Domain Characterization of Power Distribution Networks, 2007).
"""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.core.record import record
from stackup_lib.transmission_lines.materials.conductor_models import (
    MU0,
    Complex,
    Metal,
    Real,
    copper_conductivity_s_per_m,
    slab_impedance_ohm,
    wave_impedance_ohm,
)

EPSILON0_F_PER_M = 8.8541878128e-12
"""Permittivity of vacuum (CODATA 2018)."""


@record
class OtherCopper:
    """Copper of both nets that faces nothing and carries current at low frequencies, as a path along the facing copper.

    Per square of the planes it has `resistance_ohm` and, in addition to the gap, the inductance of `gap_mm`: where that
    exceeds the resistance of the facing copper, the return keeps under the rail.
    """

    resistance_ohm: float
    gap_mm: float


@record
class PlanePair:
    """Two planes that overlap on `area_mm2`, `spacing_mm` of laminate apart.

    `dk` and `df` are held constant over frequency. `copper_mm` is the thickness of each plane at `copper_c` degrees,
    and None for copper that is thick against the skin depth at every frequency.
    """

    area_mm2: float
    spacing_mm: float
    dk: float
    df: float
    copper_mm: float | None = None
    copper_c: float = 20.0
    other: OtherCopper | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` where a size or the Dk is not positive, or the Df is negative."""
        sizes = (self.area_mm2, self.spacing_mm, self.dk, self.copper_mm if self.copper_mm else 1.0)
        if not all(math.isfinite(size) and size > 0 for size in sizes) or self.copper_mm == 0:
            raise ValueError("sizes and Dk of a plane pair are positive")
        if not 0 <= self.df < 1:
            raise ValueError("Df of a plane pair is between 0 and 1")

    @property
    def capacitance_f(self) -> float:
        """The parallel-plate capacitance, without fringes at the edges."""
        return EPSILON0_F_PER_M * self.dk * self.area_mm2 / self.spacing_mm * 1e-3

    @property
    def sheet_ohm(self) -> float:
        """The DC resistance per square of both planes together, without other copper; 0 for thick copper."""
        conductivity = copper_conductivity_s_per_m(self.copper_c)
        return 0.0 if self.copper_mm is None else 2e3 / (conductivity * self.copper_mm)


@record
class PlanePort:
    """A square of `size_mm` where current enters one plane and leaves the other, its centre in mm on the board.

    `floor` tells on which of several copper layers of the rail.
    """

    x_mm: float
    y_mm: float
    size_mm: float
    floor: int = 0


def series_ohm(pair: PlanePair, frequencies_hz: Real) -> Complex:
    """Return the series impedance per square: of the gap, and of both sheets in parallel with other copper."""
    per_mm = np.asarray(2j * math.pi * frequencies_hz * MU0 * 1e-3, dtype=np.complex128)
    copper: Complex = np.asarray(2 * _copper_ohm(pair, frequencies_hz), dtype=np.complex128)
    if pair.other is not None:
        rest = pair.other.resistance_ohm + per_mm * pair.other.gap_mm
        copper = np.asarray(copper * rest / (copper + rest), dtype=np.complex128)
    return np.asarray(per_mm * pair.spacing_mm + copper, dtype=np.complex128)


def shunt_s_per_m2(pair: PlanePair, frequencies_hz: Real) -> Complex:
    """Return the admittance across the gap per area."""
    permittivity = EPSILON0_F_PER_M * pair.dk * (1 - 1j * pair.df)
    return np.asarray(2j * math.pi * frequencies_hz * permittivity / (pair.spacing_mm * 1e-3), dtype=np.complex128)


def _copper_ohm(pair: PlanePair, frequencies_hz: Real) -> Complex:
    ghz, metal = frequencies_hz / 1e9, Metal(copper_conductivity_s_per_m(pair.copper_c))
    return wave_impedance_ohm(ghz, metal) if pair.copper_mm is None else slab_impedance_ohm(ghz, pair.copper_mm, metal)
