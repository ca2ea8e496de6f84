"""The quasi-static field solver: capacitance and inductance of a cross section, and what follows from them.

Method: boundary elements. Unknown is the total charge (free and bound) on copper faces and dielectric interfaces, so
the only kernel is the free-space logarithm and its images: the plane below is an exact image, and a section that is its
own mirror image is solved as a half, once with an even and once with an odd image. Conditions are imposed at the Gauss
points of each element: constant potential on copper, continuous normal displacement on interfaces. The air-filled
problem, which gives the inductance, uses the rows and columns of copper of the same matrix.

Each section is solved on a ladder of resolutions until two rungs agree; the error estimate is their difference, but
not less than the rung's floor nor than a part of the difference before it (two rungs may agree by luck). The difference
bounds the error of the coarser rung; that of the finer one, which is returned, is usually far smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import entity, record
from stackup_lib.core.result_cache import cached_result
from stackup_lib.field_solver.boundary import (
    COPLANAR_LEFT,
    COPLANAR_RIGHT,
    PLANE_ABOVE,
    BoundaryPiece,
    is_symmetric,
    pieces,
    right_half,
    size_mm,
)
from stackup_lib.field_solver.interactions import View, effect
from stackup_lib.field_solver.kernels import Complex, Real
from stackup_lib.field_solver.mesh import Mesh, Resolution, build_mesh
from stackup_lib.field_solver.sections import GeometryError, Section
from stackup_lib.field_solver.solution import VACUUM_IMPEDANCE_OHM, LineSolution, ReturnShares

LADDER = (
    Resolution(1, 3, 1.6),
    Resolution(3, 4, 1.6),
    Resolution(5, 4, 1.3),
    Resolution(6, 5, 1.2),
    Resolution(7, 6, 1.2),
    Resolution(10, 8, 1.0),
)
"""Resolutions from coarse to fine."""

LEAST_ERROR = (1e-4, 1e-4, 4e-5, 5e-6, 2e-6)
"""Floors of the error estimate, from the second rung on: what each rung leaves on the worst of the reference cases."""

SAFETY_SHIELDED, FLOOR_OPEN = 1.25, 2.0
"""On 600 random lines of board dimensions the error reached 1.2 times the difference between two planes; in the open it
stayed below the difference, and below twice the floor on the second rung."""

TOLERANCE = 1e-4
"""Relative; ten times better than any input of a real board."""

KEPT, KEPT_RUNGS = 8, LADDER[:3]
"""Kernels that wait for another solution on the same mesh: the next step of a search, or the shares of dielectrics.
Those of finer rungs, up to 130 MB each, do not wait."""


def solve(section: Section, tolerance: float = TOLERANCE) -> LineSolution:
    """Solve a cross section until two resolutions agree within a relative tolerance, or the finest is reached.

    The caller reads from `error_estimate` whether it was.
    """
    safety, first = (SAFETY_SHIELDED, 1.0) if section.plane_above else (1.0, FLOOR_OPEN)
    floors = (LEAST_ERROR[0] * first, *LEAST_ERROR[1:])
    start = next((k for k, least in enumerate(floors) if least <= tolerance), len(floors) - 1)  # the first that may do
    last, before = solve_once(section, LADDER[start]), 0.0
    for resolution, least in zip(LADDER[start + 1 :], floors[start:], strict=True):
        now = solve_once(section, resolution)
        difference = safety * now.difference(last)
        now = now.with_error(max(difference, before / 8, least))
        if now.error_estimate <= tolerance:
            break
        last, before = now, difference
    return now


@cached_result(LineSolution.numbers, LineSolution.from_numbers)
def solve_once(section: Section, resolution: Resolution) -> LineSolution:
    """Solve at one resolution; the error estimate stays unknown (nan)."""
    return _solution_of(assemble(section, resolution))


def _solution_of(system: System) -> LineSolution:
    if system.has_modes:
        even, odd = system.with_image(1.0), system.with_image(-1.0)
        last = len(system.section.strips) - 1
        mirrored = [(last - k, k) for k in range(len(system.section.strips) // 2, last + 1)]
        air_even, air_odd = even.air_charges(mirrored), odd.air_charges(mirrored)
        c = _of_modes(even.charges(mirrored), odd.charges(mirrored))
        c0 = _of_modes(air_even.on_signals, air_odd.on_signals)
        return _solution(system, c, c0, air_even.shares(), air_odd.shares())
    drives = [(k,) for k in range(len(system.section.strips))]
    whole = system.with_image(1.0)
    both = 2.0 if system.symmetric else 1.0
    c = both * whole.charges(drives)
    air = whole.air_charges(drives)
    return _solution(system, c, both * air.on_signals, air.shares(), None)


@cached_result(lambda ohm: (ohm,), lambda numbers: numbers[0])
def impedance_once(section: Section, resolution: Resolution) -> float:
    """Return Z0 of a single line or Zdiff of a pair at one resolution; of equal traces the odd mode alone is solved."""
    system = assemble(section, resolution)
    if not system.has_modes:
        return _solution_of(system).impedance_ohm
    odd = system.with_image(-1.0)
    c = float(odd.charges([(0, 1)]).sum())
    c0 = float(odd.air_charges([(0, 1)]).on_signals.sum())
    if c <= 0 or c0 <= 0:
        raise _no_answer()
    return 2 * VACUUM_IMPEDANCE_OHM / math.sqrt(c * c0)


def _of_modes(even: Real, odd: Real) -> Real:
    """Return the matrix of all strips, from left to right, from those of the right half in both modes."""
    own, across = (even + odd) / 2, (even - odd) / 2
    return np.block([[own[::-1, ::-1], across[::-1]], [across[:, ::-1], own]])


def _solution(system: System, c: Real, c0: Real, shares: ReturnShares, odd_shares: ReturnShares | None) -> LineSolution:
    c, c0 = (c + c.T) / 2, (c0 + c0.T) / 2
    if not (np.all(np.linalg.eigvalsh(c) > 0) and np.all(np.linalg.eigvalsh(c0) > 0)):
        raise _no_answer()
    return LineSolution(c, c0, shares, odd_shares, system.unknowns)


def _no_answer() -> GeometryError:
    return GeometryError("the field has no solution to working accuracy", "check for extreme ratios of dimensions")


InAir = dict[tuple[float, tuple[tuple[int, ...], ...]], Real]
"""Charges on copper with every permittivity 1, by the sign of the mirror images and the drives."""


@entity
class System:
    """Everything of one mesh: kernels of the elements and of their mirror images in x = 0, apart."""

    section: Section
    symmetric: bool
    order: int
    eps_minus: Real
    eps_plus: Real
    mesh: Mesh
    conductor: Real  # per element: number of its conductor, nan on interfaces
    potential: tuple[Real, Real | None]  # rows of copper
    field: tuple[Real, Real | None]  # rows of interfaces and of thin strips between two dielectrics
    field_elements: NDArray[np.intp]
    in_air: InAir

    @property
    def has_modes(self) -> bool:
        """True for equal traces on both sides of x = 0: an even and an odd mode, each solved on one half."""
        strips = self.section.strips
        return self.symmetric and bool(strips[0].centre_mm)

    @property
    def unknowns(self) -> int:
        """Number of elements times polynomials."""
        return len(self.mesh.centre) * self.order

    @property
    def copper_unknowns(self) -> int:
        """Those of copper, which come before those of interfaces, as `pieces` lists them."""
        return int(np.count_nonzero(~np.isnan(self.conductor))) * self.order

    def with_image(self, sign: float) -> _Mode:
        """Return the system with mirror images in x = 0 of this sign: 1 even, -1 odd; as it is where not a half."""
        return _Mode(self, sign)


@cache
def gauss(order: int) -> tuple[Real, Real]:
    """Return Gauss-Legendre points and weights."""
    points, weights = np.polynomial.legendre.leggauss(order)
    return points, weights


@cache
def _legendre(order: int) -> Real:
    """Return Legendre polynomials (columns) at the Gauss points."""
    return np.asarray(np.polynomial.legendre.legvander(gauss(order)[0], order - 1), dtype=np.float64)


def _join(parts: tuple[Real, Real | None], sign: float, rows: slice | NDArray[np.bool_], out: Real) -> Real:
    """Fill `out` with some rows, and as many columns as it has, of charges and of sign times their mirror images."""
    direct, mirrored = parts
    columns = out.shape[1]
    if mirrored is None:
        out[:] = direct[rows, :columns]
    else:
        np.multiply(mirrored[rows, :columns], sign, out=out)
        out += direct[rows, :columns]
    return out


def _any_of(conductor: Real, drive: tuple[int, ...]) -> NDArray[np.bool_]:
    return np.asarray(np.any([conductor == k for k in drive], axis=0))


class _Kernels(NamedTuple):
    """What of a system does not depend on permittivities."""

    mesh: Mesh
    conductor: Real
    potential: tuple[Real, Real | None]
    field: tuple[Real, Real | None]
    field_elements: NDArray[np.intp]
    in_air: InAir


def assemble(section: Section, resolution: Resolution) -> System:
    """Mesh a cross section at one resolution and compute the kernels of its elements."""
    symmetric = is_symmetric(section)
    parts = pieces(section)
    if symmetric:
        parts = right_half(parts)
    # of permittivities kernels take only whether they differ across a piece
    alike = tuple(BoundaryPiece(p.start, p.end, 1.0, 1.0 + (p.eps_minus != p.eps_plus), p.conductor) for p in parts)
    compute = _kernels if resolution in KEPT_RUNGS else _kernels.__wrapped__
    kernels = compute(alike, resolution, size_mm(section), symmetric=symmetric, plane_below=section.plane_below)
    eps_minus = np.array([p.eps_minus for p in parts])[kernels.mesh.piece]
    eps_plus = np.array([p.eps_plus for p in parts])[kernels.mesh.piece]
    return System(section, symmetric, resolution.order, eps_minus, eps_plus, *kernels)


@lru_cache(maxsize=KEPT)
def _kernels(
    parts: tuple[BoundaryPiece, ...], resolution: Resolution, scale_mm: float, *, symmetric: bool, plane_below: bool
) -> _Kernels:
    mesh = build_mesh(parts, resolution, scale_mm, mirrored=symmetric)
    conductor = np.array([np.nan if p.conductor is None else p.conductor for p in parts])[mesh.piece]
    copper = ~np.isnan(conductor)
    with_field = ~copper | np.array([p.eps_minus != p.eps_plus for p in parts])[mesh.piece]
    targets = mesh.centre[:, None] + mesh.half[:, None] * gauss(resolution.order)[0]
    normals = np.repeat(1j * mesh.half / np.abs(mesh.half), resolution.order).reshape(targets.shape)
    rows = np.nonzero(with_field)[0]

    def with_images(z: Complex, n: Complex | None, own: NDArray[np.intp] | None = None) -> tuple[Real, Real | None]:
        """Matrices (targets, elements * order): charges with their image below, and the mirror images of both.

        An image's effect at a target is that of the charge itself at the mirrored target.
        """
        count = len(z)
        if symmetric:
            z = np.concatenate([z, -z.conj()])
            n = None if n is None else np.concatenate([n, -n.conj()])
            own = None if own is None else np.concatenate([own, np.full(count, -1)])
        views = [View(z, n, own=own)]  # on itself a straight element has no normal field but the jump, added apart
        if plane_below:
            views.append(View(z.conj(), None if n is None else n.conj(), -1.0))
        out = effect(views, centre=mesh.centre, half=mesh.half, order=resolution.order)
        out = out.reshape(len(z), len(mesh.centre) * resolution.order)
        out.flags.writeable = False
        return out[:count], out[count:] if symmetric else None

    potential = with_images(targets[copper].ravel(), None)
    field = with_images(targets[rows].ravel(), normals[rows].ravel(), np.repeat(rows, resolution.order))
    return _Kernels(mesh, conductor, potential, field, rows, {})


@entity
class _AirCharges:
    """Charges of the air-filled problem: per drive and signal; and of all signals driven alike, where the flux ends."""

    on_signals: Real
    below: float
    above: float
    coplanar: float
    total: float

    def shares(self) -> ReturnShares:
        below, above, coplanar = (q / self.total for q in (self.below, self.above, self.coplanar))
        return ReturnShares(below, above, coplanar, 1.0 - below - above - coplanar)


@record
class _Mode:
    """One image sign of a system: its matrix, solved for given drives."""

    system: System
    sign: float

    @property
    def odd(self) -> bool:
        """Whether the mirror images are of opposite sign."""
        return self.sign < 0

    @property
    def _floats(self) -> bool:
        """Without a plane the potential at infinity is unknown, and the charges sum to nothing."""
        return not self.system.section.plane_below and not self.odd

    def charges(self, drives: Sequence[tuple[int, ...]]) -> Real:
        """Free charge over eps0, (drives, signals), with the named signals at 1 V and all else at 0 V."""
        s = self.system
        p = s.order
        interface = np.isnan(s.conductor[s.field_elements])
        if interface.any():
            density = self._solve(self._matrix(interface), np.repeat(s.conductor, p), drives)
        else:  # all charge is on copper, and the same whatever surrounds it
            density = self.air_density(drives)
        free = (s.eps_minus + s.eps_plus) * np.abs(s.mesh.half) * density.reshape(len(drives), -1, p)[:, :, 0]
        thin = s.field_elements[~interface]
        if len(thin):
            field = _join(s.field, self.sign, np.repeat(~interface, p), np.empty((len(thin) * p, s.unknowns)))
            normal_field = (density @ field.T).reshape(len(drives), -1, p)
            jump = (s.eps_plus - s.eps_minus)[thin] * np.abs(s.mesh.half[thin])
            free[:, thin] += jump * (normal_field @ gauss(p)[1])
        return self._per_signal(free, s.conductor)

    def slopes(self, drive: tuple[int, ...]) -> tuple[float, Real, Real]:
        """Return the named signals' charge C at 1 V, and dC over the permittivity right and left of each element.

        With A x = b and C = w x, dC = dw x - y dA x where y solves A^T y = w. Traces have a thickness.
        """
        s = self.system
        p = s.order
        interface = np.isnan(s.conductor[s.field_elements])
        matrix = self._closed(self._matrix(interface), conductor := np.repeat(s.conductor, p))
        signal = _any_of(s.conductor, drive)
        both = s.eps_minus + s.eps_plus
        charge = np.zeros((1, len(both), p))
        charge[0, signal, 0] = (both * np.abs(s.mesh.half))[signal]
        (density,) = _solved(matrix, _any_of(conductor, drive)[None].astype(np.float64))
        (adjoint,) = _solved(matrix.T, charge.reshape(1, -1))
        on_signal = np.where(signal, np.abs(s.mesh.half) * density.reshape(-1, p)[:, 0], 0.0)
        direct, mirrored = s.field
        field = direct @ density if mirrored is None else direct @ density + self.sign * (mirrored @ density)
        of_contrast = np.zeros(len(both))
        of_contrast[s.field_elements] = (adjoint[s.copper_unknowns :] * field).reshape(-1, p).sum(axis=1)
        of_contrast *= 2.0 / both**2
        total = float(charge.ravel() @ density)
        return total, on_signal + of_contrast * s.eps_plus, on_signal - of_contrast * s.eps_minus

    def _matrix(self, interface: NDArray[np.bool_]) -> Real:
        """Potential on copper, and the condition of continuous displacement on interfaces (those among field rows)."""
        s = self.system
        p = s.order
        matrix = np.empty((s.unknowns, s.unknowns))
        copper = s.copper_unknowns
        _join(s.potential, self.sign, slice(None), matrix[:copper])
        _join(s.field, self.sign, slice(None) if interface.all() else np.repeat(interface, p), matrix[copper:])
        elements = s.field_elements[interface]
        contrast = (s.eps_minus - s.eps_plus)[elements] / (s.eps_minus + s.eps_plus)[elements]
        matrix[copper:] *= -np.repeat(contrast, p)[:, None]
        rows = (elements[:, None] * p + np.arange(p))[:, :, None]
        matrix[rows, rows.transpose(0, 2, 1)] += 0.5 * _legendre(p)
        return matrix

    def air_charges(self, drives: Sequence[tuple[int, ...]]) -> _AirCharges:
        """The same with every permittivity 1, and where the flux of all signals driven alike ends."""
        s = self.system
        copper = ~np.isnan(s.conductor)
        conductor = s.conductor[copper]
        density = self.air_density(drives)
        length = np.abs(s.mesh.half[copper])
        charge = 2 * length * density[:, :, 0]
        all_driven = charge.sum(axis=0)
        above = -float(all_driven[conductor == PLANE_ABOVE].sum())
        coplanar = -float(all_driven[(conductor == COPLANAR_LEFT) | (conductor == COPLANAR_RIGHT)].sum())
        total = float(all_driven[conductor >= 0].sum())
        below = total - above - coplanar
        if self.odd:
            below = self._below_one_trace(density.sum(axis=0), copper) if s.section.plane_below else 0.0
        elif not s.section.plane_below:
            below = 0.0
        return _AirCharges(self._per_signal(charge, conductor), below, above, coplanar, total)

    def air_density(self, drives: Sequence[tuple[int, ...]]) -> Real:
        """Charge over eps0 on copper with every permittivity 1: Legendre terms, (drives, copper elements, order)."""
        s = self.system
        key = self.sign, tuple(drives)
        if key not in s.in_air:
            copper = ~np.isnan(s.conductor)
            matrix = _join(s.potential, self.sign, slice(None), np.empty((s.copper_unknowns, s.copper_unknowns)))
            density = self._solve(matrix, np.repeat(s.conductor[copper], s.order), drives)
            s.in_air[key] = density.reshape(len(drives), -1, s.order)
        return s.in_air[key]

    def _below_one_trace(self, density: Real, copper: Real) -> float:
        """Charge on the half x > 0 of the plane below, odd image: q at (a, h) puts -q (2/pi) atan(a/h) there."""
        s = self.system
        points, weights = gauss(s.order)
        at = s.mesh.centre[copper][:, None] + s.mesh.half[copper][:, None] * points
        local = density @ _legendre(s.order).T
        share = (2 / np.pi) * np.arctan2(at.real, at.imag)
        return float(np.sum(np.abs(s.mesh.half[copper])[:, None] * weights * local * share))

    def _solve(self, matrix: Real, conductor: Real, drives: Sequence[tuple[int, ...]]) -> Real:
        """Densities, (drives, unknowns)."""
        potentials = np.array([_any_of(conductor, drive) for drive in drives], dtype=np.float64)
        return _solved(self._closed(matrix, conductor), potentials)

    def _closed(self, matrix: Real, conductor: Real) -> Real:
        """Return the matrix; where the potential floats, with it as one more unknown and no charge in all."""
        if not self._floats:
            return matrix
        p = self.system.order
        half = np.abs(self.system.mesh.half)
        if len(half) * p != len(conductor):
            half = half[~np.isnan(self.system.conductor)]
        neutral = np.zeros((len(half), p))
        neutral[:, 0] = half / half.max()
        constant = (~np.isnan(conductor))[:, None].astype(np.float64)
        return np.block([[matrix, constant], [neutral.reshape(1, -1), np.zeros((1, 1))]])

    @staticmethod
    def _per_signal(charge: Real, conductor: Real) -> Real:
        signals = sorted({int(c) for c in conductor if c >= 0})
        return np.array([[row[conductor == k].sum() for k in signals] for row in charge])


def _solved(matrix: Real, right: Real) -> Real:
    """Return solutions, (rows of `right`, its columns); unknowns beyond those have 0 on the right and are left out."""
    padded = np.zeros((len(matrix), len(right)))
    padded[: right.shape[1]] = right.T
    return np.asarray(np.linalg.solve(matrix, padded)[: right.shape[1]].T)
