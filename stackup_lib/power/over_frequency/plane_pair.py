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
    Real,
    slab_impedance_ohm,
    wave_impedance_ohm,
)

EPSILON0_F_PER_M = 8.8541878128e-12
"""Permittivity of vacuum (CODATA 2018)."""


@record
class PlanePair:
    """Two planes that overlap on `area_mm2`, `spacing_mm` of laminate apart.

    `dk` and `df` are held constant over frequency. `copper_mm` is the thickness of each plane, and None for copper that
    is thick against the skin depth at every frequency.
    """

    area_mm2: float
    spacing_mm: float
    dk: float
    df: float
    copper_mm: float | None = None

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


@record
class PlanePort:
    """A square of `size_mm` where current enters one plane and leaves the other, its centre in mm on the board."""

    x_mm: float
    y_mm: float
    size_mm: float


def series_ohm(pair: PlanePair, frequencies_hz: Real) -> Complex:
    """Return the series impedance per square: of the gap and of both sheets."""
    return 2j * math.pi * frequencies_hz * MU0 * pair.spacing_mm * 1e-3 + 2 * _copper_ohm(pair, frequencies_hz)


def shunt_s_per_m2(pair: PlanePair, frequencies_hz: Real) -> Complex:
    """Return the admittance across the gap per area."""
    permittivity = EPSILON0_F_PER_M * pair.dk * (1 - 1j * pair.df)
    return np.asarray(2j * math.pi * frequencies_hz * permittivity / (pair.spacing_mm * 1e-3), dtype=np.complex128)


def _copper_ohm(pair: PlanePair, frequencies_hz: Real) -> Complex:
    ghz = frequencies_hz / 1e9
    return wave_impedance_ohm(ghz) if pair.copper_mm is None else slab_impedance_ohm(ghz, pair.copper_mm)
