"""How parts of a rail are joined to its planes: which planes are under them, by which way, with what inductance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drc_rules.analysis.power.over_frequency.heights import LayerHeights
from stackup_lib.board.board import Board
from stackup_lib.core.interval import Interval
from stackup_lib.power.over_frequency.landings import Landing, Landings, apart_mm
from stackup_lib.power.over_frequency.mounting import MountingLoop, mounting_inductance_h
from stackup_lib.power.over_frequency.rail_planes import FacingLayers

MOUNTING_RANGE = 0.7, 1.4
"""What the formulas leave open: 20 % each for copper over a plane and its width, and how vias in parallel couple."""

ON_PLANE_MM = 1.0
"""A via so near to a plane of its net is joined to it, by thermal spokes if need be."""

NO_BARREL_MM = 0.3
"""Diameter that stands for a pad which is in the plane itself: no via carries its current."""

_ANGLES = np.linspace(0, 2 * np.pi, 12, endpoint=False)
_AROUND = np.array([[0.0, *np.cos(_ANGLES)], [0.0, *np.sin(_ANGLES)]])
"""A point and a circle around it."""

Pairs = Sequence[FacingLayers]


@dataclass(frozen=True)
class Mounts:
    """What a pad's way to the planes of a rail is measured with; `facing` are the pairs that are planes, not pours."""

    board: Board
    landings: Landings
    heights: LayerHeights
    facing: Pairs
    rail: int

    def under(self, x_mm: float, y_mm: float) -> tuple[FacingLayers, ...]:
        """Return the pairs whose rail copper a via or pad at a point meets, and not only tracks that lead there."""
        x, y = (around * ON_PLANE_MM + middle for around, middle in ((_AROUND[0], x_mm), (_AROUND[1], y_mm)))
        copper = self.landings.copper
        layers = {pair.rail_layer for pair in self.facing}
        here = {layer for layer in layers if (copper.net_at(layer, x, y) == self.rail).any()}
        return tuple(pair for pair in self.facing if pair.rail_layer in here)

    def landing(self, pad: int, *, back: bool) -> Landing | None:
        """Return how a pad reaches the planes, at once where it is in one; None where nothing leads there."""
        pads, outer = self.board.pads, self._outer(back=back)
        net, x, y = int(pads.net[pad]), float(pads.x_mm[pad]), float(pads.y_mm[pad])
        layers = {pair.rail_layer if net == self.rail else pair.ground_layer for pair in self.facing}
        if outer in layers and int(self.landings.copper.net_at(outer, np.array([x]), np.array([y]))[0]) == net:
            short = float(min(pads.size_x_mm[pad], pads.size_y_mm[pad]))
            return Landing(x, y, 0.0, short, 1, NO_BARREL_MM)
        return self.landings.of(pad, back=back)

    def depth_mm(self, pairs: Pairs, *, back: bool) -> float:
        """Return how deep the nearest of some pairs is under the outer layer of a side."""
        outer = self._outer(back=back)
        return min(self.heights.between_mm(outer, layer) for pair in pairs for layer in pair.layers)

    def inductance_h(self, first: Landing, second: Landing, pairs: Pairs, *, back: bool) -> Interval:
        """Return the inductance of the loop through two landings to the nearest of some pairs, with its range."""
        depth = self.depth_mm(pairs, back=back)
        middle = (first.x_mm + second.x_mm) / 2, (first.y_mm + second.y_mm) / 2
        loop = MountingLoop(
            to_first_mm=self._to_first_mm(middle, depth, back=back),
            depth_mm=depth,
            lengths_mm=(first.length_mm, second.length_mm),
            widths_mm=(first.width_mm, second.width_mm),
            apart_mm=apart_mm(first, second),
            barrel_mm=(first.barrel_mm + second.barrel_mm) / 2,
            pairs=min(first.vias, second.vias),
        )
        return with_range(mounting_inductance_h(loop))

    def _to_first_mm(self, at_mm: tuple[float, float], depth_mm: float, *, back: bool) -> float:
        """Return how deep the first filled copper is under a point of an outer layer; without any, as the planes."""
        outer, copper = self._outer(back=back), self.landings.copper
        at = np.array([at_mm[0]]), np.array([at_mm[1]])
        way = range(outer - 1, -1, -1) if back else range(1, self.board.layer_count)
        first = next((layer for layer in way if copper.net_at(layer, *at)[0] > 0), None)
        return depth_mm if first is None else self.heights.between_mm(outer, first)

    def _outer(self, *, back: bool) -> int:
        return self.board.layer_count - 1 if back else 0


def with_range(inductance_h: float) -> Interval:
    """Return an inductance of pads and vias with what its formula leaves open."""
    low, high = (factor * inductance_h for factor in MOUNTING_RANGE)
    return Interval(low=low, nominal=inductance_h, high=high)
