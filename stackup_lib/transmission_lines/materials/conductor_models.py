"""Surface impedance of conductors over frequency: skin effect, finite thickness, layers, metals and temperature.

Convention exp(+j omega t). Frequencies in GHz, lengths in mm, conductivities in S/m, impedances in ohm per square.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stackup_lib.core.record import record

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]

MU0 = 4e-7 * math.pi
"""Permeability of vacuum in H/m; the measured value differs by 2 parts in 1e10 since 2019."""

COPPER_S_PER_M = 5.8e7
"""Annealed copper at 20 degrees Celsius, 100 % IACS: 1/58 ohm mm2/m (IEC 60028:1925)."""

COPPER_PER_K = 0.00393
"""Temperature coefficient of the resistance of annealed copper at 20 degrees Celsius (IEC 60028:1925)."""


@record
class Metal:
    """A conductor: conductivity in S/m and real relative permeability."""

    conductivity_s_per_m: float
    relative_permeability: float = 1.0


COPPER = Metal(COPPER_S_PER_M)
GOLD = Metal(4.52e7)
"""Gold at 20 degrees Celsius, 2.214e-8 ohm m (R. A. Matula, J. Phys. Chem. Ref. Data 8 (1979) 1147)."""


@record
class Coat:
    """One layer of metal of a thickness in mm."""

    metal: Metal
    thickness_mm: float


@record
class NickelGold:
    """ENIG over bare copper: what is known of its nickel is a range.

    Electroless nickel holds 6 to 12 % phosphorus: its resistivity is 5e-7 to 1e-6 ohm m, seven to ten times that of
    pure nickel, and its permeability at GHz lies between 1 and a few. Engineering knowledge without a data sheet.
    """

    nickel_um: float = 5.0  # IPC-4552 requires 3 to 6
    gold_um: float = 0.05
    nickel: Metal = Metal(1.4e6, 1.5)

    def coats(self) -> tuple[Coat, ...]:
        """Return the layers from the outside in."""
        return Coat(GOLD, self.gold_um / 1000), Coat(self.nickel, self.nickel_um / 1000)


NICKEL_LOW = Metal(2.0e6, 1.0)
"""The least lossy electroless nickel to be expected: 5e-7 ohm m, not magnetic."""

NICKEL_HIGH = Metal(1.0e6, 4.0)
"""The most lossy electroless nickel to be expected: 1e-6 ohm m, relative permeability 4."""


def copper_conductivity_s_per_m(temperature_c: float) -> float:
    """Return the conductivity of annealed copper: 5.8e7/(1 + 0.00393 (T - 20)) (IEC 60028; -40 to 150 degrees).

    Plated and treated copper may be a few per cent lower.
    """
    return COPPER_S_PER_M / (1 + COPPER_PER_K * (temperature_c - 20))


def skin_depth_mm(frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Real:
    """Return delta = 1/sqrt(pi f mu sigma) in mm; infinite at 0 GHz.

    H. A. Wheeler, "Formulas for the skin effect", Proc. IRE 30 (1942) 412-424.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64) * 1e9
    mu_sigma = MU0 * metal.relative_permeability * metal.conductivity_s_per_m
    with np.errstate(divide="ignore"):
        return np.asarray(1e3 / np.sqrt(math.pi * f * mu_sigma))


def surface_resistance_ohm(frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Real:
    """Return Rs = 1/(sigma delta) = sqrt(pi f mu/sigma) in ohm per square, of a smooth, thick conductor."""
    f = np.asarray(frequency_ghz, dtype=np.float64) * 1e9
    return np.asarray(np.sqrt(math.pi * f * MU0 * metal.relative_permeability / metal.conductivity_s_per_m))


def wave_impedance_ohm(frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Complex:
    """Return the surface impedance (1+j) Rs of a smooth, thick conductor."""
    return np.asarray((1 + 1j) * surface_resistance_ohm(frequency_ghz, metal))


def slab_impedance_ohm(frequency_ghz: ArrayLike, depth_mm: float, metal: Metal = COPPER) -> Complex:
    """Return (1+j) Rs coth((1+j) d/delta): a face with metal to a depth d, beyond which no field remains.

    For one face of a plane d is its thickness; for each face of a strip that carries current on both, half of it. At
    0 Hz this is 1/(sigma d); an infinite depth gives the thick conductor. S. Ramo, J. R. Whinnery, T. Van Duzer,
    "Fields and Waves in Communication Electronics", ch. 3 (plane solid of finite thickness). Exact for a plane face.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64)
    if math.isinf(depth_mm):
        return wave_impedance_ohm(f, metal)
    rest = 1 / (metal.conductivity_s_per_m * depth_mm * 1e-3)
    argument = np.asarray((1 + 1j) * depth_mm / skin_depth_mm(f, metal), dtype=np.complex128)
    return np.asarray(rest * _x_coth(argument))


def strip_impedance_ohm(frequency_ghz: ArrayLike, depth_mm: float, metal: Metal = COPPER) -> Complex:
    """Return sqrt((1/(sigma d))^2 + 2j Rs^2): the surface impedance of a trace's faces from DC to the skin effect.

    With d = crowding * area (see `Face`) the trace has its DC resistance at 0 Hz and the skin limit far above; the form
    is causal, and gives a round wire its internal inductance mu0/(8 pi) at DC. Between the ends it is an approximation:
    at most 6.5 % off for a round wire, -7 to +7 % for traces 0.1 to 0.35 mm wide against a filament model, where the
    coth of `slab_impedance_ohm` reads up to 22 % too low, since it knows no crowding toward the edges.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64)
    rest = 0.0 if math.isinf(depth_mm) else 1 / (metal.conductivity_s_per_m * depth_mm * 1e-3)
    return np.asarray(np.sqrt(rest**2 + 2j * surface_resistance_ohm(f, metal) ** 2), dtype=np.complex128)


def _x_coth(x: Complex) -> Complex:
    """Return x coth(x), with its limit 1 at 0 and no overflow for large x."""
    tiny = np.abs(x) < 1e-4
    safe = np.where(tiny, 1.0, x)
    decay = np.exp(-2 * safe)
    return np.asarray(np.where(tiny, 1 + x * x / 3, safe * (1 + decay) / (1 - decay)))


def layered_impedance_ohm(frequency_ghz: ArrayLike, coats: Sequence[Coat], base: ArrayLike) -> Complex:
    """Return the surface impedance of a metal under layers of other metals, `coats` from the outside in.

    `base` is the surface impedance of what lies below them, at each frequency.

    Each layer is a transmission line of wave impedance eta = (1+j)/(sigma delta) and propagation constant
    gamma = (1+j)/delta on top of what lies below: Z = eta (Zb + eta tanh gamma d)/(eta + Zb tanh gamma d), the input
    impedance of a line that ends in Zb: in plane layers E and H obey the telegrapher's equations. Exact for them.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64)
    below = np.asarray(base, dtype=np.complex128)
    for coat in reversed(coats):
        below = _through(f, coat, below)
    return below


def _through(frequency_ghz: Real, coat: Coat, below: Complex) -> Complex:
    eta = wave_impedance_ohm(frequency_ghz, coat.metal)
    slope = np.tanh((1 + 1j) * coat.thickness_mm / skin_depth_mm(frequency_ghz, coat.metal))
    # at 0 Hz eta and tanh vanish together: the layer lies parallel to what is below
    still = frequency_ghz == 0
    safe = np.where(still, 1.0, eta)
    moving = safe * (below + safe * slope) / (safe + below * slope)
    parallel = below / (1 + below * coat.metal.conductivity_s_per_m * coat.thickness_mm * 1e-3)
    return np.asarray(np.where(still, parallel, moving))
