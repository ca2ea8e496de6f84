"""What the field solver returns: matrices per metre, and the line parameters that follow from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, fields, replace

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.light import LIGHT_M_PER_S
from stackup_lib.core.record import entity, record
from stackup_lib.field_solver.sections import GeometryError

VACUUM_IMPEDANCE_OHM = 376.730313668
EPS0_F_PER_M = 1.0 / (VACUUM_IMPEDANCE_OHM * LIGHT_M_PER_S)
MU0_H_PER_M = VACUUM_IMPEDANCE_OHM / LIGHT_M_PER_S

Matrix = NDArray[np.float64]


@record
class ReturnShares:
    """Which fraction of the signal current returns where (from the air-filled field, as the magnetic field has it).

    `other_trace` is what the opposite trace itself carries in the odd mode; it is 0 for a single line or even mode.
    """

    plane_below: float
    plane_above: float
    coplanar: float
    other_trace: float = 0.0

    def turned(self) -> ReturnShares:
        """Return them of the section upside down."""
        return replace(self, plane_below=self.plane_above, plane_above=self.plane_below)


SHARES = len(fields(ReturnShares))


@entity
class LineSolution:
    """One solved cross section.

    Args:
        relative_capacitance: Maxwell capacitance matrix over eps0, (n, n) for n strips in the section's order.
        relative_air_capacitance: the same with every permittivity 1.
        shares: return current of the single line, or of the pair driven in common.
        odd_shares: return current of one trace of a symmetric pair driven differentially; None for other sections.
        error_estimate: relative; of the least certain impedance or eps_eff, from the solver's own refinement.
        unknowns: size of the finest system solved.
    """

    relative_capacitance: Matrix
    relative_air_capacitance: Matrix
    shares: ReturnShares
    odd_shares: ReturnShares | None
    unknowns: int
    error_estimate: float = float("nan")

    def numbers(self) -> list[float]:
        """Return all that there is of it, for `from_numbers`."""
        matrices = (self.relative_capacitance, self.relative_air_capacitance)
        shares = [astuple(one) for one in (self.shares, self.odd_shares) if one is not None]
        values = [value for one in (*(matrix.ravel().tolist() for matrix in matrices), *shares) for value in one]
        return [len(self.relative_capacitance), self.unknowns, self.error_estimate, *values]

    @staticmethod
    def from_numbers(numbers: Sequence[float]) -> LineSolution:
        """Return the solution that has these numbers."""
        count, unknowns, error, *values = numbers
        n, size = int(count), int(count) ** 2
        matrices = np.array(values[: 2 * size]).reshape(2, n, n)
        shares, odd = values[2 * size : 2 * size + SHARES], values[2 * size + SHARES :]
        odd_shares = ReturnShares(*odd) if odd else None
        return LineSolution(matrices[0], matrices[1], ReturnShares(*shares), odd_shares, int(unknowns), error)

    def turned(self) -> LineSolution:
        """Return the solution of the section upside down: the planes change places, nothing else does."""
        odd = None if self.odd_shares is None else self.odd_shares.turned()
        return replace(self, shares=self.shares.turned(), odd_shares=odd)

    @property
    def is_pair(self) -> bool:
        """Whether there are two signal strips."""
        return len(self.relative_capacitance) == 2

    @property
    def capacitance_f_per_m(self) -> Matrix:
        """Maxwell capacitance matrix, F/m."""
        return self.relative_capacitance * EPS0_F_PER_M

    @property
    def inductance_h_per_m(self) -> Matrix:
        """External inductance matrix, H/m (current on the surface of perfect conductors)."""
        return np.asarray(np.linalg.inv(self.relative_air_capacitance) * MU0_H_PER_M)

    @property
    def z0_ohm(self) -> float:
        """Characteristic impedance of a single line."""
        self._need(1, "z0_ohm")
        product = self.relative_capacitance[0, 0] * self.relative_air_capacitance[0, 0]
        return VACUUM_IMPEDANCE_OHM / float(np.sqrt(product))

    @property
    def eps_eff(self) -> float:
        """Effective permittivity of a single line."""
        self._need(1, "eps_eff")
        return float(self.relative_capacitance[0, 0] / self.relative_air_capacitance[0, 0])

    @property
    def delay_ps_per_mm(self) -> float:
        """Propagation delay of a single line."""
        return delay_ps_per_mm(self.eps_eff)

    @property
    def z_diff_ohm(self) -> float:
        """Differential impedance of a pair: opposite currents."""
        if odd := self._mode(-1.0):
            return 2 * VACUUM_IMPEDANCE_OHM / math.sqrt(odd[0] * odd[1])
        z = self._impedance_matrix("z_diff_ohm")
        return float(z[0, 0] + z[1, 1] - 2 * z[0, 1])

    @property
    def impedance_ohm(self) -> float:
        """What targets name: Z0 of a single line, Zdiff of a pair."""
        return self.z_diff_ohm if self.is_pair else self.z0_ohm

    @property
    def z_common_ohm(self) -> float:
        """Common-mode impedance of a pair: equal voltages, both traces in parallel."""
        if even := self._mode(1.0):
            return VACUUM_IMPEDANCE_OHM / math.sqrt(even[0] * even[1]) / 2
        z = self._impedance_matrix("z_common_ohm")
        return float((z[0, 0] * z[1, 1] - z[0, 1] * z[1, 0]) / (z[0, 0] + z[1, 1] - 2 * z[0, 1]))

    @property
    def z_odd_ohm(self) -> float:
        """Odd-mode impedance: half of z_diff."""
        return self.z_diff_ohm / 2

    @property
    def z_even_ohm(self) -> float:
        """Even-mode impedance: twice z_common."""
        return self.z_common_ohm * 2

    @property
    def eps_eff_odd(self) -> float:
        """Effective permittivity of the odd (or, in an asymmetric pair, the pi) mode."""
        return self._mode_permittivities()[0]

    @property
    def eps_eff_even(self) -> float:
        """Effective permittivity of the even (or, in an asymmetric pair, the c) mode."""
        return self._mode_permittivities()[1]

    @property
    def delay_odd_ps_per_mm(self) -> float:
        """Propagation delay of the odd mode."""
        return delay_ps_per_mm(self.eps_eff_odd)

    @property
    def delay_even_ps_per_mm(self) -> float:
        """Propagation delay of the even mode."""
        return delay_ps_per_mm(self.eps_eff_even)

    @property
    def coupling(self) -> float:
        """(Zeven - Zodd) / (Zeven + Zodd): the backward coupling coefficient of a pair."""
        return (self.z_even_ohm - self.z_odd_ohm) / (self.z_even_ohm + self.z_odd_ohm)

    def values(self) -> dict[str, float]:
        """The line parameters by name: those of a single line or those of a pair."""
        names = ["z0_ohm", "eps_eff", "delay_ps_per_mm"]
        if self.is_pair:
            names = ["z_diff_ohm", "z_common_ohm", "z_odd_ohm", "z_even_ohm", "eps_eff_odd", "eps_eff_even"]
            names += ["delay_odd_ps_per_mm", "delay_even_ps_per_mm", "coupling"]
        return {name: float(getattr(self, name)) for name in names}

    def difference(self, other: LineSolution) -> float:
        """Largest relative difference of an impedance or an effective permittivity."""
        names = ("z_odd_ohm", "z_even_ohm", "eps_eff_odd", "eps_eff_even") if self.is_pair else ("z0_ohm", "eps_eff")
        return max(abs(float(getattr(self, name)) / float(getattr(other, name)) - 1) for name in names)

    def with_error(self, error_estimate: float) -> LineSolution:
        """The same solution with its error estimate."""
        return replace(self, error_estimate=error_estimate)

    def _mode(self, sign: float) -> tuple[float, float] | None:
        """Capacitances of a trace of a pair in its odd (-1) or even (1) mode, and in air; None of unequal traces."""
        if not self.is_pair:
            return None
        (a, b), (_, d) = self.relative_capacitance.tolist()
        (a0, b0), (_, d0) = self.relative_air_capacitance.tolist()
        return (a + sign * b, a0 + sign * b0) if a == d and a0 == d0 else None

    def _impedance_matrix(self, wanted: str) -> Matrix:
        """Zc = sqrt(L C) C^-1, with the square root of a 2x2 matrix in closed form."""
        self._need(2, wanted)
        c = self.relative_capacitance
        lc = np.linalg.solve(self.relative_air_capacitance, c)
        root = np.sqrt(np.linalg.det(lc))
        square_root = (lc + root * np.eye(2)) / np.sqrt(np.trace(lc) + 2 * root)
        return np.asarray(square_root @ np.linalg.inv(c) * VACUUM_IMPEDANCE_OHM)

    def _mode_permittivities(self) -> tuple[float, float]:
        """(odd, even): eigenvalues of C0^-1 C, distinguished by the quotients of the symmetric modes."""
        self._need(2, "eps_eff_odd")
        if (odd_mode := self._mode(-1.0)) and (even_mode := self._mode(1.0)):
            return odd_mode[0] / odd_mode[1], even_mode[0] / even_mode[1]
        c, c0 = self.relative_capacitance, self.relative_air_capacitance
        lc = np.linalg.solve(c0, c)
        mean, det = np.trace(lc) / 2, np.linalg.det(lc)
        spread = np.sqrt(max(mean**2 - det, 0.0))
        odd, even = (float(v @ c @ v / (v @ c0 @ v)) for v in (np.array([1.0, -1.0]), np.array([1.0, 1.0])))
        if spread < 1e-6 * mean:  # cancellation: the quotients are more accurate
            return odd, even
        low, high = float(mean - spread), float(mean + spread)
        return (low, high) if odd <= even else (high, low)

    def _need(self, strips: int, wanted: str) -> None:
        if len(self.relative_capacitance) != strips:
            kind = "a pair" if self.is_pair else "a single line"
            raise GeometryError(f"{wanted} asked of {kind}", "ask z0_ohm of single lines and z_diff_ohm of pairs")


def delay_ps_per_mm(eps_eff: float) -> float:
    """Delay of a wave in a medium of this effective permittivity: sqrt(eps_eff) / c."""
    return float(np.sqrt(eps_eff)) / LIGHT_M_PER_S * 1e9
