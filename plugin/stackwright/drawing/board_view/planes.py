"""Filled planes on a grid that is as fine as the page has room for."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Board, Ints
from stackup_lib.core.record import record
from stackwright.drawing.board_view.shapes import UNITS_PER_MM, Steps, steps

SHARPEST_MM, COARSEST_MM = 0.05, 1.6
MOST_CORNERS = 300_000
"""Of all planes of a page; with more they are drawn on a coarser grid."""


@record
class ViewPlanes:
    """Filled areas: `fills` holds copper layer and corners of each, in steps of the grid."""

    grid_mm: float
    fills: tuple[tuple[int, Steps], ...]

    @property
    def step(self) -> int:
        """The grid in units."""
        return round(self.grid_mm * UNITS_PER_MM)


def planes(board: Board) -> ViewPlanes:
    """Return all fills of a board on the finest grid on which they fit into their room."""
    grid_mm = SHARPEST_MM
    found = _on_grid(board, grid_mm)
    while grid_mm < COARSEST_MM and sum(len(x) for _, x, _ in found) > MOST_CORNERS:
        grid_mm *= 2
        found = _on_grid(board, grid_mm)
    return ViewPlanes(grid_mm, tuple((layer, steps(x, y)) for layer, x, y in found))


def _on_grid(board: Board, grid_mm: float) -> list[tuple[int, Ints, Ints]]:
    """Layer and corners of each fill; without corners that lie on the line between their neighbours."""
    zones = board.zones
    points = np.rint(np.column_stack([zones.fill_x_mm, zones.fill_y_mm]) / grid_mm).astype(np.int64)
    found = []
    for k, layer in enumerate(zones.fill_layer.tolist()):
        here = points[zones.fill_start[k] : zones.fill_start[k + 1]]
        here = here[np.any(here != np.roll(here, 1, axis=0), axis=1)]
        before, after = here - np.roll(here, 1, axis=0), np.roll(here, -1, axis=0) - here
        turns = before[:, 0] * after[:, 1] != before[:, 1] * after[:, 0]
        here = here[turns | (np.sum(before * after, axis=1) < 0)]
        if len(here) >= 3:
            found.append((layer, here[:, 0], here[:, 1]))
    return found
