"""The network of a supply rail: series R-L-C branches and planes between nodes, its impedance, what makes a peak."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from stackup_lib.core.record import entity, record
from stackup_lib.transmission_lines.materials.conductor_models import Complex, Real

GROUND = ""
"""The node all voltages are measured from."""

SKIN_HZ = 1e8
"""Where `skin_ohm` is stated."""


@record
class SeriesBranch:
    """A resistance, an inductance and a capacitance in series between two nodes; no capacitance is a short.

    A regulator is R and L to ground (Intel AN 958, section 1.5.1); a capacitor has ESR, and ESL with mounting.
    `count` equal ones stand in parallel. `skin_ohm` is at 100 MHz the real part, and as much of the imaginary one, of
    what grows with the square root of frequency. `dissipation` is the loss tangent of the capacitance. What a file says
    of a part, `part_ohm` at each frequency in Hz, is in series with all of these.
    """

    name: str
    first: str
    second: str
    resistance_ohm: float = 0.0
    inductance_h: float = 0.0
    capacitance_f: float | None = None
    count: int = 1
    skin_ohm: float = 0.0
    dissipation: float = 0.0
    part_ohm: Callable[[Real], Complex] | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` for values that no passive part has, or for none at all."""
        values = (self.resistance_ohm, self.inductance_h, self.skin_ohm, self.dissipation)
        if not all(math.isfinite(value) and value >= 0 for value in values) or self.count < 1:
            raise ValueError(f"{self.name}: resistance and inductance are not negative, and there is at least one")
        if self.capacitance_f is not None and not (math.isfinite(self.capacitance_f) and self.capacitance_f > 0):
            raise ValueError(f"{self.name}: the capacitance is positive")
        has_some = self.resistance_ohm > 0 or self.inductance_h > 0 or self.part_ohm is not None
        if self.capacitance_f is None and not has_some:
            raise ValueError(f"{self.name} has no impedance")
        if self.first == self.second:
            raise ValueError(f"{self.name} begins and ends at the same node")

    def impedance_ohm(self, frequencies_hz: Real) -> Complex:
        """Return the impedance of all `count` in parallel."""
        omega = 2 * math.pi * np.asarray(frequencies_hz, dtype=float)
        one = self.resistance_ohm + 1j * omega * self.inductance_h
        if self.skin_ohm:
            one = one + self.skin_ohm * (1 + 1j) * np.sqrt(omega / (2 * math.pi * SKIN_HZ))
        if self.capacitance_f is not None:
            one = one + (self.dissipation - 1j) / (omega * self.capacitance_f)
        if self.part_ohm is not None:
            one = one + self.part_ohm(np.asarray(frequencies_hz, dtype=float))
        return np.asarray(one / self.count, dtype=np.complex128)


@entity
class PlaneNodes:
    """Planes that join nodes: impedances to ground as frequencies by nodes by nodes, as `plane_pair` makes them."""

    nodes: tuple[str, ...]
    impedance_ohm: Complex

    @cached_property
    def admittance_s(self) -> Complex:
        """The inverse, once for all networks on these planes."""
        return np.asarray(np.linalg.inv(self.impedance_ohm), dtype=np.complex128)


@entity
class SolvedNetwork:
    """The network with 1 A driven into the load: impedance there, and reactive power of each branch.

    `reactive_var` is frequencies by branches, and one column more for planes: positive for what stores energy in its
    magnetic field, negative for what stores it in its electric field.
    """

    frequencies_hz: Real
    impedance_ohm: Complex
    names: tuple[str, ...]
    reactive_var: Real


@record
class ImpedancePeak:
    """A maximum of |Z|: the two that exchange energy there, capacitive and inductive, None where there is none."""

    frequency_hz: float
    impedance_ohm: float
    capacitive: str | None
    inductive: str | None


def solve(
    branches: Sequence[SeriesBranch], load: str, frequencies_hz: Real, planes: PlaneNodes | None = None
) -> SolvedNetwork:
    """Return the impedance from the node `load` to ground, by nodal analysis at all frequencies at once.

    Raises:
        ValueError: no branch reaches the load, or a part of the network hangs from nothing.
    """
    frequencies = np.asarray(frequencies_hz, dtype=float)
    impedances = [branch.impedance_ohm(frequencies) for branch in branches]
    volt = _volts(branches, impedances, load, planes)
    columns = []
    for branch, ohm in zip(branches, impedances, strict=True):
        across = volt[branch.first] - volt[branch.second]
        columns.append(np.imag(across * np.conj(across / ohm)) / 2)
    names = [branch.name for branch in branches]
    if planes is not None:
        here = np.stack([volt[node] for node in planes.nodes], axis=1)
        into = np.einsum("fab,fb->fa", planes.admittance_s, here)
        columns.append(np.sum(np.imag(here * np.conj(into)), axis=1) / 2)
        names.append("planes")
    return SolvedNetwork(frequencies, volt[load], tuple(names), np.stack(columns, axis=1))


def impedances_ohm(
    branches: Sequence[SeriesBranch], at: tuple[str, str], frequencies_hz: Real, planes: PlaneNodes | None = None
) -> Complex:
    """Return the impedances at and between two nodes, each to ground: frequencies by 2 by 2. Errors as of `solve`."""
    impedances = [branch.impedance_ohm(np.asarray(frequencies_hz, dtype=float)) for branch in branches]
    columns = [_volts(branches, impedances, node, planes) for node in at]
    return np.stack([np.stack([volt[node] for volt in columns], axis=1) for node in at], axis=1)


def _volts(
    branches: Sequence[SeriesBranch], impedances: Sequence[Complex], driven: str, planes: PlaneNodes | None
) -> dict[str, Complex]:
    """Return the voltage of each node with 1 A into one; raises `ValueError` as `solve` does."""
    named = {node for branch in branches for node in (branch.first, branch.second)}
    nodes = sorted((named | set(planes.nodes if planes else ())) - {GROUND})
    if driven not in nodes:
        raise ValueError(f"nothing is connected to {driven}")
    if set(nodes) - _grounded(branches, planes):
        raise ValueError("a part of the network has no way to ground")
    row = {node: number for number, node in enumerate(nodes)}
    points = len(planes.impedance_ohm) if planes is not None else len(impedances[0])
    matrix = np.zeros((points, len(nodes), len(nodes)), dtype=np.complex128)
    for branch, ohm in zip(branches, impedances, strict=True):
        ends = [row[node] for node in (branch.first, branch.second) if node != GROUND]
        for a in ends:
            for b in ends:
                matrix[:, a, b] += (1 if a == b else -1) / ohm
    if planes is not None:
        at = np.array([row[node] for node in planes.nodes])
        matrix[:, at[:, None], at[None, :]] += planes.admittance_s
    current = np.zeros((points, len(nodes), 1), dtype=np.complex128)
    current[:, row[driven], 0] = 1.0
    volts: Complex = np.asarray(np.linalg.solve(matrix, current)[:, :, 0], dtype=np.complex128)
    return {node: volts[:, number] for node, number in row.items()} | {GROUND: np.zeros(points, dtype=np.complex128)}


def _grounded(branches: Sequence[SeriesBranch], planes: PlaneNodes | None) -> set[str]:
    found = {GROUND, *(planes.nodes if planes else ())}
    while True:
        new = {end for one in branches for end in (one.first, one.second) if {one.first, one.second} & found} - found
        if not new:
            return found
        found |= new


def peaks(solution: SolvedNetwork) -> tuple[ImpedancePeak, ...]:
    """Return the maxima of |Z| inside of the range, each with the branches that exchange most energy at it."""
    size = np.abs(solution.impedance_ohm)
    top = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    found = []
    for number in top:
        var = solution.reactive_var[number]
        low, high = int(np.argmin(var)), int(np.argmax(var))
        found.append(
            ImpedancePeak(
                float(solution.frequencies_hz[number]),
                float(size[number]),
                solution.names[low] if var[low] < 0 else None,
                solution.names[high] if var[high] > 0 else None,
            )
        )
    return tuple(found)
