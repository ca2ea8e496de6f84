"""How far the nearest filled copper is next to a track on its own layer, on either side. Lengths in mm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.coupling import TrackPieces
from stackup_lib.core.arrays import distinct

if TYPE_CHECKING:
    from stackup_lib.copper.copper_map import CopperMap
    from stackup_lib.copper.fill_edges import Complexes, FillEdges


def fill_distances(copper: CopperMap, pieces: TrackPieces, other_net: Ints, reach_mm: Floats) -> tuple[Floats, Floats]:
    """Return how far the nearest fill of another net is to the left and to the right of the middle of each piece.

    Distances are from edge to edge, square to the track; x points right and y down, as in the board file, and left is
    seen along the piece.

    Args:
        copper: the fills of the board.
        pieces: of tracks.
        other_net: a net of each piece, other than its own, whose fills do not count.
        reach_mm: of each piece: copper farther away does not count.

    Returns:
        (left, right), one per piece; infinite where no copper is within reach.
    """
    found = np.full((2, len(pieces)), np.inf)
    for layer in distinct(pieces.layer[reach_mm > 0]).tolist():
        if not copper.is_filled(layer):
            continue
        rows = np.flatnonzero((pieces.layer == layer) & (reach_mm > 0))
        here = pieces.where(rows)
        own, half = np.stack([here.net, other_net[rows]]), here.width_mm / 2
        middle, to_right = here.x_mm + 1j * here.y_mm, here.direction * 1j
        hits = _first_edges(copper.edges(layer), middle, to_right, half + reach_mm[rows], own)
        found[:, rows] = np.maximum(hits - half, 0.0)
    return found[0], found[1]


def _first_edges(edges: FillEdges, middle: Complexes, way: Complexes, reach_mm: Floats, own: Ints) -> Floats:
    """Return where lines first meet an edge of a fill of none of their `own` nets, back and ahead of their middle."""
    across = np.abs(way.real * reach_mm), np.abs(way.imag * reach_mm)
    x, y = middle.real, middle.imag
    line, edge = edges.near(x - across[0], y - across[1], x + across[0], y + across[1])
    # seen from the line: it is the real axis
    turn, origin = way.conj()[line], middle[line]
    one, two = ((points[edge] - origin) * turn for points in (edges.start, edges.end))
    crosses = np.flatnonzero(((one.imag > 0) != (two.imag > 0)) & np.all(own[:, line] != edges.net[edge], axis=0))
    line, one, two = line[crosses], one[crosses], two[crosses]
    at = one.real - one.imag * (two.real - one.real) / (two.imag - one.imag)
    first = np.full((2, len(middle)), np.inf)
    is_near = np.abs(at) <= reach_mm[line]
    np.minimum.at(first, ((at[is_near] >= 0).astype(np.int64), line[is_near]), np.abs(at[is_near]))
    return first
