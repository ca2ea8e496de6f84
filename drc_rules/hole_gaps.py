"""How near drilled holes come to the copper of other nets on inner layers: tracks and filled zones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drc_rules.fab_holes import NO_DIAMETER_MM, HoleSet, hole_sets
from stackup_lib.board import Board, Floats, Ints

REACH_MM = 0.25
"""Copper further away from a hole than this is no fab's concern."""

SHORTEST_MM = 1e-6
"""KiCad's resolution: keeps the direction of an edge without length defined."""


@dataclass(frozen=True)
class HoleGaps:
    """The least gap of every drilled hole.

    Attributes:
        holes: the drilled holes; microvias are left out.
        gap_mm: from the wall of the finished hole to the nearest copper of another net; infinite beyond the reach.
        layer, net: where that is and whose it is; -1 where there is none.
    """

    holes: HoleSet
    gap_mm: Floats
    layer: Ints
    net: Ints


@dataclass(frozen=True)
class _Edges:
    """Straight edges of copper on one layer; `half_mm` is half the width of a track, 0 for the edge of a fill."""

    ax: Floats
    ay: Floats
    bx: Floats
    by: Floats
    half_mm: Floats
    net: Ints


def hole_gaps(board: Board, reach_mm: float = REACH_MM) -> HoleGaps | None:
    """Return the gaps of every drilled hole of a board, None where it has no holes or no inner layer."""
    holes = next((one for one in hole_sets(board) if not one.is_micro), None)
    if holes is None or board.layer_count < 3:
        return None
    vias, pads, count = board.vias, board.pads, len(holes.drill_mm)
    x = np.concatenate([vias.x_mm[holes.vias], pads.x_mm[holes.pads]])
    y = np.concatenate([vias.y_mm[holes.vias], pads.y_mm[holes.pads]])
    own = np.concatenate([vias.net[holes.vias], pads.net[holes.pads]])
    top = np.concatenate([vias.start_layer[holes.vias], np.zeros(len(holes.pads), dtype=np.int16)])
    bottom = np.concatenate([vias.end_layer[holes.vias], np.full(len(holes.pads), board.layer_count - 1)])
    gap, where, whose = np.full(count, np.inf), np.full(count, -1), np.full(count, -1)
    for layer in range(1, board.layer_count - 1):
        rows = np.flatnonzero((top <= layer) & (bottom >= layer) & (holes.drill_mm >= NO_DIAMETER_MM))
        for edges in (_tracks(board, layer), _fills(board, layer)):
            if not len(rows) or not len(edges.net):
                continue
            hole, edge, gaps = _near(x[rows], y[rows], holes.drill_mm[rows] / 2, edges, reach_mm)
            is_other = edges.net[edge] != own[rows[hole]]
            for k in np.flatnonzero(is_other & (gaps < gap[rows[hole]])).tolist():
                at = rows[hole[k]]
                if gaps[k] < gap[at]:
                    gap[at], where[at], whose[at] = gaps[k], layer, edges.net[edge[k]]
    return HoleGaps(holes, gap, where, whose)


def _near(x: Floats, y: Floats, radius: Floats, edges: _Edges, reach_mm: float) -> tuple[Ints, Ints, Floats]:
    """Every hole and edge that come within reach, and the gap between them."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with inner layers needs it

    out = radius + reach_mm
    tree = shapely.STRtree(shapely.box(x - out, y - out, x + out, y + out))
    left, right = np.minimum(edges.ax, edges.bx) - edges.half_mm, np.maximum(edges.ax, edges.bx) + edges.half_mm
    low, high = np.minimum(edges.ay, edges.by) - edges.half_mm, np.maximum(edges.ay, edges.by) + edges.half_mm
    edge, hole = tree.query(shapely.box(left, low, right, high))
    ax, ay = edges.ax[edge], edges.ay[edge]
    dx, dy = edges.bx[edge] - ax, edges.by[edge] - ay
    along = np.clip(((x[hole] - ax) * dx + (y[hole] - ay) * dy) / np.maximum(dx**2 + dy**2, SHORTEST_MM**2), 0.0, 1.0)
    distance = np.hypot(ax + along * dx - x[hole], ay + along * dy - y[hole])
    gaps = distance - radius[hole] - edges.half_mm[edge]
    kept = gaps < reach_mm
    return hole[kept], edge[kept], gaps[kept]


def _tracks(board: Board, layer: int) -> _Edges:
    """The tracks of a layer; an arc counts as its chord."""
    tracks = board.tracks
    rows = np.flatnonzero(tracks.layer == layer)
    ends = (tracks.start_x_mm[rows], tracks.start_y_mm[rows], tracks.end_x_mm[rows], tracks.end_y_mm[rows])
    return _Edges(*ends, tracks.width_mm[rows] / 2, tracks.net[rows])


def _fills(board: Board, layer: int) -> _Edges:
    """The edges of the filled zones of a layer."""
    zones = board.zones
    spans = list(_spans(board, layer))
    none = np.zeros(0, dtype=np.int64)
    first = np.concatenate([none, *(np.arange(start, end) for start, end, _ in spans)])
    following = np.concatenate([none, *(np.roll(np.arange(start, end), -1) for start, end, _ in spans)])
    net = np.concatenate([none, *(np.full(end - start, whose) for start, end, whose in spans)])
    x, y = zones.fill_x_mm, zones.fill_y_mm
    return _Edges(x[first], y[first], x[following], y[following], np.zeros(len(first)), net)


def _spans(board: Board, layer: int) -> Iterator[tuple[int, int, int]]:
    """First point, end and net of each fill of a layer."""
    zones = board.zones
    for k in np.flatnonzero(zones.fill_layer == layer).tolist():
        yield int(zones.fill_start[k]), int(zones.fill_start[k + 1]), int(zones.net[zones.fill_zone[k]])
