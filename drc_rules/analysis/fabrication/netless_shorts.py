"""Tracks, vias and pads without a net that join two nets: what touches is one piece, through holes as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.clearances import SpaceFinder, Spaces
from stackup_lib.copper.drawn_shorts import are_tied, drawn_areas
from stackup_lib.copper.shapes import CopperShape, CopperShapes, pad_rows
from stackup_lib.copper.shorts import narrow_side_mm, piece_areas
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity, workpiece

Item = tuple[int, int, int]
"""What it is (`CopperShape`), its row in that table, and its layer, -1 for what a plated hole joins."""

THROUGH = -1


@entity
class NetContact:
    """Where copper without a net overlaps copper of a net.

    Attributes:
        item: the copper without a net.
        net, part: net and footprint of the other copper; -1 for what is of no footprint.
        overlap_mm: the narrow side of what they have in common.
    """

    item: Item
    net: int
    part: int
    layer: int
    overlap_mm: float
    x_mm: float
    y_mm: float


@entity
class NetlessShort:
    """Copper without a net that joins two nets.

    Attributes:
        items: what touches one another, tracks first.
        contacts: the widest contact with each of the two nets.
        part: the footprint that all of it, and what it touches of the two nets, belongs to; -1 for none.
    """

    items: tuple[Item, ...]
    contacts: tuple[NetContact, NetContact]
    part: int

    @property
    def overlap_mm(self) -> float:
        """By how much it overlaps both nets."""
        return min(one.overlap_mm for one in self.contacts)


@workpiece
class _Groups:
    """Items that touch one another, however many are between them."""

    above: dict[Item, Item] = field(default_factory=dict)

    def first(self, item: Item) -> Item:
        while (above := self.above.setdefault(item, item)) != item:
            item = self.above[item] = self.above[above]
        return item

    def join(self, one: Item, other: Item) -> None:
        low, high = sorted((self.first(one), self.first(other)))
        self.above[high] = low


def netless_shorts(finder: SpaceFinder, layers: Iterable[int]) -> tuple[NetlessShort, ...]:
    """Return the pairs of nets that copper without a net joins, but for graphics alone: those are `drawn_shorts`.

    Args:
        finder: of the board.
        layers: those with copper of more than one net.
    """
    board, layers = finder.copper.board, tuple(layers)
    contacts = [one for layer in layers for one in _contacts(board, finder.netless(layer))]
    has_graphics = bool(np.any((board.drawings.net == 0) & (board.drawings.pad < 0)))
    if len({one.net for one in contacts}) < (1 if has_graphics else 2):
        return ()
    groups = _Groups()
    for layer in layers:
        contacts += _join(board, layer, finder.pieces(layer), groups)
    by_group: dict[Item, list[NetContact]] = {}
    for one in contacts:
        by_group.setdefault(groups.first(one.item), []).append(one)
    items: dict[Item, list[Item]] = {}
    for item in sorted(groups.above):
        items.setdefault(groups.first(item), []).append(item)
    return tuple(
        short for first in sorted(by_group) for short in _of_group(board, tuple(items[first]), by_group[first])
    )


def _of_group(board: Board, items: tuple[Item, ...], contacts: list[NetContact]) -> Iterator[NetlessShort]:
    if all(kind == CopperShape.DRAWN for kind, *_ in items):
        return
    by_net: dict[int, list[NetContact]] = {}
    for one in contacts:
        by_net.setdefault(one.net, []).append(one)
    nets = sorted(by_net, key=lambda net: board.nets[net])
    widest = [max(by_net[net], key=lambda one: round(one.overlap_mm, 6)) for net in nets]
    parts = {_part(board, item) for item in items}
    part = parts.pop() if len(parts) == 1 else -1
    for other in widest[1:]:
        first = widest[0]
        if part >= 0 and are_tied(board, part, first.net, other.net):
            continue
        touched = {one.part for net in (first.net, other.net) for one in by_net[net]}
        yield NetlessShort(items, (first, other), part if touched == {part} else -1)


def _item(board: Board, kind: int, row: int, layer: int) -> Item:
    """What stands for a piece: vias, and pads with a plated hole, are one piece on all layers."""
    is_plated = kind == CopperShape.VIA or (
        kind == CopperShape.PAD and board.pads.kind[row] == PadKind.THROUGH and board.pads.drill_x_mm[row] > 0
    )
    return kind, row, THROUGH if is_plated else layer


def _items(board: Board, pieces: CopperShapes, layer: int) -> list[Item]:
    """The items of pieces; a shape of a pad is the pad."""
    pads = pad_rows(board, pieces)
    kinds = np.where(pads >= 0, int(CopperShape.PAD), pieces.kind).tolist()
    rows = np.where(pads >= 0, pads, pieces.row).tolist()
    return [_item(board, kind, row, layer) for kind, row in zip(kinds, rows, strict=True)]


def _part(board: Board, item: Item) -> int:
    kind, row, _ = item
    if kind == CopperShape.PAD:
        return int(board.pads.footprint[row])
    return int(board.drawings.footprint[row]) if kind == CopperShape.DRAWN else -1


def _contacts(board: Board, found: Spaces) -> Iterator[NetContact]:
    """Yield the overlaps of a layer that were measured between copper without a net and that of a net."""
    for side, other in ((found.one, found.other), (found.other, found.one)):
        rows = np.flatnonzero((side.net == 0) & (other.net > 0))
        loose, named = side.where(rows), other.where(rows)
        nets, parts = named.net.tolist(), [_part(board, item) for item in _items(board, named, found.layer)]
        areas = (piece_areas(board, loose), piece_areas(board, named))
        for item, net, part, a, b in zip(_items(board, loose, found.layer), nets, parts, *areas, strict=True):
            yield _contact(item, (net, part, found.layer), a.intersection(b))


def _contact(item: Item, of: tuple[int, int, int], shared: NDArray[np.object_]) -> NetContact:
    import shapely  # noqa: PLC0415 - heavy, and only a board with copper without a net needs it

    middle = shapely.centroid(shared)
    return NetContact(item, *of, narrow_side_mm(shared), float(middle.x), float(middle.y))


def _join(board: Board, layer: int, pieces: CopperShapes, groups: _Groups) -> Iterator[NetContact]:
    """Join what has no net and touches on a layer; yield where graphics among it touch nets: these are not measured."""
    import shapely  # noqa: PLC0415

    loose, drawings = pieces.where(pieces.net == 0), board.drawings
    if not len(loose):
        return
    drawn = np.flatnonzero((drawings.net == 0) & holds_layer(drawings.layers, layer))
    shapes = drawn_areas(board, drawn)
    of_pad = drawings.pad[drawn].tolist()
    items = _items(board, loose, layer)
    items += [
        (int(CopperShape.DRAWN), row, layer) if pad < 0 else _item(board, int(CopperShape.PAD), pad, layer)
        for row, pad in zip(drawn.tolist(), of_pad, strict=True)
    ]
    areas = np.concatenate([piece_areas(board, loose), shapes])
    inner = shapely.buffer(areas, -TOUCH_MM)
    for one, other in zip(*shapely.STRtree(areas).query(inner, predicate="intersects").tolist(), strict=True):
        groups.join(items[one], items[other])
    graphics = np.flatnonzero(drawings.pad[drawn] < 0)
    if len(graphics):
        yield from _of_graphics(board, layer, pieces.where(pieces.net > 0), (drawn[graphics], shapes[graphics]))


def _of_graphics(
    board: Board, layer: int, named: CopperShapes, graphics: tuple[NDArray[np.int64], NDArray[np.object_]]
) -> Iterator[NetContact]:
    import shapely  # noqa: PLC0415

    rows, shapes = graphics
    found, _ = shapely.STRtree(shapes).query(shapely.box(*named.boxes()))
    named = named.where(distinct(found))
    areas, parts = piece_areas(board, named), [_part(board, item) for item in _items(board, named, layer)]
    inner = shapely.buffer(shapes, -TOUCH_MM)
    for one, other in zip(*shapely.STRtree(areas).query(inner, predicate="intersects").tolist(), strict=True):
        item = (int(CopperShape.DRAWN), int(rows[one]), layer)
        yield _contact(item, (int(named.net[other]), parts[other], layer), shapes[one].intersection(areas[other]))
