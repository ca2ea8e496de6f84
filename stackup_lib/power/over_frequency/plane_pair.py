"""A pair of planes as a rectangular cavity with open edges: impedances between its ports, by a sum over its modes.

The sum is that of I. Novak, J. Miller, Frequency-Domain Characterization of Power Distribution Networks, 2007.
With loss, the series impedance per square is that of the gap and of two copper sheets, and the permittivity is complex.
Modes far above the highest frequency are inductances: they are summed once for all frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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

_FAR_ABOVE = 5.0
"""Modes above this many times the highest frequency are far: (1/5)^4 = 0.16 % of their part is left out."""

_MODES_PER_PORT = 2.0
"""Half waves along a side per (side / port size): the first null of the sinc of the port."""

_FLAT = 100.0
"""Modes whose k^2 is this many times that limit need no correction for frequency: 1e-4 of 4 %."""

_MOST_HALF_WAVES = 1200

_BLOCK = 4_000_000
"""Numbers held at a time: 32 MB."""

Indices = NDArray[np.int64]


@record
class PlanePair:
    """Two planes that overlap in a rectangle of length by width in mm, `spacing_mm` of laminate apart.

    `dk` and `df` are held constant over frequency. `copper_mm` is the thickness of each plane, and None for copper that
    is thick against the skin depth at every frequency.
    """

    length_mm: float
    width_mm: float
    spacing_mm: float
    dk: float
    df: float
    copper_mm: float | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` where a size or the Dk is not positive, or the Df is negative."""
        sizes = (self.length_mm, self.width_mm, self.spacing_mm, self.dk, self.copper_mm if self.copper_mm else 1.0)
        if not all(math.isfinite(size) and size > 0 for size in sizes) or self.copper_mm == 0:
            raise ValueError("sizes and Dk of a plane pair are positive")
        if not 0 <= self.df < 1:
            raise ValueError("Df of a plane pair is between 0 and 1")

    @property
    def capacitance_f(self) -> float:
        """The parallel-plate capacitance, without fringes at the edges."""
        return EPSILON0_F_PER_M * self.dk * self.length_mm * self.width_mm / self.spacing_mm * 1e-3

    def resonance_hz(self, along_length: int, along_width: int) -> float:
        """Return the frequency of the mode with these numbers of half waves along each side, without loss."""
        per_m = math.hypot(along_length / self.length_mm, along_width / self.width_mm) * 1e3
        return per_m / (2 * math.sqrt(MU0 * EPSILON0_F_PER_M * self.dk))


@record
class PlanePort:
    """A square of `size_mm` where current enters one plane and leaves the other, its centre from a corner in mm."""

    x_mm: float
    y_mm: float
    size_mm: float


def same_area(area_mm2: float, length_mm: float, width_mm: float) -> tuple[float, float]:
    """Return the sides in mm of the rectangle with this area and the proportions of a box of length by width.

    It keeps the capacitance of an irregular outline exactly; its resonances are those of the rectangle.
    """
    factor = math.sqrt(area_mm2 / (length_mm * width_mm))
    return length_mm * factor, width_mm * factor


def plane_impedance_ohm(pair: PlanePair, ports: Sequence[PlanePort], frequencies_hz: Real) -> Complex:
    """Return the open-circuit impedances between ports, as an array of frequencies by ports by ports.

    Raises `ValueError` where a port is not inside of the rectangle or has no size, or a frequency is not positive.
    """
    frequencies = np.asarray(frequencies_hz, dtype=float)
    if not len(ports) or frequencies.size == 0 or not np.all(frequencies > 0):
        raise ValueError("a plane pair needs ports, and frequencies above 0 Hz")
    for port in ports:
        inside = 0 <= port.x_mm <= pair.length_mm and 0 <= port.y_mm <= pair.width_mm
        if not inside or not port.size_mm > 0:
            raise ValueError(f"port at {port.x_mm:g}, {port.y_mm:g} mm is not inside of the planes, or has no size")
    size_mm = min(port.size_mm for port in ports)
    across = [_waves(side, size_mm) for side in (pair.length_mm, pair.width_mm)]
    x = _shapes(np.array([port.x_mm for port in ports]), _sizes(ports), pair.length_mm, across[0])
    y = _shapes(np.array([port.y_mm for port in ports]), _sizes(ports), pair.width_mm, across[1])
    kx = np.asarray(np.arange(across[0]) * math.pi / pair.length_mm, dtype=np.float64)
    ky = np.asarray(np.arange(across[1]) * math.pi / pair.width_mm, dtype=np.float64)

    omega = 2 * math.pi * frequencies
    series = 1j * omega * MU0 * pair.spacing_mm * 1e-3 + 2 * _copper_ohm(pair, frequencies)
    shunt = 1j * omega * EPSILON0_F_PER_M * pair.dk * (1 - 1j * pair.df) / (pair.spacing_mm * 1e-3)
    per_mm2 = series * shunt * 1e-6
    limit = _FAR_ABOVE**2 * float(np.max(np.abs(per_mm2)))

    first, second, near_x, near_y = _far_sums(x, y, kx, ky, limit)
    shapes = x[:, near_x] * y[:, near_y]
    k2 = kx[near_x] ** 2 + ky[near_y] ** 2
    products = (shapes[:, None, :] * shapes[None, :, :]).reshape(len(ports) ** 2, -1)
    weights = 1 / (k2[:, None] + per_mm2[None, :])
    near = (products @ weights.real + 1j * (products @ weights.imag)).T.reshape(-1, len(ports), len(ports))
    total = first[None] - per_mm2[:, None, None] * second[None] + near
    return np.asarray(series[:, None, None] * total / (pair.length_mm * pair.width_mm), dtype=np.complex128)


def _copper_ohm(pair: PlanePair, frequencies_hz: Real) -> Complex:
    ghz = frequencies_hz / 1e9
    return wave_impedance_ohm(ghz) if pair.copper_mm is None else slab_impedance_ohm(ghz, pair.copper_mm)


def _sizes(ports: Sequence[PlanePort]) -> Real:
    return np.array([port.size_mm for port in ports])


def _waves(side_mm: float, size_mm: float) -> int:
    return int(min(_MOST_HALF_WAVES, max(20, math.ceil(_MODES_PER_PORT * side_mm / size_mm))))


def _shapes(at_mm: Real, size_mm: Real, side_mm: float, count: int) -> Real:
    """Return each mode's mean over each port along one side, normalised: ports by modes."""
    order = np.arange(count)
    weight = np.where(order == 0, 1.0, math.sqrt(2.0))
    cosine = np.cos(math.pi * at_mm[:, None] * order / side_mm)
    return np.asarray(weight * cosine * np.sinc(order * size_mm[:, None] / (2 * side_mm)), dtype=float)


def _far_sums(x: Real, y: Real, kx: Real, ky: Real, limit: float) -> tuple[Real, Real, Indices, Indices]:
    """Return the sums of modes above `limit` over 1/k^2 and 1/k^4, and the numbers of those below along both sides.

    Blocks of rows are one product of matrices each: many small ones are slow where threads share a machine.
    """
    first = np.zeros((len(x), len(x)))
    second = np.zeros_like(first)
    near: list[tuple[Indices, Indices]] = []
    rows = max(1, _BLOCK // (len(ky) * len(x)))
    for start in range(0, len(kx), rows):
        part = slice(start, start + rows)
        k2 = kx[part, None] ** 2 + ky[None, :] ** 2
        far = k2 > limit
        low = np.nonzero(~far)
        near.append((low[0] + start, low[1]))
        shapes = (x[:, part, None] * y[:, None, :])[:, far]
        first += (shapes / k2[far]) @ shapes.T
        bent = k2[far] < _FLAT * limit
        if bent.any():
            second += (shapes[:, bent] / k2[far][bent] ** 2) @ shapes[:, bent].T
    return first, second, np.concatenate([a for a, _ in near]), np.concatenate([b for _, b in near])
