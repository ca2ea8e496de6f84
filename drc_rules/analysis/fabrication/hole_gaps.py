"""How near drilled holes come to the copper of other nets on inner layers: tracks and filled zones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM, HoleSet, hole_sets
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.columns import first_of_each
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.distances import gaps
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.copper.shapes import CopperShapes, disc_pieces, edge_pieces, slot_pieces, track_pieces
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.record import entity

REACH_MM = 0.25
"""Copper further away from a hole than this is no fab's concern."""


@entity
class HoleCuts:
    """Holes that cut into copper of other nets, once for each net: where they do so deepest.

    Attributes:
        hole: position among the holes.
        own, net: nets of the hole and of that copper.
        gap_mm: less than 0.
    """

    hole: Ints
    own: Ints
    net: Ints
    layer: Ints
    gap_mm: Floats


@entity
class HoleGaps:
    """The least gap of every drilled hole.

    Attributes:
        holes: the drilled holes; microvias are left out.
        gap_mm: from the wall of the finished hole to the nearest copper of another net that it does not cut into;
            infinite beyond the reach.
        layer, net: where that is and whose it is; -1 where there is none.
        cuts: the copper that holes cut into.
    """

    holes: HoleSet
    gap_mm: Floats
    layer: Ints
    net: Ints
    cuts: HoleCuts


def hole_gaps(
    copper: CopperMap, reach_mm: float = REACH_MM, fills: PostFills | None = None, *, to_fills: bool = True
) -> HoleGaps | None:
    """Return the gaps of every drilled hole of a board, None where it has no holes or no inner layer.

    Args:
        copper: of the board.
        reach_mm: how far from the wall is looked.
        fills: what the posts have around them, where it is looked up for others as well, at least as far.
        to_fills: False where the fills are out of date: only tracks are looked at.
    """
    board = copper.board
    around = fills or PostFills(copper, reach_mm, (0.0,) * board.layer_count)
    holes = next((one for one in hole_sets(board) if not one.is_micro), None)
    if holes is None or board.layer_count < 3:
        return None
    vias, pads, count = board.vias, board.pads, len(holes.drill_mm)
    own = np.concatenate([vias.net[holes.vias], pads.net[holes.pads]])
    at = vias.x_mm[holes.vias] + 1j * vias.y_mm[holes.vias]
    drilled = disc_pieces(holes.vias, vias.net[holes.vias], at, vias.drill_mm[holes.vias] / 2)
    pieces = replace(CopperShapes.joined([drilled, slot_pieces(board, holes.pads)]), row=np.arange(count))
    top = np.concatenate([vias.start_layer[holes.vias], np.zeros(len(holes.pads), dtype=np.int16)])
    bottom = np.concatenate([vias.end_layer[holes.vias], np.full(len(holes.pads), board.layer_count - 1)])
    hole_of = np.full(len(vias) + len(pads), -1)
    hole_of[np.concatenate([holes.vias, len(vias) + holes.pads])] = np.arange(count)
    entries: list[tuple[int, Ints, Ints, Floats]] = []
    for layer in range(1, board.layer_count - 1):
        rows = np.flatnonzero((top <= layer) & (bottom >= layer) & (holes.drill_mm >= NO_DIAMETER_MM))
        here = pieces.where(rows)
        found = [_to_tracks(board, layer, here, reach_mm)]
        if to_fills:
            near = around.near(layer)
            edge_net = copper.edges(layer).net[near.edge]
            found.append(_to_fills(here, hole_of[near.post], (edge_net, near.distance_mm), reach_mm))
            found.append(_slots_to_fills(copper, layer, here, reach_mm))
        entries += [(layer, rows[hole], net, found_mm) for hole, net, found_mm in found]
    cuts = _cuts(entries, own)
    gap, where, whose = np.full(count, np.inf), np.full(count, -1), np.full(count, -1)
    cut = _pair(cuts.hole, cuts.net, board)
    for layer, hole, net, found_mm in entries:
        kept = np.flatnonzero(~np.isin(_pair(hole, net, board), cut))
        order = kept[np.argsort(-found_mm[kept], kind="stable")]  # the least of each hole is written last
        least, nearest = np.full(count, np.inf), np.full(count, -1)
        least[hole[order]], nearest[hole[order]] = found_mm[order], net[order]
        nearer = least < gap
        gap[nearer], where[nearer], whose[nearer] = least[nearer], layer, nearest[nearer]
    return HoleGaps(holes, gap, where, whose, cuts)


def _pair(hole: Ints, net: Ints, board: Board) -> Ints:
    """A number for each hole and net."""
    return np.asarray(hole * (len(board.nets) + 1) + net + 1)


def _cuts(entries: list[tuple[int, Ints, Ints, Floats]], own: Ints) -> HoleCuts:
    """What holes cut into by more than curves are rounded."""
    none = np.zeros(0, dtype=np.int64)
    layer = np.concatenate([none, *(np.full(len(hole), k) for k, hole, _, _ in entries)])
    hole, net = (np.concatenate([none, *(one[k] for one in entries)]) for k in (1, 2))
    gap = np.concatenate([np.zeros(0), *(found_mm for *_, found_mm in entries)])
    deep = np.flatnonzero(gap <= -TOUCH_MM)
    order = deep[np.lexsort((layer[deep], gap[deep], net[deep], hole[deep]))]
    order = first_of_each(order, hole, net)
    return HoleCuts(hole[order], own[hole[order]], net[order], layer[order], gap[order])


_Near = tuple[Ints, Ints, Floats]
"""Row of the hole among those of the layer, net of the copper, gap in mm; one for each edge of another net in reach."""


def _to_tracks(board: Board, layer: int, holes: CopperShapes, reach_mm: float) -> _Near:
    """The tracks and arcs of a layer."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with inner layers needs it

    tracks = track_pieces(board, layer)
    hole, k = shapely.STRtree(diagonals(tracks.boxes())).query(diagonals(holes.boxes(reach_mm)))
    other_net = np.flatnonzero(tracks.net[k] != holes.net[hole])
    hole, k = hole[other_net], k[other_net]
    found_mm = gaps(board, tracks.where(k), holes.where(hole), reach_mm)
    kept = np.flatnonzero(np.isfinite(found_mm))
    return hole[kept], tracks.net[k[kept]], found_mm[kept]


def _to_fills(holes: CopperShapes, hole: Ints, edges: tuple[Ints, Floats], reach_mm: float) -> _Near:
    """The edges (net, distance from the middle) of filled zones around the holes with these numbers, -1 for none."""
    net, distance_mm = edges
    drilled = np.flatnonzero(np.isin(hole, holes.row))
    own = np.searchsorted(holes.row, hole[drilled])
    found_mm = distance_mm[drilled] - holes.radius_mm[own]
    kept = np.flatnonzero(found_mm < reach_mm)
    return own[kept], net[drilled[kept]], found_mm[kept]


def _slots_to_fills(copper: CopperMap, layer: int, holes: CopperShapes, reach_mm: float) -> _Near:
    """The edges of filled zones around the holes that are no circles, which reach further than about their middle."""
    edges, slots = copper.edges(layer), np.flatnonzero(holes.start != holes.end)
    slot, edge = edges.within(diagonals(holes.where(slots).boxes(reach_mm)))
    hole = slots[slot]
    other_net = np.flatnonzero(edges.net[edge] != holes.net[hole])
    hole, edge = hole[other_net], edge[other_net]
    found_mm = gaps(copper.board, holes.where(hole), edge_pieces(edges, edge), reach_mm)
    kept = np.flatnonzero(np.isfinite(found_mm))
    return hole[kept], edges.net[edge[kept]], found_mm[kept]
