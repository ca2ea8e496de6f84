"""Drawn copper, graphics and the shapes of custom pads, that overlaps copper of another net or joins two nets.

Shapes without a net that touch are one piece of copper. What a footprint draws between pads of a net tie joins them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np

from stackup_lib.board.board import Board, Ints
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.distances import drawn_cores
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.copper.shapes import CopperShapes, pad_rows
from stackup_lib.copper.shorts import QUARTER, JoinedAreas, narrow_side_mm, piece_areas
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from shapely import Geometry


@entity
class DrawnShort:
    """Two nets that drawn copper joins.

    Attributes:
        drawing: the row of the shape, of shapes without a net that touch the first one.
        nets: the two nets; the shape's own, if it has one, is the first.
        overlap_mm: by how much it overlaps the copper of the second net.
        is_own: both nets are those of pads of the footprint that the shape belongs to.
    """

    layer: int
    drawing: int
    nets: tuple[int, int]
    overlap_mm: float
    x_mm: float
    y_mm: float
    is_own: bool


@entity
class _Copper:
    """Copper with nets: areas and the pin, as footprint and number, that each belongs to."""

    area: NDArray[np.object_]
    net: Ints
    pin: tuple[tuple[int, str], ...]


def drawn_shorts(board: Board, layer: int, pieces: CopperShapes) -> tuple[DrawnShort, ...]:
    """Return what drawn copper joins on a layer.

    Args:
        board: the board.
        layer: the copper layer.
        pieces: its tracks, vias and pads.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with drawn copper needs it

    rows = np.flatnonzero(holds_layer(board.drawings.layers, layer))
    areas = drawn_areas(board, rows)
    near = shapely.STRtree(areas)
    named = pieces.where(pieces.net > 0)
    found, _ = near.query(diagonals(named.boxes()))
    named = named.where(distinct(found))
    has_net = board.drawings.net[rows] > 0
    copper = _Copper(
        np.concatenate([piece_areas(board, named), areas[has_net]]),
        np.concatenate([named.net, board.drawings.net[rows[has_net]]]),
        (*_pins(board, named), *(_pin(board, pad) for pad in board.drawings.pad[rows[has_net]].tolist())),
    )
    groups = [(area, [row]) for area, row in zip(areas[has_net], rows[has_net].tolist(), strict=True)]
    groups += _joined(areas[~has_net], rows[~has_net])
    tree, shorts = shapely.STRtree(copper.area), []
    for area, members in groups:
        inner = shapely.buffer(area, -TOUCH_MM)
        touched = np.sort(tree.query(inner, predicate="intersects"))
        shorts += _of_group(board, layer, area, members, copper, touched)
    best: dict[tuple[int, ...], DrawnShort] = {}
    for short in shorts:
        key = tuple(sorted(short.nets))
        if key not in best or short.overlap_mm > best[key].overlap_mm:
            best[key] = short
    return tuple(best[key] for key in sorted(best))


def netless_bridges(board: Board, layer: int, pieces: CopperShapes) -> JoinedAreas:
    """Return where copper without a net joins two nets on a layer: graphics, tracks, vias and pads.

    Args:
        board: the board.
        layer: the copper layer.
        pieces: its tracks, vias, pads and shapes with a net.
    """
    import shapely  # noqa: PLC0415

    drawn = np.flatnonzero(holds_layer(board.drawings.layers, layer) & (board.drawings.net == 0))
    loose, named, found = pieces.where(pieces.net == 0), pieces.where(pieces.net > 0), JoinedAreas()
    areas = np.concatenate([piece_areas(board, loose), drawn_areas(board, drawn)])
    if not len(areas):
        return found
    near, _ = shapely.STRtree(areas).query(diagonals(named.boxes()))
    named = named.where(distinct(near))
    tree = shapely.STRtree(piece_areas(board, named))
    for area, _ in _joined(areas, np.arange(len(areas))):
        touched = tree.query(shapely.buffer(area, -TOUCH_MM), predicate="intersects")
        for low, high in combinations(distinct(named.net[touched]).tolist(), 2):
            found.setdefault(low << 32 | high, []).append(area)
    return found


def _of_group(  # noqa: PLR0917 - the parts of one layer
    board: Board, layer: int, area: Geometry, members: list[int], copper: _Copper, touched: Ints
) -> list[DrawnShort]:
    import shapely  # noqa: PLC0415

    drawings, first = board.drawings, members[0]
    own, pin = int(drawings.net[first]), _pin(board, int(drawings.pad[first]))
    nets = distinct(copper.net[touched])
    if own == 0 and len(nets):
        own = int(nets[0])
    footprints = {int(drawings.footprint[row]) for row in members}
    footprint = footprints.pop() if len(footprints) == 1 else -1
    found = []
    for net in nets.tolist():
        if net == own or are_tied(board, footprint, own, net):
            continue
        others = [k for k in touched.tolist() if copper.net[k] == net and (copper.pin[k] != pin or pin[0] < 0)]
        if not others:
            continue
        shared = shapely.intersection(area, shapely.union_all(copper.area[others]))
        middle = shapely.centroid(shared)
        of_pads = set(board.pads.net[board.pads.footprint == footprint].tolist()) if footprint >= 0 else set()
        is_own = {own, net} <= of_pads
        found.append(DrawnShort(layer, first, (own, net), narrow_side_mm(shared), middle.x, middle.y, is_own))
    return found


def are_tied(board: Board, footprint: int, one: int, other: int) -> bool:
    """Tell whether a footprint's net tie may join two nets, by their numbers."""
    pads = board.pads
    groups = [set(pads.tie[(pads.footprint == footprint) & (pads.net == net)].tolist()) - {-1} for net in (one, other)]
    return bool(groups[0] & groups[1])


def _joined(areas: NDArray[np.object_], rows: Ints) -> list[tuple[Geometry, list[int]]]:
    """Shapes without a net, those that touch one another as one."""
    import shapely  # noqa: PLC0415

    group = list(range(len(rows)))

    def root(one: int) -> int:
        while group[one] != one:
            group[one] = one = group[group[one]]
        return one

    for one, other in zip(*shapely.STRtree(areas).query(areas, predicate="intersects").tolist(), strict=True):
        low, high = sorted((root(one), root(other)))
        group[high] = low
    members: dict[int, list[int]] = {}
    for one in range(len(rows)):
        members.setdefault(root(one), []).append(one)
    return [(shapely.union_all(areas[those]), rows[those].tolist()) for those in members.values()]


def drawn_area(board: Board, row: int) -> Geometry:
    """Return the copper of one drawn shape; see `drawn_areas`."""
    return cast("Geometry", drawn_areas(board, np.array([row]))[0])


def drawn_areas(board: Board, rows: Ints, quarter: int = QUARTER) -> NDArray[np.object_]:
    """Return the copper of drawn shapes, round as that many chords of a quarter; empty without line or filling."""
    import shapely  # noqa: PLC0415

    drawings, found = board.drawings, np.full(len(rows), shapely.Polygon(), dtype=np.object_)
    drawn = np.flatnonzero(np.diff(drawings.start)[rows] > 0)
    rows = rows[drawn]
    found[drawn] = shapely.buffer(drawn_cores(board, rows), drawings.width_mm[rows] / 2, quad_segs=quarter)
    return found


def _pins(board: Board, pieces: CopperShapes) -> list[tuple[int, str]]:
    return [_pin(board, pad) for pad in pad_rows(board, pieces).tolist()]


def _pin(board: Board, pad: int) -> tuple[int, str]:
    """The footprint and number of a pad: KiCad takes pads of one number for one; (-1, "") where it has none."""
    number = str(board.pads.number[pad]) if pad >= 0 else ""
    return (int(board.pads.footprint[pad]), number) if number else (-1, "")
