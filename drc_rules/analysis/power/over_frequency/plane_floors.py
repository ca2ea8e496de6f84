"""The planes of a rail as cells, a floor for each of its layers: what links neighbours, and which vias join floors.

Cells are linked where one piece of fill of the rail and one of ground, on the same two layers, reach from one to the
other. A via is an inductance between two floors, as a part of a square with that much. Nothing else joins pieces.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drc_rules.analysis.power.over_frequency.heights import LayerHeights
from drc_rules.analysis.power.over_frequency.load import LoadPort
from stackup_lib.board.board import Floats, Ints
from stackup_lib.power.ground_return.return_net import Holes, holes_of
from stackup_lib.power.over_frequency.fill_pieces import JOINED_MM, FillPieces
from stackup_lib.power.over_frequency.landings import PLATING_MM
from stackup_lib.power.over_frequency.mounting import via_pair_inductance_h
from stackup_lib.power.over_frequency.plane_cells import PlaneCells
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort, series_ohm
from stackup_lib.power.over_frequency.rail_planes import RailPlanes

BOARD_HZ = 1e7
"""Board capacitors work up to 10 or 20 MHz (AMD UG584)."""


@dataclass(frozen=True)
class PlaneFloors:
    """The cells of a rail's planes; `layers` are the copper layers of the floors, from the top."""

    cells: PlaneCells
    layers: tuple[int, ...]

    def port(self, at_mm: tuple[float, float], size_mm: float, layer: int) -> PlanePort:
        """Return a port on the floor of a layer, the next one that there is."""
        floor = min(range(len(self.layers)), key=lambda one: abs(self.layers[one] - layer))
        return PlanePort(*at_mm, size_mm, floor)


@dataclass(frozen=True)
class _Site:
    """What floors are made of; `holes` are those of the rail, `grounds` those of ground."""

    fills: FillPieces
    nets: tuple[int, int]
    planes: RailPlanes
    heights: LayerHeights
    holes: Holes
    grounds: Holes

    @property
    def layers(self) -> tuple[int, ...]:
        return tuple(sorted({one.rail_layer for one in self.planes.facing}))


class _Joint(NamedTuple):
    first: int
    second: int
    hole: int
    layers: tuple[int, int]
    depth_mm: float
    shares_ground: bool


def plane_floors(  # noqa: PLR0917 - what planes are made of
    fills: FillPieces,
    nets: tuple[int, int],
    planes: RailPlanes,
    pair: PlanePair,
    heights: LayerHeights,
    load: LoadPort,
) -> PlaneFloors:
    """Return the cells of a rail's planes in terms of `pair`; where these face several grounds, over the load's."""
    board = fills.copper.board
    holes, grounds = (holes_of(board, net, PLATING_MM) for net in nets)
    site = _Site(fills, nets, planes, heights, holes, grounds)
    of_cell = _one_ground(site, load)
    shape = len(site.layers), planes.rows, planes.columns
    sheet, plate = np.zeros(shape), np.zeros(shape)
    across, down = np.zeros((shape[0], shape[1], shape[2] - 1)), np.zeros((shape[0], shape[1] - 1, shape[2]))
    for one, where, rail, ground, of in zip(
        planes.facing, planes.where, planes.rail_piece, planes.ground_piece, _grounds_of(site), strict=True
    ):
        keep = of_cell[site.layers.index(one.rail_layer), where] == of
        floor, share = site.layers.index(one.rail_layer), pair.spacing_mm / heights.between_mm(*one.layers)
        flat = np.full((2, planes.rows * planes.columns), -1, dtype=np.int64)
        flat[:, where[keep]] = rail[keep], ground[keep]
        piece = flat.reshape(2, planes.rows, planes.columns)
        is_here = piece[0] >= 0
        sheet[floor] += share * is_here
        plate[floor] += share * is_here * heights.dk_between(*one.layers) / pair.dk
        across[floor] += share * ((piece[:, :, 1:] == piece[:, :, :-1]).all(axis=0) & is_here[:, 1:])
        down[floor] += share * ((piece[:, 1:] == piece[:, :-1]).all(axis=0) & is_here[1:])
    cells = PlaneCells(planes.left_mm, planes.top_mm, planes.step_mm, sheet, plate, across, down)
    joints = list(_joints(site, cells, of_cell.ravel()))
    squares = _inductances_h(site, joints) / _square_h(pair)
    ends = np.array([(one.first, one.second) for one in joints], dtype=np.int64).reshape(-1, 2)
    led = np.isfinite(squares)
    return PlaneFloors(replace(cells, joints=ends[led], joint_sheet=1 / squares[led]), site.layers)


def _square_h(pair: PlanePair) -> float:
    """The inductance of a square of a pair with what is in its copper, where board capacitors work."""
    return float(series_ohm(pair, np.array([BOARD_HZ]))[0].imag) / (2 * math.pi * BOARD_HZ)


def _grounds_of(site: _Site) -> list[Ints]:
    """Return of each pair and cell a number of its ground; those that vias of ground join have the same."""
    parts = site.fills.joined_by(site.nets[1], site.grounds)
    return [np.array([parts.get(one, -2 - one) for one in pieces.tolist()]) for pieces in site.planes.ground_piece]


def _ground_of_load(site: _Site, grounds: Sequence[Ints], load: LoadPort) -> int:
    """Return the ground that most of the load's place is over, or the nearest."""
    planes, away, weight = site.planes, [], []
    for one, where in zip(planes.facing, planes.where, strict=True):
        row, column = np.divmod(where, planes.columns)
        x, y = planes.left_mm + planes.step_mm * (column + 0.5), planes.top_mm + planes.step_mm * (row + 0.5)
        away.append(np.maximum(np.abs(x - load.x_mm), np.abs(y - load.y_mm)))
        weight.append(np.full(len(where), 1 / site.heights.between_mm(*one.layers)))
    distance = np.concatenate(away)
    near = distance <= max(load.size_mm / 2, float(distance.min()) + planes.step_mm)
    names, index = np.unique(np.concatenate(grounds)[near], return_inverse=True)
    return int(names[int(np.argmax(np.bincount(index, np.concatenate(weight)[near])))])


def _one_ground(site: _Site, load: LoadPort) -> Ints:
    """Return the ground of each cell, shape (floors, cells): the load's where the rail faces several, -1 for none."""
    grounds = _grounds_of(site)
    own = _ground_of_load(site, grounds, load)
    found = np.full((len(site.layers), site.planes.rows * site.planes.columns), -1, dtype=np.int64)
    for one, where, of in zip(site.planes.facing, site.planes.where, grounds, strict=True):
        floor = site.layers.index(one.rail_layer)
        free = (found[floor, where] == -1) | (of == own)
        found[floor, where[free]] = of[free]
    return found


def _joints(site: _Site, cells: PlaneCells, ground: Ints) -> Iterator[_Joint]:
    """Yield where holes of the rail join one floor and the next that they meet, over one ground."""
    met = np.stack([_cells_met(site, cells, floor) for floor in range(len(site.layers))], axis=1)
    size = cells.sheet[0].size
    for hole, row in enumerate(met.tolist()):
        floors = [floor for floor, cell in enumerate(row) if cell >= 0]
        for upper, lower in pairwise(floors):
            if ground[row[upper]] != ground[row[lower]]:
                continue
            layers = site.layers[upper], site.layers[lower]
            both = _grounds_at(site, layers[0], row[upper] % size) & _grounds_at(site, layers[1], row[lower] % size)
            shared = any(layers[0] < layer < layers[1] for layer in both)
            yield _Joint(row[upper], row[lower], hole, layers, site.heights.between_mm(*layers), shared)


def _grounds_at(site: _Site, rail_layer: int, cell: int) -> frozenset[int]:
    """The ground layers that the rail on a layer faces in a cell."""
    planes = site.planes
    return frozenset(
        one.ground_layer
        for one, where in zip(planes.facing, planes.where, strict=True)
        if one.rail_layer == rail_layer and _holds(where, cell)
    )


def _holds(rising: Ints, value: int) -> bool:
    at = int(np.searchsorted(rising, value))
    return at < len(rising) and int(rising[at]) == value


def _cells_met(site: _Site, cells: PlaneCells, floor: int) -> Ints:
    """The cell of a floor that each hole of the rail meets, -1 where it meets none: the nearest of the same fill."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a rail with planes needs it

    layer, holes, planes = site.layers[floor], site.holes, site.planes
    found = np.full(len(holes), -1, dtype=np.int64)
    pieces = site.fills.met(layer, site.nets[0], holes)
    offset = floor * cells.sheet[0].size
    own = np.full(cells.sheet[0].size, -1, dtype=np.int64)
    for one, where, rail in zip(planes.facing, planes.where, planes.rail_piece, strict=True):
        if one.rail_layer == layer:
            own[where] = rail
    own[cells.sheet[floor].ravel() == 0] = -1
    for piece in set(pieces[pieces >= 0].tolist()):
        here, rows = np.flatnonzero(own == piece), np.flatnonzero(pieces == piece)
        if not len(here):
            continue
        at = np.column_stack([holes.x_mm[rows], holes.y_mm[rows]])
        away, nearest = cKDTree(cells.at_mm(here)).query(at)
        joined = away <= JOINED_MM + 2 * cells.step_mm
        found[rows[joined]] = offset + here[nearest[joined]]
    return found


def _inductances_h(site: _Site, joints: Sequence[_Joint]) -> Floats:
    """Return the inductance of each joint with its return path, infinite where ground has none.

    That is half of a pair of vias for the barrel and half for the nearest hole of ground, which several may share.
    Through a ground plane that both floors face no hole is needed: the current goes around the edge of the antipad.
    """
    holes, back, apart = site.holes, np.full(len(joints), -1), np.full(len(joints), site.planes.step_mm)
    for k, one in enumerate(joints):
        fit = np.flatnonzero(site.grounds.on[:, one.layers].all(axis=1))
        if one.shares_ground or not len(fit):
            continue
        x, y = holes.x_mm[one.hole], holes.y_mm[one.hole]
        away = np.hypot(site.grounds.x_mm[fit] - x, site.grounds.y_mm[fit] - y)
        back[k], apart[k] = fit[int(np.argmin(away))], away.min()
    users = np.bincount(back[back >= 0], minlength=len(site.grounds))
    found = np.full(len(joints), np.inf)
    for k, one in enumerate(joints):
        if back[k] < 0 and not one.shares_ground:
            continue
        barrel = 2 * float(holes.radius_mm[one.hole])
        half = via_pair_inductance_h(one.depth_mm, max(float(apart[k]), 1.05 * barrel), barrel) / 2
        found[k] = half * (1 + (users[back[k]] if back[k] >= 0 else 0))
    return found
