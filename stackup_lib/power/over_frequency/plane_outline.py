"""A pair of planes of any outline, as square cells: impedances between ports, by the modes that the ports excite.

Links between cells have the series impedance of a square, each cell has the admittance of its area. Both change with
frequency alike everywhere, so that one set of modes holds at all frequencies: those of a block Krylov space that begins
with the ports (A. Odabasioglu et al., PRIMA, IEEE Trans. CAD 17 (1998) 645), which is passive as the network is. What a
port smaller than a cell adds is the potential of a square of uniform current less that of a lattice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.arrays import distinct
from stackup_lib.power.network import conductance_entries, conductance_matrix, factorized
from stackup_lib.power.over_frequency.plane_cells import PlaneCells
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort, series_ohm, shunt_s_per_m2
from stackup_lib.transmission_lines.materials.conductor_models import Complex, Real

MODES = 100
"""Of the space of modes, which with two ports is right to 1e-7 on 400 x 300 mm up to 1 GHz."""

LEAST_STEPS = 8
"""Steps from each port, however many there are: as good with 22 of them."""

SHIFT = 0.3
"""Where the space is exact, in terms of the longest half wave: k^2 of a third of it."""

OWN_SQUARES = 1e-3
"""The least that a port has for itself, a thousandth of a square: two ports on all of a few cells are still two."""

INDUCTIVE = 0.5
"""Modes with a k^2 above this, in terms of a cell, are inductances: their half wave is shorter than five cells."""

NEAR_CELLS = 4.0
"""Ports that are larger or farther apart than this are as on a sheet: a lattice differs by less than 1 %."""

SQUARE_MEAN = 0.4470
"""Geometric mean distance within a square, in terms of its side."""

_LATTICE = {0: 0.0, 1: 0.25, 2: 1 / math.pi, 4: 1 - 2 / math.pi}
"""Potential of a lattice of 1 ohm by squared distance (F. Spitzer, Principles of Random Walk, 1976, section 15)."""

_LATTICE_FAR = (np.euler_gamma + 1.5 * math.log(2)) / (2 * math.pi)


@dataclass(frozen=True)
class OutlineModes:
    """What holds at all frequencies.

    Attributes:
        poles: shape (modes,), k^2 in terms of the cell's area.
        shapes: shape (ports, modes).
        near: shape (ports, ports), what ports near one another add, in series impedances of a square.
        cell_mm2: area of a cell.
    """

    poles: Real
    shapes: Real
    near: Real
    cell_mm2: float

    def impedance_ohm(self, pair: PlanePair, frequencies_hz: Real) -> Complex:
        """Return the open-circuit impedances between ports, as an array of frequencies by ports by ports."""
        series = series_ohm(pair, frequencies_hz)
        per_cell = series * shunt_s_per_m2(pair, frequencies_hz) * self.cell_mm2 * 1e-6
        weights = 1 / (self.poles[:, None] + per_cell[None, :])
        products = (self.shapes[:, None, :] * self.shapes[None, :, :]).reshape(-1, len(self.poles))
        total = (products @ weights.real + 1j * (products @ weights.imag)).T.reshape(-1, *self.near.shape)
        return np.asarray(series[:, None, None] * (total + self.near[None]), dtype=np.complex128)


def outline_modes(cells: PlaneCells, ports: Sequence[PlanePort]) -> OutlineModes:
    """Return the modes that ports excite; places of ports are from the corner of the board's coordinates.

    A port outside of the copper is at the nearest cell of its floor.

    Raises:
        ValueError: there is no copper, or no port, or the copper is in pieces that nothing joins.
    """
    if not cells.sheet.any() or not len(ports):
        raise ValueError("planes of an outline need copper, and ports")
    cells = cells.without_holes_of(list(ports))
    filled = np.flatnonzero(cells.sheet)
    if len(distinct(cells.pieces.ravel()[filled])) > 1:
        raise ValueError("planes of an outline are one piece: what joins several is not known")
    number = np.full(cells.sheet.size, -1, dtype=np.int64)
    number[filled] = np.arange(len(filled))
    at_mm, nodes = cells.at_mm(filled), np.arange(len(filled))
    sheet, plate = cells.sheet.ravel()[filled], cells.plate.ravel()[filled]
    first, second, conductance = cells.links

    drive = np.column_stack([_drive(cells, port, number) for port in ports])
    side = float(np.max(np.ptp(at_mm, axis=0))) / cells.step_mm + 1
    shift = (SHIFT * math.pi / side) ** 2
    entries = conductance_entries(number[first], number[second], conductance)
    laplacian = conductance_matrix(*entries, len(nodes))
    shifted = conductance_matrix(
        np.concatenate([entries[0], nodes]),
        np.concatenate([entries[1], nodes]),
        np.concatenate([entries[2], shift * plate]),
        len(nodes),
    )
    space = _space(factorized(shifted).solve, plate, drive)
    poles, turn = np.linalg.eigh(space.T @ (laplacian @ space))
    poles, shapes = np.maximum(poles, 0.0), (drive.T @ space) @ turn
    near = _passive(_near(ports, drive, at_mm, sheet, cells.step_mm), poles, shapes)
    return OutlineModes(poles, shapes, near, cells.step_mm**2)


def _drive(cells: PlaneCells, port: PlanePort, number: NDArray[np.int64]) -> Real:
    """Return how 1 A of a port divides over the cells: by how much of each its square covers."""
    covered, area = cells.covered(port)
    found = np.zeros(int(number.max()) + 1)
    found[number[covered]] = area / area.sum()
    return found


def _space(solve: Callable[[Real], Real], plate: Real, drive: Real) -> Real:
    """Return vectors that span the ports' block Krylov space, orthonormal over the admittance of the cells."""
    blocks: list[Real] = []
    block = solve(drive)
    steps = max(LEAST_STEPS, math.ceil(MODES / drive.shape[1]))
    for _ in range(steps):
        for _ in range(2):  # once more against what rounding leaves
            for done in blocks:
                block = block - done @ (done.T @ (plate[:, None] * block))
        sizes, turn = np.linalg.eigh(block.T @ (plate[:, None] * block))
        kept = sizes > 1e-20 * max(float(sizes[-1]), 1e-300)
        if not kept.any():
            break
        block = block @ (turn[:, kept] / np.sqrt(sizes[kept]))
        blocks.append(block)
        block = solve(plate[:, None] * block)
    return np.concatenate(blocks, axis=1)


def _near(ports: Sequence[PlanePort], drive: Real, at_mm: Real, sheet: Real, step_mm: float) -> Real:
    """Return what small ports near one another have on a sheet and not on the lattice."""
    count = len(ports)
    near = np.zeros((count, count))
    for a in range(count):
        for b in range(a, count):
            one, other = ports[a], ports[b]
            away = math.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)
            size = max(one.size_mm, other.size_mm)
            if max(away, size) > NEAR_CELLS * step_mm or one.floor != other.floor:
                continue
            rows, columns = np.flatnonzero(drive[:, a]), np.flatnonzero(drive[:, b])
            apart = np.sum((at_mm[rows, None] - at_mm[None, columns]) ** 2, axis=2) / step_mm**2
            on_lattice = float(drive[rows, a] @ _lattice(apart) @ drive[columns, b])
            on_sheet = math.log(math.hypot(away, SQUARE_MEAN * size) / step_mm) / (2 * math.pi) + _LATTICE_FAR
            near[a, b] = near[b, a] = (on_lattice - on_sheet) / math.sqrt(sheet[rows].mean() * sheet[columns].mean())
    return near


def _passive(near: Real, poles: Real, shapes: Real) -> Real:
    """Return what `_near` found, as far as all that is an inductance at any frequency of interest remains one.

    It is less than nothing for a port that the lattice makes too small. Many ports on a few cells may make a negative
    inductance of that; where they do, it is left at `OWN_SQUARES`.
    """
    high = poles > INDUCTIVE
    static = (shapes[:, high] / poles[high]) @ shapes[:, high].T
    size, turn = np.linalg.eigh(near + static)
    return np.asarray((turn * np.maximum(size, OWN_SQUARES)) @ turn.T - static, dtype=np.float64)


def _lattice(squared: Real) -> Real:
    """Return the potential of a square lattice at squared distances in cells."""
    found = np.log(np.maximum(squared, 1.0)) / (4 * math.pi) + _LATTICE_FAR
    for distance, value in _LATTICE.items():
        found = np.where(np.abs(squared - distance) < 0.5, value, found)
    return np.asarray(found, dtype=np.float64)
