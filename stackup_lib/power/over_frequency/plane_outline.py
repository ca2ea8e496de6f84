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

from stackup_lib.power.network import conductance_entries, conductance_matrix, factorized, joined_parts
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort, series_ohm, shunt_s_per_m2
from stackup_lib.transmission_lines.materials.conductor_models import Complex, Real

MODES = 100
"""Of the space of modes, which with two ports is right to 1e-7 on 400 x 300 mm up to 1 GHz."""

LEAST_STEPS = 8
"""Steps from each port, however many there are: as good with 22 of them."""

SHIFT = 0.3
"""Where the space is exact, in terms of the longest half wave: k^2 of a third of it."""

ANTIPAD_MM2 = 12.0
"""A hole in the planes up to this area is that of a via, or of a few next to one another."""

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

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class PlaneCells:
    """Square cells of planes, rows downward.

    Attributes:
        left_mm, top_mm: outer corner of the first cell.
        step_mm: side of a cell.
        sheet: shape (rows, columns), in terms of the pair's: reciprocal of the series impedance, 0 without copper.
        plate: the same of the admittance of a cell's area.
    """

    left_mm: float
    top_mm: float
    step_mm: float
    sheet: Real
    plate: Real

    def middles_mm(self, row: NDArray[np.int64], column: NDArray[np.int64]) -> Real:
        """Return the middles of cells, shape (cells, 2)."""
        corner = np.array([self.left_mm, self.top_mm])
        return np.asarray(corner + self.step_mm * (np.column_stack([column, row]) + 0.5), dtype=np.float64)

    @property
    def middle_mm(self) -> tuple[float, float]:
        """Of the box of the copper."""
        row, column = (np.flatnonzero(self.sheet.any(axis=axis)) + 0.5 for axis in (1, 0))
        x, y = (column[0] + column[-1]) / 2, (row[0] + row[-1]) / 2
        return self.left_mm + float(x) * self.step_mm, self.top_mm + float(y) * self.step_mm


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

    Islands are joined where they are nearest, by a strip of one cell's width. A port outside of the copper is at the
    nearest cell.

    Raises:
        ValueError: there is no copper, or no port.
    """
    if not cells.sheet.any() or not len(ports):
        raise ValueError("planes of an outline need copper, and ports")
    cells = _without_own_holes(cells, ports)
    filled = cells.sheet > 0
    number = np.full(filled.shape, -1, dtype=np.int64)
    number[filled] = np.arange(int(filled.sum()))
    at_mm = cells.middles_mm(*np.nonzero(filled))
    sheet, plate = cells.sheet[filled], cells.plate[filled]
    first, second, conductance = _links(number, sheet)
    first, second, conductance = _with_bridges(at_mm / cells.step_mm, sheet, first, second, conductance)

    drive = np.column_stack([_drive(at_mm, port, cells.step_mm) for port in ports])
    side = float(np.max(np.ptp(at_mm, axis=0))) / cells.step_mm + 1
    shift = (SHIFT * math.pi / side) ** 2
    nodes = np.arange(len(at_mm))
    entries = conductance_entries(first, second, conductance)
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


def _without_own_holes(cells: PlaneCells, ports: Sequence[PlanePort]) -> PlaneCells:
    """Fill the antipads in which ports lie: the field around a barrel is between the planes there as well."""
    empty = cells.sheet == 0
    row, column = np.nonzero(empty)
    touched = np.zeros_like(empty)
    for port in ports:
        away = np.abs(cells.middles_mm(row, column) - np.array([port.x_mm, port.y_mm])).max(axis=1)
        inside = away < (max(port.size_mm, cells.step_mm) + cells.step_mm) / 2
        touched[row[inside], column[inside]] = True
    if not touched.any():
        return cells
    from scipy.ndimage import label  # noqa: PLC0415 - heavy, and not every rail has a port in a hole

    hole, _ = label(empty)
    small = np.bincount(hole.ravel()) * cells.step_mm**2 <= ANTIPAD_MM2
    small[[0, *hole[0], *hole[-1], *hole[:, 0], *hole[:, -1]]] = False
    own = np.zeros_like(small)
    own[hole[touched]] = True
    filling = (own & small)[hole]
    full = cells.sheet > 0
    sheet = np.where(filling, cells.sheet[full].mean(), cells.sheet)
    return PlaneCells(
        cells.left_mm, cells.top_mm, cells.step_mm, sheet, np.where(filling, cells.plate[full].mean(), cells.plate)
    )


def _links(number: NDArray[np.int64], sheet: Real) -> tuple[NDArray[np.int64], NDArray[np.int64], Real]:
    """Return the links between neighbours: their ends, and conductances, two halves of squares in series."""
    pairs = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    first, second = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    return first, second, 2 / (1 / sheet[first] + 1 / sheet[second])


def _with_bridges(
    at: Real, sheet: Real, first: NDArray[np.int64], second: NDArray[np.int64], conductance: Real
) -> tuple[NDArray[np.int64], NDArray[np.int64], Real]:
    """Add links from each island to the nearest cell of all that are joined already, the largest island first."""
    island = joined_parts(first, second, len(at))
    order = np.argsort(-np.bincount(island), kind="stable")
    if len(order) == 1:
        return first, second, conductance
    from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and few rails have islands

    joined = island == order[0]
    more: list[tuple[int, int, float]] = []
    for one in order[1:].tolist():
        own, others = np.flatnonzero(island == one), np.flatnonzero(joined)
        away, nearest = cKDTree(at[others]).query(at[own])
        here = int(np.argmin(away))
        there = int(others[nearest[here]])
        more.append((int(own[here]), there, float(sheet[own[here]] / max(1.0, float(away[here])))))
        joined[own] = True
    ends = np.array([pair[:2] for pair in more], dtype=np.int64)
    return (
        np.concatenate([first, ends[:, 0]]),
        np.concatenate([second, ends[:, 1]]),
        np.concatenate([conductance, [one[2] for one in more]]),
    )


def _drive(at_mm: Real, port: PlanePort, step_mm: float) -> Real:
    """Return how 1 A of a port divides over the cells: by how much of each its square covers."""
    half = max(port.size_mm, step_mm) / 2
    middle = np.array([port.x_mm, port.y_mm])
    covered = np.clip(half + step_mm / 2 - np.abs(at_mm - middle), 0.0, min(2 * half, step_mm)).prod(axis=1)
    if not covered.any():
        covered[int(np.argmin(np.hypot(*(at_mm - middle).T)))] = 1.0
    return np.asarray(covered / covered.sum(), dtype=np.float64)


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
            if max(away, size) > NEAR_CELLS * step_mm:
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
