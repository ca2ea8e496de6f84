"""The regular grid over the copper of a return net, of which its leaves are made."""

import numpy as np

from stackup_lib.board.board import Board, PadKind
from stackup_lib.core.record import record
from stackup_lib.power.ground_return.link_grid import Grid, GridLevel
from stackup_lib.power.rail_drop.net_copper import REFILL, RailNotSolvedError, pad_centres_mm

STALE_WIDTH = 1.0
"""Holes with copper wider than a cell cannot slip between the lines that sample a fill."""

MARGIN_MM = 1.0
"""Cells beyond the copper."""


@record
class GridSize:
    """How fine a grid may be.

    Attributes:
        least_mm: width of the finest cell.
        most_cells: of all layers together; a larger board has wider ones.
        most_leaves: of all layers together.
    """

    least_mm: float = 0.1
    most_cells: int = 2_000_000
    most_leaves: int = 24_000


def return_grid(board: Board, net: int, layers: int, limits: GridSize) -> Grid:
    """Return the finest grid over the net's fills, tracks, holes and pads; `layers` share its cells."""
    zones, tracks, vias, pads = board.zones, board.tracks, board.vias, board.pads
    fills = np.repeat(zones.net[zones.fill_zone] == net, np.diff(zones.fill_start))
    on = tracks.net == net
    pad_x, pad_y = pad_centres_mm(board, np.flatnonzero(pads.net == net))
    x = [zones.fill_x_mm[fills], tracks.start_x_mm[on], tracks.end_x_mm[on]]
    y = [zones.fill_y_mm[fills], tracks.start_y_mm[on], tracks.end_y_mm[on]]
    xs = np.concatenate([*x, vias.x_mm[vias.net == net], pad_x])
    ys = np.concatenate([*y, vias.y_mm[vias.net == net], pad_y])
    left, low = float(xs.min()), float(ys.min())
    wide, high = float(xs.max()) - left, float(ys.max()) - low
    pitch = max(limits.least_mm, float(np.sqrt(max(wide * high, 1e-6) * layers / limits.most_cells)))
    counts = (int(np.ceil((side + MARGIN_MM) / pitch)) + 2 for side in (wide, high))
    columns, rows = counts
    return Grid(left - pitch, low - pitch, pitch, columns, rows)


def refuse_stale(board: Board, net: int, layers: list[int], grid: Grid, finest: GridLevel) -> None:
    """Refuse fills that go on under holes of other nets, as far as the grid can tell: all links around are whole."""
    vias, pads = board.vias, board.pads
    for sheet, layer in enumerate(layers):
        along, down = finest.along[0, sheet], finest.down[0, sheet]
        solid = (along == 1) & (down == 1)
        solid[:, 1:] &= along[:, :-1] == 1
        solid[1:] &= down[:-1] == 1
        spans = (vias.start_layer <= layer) & (vias.end_layer >= layer) & (vias.size_mm > STALE_WIDTH * grid.pitch_mm)
        drilled = (pads.kind == PadKind.THROUGH) & (
            np.fmin(pads.size_x_mm, pads.size_y_mm) > STALE_WIDTH * grid.pitch_mm
        )
        for what, rows, x, y in (
            ("via", np.flatnonzero(spans & (vias.net != net)), vias.x_mm, vias.y_mm),
            ("pad", np.flatnonzero(drilled & (pads.net != net)), pads.x_mm, pads.y_mm),
        ):
            low, high = grid.low_mm, grid.low_mm + grid.rows * grid.pitch_mm
            left, right = grid.left_mm, grid.left_mm + grid.columns * grid.pitch_mm
            near = rows[(x[rows] > left) & (x[rows] < right) & (y[rows] > low) & (y[rows] < high)]
            hit = near[solid[grid.cell_of(x[near], y[near])]]
            if len(hit):
                where = f"a {what} at x {x[hit[0]]:.3f} mm, y {y[hit[0]]:.3f} mm"
                stale = f"the fill of {board.nets[net]} is stale: {where}, of another net, is in it"
                raise RailNotSolvedError(str(board.path or "the board"), stale, REFILL)
