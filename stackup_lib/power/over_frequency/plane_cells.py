"""Planes as square cells on one or more floors, the links between cells, and which pieces these links make of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stackup_lib.power.network import joined_parts
from stackup_lib.power.over_frequency.plane_pair import PlanePort
from stackup_lib.transmission_lines.materials.conductor_models import Real

ANTIPAD_MM2 = 12.0
"""A hole in the planes up to this area is that of a via, or of a few next to one another."""

REACH_MM = 3.0
"""Copper of the net that faces no ground leads no farther than this from a port to its planes: some 2 nH at 1 mm."""

EMPTY = -1

Ints = NDArray[np.int64]


def _no_joints() -> Ints:
    return np.zeros((0, 2), dtype=np.int64)


def _no_sheet() -> Real:
    return np.zeros(0)


@dataclass(frozen=True)
class PlaneCells:
    """Square cells of planes, rows downward, on one floor for each copper layer of the rail.

    Attributes:
        left_mm, top_mm: outer corner of the first cell.
        step_mm: side of a cell.
        sheet: shape (floors, rows, columns), in terms of the pair's: reciprocal of the series impedance, 0 without
            copper.
        plate: the same of the admittance of a cell's area.
        across: shape (floors, rows, columns - 1), as `sheet`: of the link to the next column, 0 where no copper leads
            there.
        down: shape (floors, rows - 1, columns), to the next row.
        joints: shape (joints, 2), cells in the order of `sheet.ravel()` that vias join.
        joint_sheet: shape (joints,), as `sheet`.
    """

    left_mm: float
    top_mm: float
    step_mm: float
    sheet: Real
    plate: Real
    across: Real
    down: Real
    joints: Ints = field(default_factory=_no_joints)
    joint_sheet: Real = field(default_factory=_no_sheet)

    def at_mm(self, cells: Ints) -> Real:
        """Return the middles of cells, in the order of `sheet.ravel()`, shape (cells, 2)."""
        _, row, column = np.unravel_index(cells, self.sheet.shape)
        corner = np.array([self.left_mm, self.top_mm])
        return np.asarray(corner + self.step_mm * (np.column_stack([column, row]) + 0.5), dtype=np.float64)

    @property
    def middle_mm(self) -> tuple[float, float]:
        """Of the box of the copper."""
        filled = np.argwhere(self.sheet > 0)[:, 1:]
        row, column = (filled.min(axis=0) + filled.max(axis=0) + 1) / 2
        return self.left_mm + float(column) * self.step_mm, self.top_mm + float(row) * self.step_mm

    @property
    def main_floor(self) -> int:
        """The floor with most copper."""
        return int(np.argmax((self.sheet > 0).sum(axis=(1, 2))))

    @cached_property
    def links(self) -> tuple[Ints, Ints, Real]:
        """The ends of all links, in the order of `sheet.ravel()`, and their conductances."""
        number = np.arange(self.sheet.size).reshape(self.sheet.shape)
        across, down = self.across > 0, self.down > 0
        return (
            np.concatenate([number[:, :, :-1][across], number[:, :-1][down], self.joints[:, 0]]),
            np.concatenate([number[:, :, 1:][across], number[:, 1:][down], self.joints[:, 1]]),
            np.concatenate([self.across[across], self.down[down], self.joint_sheet]),
        )

    @cached_property
    def pieces(self) -> Ints:
        """A number for each cell, shape of `sheet`; those with the same one hang together. `EMPTY` without copper."""
        first, second, _ = self.links
        found = joined_parts(first, second, self.sheet.size).reshape(self.sheet.shape)
        return np.where(self.sheet > 0, found, EMPTY)

    def covered(self, port: PlanePort) -> tuple[Ints, Real]:
        """Return the cells of a port's floor that its square covers, and how much of each; else the nearest, as 1."""
        here = np.flatnonzero(self.sheet[port.floor] > 0) + port.floor * self.sheet[0].size
        if not len(here):
            return here, np.zeros(0)
        half = max(port.size_mm, self.step_mm) / 2
        away = np.abs(self.at_mm(here) - np.array([port.x_mm, port.y_mm]))
        area = np.clip(half + self.step_mm / 2 - away, 0.0, min(2 * half, self.step_mm)).prod(axis=1)
        if not area.any():
            area[int(np.argmin(np.hypot(*away.T)))] = 1.0
        return here[area > 0], area[area > 0]

    def piece_at(self, port: PlanePort) -> int:
        """Return the piece that most of a port's square is on, or the nearest within reach; `EMPTY` for none."""
        cells, area = self.covered(port)
        if not len(cells):
            return EMPTY
        away = np.abs(self.at_mm(cells) - np.array([port.x_mm, port.y_mm])).max(axis=1)
        if away.min() > (max(port.size_mm, self.step_mm) + self.step_mm) / 2 + REACH_MM:
            return EMPTY
        return int(np.argmax(np.bincount(self.pieces.ravel()[cells], area)))

    def only(self, piece: int) -> PlaneCells:
        """Return the cells of one piece."""
        kept = self.pieces == piece
        joints = kept.ravel()[self.joints].all(axis=1)
        return replace(
            self,
            sheet=np.where(kept, self.sheet, 0.0),
            plate=np.where(kept, self.plate, 0.0),
            across=np.where(kept[:, :, 1:] & kept[:, :, :-1], self.across, 0.0),
            down=np.where(kept[:, 1:] & kept[:, :-1], self.down, 0.0),
            joints=self.joints[joints],
            joint_sheet=self.joint_sheet[joints],
        )

    def without_holes_of(self, ports: list[PlanePort]) -> PlaneCells:
        """Fill the antipads in which ports lie: the field around a barrel is between the planes there as well."""
        middle = self.at_mm(np.arange(self.sheet[0].size)).reshape(*self.sheet.shape[1:], 2)
        near = np.zeros(self.sheet.shape[1:], dtype=np.bool_)
        for port in ports:
            away = np.abs(middle - np.array([port.x_mm, port.y_mm])).max(axis=2)
            near |= away < (max(port.size_mm, self.step_mm) + self.step_mm) / 2
        filling = np.stack([_own_holes(sheet > 0, near, self.step_mm) for sheet in self.sheet])
        if not filling.any():
            return self
        sheet, plate = (_filled(values, filling, self.sheet > 0) for values in (self.sheet, self.plate))
        fresh = sheet_cells(self.left_mm, self.top_mm, self.step_mm, sheet, plate)
        new_across, new_down = filling[:, :, 1:] | filling[:, :, :-1], filling[:, 1:] | filling[:, :-1]
        return replace(
            fresh,
            across=np.where(new_across, fresh.across, self.across),
            down=np.where(new_down, fresh.down, self.down),
            joints=self.joints,
            joint_sheet=self.joint_sheet,
        )


def sheet_cells(left_mm: float, top_mm: float, step_mm: float, sheet: Real, plate: Real) -> PlaneCells:
    """Return cells all of whose neighbours are joined, by two halves of squares in series; one floor may be flat."""
    sheet, plate = (one if one.ndim == 3 else one[None] for one in (sheet, plate))
    ohm = np.divide(1.0, sheet, out=np.full(sheet.shape, np.inf), where=sheet > 0)
    across, down = 2 / (ohm[:, :, :-1] + ohm[:, :, 1:]), 2 / (ohm[:, :-1] + ohm[:, 1:])
    return PlaneCells(left_mm, top_mm, step_mm, sheet, plate, across, down)


def _own_holes(copper: NDArray[np.bool_], near: NDArray[np.bool_], step_mm: float) -> NDArray[np.bool_]:
    """Tell which cells are of small holes of a floor in which ports lie."""
    touched = ~copper & near
    if not touched.any():
        return touched
    from scipy.ndimage import label  # noqa: PLC0415 - heavy, and not every rail has a port in a hole

    hole, _ = label(~copper)
    small = np.bincount(hole.ravel()) * step_mm**2 <= ANTIPAD_MM2
    small[[0, *hole[0], *hole[-1], *hole[:, 0], *hole[:, -1]]] = False
    own = np.zeros_like(small)
    own[hole[touched]] = True
    return np.asarray((own & small)[hole], dtype=np.bool_)


def _filled(values: Real, filling: NDArray[np.bool_], full: NDArray[np.bool_]) -> Real:
    """Return values of floors with the mean of each where it is filled."""
    count = np.maximum(full.sum(axis=(1, 2)), 1)
    mean = np.where(full, values, 0.0).sum(axis=(1, 2)) / count
    return np.where(filling, mean[:, None, None], values)
