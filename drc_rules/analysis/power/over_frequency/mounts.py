"""How parts of a rail are joined to its planes: which planes are under them, by which way, with what inductance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drc_rules.analysis.power.over_frequency.heights import LayerHeights
from stackup_lib.board.board import Board
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.core.interval import Interval
from stackup_lib.power.over_frequency.landings import AROUND, Landing, Landings, apart_mm
from stackup_lib.power.over_frequency.mounting import (
    MountingLoop,
    mounting_inductance_h,
    trace_inductance_h,
    via_pair_inductance_h,
)
from stackup_lib.power.over_frequency.rail_planes import FacingLayers

MOUNTING_RANGE = 0.7, 1.4
"""What the formulas leave open: 20 % each for copper over a plane and its width, and how vias in parallel couple."""

NO_BARREL_MM = 0.3
"""Diameter that stands for a pad which is in the plane itself: no via carries its current."""

RETURN_DIAMETERS = 4.0
"""Distance of the return path from a barrel, in its diameters, where no pad of the part says where it is."""

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
        here = self.landings.met(self.rail, self._planes_of(self.rail), x_mm, y_mm)
        return tuple(pair for pair in self.facing if pair.rail_layer in here)

    def between(self, on_rail: Landing, on_ground: Landing) -> tuple[FacingLayers, ...]:
        """Return the pairs that two landings reach; ground planes elsewhere are joined to that of the pair by vias."""
        rail = tuple(pair for pair in self.facing if pair.rail_layer in on_rail.layers)
        return tuple(pair for pair in rail if pair.ground_layer in on_ground.layers) or rail

    def is_back(self, pad: int) -> bool:
        """Tell whether a pad's part sits on the bottom."""
        return bool(self.board.footprints.back[self.board.pads.footprint[pad]])

    def landings_of(self, pads: Sequence[int], *, back: bool) -> dict[int, Landing]:
        """Return how pads of one net reach the planes, at once where they are in one; the others are left out."""
        if not pads:
            return {}
        net, outer = int(self.board.pads.net[pads[0]]), self._outer(back=back)
        layers, found = self._planes_of(net), dict[int, Landing]()
        if outer in layers:
            middles = np.array(self.landings.middles_mm(pads))
            nets = self.landings.copper.net_at(outer, middles.real, middles.imag)
            for pad, at in ((pads[k], complex(middles[k])) for k in np.flatnonzero(nets == net).tolist()):
                met = self.landings.met(net, layers, at.real, at.imag)
                found[pad] = Landing(at.real, at.imag, (), 1.0, NO_BARREL_MM, met)
        return found | self.landings.of([pad for pad in pads if pad not in found], layers, back=back)

    def _planes_of(self, net: int) -> frozenset[int]:
        return frozenset(pair.rail_layer if net == self.rail else pair.ground_layer for pair in self.facing)

    def nearest(self, pairs: Pairs, *, back: bool) -> FacingLayers:
        """Return the pair that is nearest under the outer layer of a side."""
        outer = self._outer(back=back)
        return min(pairs, key=lambda pair: min(self.heights.between_mm(outer, layer) for layer in pair.layers))

    def depth_mm(self, pairs: Pairs, *, back: bool) -> float:
        """Return how deep the nearest of some pairs is under the outer layer of a side."""
        outer = self._outer(back=back)
        return min(self.heights.between_mm(outer, layer) for pair in pairs for layer in pair.layers)

    def inductance_h(self, first: Landing, second: Landing, pairs: Pairs, *, back: bool) -> Interval:
        """Return the inductance of the loop through two landings to the nearest of some pairs, with its range."""
        depth = self.depth_mm(pairs, back=back)
        middle = np.array([complex(first.x_mm + second.x_mm, first.y_mm + second.y_mm) / 2])
        loop = MountingLoop(
            to_first_mm=self._to_first_mm(middle, depth, back=back),
            depth_mm=depth,
            steps_mm=(first.steps, second.steps),
            apart_mm=apart_mm(first, second),
            barrel_mm=(first.barrel_mm + second.barrel_mm) / 2,
            vias=(first.vias, second.vias),
        )
        return with_range(mounting_inductance_h(loop))

    def way_h(self, landing: Landing, pairs: Pairs, *, back: bool, apart_mm: float | None = None) -> float:
        """Return the inductance of the copper and the vias from one pad to the nearest of some pairs, one way."""
        depth = self.depth_mm(pairs, back=back)
        around: Complexes = complex(landing.x_mm, landing.y_mm) + AROUND
        height = self._to_first_mm(around, depth, back=back)
        copper = sum(trace_inductance_h(height, *step) for step in landing.steps)
        apart = RETURN_DIAMETERS * landing.barrel_mm if apart_mm is None else apart_mm
        return copper + via_pair_inductance_h(depth, apart, landing.barrel_mm) / (2 * landing.vias)

    def _to_first_mm(self, at_mm: Complexes, depth_mm: float, *, back: bool) -> float:
        """Return how deep the first filled copper is under any of some points x + iy; without any, as the planes.

        Right under a via of the rail the antipad of its first plane lies.
        """
        outer, copper = self._outer(back=back), self.landings.copper
        way = range(outer - 1, -1, -1) if back else range(1, self.board.layer_count)
        first = next((layer for layer in way if (copper.net_at(layer, at_mm.real, at_mm.imag) > 0).any()), None)
        return depth_mm if first is None else self.heights.between_mm(outer, first)

    def _outer(self, *, back: bool) -> int:
        return self.board.layer_count - 1 if back else 0


def in_parallel(inductances_h: Sequence[float]) -> float:
    """Return the inductance of several side by side."""
    return 1 / sum(1 / one for one in inductances_h) if all(inductances_h) else 0.0


def with_range(inductance_h: float) -> Interval:
    """Return an inductance of pads and vias with what its formula leaves open."""
    low, high = (factor * inductance_h for factor in MOUNTING_RANGE)
    return Interval(low=low, nominal=inductance_h, high=high)
