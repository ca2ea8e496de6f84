"""Closed forms and laws that our solvers are compared with: copper in squares, barrels, roughness, finish, planes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from stackup_lib.transmission_lines.materials.conductor_models import (
    COPPER,
    MU0,
    Metal,
    NickelGold,
    layered_impedance_ohm,
    skin_depth_mm,
    wave_impedance_ohm,
)
from stackup_lib.transmission_lines.materials.roughness import Multiplier, Smooth
from stackup_lib.vias.stub_resonance import (
    COAX_OHM,
    ViaShape,
)

Complex = NDArray[np.complex128]

LATTICE_CONSTANT = 1.3105
"""Square lattice of round contacts: H. Hasimoto, J. Fluid Mech. 5 (1959) 317-328."""


def ring_squares(inner_radius_mm: float, outer_radius_mm: float) -> float:
    """Return ln(b/a)/(2 pi): spreading from a round contact to a concentric circle; exact."""
    return math.log(outer_radius_mm / inner_radius_mm) / (2 * math.pi)


def two_contacts_squares(distance_mm: float, radius_mm: float) -> float:
    """Return arccosh(D/2a)/pi: two round contacts on a sheet without end, D between their centres; exact."""
    return math.acosh(distance_mm / (2 * radius_mm)) / math.pi


def lattice_squares(pitch_mm: float, radius_mm: float) -> float:
    """Return (ln(p/a) - 1.3105 + pi a2/p2)/(2 pi): each cell of a square lattice of contacts, fed evenly over its area.

    Drop between the sheet's mean and the contact, per ampere (Hasimoto, see `LATTICE_CONSTANT`, to the second order in
    a/p); within 1 % for p > 5 a.
    """
    share = math.pi * (radius_mm / pitch_mm) ** 2
    return (math.log(pitch_mm / radius_mm) - LATTICE_CONSTANT + share) / (2 * math.pi)


def step_squares(narrow_mm: float, wide_mm: float) -> float:
    """Return what a strip's step to another width adds to the squares of both strips, the narrow one in the middle.

    ln[(1 - a2)/(4a) ((1 + a)/(1 - a))^((a + 1/a)/2)]/pi with a = narrow/wide; twice that for a step along one edge.
    N. Marcuvitz, Waveguide Handbook (1951), section 5.26, static limit; exact for strips longer than they are wide.
    """
    a = narrow_mm / wide_mm
    if a >= 1:
        return 0.0
    power = (a + 1 / a) / 2 * math.log((1 + a) / (1 - a))
    return (math.log((1 - a * a) / (4 * a)) + power) / math.pi


def twin_rod_ohm(barrel_mm: float, pitch_mm: float, dk: float) -> float:
    """Return the differential impedance of two barrels without planes: (120/sqrt Dk) arccosh(s/d), exact."""
    return 2 * COAX_OHM / math.sqrt(dk) * math.acosh(pitch_mm / barrel_mm)


@dataclass(frozen=True, slots=True)
class ConstantDielectric:
    """Dk and Df that do not change with frequency: not causal, for comparison with programs that assume it."""

    dk: float
    df: float = 0.0

    def permittivity(self, frequency_ghz: ArrayLike) -> Complex:
        """Return eps' - j eps'' at frequencies in GHz."""
        return np.full(np.shape(frequency_ghz), self.dk * (1 - 1j * self.df), dtype=np.complex128)


@dataclass(frozen=True, slots=True)
class Hammerstad:
    """K = 1 + (2/pi)(factor - 1) atan(1.4 (Rq/delta)^2); the reactance stays that of the smooth face.

    E. Hammerstad, O. Jensen, "Accurate models for microstrip computer-aided design", IEEE MTT-S 1980, p. 407, with
    factor 2; other factors: Y. Shlepnev, C. Nwachukwu, "Roughness characterization for interconnect analysis", IEEE EMC
    2011 (modified Hammerstad). Saturates at `factor`; good below Rq/delta of about 1.
    """

    rq_um: float
    factor: float = 2.0

    def multiplier(self, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Multiplier:
        """Return the multiplier; only the resistance rises."""
        share = self.rq_um / (1e3 * skin_depth_mm(frequency_ghz, metal))
        k = 1 + 2 / math.pi * (self.factor - 1) * np.arctan(1.4 * share**2)
        return Multiplier(np.asarray(k), np.ones_like(k))


@dataclass(frozen=True, slots=True)
class Groisse:
    """K = 1 + exp(-(delta/(2 Rq))^1.6); the reactance stays that of the smooth face. Saturates at 2.

    S. Groiss, I. Bardi, O. Biro, K. Preis, K. R. Richter, "Parameters of lossy cavity resonators calculated by the
    finite element method", IEEE Trans. Magnetics 32 (1996).
    """

    rq_um: float

    def multiplier(self, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> Multiplier:
        """Return the multiplier; only the resistance rises."""
        f = np.asarray(frequency_ghz, dtype=np.float64)
        if self.rq_um == 0:
            return Smooth().multiplier(f)
        k = 1 + np.exp(-((1e3 * skin_depth_mm(f, metal) / (2 * self.rq_um)) ** 1.6))
        return Multiplier(np.asarray(k), np.ones_like(k))


def enig_multiplier(frequency_ghz: ArrayLike, finish: NickelGold, base: Metal = COPPER) -> Complex:
    """Return the surface impedance of ENIG relative to that of bare, thick copper, for copper without solder mask.

    Real part: what the resistance of these faces is multiplied by, over 0 GHz.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64)
    bare = wave_impedance_ohm(f, base)
    return np.asarray(layered_impedance_ohm(f, finish.coats(), bare) / bare)


def sheet_inductance_h(spacing_mm: float, length_mm: float, width_mm: float) -> float:
    """Return mu0 h l/w, of current that fills the width of two planes."""
    return MU0 * spacing_mm * length_mm / width_mm * 1e-3


def spreading_inductance_h(spacing_mm: float, inner_mm: float, outer_mm: float) -> float:
    """Return mu0 h/(2 pi) ln(r2/r1), of current that spreads between planes from radius r1 to r2."""
    return MU0 * spacing_mm * 1e-3 / (2 * math.pi) * math.log(outer_mm / inner_mm)


def plane_stack_capacitance(shape: ViaShape, pitch_mm: float) -> float:
    """Capacitance per length over 2 pi eps of a barrel in the antipads of 20 um planes.

    Finite differences of Laplace's equation in (r, z) over half a period; the sum of field energies gives C.
    """
    step, inner, outer = 0.01, shape.barrel_mm / 2, shape.antipad_mm / 2
    count_z, count_r = round(pitch_mm / 2 / step) + 1, round((outer - inner + 1.5 * pitch_mm) / step) + 1
    r, z = inner + step * np.arange(count_r), step * np.arange(count_z)
    fixed = np.full((count_r, count_z), np.nan)
    in_plane = z <= 0.01 + 1e-9
    fixed[0, :] = 1.0
    fixed[np.ix_(r >= outer - 1e-9, in_plane)] = 0.0
    if shape.pad_mm:
        fixed[np.ix_(r <= shape.pad_mm / 2 + 1e-9, in_plane)] = 1.0
    index = np.arange(fixed.size).reshape(fixed.shape)
    half_z = np.where((np.arange(count_z) == 0) | (np.arange(count_z) == count_z - 1), 0.5, 1.0)
    half_r = np.where((np.arange(count_r) == 0) | (np.arange(count_r) == count_r - 1), 0.5, 1.0)
    weights = np.concatenate(
        [np.outer(r[:-1] + step / 2, half_z).ravel(), np.outer(r * half_r, np.ones(count_z - 1)).ravel()]
    )
    one = np.concatenate([index[:-1].ravel(), index[:, :-1].ravel()])
    other = np.concatenate([index[1:].ravel(), index[:, 1:].ravel()])
    rows, columns = np.concatenate([one, other, one, other]), np.concatenate([one, other, other, one])
    laplace = coo_matrix((np.concatenate([weights, weights, -weights, -weights]), (rows, columns))).tocsr()
    known = ~np.isnan(fixed.ravel())
    volt = np.where(known, fixed.ravel(), 0.0)
    volt[~known] = spsolve(laplace[~known][:, ~known], -laplace[~known][:, known] @ volt[known])
    return float(volt @ (laplace @ volt)) / (pitch_mm / 2)
