"""How near the copper of other nets comes to the backdrills of a board, for all of them layer by layer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.via.drilled_holes import DrilledHole, drilled_holes
from drc_rules.analysis.via.machined_holes import machined_by_width
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.copper.distances import gaps, via_lands
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.copper.shapes import CopperShapes, disc_pieces, drawn_pieces, track_pieces
from stackup_lib.core.record import entity

Near = tuple[float, int, int]
"""Gap in mm, layer, net."""


@entity
class Drills:
    """Backdrills of known diameter, one row each.

    Attributes:
        discs: what they take away, with their net and row.
        first, last: layers between which they do.
    """

    discs: CopperShapes
    first: Ints
    last: Ints

    @property
    def net(self) -> Ints:
        """Nets of their holes."""
        return self.discs.net

    def on(self, layer: int) -> CopperShapes:
        """Return those that pass a layer."""
        return self.discs.where(np.flatnonzero((self.first <= layer) & (layer <= self.last)))


def nearest_to_drills(ctx: Context, reach_mm: float) -> dict[DrilledHole, Near]:
    """Return the copper of another net that comes nearest to each backdrill, counterbore and countersink.

    None of what is beyond reach.
    """
    holes = [one for one in (*drilled_holes(ctx), *ctx.get(machined_by_width)) if one.drill.size_mm and not one.lacks]
    if not holes:
        return {}
    drills = drills_of(holes)
    nearest: dict[DrilledHole, Near] = {}
    found = [*pads_near(ctx.board, drills, reach_mm), *_on_layers(ctx, drills, reach_mm)]
    for row, near in found:
        nearest[holes[row]] = min(near, nearest.get(holes[row], near))
    return nearest


def drills_of(holes: list[DrilledHole]) -> Drills:
    """Return backdrills of known diameter as rows."""
    net = np.array([one.hole.net for one in holes], dtype=np.int64)
    at = np.array([complex(one.hole.x_mm, one.hole.y_mm) for one in holes])
    radius = np.array([(one.drill.size_mm or 0.0) / 2 for one in holes])
    first, last = np.array([(one.passed.start, one.passed.stop - 1) for one in holes], dtype=np.int64).T
    return Drills(disc_pieces(np.arange(len(holes)), net, at, radius), first, last)


def _on_layers(ctx: Context, drills: Drills, reach_mm: float) -> Iterator[tuple[int, Near]]:
    for layer in range(int(drills.first.min()), int(drills.last.max()) + 1):
        discs = drills.on(layer)
        if len(discs):
            flat = CopperShapes.joined([track_pieces(ctx.board, layer), drawn_pieces(ctx.board, layer)])
            yield from pieces_near(ctx.board, discs, flat, layer, reach_mm)
            yield from _vias_near(ctx.board, discs, flat, layer, reach_mm)
            yield from _fills_near(ctx, discs, layer, reach_mm)


def pads_near(board: Board, drills: Drills, reach_mm: float) -> Iterator[tuple[int, Near]]:
    """Yield pads of other nets whose copper comes nearer to a drill than `reach_mm`, with the row of the drill.

    A plated hole has its pad on every copper layer that the pad names; a hole without plating has none. Of a custom pad
    it is a disc about its anchor; what else it has, and pads of which size and corners do not tell the shape, are
    pieces of their layers.
    """
    pads, discs = board.pads, drills.discs
    passed = np.uint64(0)
    for layer in range(int(drills.first.min()), int(drills.last.max()) + 1):
        passed |= np.uint64(1 << layer)
    has_copper = ((pads.layers & passed) != 0) & (pads.kind != PadKind.NON_PLATED)
    has_anchor = (pads.shape == "custom") & (pads.has_stack == 0)
    rows = np.flatnonzero(has_copper & (np.isfinite(pads.corner_mm) | has_anchor))
    reach = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2 + np.hypot(pads.shift_x_mm, pads.shift_y_mm)
    around = disc_pieces(rows, pads.net[rows], pads.x_mm[rows] + 1j * pads.y_mm[rows], reach[rows])
    pad, drill = _pairs(around, discs, reach_mm)
    pad = rows[pad]
    gap = to_copper_mm(board, pad, discs.start.real[drill], discs.start.imag[drill]) - discs.radius_mm[drill]
    for k in np.flatnonzero(gap < reach_mm).tolist():
        own, on = int(drill[k]), int(pads.layers[pad[k]])
        layers = range(int(drills.first[own]), int(drills.last[own]) + 1)
        if (layer := next((one for one in layers if on >> one & 1), -1)) >= 0:
            yield own, (float(gap[k]), layer, int(pads.net[pad[k]]))


def to_copper_mm(board: Board, rows: Ints, x_mm: Floats | float, y_mm: Floats | float) -> Floats:
    """Distance from points to each pad's edge, below zero inside: rectangles with corners of the pad's radius."""
    pads = board.pads
    turn = np.exp(1j * np.radians(pads.rotation_deg[rows]))
    across = ((x_mm - pads.x_mm[rows]) + 1j * (y_mm - pads.y_mm[rows])) * turn
    across -= pads.shift_x_mm[rows] + 1j * pads.shift_y_mm[rows]
    half_x, half_y = pads.size_x_mm[rows] / 2, pads.size_y_mm[rows] / 2
    is_custom = pads.shape[rows] == "custom"
    corner = np.where(is_custom, np.minimum(half_x, half_y), pads.corner_mm[rows])
    half_x, half_y = np.where(is_custom, corner, half_x), np.where(is_custom, corner, half_y)
    beyond_x, beyond_y = np.abs(across.real) - (half_x - corner), np.abs(across.imag) - (half_y - corner)
    outside = np.hypot(np.maximum(beyond_x, 0.0), np.maximum(beyond_y, 0.0))
    distance: Floats = outside + np.minimum(np.maximum(beyond_x, beyond_y), 0.0) - corner
    return distance


def pieces_near(
    board: Board, discs: CopperShapes, pieces: CopperShapes, layer: int, reach_mm: float
) -> Iterator[tuple[int, Near]]:
    """Yield pieces of other nets on a layer that come nearer to a drill than `reach_mm`, with the row of the drill."""
    one, drill = _pairs(pieces, discs, reach_mm)
    found = gaps(board, pieces.where(one), discs.where(drill), reach_mm)
    for k in np.flatnonzero(np.isfinite(found)).tolist():
        yield int(discs.row[drill[k]]), (float(found[k]), layer, int(pieces.net[one[k]]))


def _vias_near(
    board: Board, discs: CopperShapes, flat: CopperShapes, layer: int, reach_mm: float
) -> Iterator[tuple[int, Near]]:
    """Vias of other nets; a pad that joins nothing may be left out."""
    vias = board.vias
    radius = np.nan_to_num(vias.pad_size_mm[:, layer]) / 2
    around = disc_pieces(np.arange(len(radius)), vias.net, vias.x_mm + 1j * vias.y_mm, radius)
    via, _ = _pairs(around, discs, reach_mm)
    if len(via):
        yield from pieces_near(board, discs, via_lands(board, layer, np.unique(via), flat), layer, reach_mm)


def _fills_near(ctx: Context, discs: CopperShapes, layer: int, reach_mm: float) -> Iterator[tuple[int, Near]]:
    import shapely  # noqa: PLC0415 - heavy, and only a board with backdrills needs it here

    points = shapely.points(discs.start.real, discs.start.imag)
    for net, fill in ctx.copper.fills(layer):
        near = np.flatnonzero(shapely.dwithin(fill, points, discs.radius_mm + reach_mm) & (discs.net != net))
        apart = shapely.distance(fill, points[near]) - discs.radius_mm[near]
        for row, gap in zip(discs.row[near].tolist(), apart.tolist(), strict=True):
            yield row, (gap, layer, net)


def _pairs(pieces: CopperShapes, discs: CopperShapes, reach_mm: float) -> tuple[Ints, Ints]:
    """Return the rows of pieces and discs of different nets whose boxes come within reach of each other."""
    import shapely  # noqa: PLC0415

    piece, disc = shapely.STRtree(diagonals(pieces.boxes())).query(diagonals(discs.boxes(reach_mm)))[::-1]
    other = np.flatnonzero(pieces.net[piece] != discs.net[disc])
    return piece[other], disc[other]
