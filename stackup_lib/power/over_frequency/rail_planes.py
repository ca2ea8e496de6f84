"""Where the filled copper of a rail faces ground, as the board draws it, sampled by points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.copper_map import NO_COPPER, CopperMap
from stackup_lib.core.arrays import distinct
from stackup_lib.power.over_frequency.fill_pieces import FillPieces

POINTS = 12_000
"""Points over the box of the rail's copper, one per cell: the area with antipads is right to a few per cent."""

LEAST_POINTS = 12
"""Copper that holds fewer points of the box is a pad's worth, no plane."""

LEAST_MM2 = 25.0
"""All overlaps of a rail together: less is a few pours around pads, between which tracks carry the current."""


@dataclass(frozen=True, slots=True)
class FacingLayers:
    """Rail copper on one layer and ground copper on another with no copper between them, and where they overlap."""

    rail_layer: int
    ground_layer: int
    area_mm2: float

    @property
    def layers(self) -> tuple[int, int]:
        """The two, from the top."""
        return min(self.rail_layer, self.ground_layer), max(self.rail_layer, self.ground_layer)


@dataclass(frozen=True, slots=True)
class RailPlanes:
    """The planes of a rail.

    Attributes:
        facing: pairs of layers, the largest overlap first.
        area_mm2: where any of them overlap, seen from above.
        left_mm, top_mm: outer corner of the first of the cells that were sampled.
        step_mm: side of a cell.
        rows, columns: of cells.
        where: of each pair, the cells in which it overlaps, counted along rows.
        rail_piece, ground_piece: of each pair, the pieces of fill in these cells, as `FillPieces` numbers them.
    """

    facing: tuple[FacingLayers, ...]
    area_mm2: float
    left_mm: float
    top_mm: float
    step_mm: float
    rows: int
    columns: int
    where: tuple[Ints, ...]
    rail_piece: tuple[Ints, ...]
    ground_piece: tuple[Ints, ...]

    @property
    def box_mm(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of where they overlap."""
        row, column = np.divmod(np.concatenate(self.where), self.columns)
        return (
            self.left_mm + float(column.min()) * self.step_mm,
            self.top_mm + float(row.min()) * self.step_mm,
            self.left_mm + float(column.max() + 1) * self.step_mm,
            self.top_mm + float(row.max() + 1) * self.step_mm,
        )


def rail_planes(fills: FillPieces, rail: int, ground: int, points: int = POINTS) -> RailPlanes | None:
    """Return where the fills of a net face those of ground, above and below; None where they nowhere do.

    The nearest copper decides at each point: copper of a third net between the two shields them from one another.
    """
    copper = fills.copper
    box = _box(copper, rail)
    if box is None:
        return None
    left, top, right, bottom = box
    step = float(np.sqrt((right - left) * (bottom - top) / points))
    across = np.arange(left + step / 2, right, step)
    down = np.arange(top + step / 2, bottom, step)
    x, y = (axis.ravel() for axis in np.meshgrid(across, down))
    seen = _Seen(copper, x, y)
    overlaps: dict[tuple[int, int], Ints] = {}
    for layer in range(copper.board.layer_count):
        if rail not in {net for net, _ in copper.fills(layer)}:
            continue
        here = np.flatnonzero(seen.net(layer) == rail)
        for way in (range(layer - 1, -1, -1), range(layer + 1, copper.board.layer_count)):
            overlaps |= {(layer, other): found for other, found in _facing(seen, here, way, ground).items()}
    overlaps = {key: found for key, found in overlaps.items() if len(found) >= LEAST_POINTS}
    union = distinct(np.concatenate(list(overlaps.values()))) if overlaps else np.zeros(0, dtype=np.int64)
    if len(union) * step * step < LEAST_MM2:
        return None
    order = sorted(overlaps, key=lambda key: (-len(overlaps[key]), min(key), max(key)))
    area = step * step
    return RailPlanes(
        facing=tuple(FacingLayers(*key, area_mm2=len(overlaps[key]) * area) for key in order),
        area_mm2=len(union) * area,
        left_mm=left,
        top_mm=top,
        step_mm=step,
        rows=len(down),
        columns=len(across),
        where=tuple(overlaps[key] for key in order),
        rail_piece=tuple(fills.piece_at(key[0], x[overlaps[key]], y[overlaps[key]]) for key in order),
        ground_piece=tuple(fills.piece_at(key[1], x[overlaps[key]], y[overlaps[key]]) for key in order),
    )


class _Seen:
    """The nets of the fills at the points, looked up once per layer."""

    def __init__(self, copper: CopperMap, x_mm: Floats, y_mm: Floats) -> None:
        self.copper, self.x_mm, self.y_mm = copper, x_mm, y_mm
        self._nets: dict[int, Ints] = {}

    def net(self, layer: int) -> Ints:
        if layer not in self._nets:
            self._nets[layer] = self.copper.net_at(layer, self.x_mm, self.y_mm)
        return self._nets[layer]


def _facing(seen: _Seen, here: Ints, way: range, ground: int) -> dict[int, Ints]:
    """Return by layer the points at which ground is the first copper on the way."""
    found: dict[int, Ints] = {}
    open_still = here
    for layer in way:
        if not len(open_still):
            break
        nets = seen.net(layer)[open_still]
        if (nets == ground).any():
            found[layer] = open_still[nets == ground]
        open_still = open_still[nets == NO_COPPER]
    return found


def _box(copper: CopperMap, net: int) -> tuple[float, float, float, float] | None:
    bounds = [
        polygon.bounds
        for layer in range(copper.board.layer_count)
        for owner, polygon in (copper.fills(layer) if copper.is_filled(layer) else ())
        if owner == net
    ]
    if not bounds:
        return None
    left, top, right, bottom = np.array(bounds).T
    box = float(left.min()), float(top.min()), float(right.max()), float(bottom.max())
    return box if box[2] > box[0] and box[3] > box[1] else None
