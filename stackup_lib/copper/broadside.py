"""For how long tracks run over or under those of another layer, as seen from above. Lengths in mm."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from stackup_lib.board.board import Board, Floats
from stackup_lib.copper.coupling import TrackPieces


def met_mm(board: Board, pieces: TrackPieces, layer: int, reach_mm: float, own_nets: Collection[int] = ()) -> Floats:
    """Return for each piece for how much of its length a track of another net lies over or under it, or close.

    Arcs of the other layer count as their chords; where several tracks meet a piece, no more than all of it counts.

    Args:
        board: the board.
        pieces: of tracks on another layer.
        layer: whose tracks are looked for.
        reach_mm: up to this distance, edge to edge, they still couple.
        own_nets: nets that do not count, such as those of the pieces.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with high-speed nets on bare neighbours needs it

    tracks = board.tracks
    rows = np.flatnonzero((tracks.layer == layer) & ~np.isin(tracks.net, list(own_nets)))
    found = np.zeros(len(pieces))
    if not len(rows) or not len(pieces):
        return found
    ends = np.stack([tracks.start_x_mm[rows], tracks.start_y_mm[rows], tracks.end_x_mm[rows], tracks.end_y_mm[rows]])
    others = shapely.linestrings(ends.T.reshape(-1, 2, 2))
    middle, way = pieces.x_mm + 1j * pieces.y_mm, pieces.direction * pieces.length_mm / 2
    one, two = middle - way, middle + way
    lines = shapely.linestrings(np.stack([one.real, one.imag, two.real, two.imag]).T.reshape(-1, 2, 2))
    widest = float(tracks.width_mm[rows].max())
    piece, k = shapely.STRtree(others).query(lines, "dwithin", reach_mm + (pieces.width_mm + widest) / 2)
    wide = shapely.buffer(others[k], reach_mm + (pieces.width_mm[piece] + tracks.width_mm[rows[k]]) / 2)
    lengths = shapely.length(shapely.intersection(lines[piece], wide))
    return np.minimum(np.bincount(piece, lengths, len(pieces)), pieces.length_mm)
