"""Roughness of copper: what it multiplies the surface impedance by, over frequency.

All heights in micrometres: Rq is the RMS height of the profile, Rz its peak to valley height. delta is the skin depth
of the smooth metal. A `Multiplier` holds Re(Z)/Rs and Im(Z)/Rs of the rough face; both are 1 when smooth.

The gradient model and the cannonball go on rising with frequency, as measurements do. Hammerstad's law and Groisse's
saturate at 2: above Rq 0.3 um or 14 GHz they read too low by up to a half.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stackup_lib.core.record import record
from stackup_lib.transmission_lines.materials.conductor_models import COPPER, Metal, skin_depth_mm

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

BALL_RADIUS_PER_RZ = 0.06
"""Radius of the cannonball model's spheres: r = 0.06 Rz, from 14 spheres of 36 r^2 tile and the foil's RMS height."""


class Multiplier(NamedTuple):
    """Re(Z)/Rs and Im(Z)/Rs of a face, each 1 when smooth and thick."""

    resistance: Real
    reactance: Real


class Roughness(Protocol):
    """A law of roughness for one face."""

    def multiplier(self, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Multiplier:
        """Return what the surface impedance of the smooth face is multiplied by."""
        ...


@record
class Smooth:
    """No roughness."""

    def multiplier(self, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Multiplier:
        """Return ones."""
        one = np.ones(np.shape(frequency_ghz))
        return Multiplier(one, one)


@record
class Huray:
    """Spheres on a flat tile: Z/((1+j)Rs) = base + 1.5 sum (N 4 pi a^2/A)/(1 + (1-j) delta/(2a)).

    P. G. Huray et al., "Impact of copper surface texture on loss: a model that works", DesignCon 2010, gives the real
    part, K = base + 1.5 sum (N 4 pi a^2/A)/(1 + delta/a + delta^2/(2 a^2)); the complex form with that very real part
    is the causal one (J. E. Bracken, "A causal Huray model for surface roughness", DesignCon 2012).

    Attributes:
        spheres: pairs of count N and radius a in um on one tile.
        tile_um2: flat area A of the tile in um^2.
        base: area of the matte base over the flat area, 1 when the base is smooth.
    """

    spheres: tuple[tuple[float, float], ...]
    tile_um2: float
    base: float = 1.0

    def multiplier(self, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Multiplier:
        """Return the multipliers of resistance and reactance."""
        delta = _delta_um(frequency_ghz, metal)
        ratio: Complex = np.full(np.shape(delta), self.base, dtype=np.complex128)
        for count, radius in self.spheres:
            area = 1.5 * count * 4 * math.pi * radius**2 / self.tile_um2
            size = 2 * radius / delta  # 0 at rest, where delta is infinite
            ratio = ratio + area * size / (size + (1 - 1j))
        z = (1 + 1j) * ratio
        return Multiplier(np.asarray(z.real), np.asarray(z.imag))


def cannonball(rz_um: float) -> Roughness:
    """Return the Huray model of a foil face of roughness Rz: 14 spheres of radius 0.06 Rz on a tile of 36 r^2.

    B. Simonovich, "Practical method for modeling conductor roughness using cubic close-packing of equal spheres", IEEE
    EMC Symposium 2016, 917-920; the model is his of DesignCon 2015. K = 1 + (7 pi/3)/(1 + delta/r + delta^2/(2 r^2)),
    at most 8.33. Checked to 50 GHz by its author.

    Raises:
        ValueError: Rz is negative or not a number.
    """
    _check_height("Rz", rz_um)
    if rz_um == 0:
        return Smooth()
    radius = BALL_RADIUS_PER_RZ * rz_um
    return Huray(((14, radius),), 36 * radius**2)


@record
class Gradient:
    """Conductivity that rises from nothing to that of the metal like the normal distribution of the profile's height.

    sigma(x) = sigma Phi(x/Rq); Z(x) obeys dZ/dx = sigma(x) Z^2 - j omega mu0 from the solid metal outward. G. Gold, K.
    Helmreich, "A physical surface roughness model and its applications", IEEE Trans. MTT 65 (2017) 3720-3732. The
    reactance refers to the mean plane of the profile. Depends on Rq/delta alone; for metals of permeability 1.
    """

    rq_um: float

    def multiplier(self, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Multiplier:
        """Return the multipliers of resistance and reactance."""
        ratio = np.asarray(self.rq_um / _delta_um(frequency_ghz, metal))
        z = (_gradient_at(ratio.item()) if ratio.size == 1 else gradient_impedance(ratio.ravel())).reshape(ratio.shape)
        return Multiplier(np.asarray(z.real), np.asarray(z.imag))


def gradient_impedance(rq_per_delta: Real) -> Complex:
    """Return Z/Rs of the gradient model at its mean plane, for values of Rq/delta from 0 to 30; 1+1j when smooth.

    Thin layers of constant conductivity, each solved exactly, from 5 Rq inside to 5 Rq outside.
    """
    ratio = np.asarray(rq_per_delta, dtype=np.float64)
    shares, width = _profile()
    z = np.full(ratio.shape, 1 + 1j, dtype=np.complex128)
    for share in shares:  # from the inside out
        eta = (1 + 1j) / math.sqrt(share)
        slope = np.tanh((1 + 1j) * math.sqrt(share) * width * ratio)
        z = eta * (z + eta * slope) / (eta + z * slope)
    # the outermost point lies 5 Rq above the mean plane: take the j omega mu0 of that gap away again
    return np.asarray(z - 2j * 5 * ratio)


@lru_cache(maxsize=1024)
def _gradient_at(rq_per_delta: float) -> Complex:
    """`gradient_impedance` of one value, without arrays: the lines of a board share a few foils and frequencies."""
    shares, width = _profile()
    slopes = np.tanh((1 + 1j) * np.sqrt(shares) * width * rq_per_delta)
    z = 1 + 1j
    for share, slope in zip(shares, slopes.tolist(), strict=True):
        eta = (1 + 1j) / math.sqrt(share)
        z = eta * (z + eta * slope) / (eta + z * slope)
    return np.array([z - 2j * 5 * rq_per_delta])


@cache
def _profile() -> tuple[tuple[float, ...], float]:
    """Relative conductivity of the layers from the inside out, and their thickness in Rq."""
    count = 1000
    middles = 5 - (np.arange(count) + 0.5) * (10 / count)
    return tuple(0.5 * math.erfc(-x / math.sqrt(2)) for x in middles), 10 / count


def rq_from_rz(rz_um: float) -> float:
    """Return Rq = Rz/(2 sqrt 3), the RMS height of a triangular profile (Simonovich); measured foils reach Rz/5."""
    return rz_um / (2 * math.sqrt(3))


def _delta_um(frequency_ghz: ArrayLike, metal: Metal) -> Real:
    return np.asarray(skin_depth_mm(frequency_ghz, metal) * 1e3)


def _check_height(name: str, height_um: float) -> None:
    if not (math.isfinite(height_um) and height_um >= 0):
        raise ValueError(f"{name} must be a number of micrometres from 0, not {height_um!r}")
