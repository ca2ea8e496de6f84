"""How a pad reaches the planes: by which vias of its net, how far from it, and over how wide a piece of copper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stackup_lib.board.board import Board, Ints
from stackup_lib.copper.copper_map import CopperMap

REACH_MM = 10.0
"""A via farther away than this is not the pad's own."""

ALONGSIDE_MM = 0.5
"""Vias that are no farther than this behind the nearest one carry the current with it."""

PLATING_MM = 0.025
"""Copper in a hole, of which KiCad states the finished diameter."""


@dataclass(frozen=True, slots=True)
class Landing:
    """The way of a pad to its vias.

    Attributes:
        x_mm, y_mm: middle of the vias.
        length_mm: from the middle of the pad to the nearest of them, 0 where it is in the pad.
        width_mm: of the copper on the way.
        vias: how many carry the current.
        barrel_mm: outer diameter of one.
    """

    x_mm: float
    y_mm: float
    length_mm: float
    width_mm: float
    vias: int
    barrel_mm: float


@dataclass(frozen=True)
class Landings:
    """The vias of a board's nets, looked up by pad."""

    board: Board
    copper: CopperMap

    @cached_property
    def _by_net(self) -> dict[int, Ints]:
        if not len(self.board.vias):
            return {}
        order = np.argsort(self.board.vias.net, kind="stable")
        nets, start = np.unique(self.board.vias.net[order], return_index=True)
        return dict(zip(nets.tolist(), np.split(order, start[1:]), strict=True))

    def of(self, pad: int, *, back: bool) -> Landing | None:
        """Return how a pad reaches the planes; None where no via of its net is within reach and it has no hole.

        Args:
            pad: index into `Board.pads`.
            back: its part sits on the bottom.
        """
        pads, vias = self.board.pads, self.board.vias
        x, y = float(pads.x_mm[pad]), float(pads.y_mm[pad])
        short = float(min(pads.size_x_mm[pad], pads.size_y_mm[pad]))
        drill = float(np.fmin(pads.drill_x_mm[pad], pads.drill_y_mm[pad]))
        if drill > 0:
            return Landing(x, y, 0.0, short, 1, drill + 2 * PLATING_MM)
        outer = self.board.layer_count - 1 if back else 0
        rows = self._by_net.get(int(pads.net[pad]), np.zeros(0, dtype=np.int64))
        rows = rows[(vias.start_layer[rows] <= outer) & (vias.end_layer[rows] >= outer)]
        if not len(rows):
            return None
        away = np.hypot(vias.x_mm[rows] - x, vias.y_mm[rows] - y)
        nearest = float(away.min())
        if nearest > REACH_MM:
            return None
        used = rows[away <= nearest + ALONGSIDE_MM]
        barrel = float(np.median(vias.drill_mm[used])) + 2 * PLATING_MM
        in_fill = int(self.copper.net_at(outer, np.array([x]), np.array([y]))[0]) == int(pads.net[pad])
        width = short + nearest if in_fill else short
        middle = float(np.mean(vias.x_mm[used])), float(np.mean(vias.y_mm[used]))
        return Landing(*middle, nearest, width, len(used), barrel)

    def near(self, net: int, box_mm: tuple[float, float, float, float], *, back: bool) -> Ints:
        """Return the vias of a net inside of a box (left, top, right, bottom) that begin at a side of the board."""
        vias, outer = self.board.vias, self.board.layer_count - 1 if back else 0
        rows = self._by_net.get(net, np.zeros(0, dtype=np.int64))
        left, top, right, bottom = box_mm
        inside = (vias.x_mm[rows] >= left) & (vias.x_mm[rows] <= right)
        inside &= (vias.y_mm[rows] >= top) & (vias.y_mm[rows] <= bottom)
        return rows[inside & (vias.start_layer[rows] <= outer) & (vias.end_layer[rows] >= outer)]


def apart_mm(first: Landing, second: Landing) -> float:
    """Return the distance of two landings, at least so far that their barrels do not touch."""
    away = math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm)
    return max(away, 1.05 * max(first.barrel_mm, second.barrel_mm))
