"""Copper and holes that lie in a zone's stored fill although they belong to another net: the fill is out of date.

KiCad keeps every fill clear of tracks, vias, pads, graphics and holes of other nets, of fills that go before it, and of
the board's outline, and out of rule areas that forbid them, whenever it fills the zones. What is in a fill all the same
was put there, or moved, since. Filling again removes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.columns import Columns
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.fill_edges import rows_in_fills, rows_inside
from stackup_lib.copper.shapes import CopperShape, CopperShapes, Mask, copper_pads, pad_pieces
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from shapely import Polygon

REFILL = "in KiCad, press B to fill all zones and save the board"

TOUCH_MM = 0.001
"""Copper that overlaps by less may as well only touch: KiCad rounds curves by more than a nanometre."""

EDGE_DEEP_MM = 0.05
"""A line of the outline lies in a fill where copper reaches as far on all sides: chords of its arcs are nearer."""

EDGE_STEP_MM, MOST_EDGE_STEPS = 1.0, 100_000
"""Between places of the outline, and of drawn shapes, that are looked at; of lines too long for that many, wider."""


KICAD_10 = 20260206
"""File version from which on KiCad keeps fills off holes on every layer."""

TEARDROP = "$teardrop_"
"""So begin KiCad's names of the zones that it makes for teardrops, which it fills without looking at rule areas."""


class Item(IntEnum):
    """What is in a fill: copper, a hole without copper around it, a line of the outline, a drawn shape, a rule area."""

    TRACK = CopperShape.TRACK
    VIA = CopperShape.VIA
    PAD = CopperShape.PAD
    FILL = CopperShape.FILL
    HOLE = 4
    EDGE = 5
    DRAWING = CopperShape.DRAWN
    RULE_AREA = 7


@entity
class OtherNetItems(Columns):
    """What is in fills of other nets, one row for each item, layer and net of a fill, by layer.

    Attributes:
        kind, row: what it is (`Item`), and its row in that table of the board; of a fill among the stored ones.
        net, fill_net: its net, and that of the fill.
        x_mm, y_mm: the middle of the item.
    """

    kind: Ints
    row: Ints
    layer: Ints
    net: Ints
    fill_net: Ints
    x_mm: Floats
    y_mm: Floats


def all_other_net(parts: Sequence[OtherNetItems]) -> OtherNetItems:
    """Return the rows of several, each item, layer and net once, in the order of layers and items."""
    parts = [one for one in parts if len(one)]
    if not parts:
        return _nothing()
    found = OtherNetItems.joined(parts)
    # the hole of a pad that lies there as well is no other item
    item = np.where(found.kind == Item.HOLE, Item.PAD, found.kind)
    _, first = np.unique(np.column_stack([found.layer, item, found.row, found.fill_net]), axis=0, return_index=True)
    return found.where(first)


def _nothing() -> OtherNetItems:
    none = np.zeros(0, dtype=np.int64)
    return OtherNetItems(none, none, none, none, none, np.zeros(0), np.zeros(0))


def pieces_in_fills(pieces: CopperShapes, layer: int, fill_net: Ints) -> OtherNetItems:
    """Return pieces of copper as rows, each next to the net of the fill that it is in."""
    middle = (pieces.start + pieces.end) / 2
    kind, where = pieces.kind.astype(np.int64), np.full(len(pieces), layer)
    return OtherNetItems(kind, pieces.row, where, pieces.net, fill_net, middle.real, middle.imag)


def other_net_in_fills(board: Board, fills_of: Callable[[int], Sequence[tuple[int, Polygon]]]) -> OtherNetItems:
    """Return what is in fills of other nets.

    Tracks count by their ends, vias, pads and holes by their middle, drawn shapes by places along their lines.

    What only reaches into a fill crosses its edge, and `SpaceFinder.other_net` finds it among the spaces.

    Args:
        board: with its stored fills.
        fills_of: layer -> its fills with their nets.
    """
    pads, outline, drawings = pad_pieces(board, np.flatnonzero(copper_pads(board))), board.outline, board.drawings
    edges = _along(outline.start, outline.x_mm, outline.y_mm)
    drawn = _along(drawings.start, drawings.x_mm, drawings.y_mm)
    forbidden = _forbidden(board)
    found = []
    for layer in range(board.layer_count):
        fills = fills_of(layer)
        if fills:
            drawn_here = [_drawn(board, layer, drawn)] if len(drawn[0]) else []
            found.append(_points_in(fills, [*_points(board, layer, pads), *drawn_here]))
            found.append(_edges_in(fills, layer, edges))
            if len(forbidden[0]):
                found.append(_areas_in(board, layer, fills, forbidden))
    return _untied(board, all_other_net(found))


def _points(board: Board, layer: int, all_pads: CopperShapes) -> Iterator[OtherNetItems]:
    """Yield ends of tracks, middles of vias, of pads with copper on a layer and of holes, and a corner of each fill."""
    vias, pads, zones, tracks = board.vias, board.pads, board.zones, board.tracks
    routed = np.flatnonzero(tracks.layer == layer)
    ends = ((tracks.start_x_mm, tracks.start_y_mm), (tracks.end_x_mm, tracks.end_y_mm)) if len(routed) else ()
    for x, y in ends:
        yield _rows(Item.TRACK, routed, layer, tracks.net[routed], (x[routed], y[routed]))
    if len(vias):
        spans = np.flatnonzero((vias.start_layer <= layer) & (vias.end_layer >= layer))
        yield _rows(Item.VIA, spans, layer, vias.net[spans], (vias.x_mm[spans], vias.y_mm[spans]))
    if len(pads):
        yield from _pads_and_holes(board, layer, all_pads)
    fills = np.flatnonzero((zones.fill_layer == layer) & (np.diff(zones.fill_start) > 2))
    nets, first = zones.net[zones.fill_zone[fills]], zones.fill_start[fills]
    if len(distinct(nets)) > 1:
        yield _rows(Item.FILL, fills, layer, nets, (zones.fill_x_mm[first], zones.fill_y_mm[first]))


def _pads_and_holes(board: Board, layer: int, all_pads: CopperShapes) -> Iterator[OtherNetItems]:
    pads = board.pads
    here = all_pads.where(holds_layer(pads.layers[all_pads.row], layer))
    yield pieces_in_fills(here, layer, here.net)
    holes = np.flatnonzero(holes_off_fills(board, layer))
    # what is not plated keeps fills of every net off
    net = np.where(pads.kind[holes] == PadKind.NON_PLATED, -1, pads.net[holes])
    yield _rows(Item.HOLE, holes, layer, net, (pads.x_mm[holes], pads.y_mm[holes]))


def holes_off_fills(board: Board, layer: int) -> Mask:
    """Tell which pads have a hole that no fill of another net may contain on a layer.

    KiCad 10 keeps fills off a hole on every layer, KiCad 9 on those of its pad alone. A plated hole joins the fill that
    it meets, whichever of them filled the zone.
    """
    pads = board.pads
    has_hole = np.fmin(pads.drill_x_mm, pads.drill_y_mm) > 0
    if board.format_version >= KICAD_10:
        return np.asarray(has_hole)
    return np.asarray(has_hole & (holds_layer(pads.layers, layer) | ((pads.kind == PadKind.THROUGH) & (pads.net > 0))))


def _drawn(board: Board, layer: int, along: tuple[Ints, Floats, Floats]) -> OtherNetItems:
    shape, x, y = along
    here = np.flatnonzero(holds_layer(board.drawings.layers[shape], layer))
    return _rows(Item.DRAWING, shape[here], layer, board.drawings.net[shape[here]], (x[here], y[here]))


def _rows(kind: Item, row: Ints, layer: int, net: Ints, at_mm: tuple[Floats, Floats]) -> OtherNetItems:
    return OtherNetItems(np.full(len(row), int(kind)), row, np.full(len(row), layer), net, net, *at_mm)


def _points_in(fills: Sequence[tuple[int, Polygon]], parts: Sequence[OtherNetItems]) -> OtherNetItems:
    """Those that lie in a fill of another net, part by part; each fill is looked at once."""
    parts = [one for one in parts if len(one)]
    if not parts:
        return _nothing()
    points, part = OtherNetItems.joined(parts), np.repeat(np.arange(len(parts)), [len(one) for one in parts])
    rows, nets = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for k, inside in rows_in_fills(fills, points.x_mm, points.y_mm, points.net):
        rows.append(inside)
        nets.append(np.full(len(inside), fills[k][0]))
    found, fill_net = np.concatenate(rows), np.concatenate(nets)
    order = np.argsort(part[found], kind="stable")
    return replace(points.where(found[order]), fill_net=fill_net[order])


def _along(start: Ints, x: Floats, y: Floats) -> tuple[Ints, Floats, Floats]:
    """Places along polylines: the number of the polyline, x and y."""
    line = np.repeat(np.arange(len(start) - 1), np.diff(start))
    goes_on = np.flatnonzero(line[1:] == line[:-1]) if len(line) else np.zeros(0, dtype=np.int64)
    length = np.hypot(x[goes_on + 1] - x[goes_on], y[goes_on + 1] - y[goes_on])
    parts = np.maximum(np.ceil(length / max(EDGE_STEP_MM, float(length.sum()) / MOST_EDGE_STEPS)), 1)
    count = parts.astype(np.int64)
    of = np.repeat(goes_on, count)
    share = (np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / np.repeat(parts, count)
    return line[of], x[of] + share * (x[of + 1] - x[of]), y[of] + share * (y[of + 1] - y[of])


def _edges_in(fills: Sequence[tuple[int, Polygon]], layer: int, edges: tuple[Ints, Floats, Floats]) -> OtherNetItems:
    """Lines of the outline in fills, once for each net of a fill."""
    line, x, y = edges
    found = []
    for k, near in rows_in_fills(fills, x, y):
        inside, (net, fill) = near, fills[k]
        for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if not len(inside):
                break
            inside = inside[rows_inside(fill, x[inside] + right * EDGE_DEEP_MM, y[inside] + down * EDGE_DEEP_MM)]
        if len(inside):
            rows = _rows(Item.EDGE, line[inside], layer, np.full(len(inside), -1), (x[inside], y[inside]))
            found.append(replace(rows, fill_net=np.full(len(inside), net)))
    return OtherNetItems.joined(found) if found else _nothing()


def _forbidden(board: Board) -> tuple[Ints, Floats, Floats]:
    """Places along rule areas that forbid fills, just inside: the row of the area, x and y."""
    import shapely  # noqa: PLC0415

    zones, start = board.zones, board.zones.outline_start
    rings = []
    for row in np.flatnonzero(zones.forbids_fill).tolist():
        corners = np.column_stack([zones.outline_x_mm, zones.outline_y_mm])[start[row] : start[row + 1]]
        if len(corners) > 2:
            inner = shapely.make_valid(shapely.Polygon(corners)).buffer(-EDGE_DEEP_MM)
            rings += [(row, shapely.get_coordinates(part.exterior)) for part in shapely.get_parts(inner) if part.area]
    if not rings:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    rows, points = np.array([row for row, _ in rings]), np.vstack([ring for _, ring in rings])
    line, x, y = _along(np.cumsum([0, *(len(ring) for _, ring in rings)]), points[:, 0], points[:, 1])
    return rows[line], x, y


def _areas_in(
    board: Board, layer: int, fills: Sequence[tuple[int, Polygon]], forbidden: tuple[Ints, Floats, Floats]
) -> OtherNetItems:
    """Rule areas that forbid fills, in a fill that is no teardrop."""
    zones, (row, x, y) = board.zones, forbidden
    here = holds_layer(zones.layers[row], layer)
    stored = zones.fill_zone[(zones.fill_layer == layer) & (np.diff(zones.fill_start) > 2)]
    poured = [one for one, name in zip(fills, zones.name[stored], strict=True) if not name.startswith(TEARDROP)]
    return _points_in(
        poured, [_rows(Item.RULE_AREA, row[here], layer, np.full(int(here.sum()), -1), (x[here], y[here]))]
    )


def _untied(board: Board, found: OtherNetItems) -> OtherNetItems:
    """Without the pads of a net tie, and what it draws, in a fill of a net that it ties."""
    return found.where(np.array([k for k in range(len(found)) if not _is_tied(board, found, k)], dtype=np.int64))


def _is_tied(board: Board, found: OtherNetItems, k: int) -> bool:
    kind, row, net, pads = Item(int(found.kind[k])), int(found.row[k]), found.fill_net[k], board.pads
    if kind in (Item.PAD, Item.HOLE):
        return bool(pads.tie[row] >= 0 and net in pads.net[pads.tie == pads.tie[row]])
    if kind != Item.DRAWING or board.drawings.footprint[row] < 0:
        return False
    return bool(np.any((pads.footprint == board.drawings.footprint[row]) & (pads.tie >= 0) & (pads.net == net)))


def need_true_fills(other_net: OtherNetItems) -> None:
    """Raise `MissingFact` where the stored fills are out of date anywhere on the board: KiCad fills all at once."""
    if len(other_net):
        raise fills_out_of_date()


def fills_out_of_date() -> MissingFact:
    """Return the fact that is missing where fills do not match the routing."""
    return MissingFact("zone fills that match the routing", REFILL)
