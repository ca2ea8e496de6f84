"""Tracks that the board's edge or a cut-out severs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Ints
from stackup_lib.copper.shapes import CopperShapes, track_pieces
from stackup_lib.copper.shorts import piece_areas
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from shapely import Geometry, Point

LEAST_SHARE = 0.5
"""What is left of a track in less than this share of its width is no part of it, but a sliver along the edge."""


@entity
class SeveredTrack:
    """Connected tracks of one net, of which the outline leaves several parts.

    Attributes:
        track: row of the track that is cut.
        x_mm, y_mm: middle of a cut.
    """

    layer: int
    net: int
    track: int
    x_mm: float
    y_mm: float


def severed_tracks(board: Board, area: Geometry, layer: int, rows: Ints) -> tuple[SeveredTrack, ...]:
    """Return what the outline severs on a layer; a track that leaves the board at one place is cut off, not severed.

    Args:
        board: the board.
        area: what is board.
        layer: the copper layer.
        rows: its tracks that reach beyond the area.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with copper beyond its edge needs it

    pieces = track_pieces(board, layer)
    pieces = pieces.where(np.isin(pieces.row, rows) & (pieces.net > 0))
    areas = piece_areas(board, pieces)
    found = []
    for net in distinct(pieces.net).tolist():
        mine = np.flatnonzero(pieces.net == net)
        for copper in shapely.get_parts(shapely.union_all(areas[mine])):
            own = mine[shapely.intersects(areas[mine], copper)]
            left = _parts(shapely.intersection(copper, area), pieces.where(own))
            if len(left) > 1:
                at = _middle(shapely.difference(copper, area), left)
                nearest = own[np.argmin(shapely.distance(areas[own], at))]
                found.append(SeveredTrack(layer, net, int(pieces.row[nearest]), at.x, at.y))
    return tuple(found)


def _parts(left: Geometry, pieces: CopperShapes) -> list[Geometry]:
    """The parts that are as wide as a track, the largest first."""
    import shapely  # noqa: PLC0415

    parts = shapely.get_parts(left)
    wide = ~shapely.is_empty(shapely.buffer(parts, -LEAST_SHARE * float(np.min(pieces.radius_mm))))
    return sorted(parts[wide].tolist(), key=lambda part: -round(float(part.area), 9))


def _middle(lost: Geometry, left: list[Geometry]) -> Point:
    """The middle of the copper that joined most of the parts."""
    import shapely  # noqa: PLC0415

    pieces = shapely.get_parts(lost)
    joins = [int(np.sum(shapely.dwithin(left, piece, TOUCH_MM))) for piece in pieces]
    cut = pieces[int(np.argmax(joins))]
    (at, _) = shapely.get_coordinates(shapely.shortest_line(cut, shapely.centroid(cut)))
    return shapely.Point(at)
