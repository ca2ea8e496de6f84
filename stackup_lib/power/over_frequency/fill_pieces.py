"""Which fills of a net touch one another on their layer: the pieces that its planes are in, and what holes join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.fill_edges import rows_in_fills
from stackup_lib.power.ground_return.return_net import Holes
from stackup_lib.power.network import joined_parts

TOUCHING_MM = 1e-6
"""Fills nearer than KiCad's grid touch."""

NO_PIECE = -1

JOINED_MM = 1.0
"""A hole so near to a fill of its net is joined to it, by thermal spokes if need be."""

_AROUND = JOINED_MM * np.append(0, np.exp(1j * np.linspace(0, 2 * np.pi, 12, endpoint=False)))
"""A point and a circle around it."""


@dataclass(frozen=True)
class FillPieces:
    """The pieces of fill of a board, looked up by point; no two layers have a number in common."""

    copper: CopperMap
    _of_fill: dict[int, Ints] = field(default_factory=dict)

    def piece_at(self, layer: int, x_mm: Floats, y_mm: Floats) -> Ints:
        """Return the piece at each point of a layer, `NO_PIECE` where there is none."""
        found = np.full(len(x_mm), NO_PIECE, dtype=np.int64)
        of_fill = self._pieces(layer)
        for k, rows in rows_in_fills(self.copper.fills(layer), x_mm, y_mm, with_edge=True):
            found[rows] = of_fill[k]
        return found

    def met(self, layer: int, net: int, holes: Holes) -> Ints:
        """Return the piece that each hole of a net meets on a layer, `NO_PIECE` where none is near."""
        found = np.full(len(holes), NO_PIECE, dtype=np.int64)
        rows = np.flatnonzero(holes.on[:, layer])
        own = [k for k, (owner, _) in enumerate(self.copper.fills(layer)) if owner == net]
        fills = [self.copper.fills(layer)[k] for k in own]
        for around in _AROUND[::-1]:  # the middle last: it decides
            for k, there in rows_in_fills(
                fills, holes.x_mm[rows] + around.real, holes.y_mm[rows] + around.imag, with_edge=True
            ):
                found[rows[there]] = self._pieces(layer)[own[k]]
        return found

    def joined_by(self, net: int, holes: Holes) -> Mapping[int, int]:
        """Return a number for each piece that holes of a net meet; those with the same number are joined by them."""
        met = np.stack([self.met(layer, net, holes) for layer in range(self.copper.board.layer_count)], axis=1)
        hole, layer = np.nonzero(met >= 0)
        pieces, index = np.unique(met[hole, layer], return_inverse=True)
        parts = joined_parts(hole, len(holes) + index, len(holes) + len(pieces))[len(holes) :]
        return dict(zip(pieces.tolist(), parts.tolist(), strict=True))

    def _pieces(self, layer: int) -> Ints:
        """The number of each fill of a layer."""
        if layer not in self._of_fill:
            import shapely  # noqa: PLC0415 - heavy, and only a board with rails needs it

            nets = np.array([net for net, _ in self.copper.fills(layer)], dtype=np.int64)
            areas = np.array([area for _, area in self.copper.fills(layer)], dtype=object)
            first, second = shapely.STRtree(areas).query(areas, predicate="dwithin", distance=TOUCHING_MM)
            same = nets[first] == nets[second]
            parts = joined_parts(first[same], second[same], len(areas))
            self._of_fill[layer] = parts * self.copper.board.layer_count + layer
        return self._of_fill[layer]
