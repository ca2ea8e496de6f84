"""The board from above, small enough for a page: outline, planes, fast nets; as paths in hundredths of a millimetre."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drc_rules.facts.context import Context
from drc_rules.report.model import Finding
from drc_rules.requirements.interfaces import families, interface
from stackup_lib.board.board import Board, Ints

UNITS_PER_MM = 100
SHARPEST_MM, COARSEST_MM = 0.05, 1.6
PLANE_CHARACTERS = 1_500_000
"""Room for all planes of a page; with more corners they are drawn on a coarser grid."""
CHARACTERS_PER_CORNER = 7
MOST_TRACKS = 30_000
"""Segments drawn; of a board with more, the shortest are left out, and the page says so."""


@dataclass(frozen=True)
class NetPath:
    """Tracks of one width that belong to one interface; `title` is empty for nets that only findings name."""

    title: str
    width: int
    path: str


@dataclass(frozen=True)
class MapLayer:
    """One copper layer; `planes` is a path to fill, by the rule `nonzero`."""

    index: int
    name: str
    planes: str
    tracks: tuple[NetPath, ...]


@dataclass(frozen=True)
class BoardMap:
    """What is drawn; every number in units of 1/100 mm, in KiCad's axes.

    Attributes:
        left, top, width, height: of the drawing.
        outline: path of Edge.Cuts.
        holes: of the drawn nets, as a path of points: width of the stroke in units and path.
        plane_grid_mm: corners of planes lie on this grid.
        left_out: segments that are not drawn.
    """

    left: int
    top: int
    width: int
    height: int
    outline: str
    layers: tuple[MapLayer, ...]
    holes: tuple[tuple[int, str], ...]
    plane_grid_mm: float
    left_out: int = 0


def board_map(context: Context, findings: Iterable[Finding] = ()) -> BoardMap | None:
    """Draw the fast nets of a board, those that findings name, and its planes; None for a board without extent."""
    board = context.board
    box = _box(board)
    if box is None:
        return None
    titles = _titles(context, findings)
    rows, left_out = _chosen(board, titles)
    grid, corners = _corners(board)
    layers = tuple(
        MapLayer(index, layer.name, _planes(board, index, corners), tuple(_tracks(board, rows, titles, index)))
        for index, layer in enumerate(board.copper_layers)
    )
    return BoardMap(
        left=box[0],
        top=box[1],
        width=box[2],
        height=box[3],
        outline=_outline(board),
        layers=tuple(layer for layer in layers if layer.planes or layer.tracks),
        holes=tuple(_holes(board, titles)),
        plane_grid_mm=grid,
        left_out=left_out,
    )


def _box(board: Board) -> tuple[int, int, int, int] | None:
    """Left, top, width and height, with a margin."""
    x, y = board.outline.x_mm, board.outline.y_mm
    if not len(x):
        x, y = board.tracks.start_x_mm, board.tracks.start_y_mm
    if not len(x):
        return None
    margin = 0.02 * max(np.ptp(x), np.ptp(y), 1.0)
    left, top = _units(float(x.min() - margin)), _units(float(y.min() - margin))
    return left, top, _units(float(x.max() + margin)) - left, _units(float(y.max() + margin)) - top


def _units(mm: float) -> int:
    return round(mm * UNITS_PER_MM)


def _titles(context: Context, findings: Iterable[Finding]) -> dict[int, str]:
    """Net -> what it is drawn as; nets that are poured as copper are seen as planes."""
    index, zones = context.board.net_index, context.board.zones
    poured = set(zones.net[np.unique(zones.fill_zone)].tolist())
    nets = {place.net for finding in findings for place in finding.places if place.net}
    named = {index[net]: "" for net in sorted(nets) if net in index and index[net] not in poured}
    for of in families():
        title = f"{of.title}, generation unknown"
        named.update(dict.fromkeys(context.nets_of(of.id).tolist() if of.fast else [], title))
    for name in context.assignment.fast_interfaces():
        named.update(dict.fromkeys(context.nets_of(name).tolist(), interface(name).title))
    return named


def _chosen(board: Board, titles: dict[int, str]) -> tuple[Ints, int]:
    rows = np.flatnonzero(np.isin(board.tracks.net, np.array(sorted(titles), dtype=np.int64)))
    if len(rows) <= MOST_TRACKS:
        return rows, 0
    longest = np.argsort(-board.tracks.length_mm[rows], kind="stable")[:MOST_TRACKS]
    return np.sort(rows[longest]), len(rows) - MOST_TRACKS


def _tracks(board: Board, rows: Ints, titles: dict[int, str], layer: int) -> Iterator[NetPath]:
    tracks = board.tracks
    here = rows[tracks.layer[rows] == layer]
    groups: dict[tuple[str, int], list[str]] = {}
    xy = np.stack([tracks.start_x_mm, tracks.start_y_mm, tracks.mid_x_mm, tracks.mid_y_mm], axis=1)[here]
    ends = np.stack([tracks.end_x_mm, tracks.end_y_mm], axis=1)[here]
    for row, (x0, y0, xm, ym), (x1, y1) in zip(here.tolist(), xy.tolist(), ends.tolist(), strict=True):
        key = titles[int(tracks.net[row])], max(1, _units(float(tracks.width_mm[row])))
        via = "" if math.isnan(xm) else f"L{_units(xm)} {_units(ym)}"
        groups.setdefault(key, []).append(f"M{_units(x0)} {_units(y0)}{via}L{_units(x1)} {_units(y1)}")
    for (title, width), parts in sorted(groups.items()):
        yield NetPath(title, width, "".join(parts))


def _holes(board: Board, titles: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield points for the vias of the drawn nets: lines of no length, which round caps make discs."""
    vias = board.vias
    groups: dict[int, list[str]] = {}
    for row in np.flatnonzero(np.isin(vias.net, np.array(sorted(titles), dtype=np.int64))).tolist():
        size = float(vias.size_mm[row])
        point = f"M{_units(float(vias.x_mm[row]))} {_units(float(vias.y_mm[row]))}h0"
        groups.setdefault(max(1, _units(0.0 if math.isnan(size) else size)), []).append(point)
    yield from ((size, "".join(points)) for size, points in sorted(groups.items()))


def _outline(board: Board) -> str:
    outline = board.outline
    parts = []
    for a, b in zip(outline.start[:-1].tolist(), outline.start[1:].tolist(), strict=True):
        x, y = outline.x_mm[a:b].tolist(), outline.y_mm[a:b].tolist()
        points = [f"{_units(px)} {_units(py)}" for px, py in zip(x, y, strict=True)]
        parts.append("M" + "L".join(points) if points else "")
    return "".join(parts)


@dataclass(frozen=True)
class _Corners:
    """Corners of all fills on a grid, in units; `kept` are those that differ from the one before."""

    x: Ints
    y: Ints
    kept: NDArray[np.bool_]


def _corners(board: Board) -> tuple[float, _Corners]:
    """Return the finest grid on which all planes fit into their room, in mm, and their corners on it."""
    grid_mm = SHARPEST_MM
    corners = _on_grid(board, grid_mm)
    while grid_mm < COARSEST_MM and np.count_nonzero(corners.kept) * CHARACTERS_PER_CORNER > PLANE_CHARACTERS:
        grid_mm *= 2
        corners = _on_grid(board, grid_mm)
    return grid_mm, corners


def _on_grid(board: Board, grid_mm: float) -> _Corners:
    zones = board.zones
    step = round(grid_mm * UNITS_PER_MM)
    x = np.round(zones.fill_x_mm / grid_mm).astype(np.int64) * step
    y = np.round(zones.fill_y_mm / grid_mm).astype(np.int64) * step
    kept = np.ones(len(x), dtype=bool)
    kept[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    kept[zones.fill_start[:-1][zones.fill_start[:-1] < len(x)]] = True
    return _Corners(x, y, kept)


def _planes(board: Board, layer: int, corners: _Corners) -> str:
    zones = board.zones
    parts = []
    for k in np.flatnonzero(zones.fill_layer == layer).tolist():
        inside = slice(int(zones.fill_start[k]), int(zones.fill_start[k + 1]))
        of = corners.kept[inside]
        xs, ys = corners.x[inside][of], corners.y[inside][of]
        if len(xs) < 3:
            continue
        steps = zip(np.diff(xs).tolist(), np.diff(ys).tolist(), strict=True)
        parts.append(f"M{xs[0]} {ys[0]}" + "".join(f"l{a} {b}" for a, b in steps) + "z")
    return "".join(parts)
