"""Where the copper of a pad is: rectangles, also shifted ones, and the outlines of custom pads. In mm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.record import record

if TYPE_CHECKING:
    from shapely import Geometry, Polygon

MIN_CORNERS = 3
"""Fewer corners enclose no copper."""

RECTANGLE = 0.9
"""A custom pad that takes this share of the rectangle around it counts as that: one corner cut off marks pin 1."""

ROUNDING_MM = 0.001
"""What lies on the edge of a pad is in it, whatever turning the part by 45 degrees rounds away."""


@record
class PadShape:
    """Copper of a pad, along its width and its height from its position.

    Attributes:
        middle_mm: of the rectangle around it.
        size_mm: of that rectangle.
        area_mm2: of its copper; round corners count as square, they hold no holes.
        outline: of a custom pad; None of a rectangle.
    """

    middle_mm: tuple[float, float]
    size_mm: tuple[float, float]
    area_mm2: float
    outline: Geometry | None = None

    @property
    def is_rectangle(self) -> bool:
        """False for a custom pad that is none, not even nearly."""
        return self.area_mm2 >= RECTANGLE * self.size_mm[0] * self.size_mm[1]


def pad_shape(board: Board, row: int) -> PadShape:
    """Return the copper of a pad, by its row."""
    pads = board.pads
    outline = _outline(board, row) if pads.shape[row] == "custom" else None
    if outline is not None:
        left, low, right, high = outline.bounds
        return PadShape(((left + right) / 2, (low + high) / 2), (right - left, high - low), outline.area, outline)
    size = float(pads.size_x_mm[row]), float(pads.size_y_mm[row])
    return PadShape((float(pads.shift_x_mm[row]), float(pads.shift_y_mm[row])), size, size[0] * size[1])


def pad_areas_mm2(board: Board, rows: Ints) -> Floats:
    """Return the area of some pads; of custom ones that of their outline, not of their anchor."""
    pads = board.pads
    areas: Floats = pads.size_x_mm[rows] * pads.size_y_mm[rows]
    for k in np.flatnonzero(pads.shape[rows] == "custom").tolist():
        areas[k] = pad_shape(board, int(rows[k])).area_mm2
    return areas


def pad_middles_mm(board: Board, rows: Ints) -> tuple[Floats, Floats]:
    """Return the places on the board of the middle of the copper of some pads."""
    pads = board.pads
    middles = np.array([pad_shape(board, row).middle_mm for row in rows.tolist()]).reshape(-1, 2)
    return _on_board(pads.x_mm[rows], pads.y_mm[rows], pads.rotation_deg[rows], middles[:, 0], middles[:, 1])


def in_pad(board: Board, row: int, x_mm: Floats, y_mm: Floats) -> tuple[Floats, Floats]:
    """Return points from the position of a pad, along its width and its height."""
    pads = board.pads
    angle = np.radians(pads.rotation_deg[row])
    dx, dy = x_mm - pads.x_mm[row], y_mm - pads.y_mm[row]
    return dx * np.cos(angle) - dy * np.sin(angle), dx * np.sin(angle) + dy * np.cos(angle)


def inside_pad(board: Board, row: int, x_mm: Floats, y_mm: Floats, beyond_mm: float = 0.0) -> NDArray[np.bool_]:
    """Tell which points lie in a pad, or so far beyond; of one that is not custom, in the rectangle around it."""
    shape = pad_shape(board, row)
    along, across = in_pad(board, row, x_mm, y_mm)
    inside = np.abs(along - shape.middle_mm[0]) <= shape.size_mm[0] / 2 + beyond_mm
    inside &= np.abs(across - shape.middle_mm[1]) <= shape.size_mm[1] / 2 + beyond_mm
    if shape.outline is not None and np.any(inside):
        import shapely  # noqa: PLC0415 - heavy, and only a custom pad needs it

        near = np.flatnonzero(inside)
        points = shapely.points(along[near], across[near])
        inside[near] = shapely.dwithin(shape.outline, points, max(beyond_mm, ROUNDING_MM))
    return np.asarray(inside)


def without_inner(board: Board, rows: Ints, least_mm2: float) -> Ints:
    """Return pads without those that lie in a larger one of their net, which add no copper to it.

    Args:
        board: whose pads they are.
        rows: pads of one layer.
        least_mm2: a smaller pad holds no other.
    """
    areas, nets = pad_areas_mm2(board, rows), board.pads.net[rows]
    kept = np.ones(len(rows), dtype=np.bool_)
    for k in np.argsort(-areas, kind="stable").tolist():
        if areas[k] < least_mm2:
            break
        if not kept[k]:
            continue
        row = int(rows[k])
        mine = kept & (nets == nets[k]) & inside_pad(board, row, *pad_middles_mm(board, rows), ROUNDING_MM)
        for other in np.flatnonzero(mine).tolist():
            if other != k and np.all(inside_pad(board, row, *_corners_mm(board, int(rows[other])), ROUNDING_MM)):
                kept[other] = False
    return rows[kept]


def pad_polygon(board: Board, row: int) -> Polygon:
    """Return a pad on the board as a polygon in mm, of one that is not custom the rectangle around it."""
    import shapely  # noqa: PLC0415

    shape, pads = pad_shape(board, row), board.pads
    if shape.outline is None:
        return shapely.Polygon(np.column_stack(_corners_mm(board, row)))
    at = (pads.x_mm[row], pads.y_mm[row], pads.rotation_deg[row])
    return shapely.transform(shape.outline, lambda xy: np.column_stack(_on_board(*at, xy[:, 0], xy[:, 1])))


def _corners_mm(board: Board, row: int) -> tuple[Floats, Floats]:
    shape, pads = pad_shape(board, row), board.pads
    along = shape.middle_mm[0] + np.array([-0.5, 0.5, 0.5, -0.5]) * shape.size_mm[0]
    across = shape.middle_mm[1] + np.array([-0.5, -0.5, 0.5, 0.5]) * shape.size_mm[1]
    return _on_board(pads.x_mm[row], pads.y_mm[row], pads.rotation_deg[row], along, across)


def _on_board(x_mm: Floats, y_mm: Floats, turned_deg: Floats, along: Floats, across: Floats) -> tuple[Floats, Floats]:
    """Points of pads on the board: the other way round than `in_pad`."""
    angle = np.radians(turned_deg)
    return (
        x_mm + along * np.cos(angle) + across * np.sin(angle),
        y_mm - along * np.sin(angle) + across * np.cos(angle),
    )


def _outline(board: Board, row: int) -> Geometry | None:
    """What a custom pad is drawn of, and a disc about its anchor; None where nothing is drawn."""
    drawn = board.drawings
    rows = np.flatnonzero(drawn.pad == row).tolist()
    if not rows:
        return None
    import shapely  # noqa: PLC0415 - heavy, and only a custom pad needs it

    pads = board.pads
    small = min(float(pads.size_x_mm[row]), float(pads.size_y_mm[row])) / 2
    pieces = [shapely.buffer(shapely.Point(pads.shift_x_mm[row], pads.shift_y_mm[row]), small)]
    for one in rows:
        here = slice(int(drawn.start[one]), int(drawn.start[one + 1]))
        corners = np.column_stack(in_pad(board, row, drawn.x_mm[here], drawn.y_mm[here]))
        if drawn.is_filled[one] and len(corners) > MIN_CORNERS:
            pieces.append(shapely.buffer(shapely.Polygon(corners), float(drawn.width_mm[one]) / 2))
        elif drawn.width_mm[one] > 0 and len(corners) > 1:
            pieces.append(shapely.buffer(shapely.LineString(corners), float(drawn.width_mm[one]) / 2))
    return shapely.union_all(pieces)
