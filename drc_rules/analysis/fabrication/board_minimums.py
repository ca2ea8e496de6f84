"""What is drawn below a minimum of Board Setup, as KiCad's own check counts it (tried on KiCad 10.0.6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.fabrication.fab_holes import narrow_side_mm
from stackup_lib.board.board import NO_LAYER, Board, Floats, Ints, PadKind, Pads, ViaKind
from stackup_lib.core.record import entity, record
from stackup_lib.core.words import count, listed
from stackup_lib.kicad.design_rules.board_minimums import (
    HOLE,
    HOLE_TO_HOLE,
    MICROVIA_DIAMETER,
    MICROVIA_HOLE,
    RING,
    TRACK_WIDTH,
    VIA_DIAMETER,
    Minimum,
)

Mask = NDArray[np.bool_]

PRECISION_MM = 6e-7
"""KiCad compares sizes in whole nanometres: 0.099999 mm is below 0.1 mm; half a nanometre does not count."""
HOLE_EPSILON_MM = 0.0005
"""KiCad takes this much off the least distance of holes; holes nearer than this are one hole drilled twice to it."""

TRACK, VIA, MICROVIA, PLATED, UNPLATED = "track", "via", "microvia", "plated hole", "non-plated hole"
_PAIR = "pair of holes"
_NOUNS = (TRACK, VIA, MICROVIA, PLATED, UNPLATED, _PAIR)


@record
class MinimumItem:
    """One drawn item: a track or a hole.

    Attributes:
        noun: what it is.
        layer: copper layer of a track, `NO_LAYER` of a hole.
    """

    noun: str
    net: int
    x_mm: float
    y_mm: float
    layer: int
    uuid: str


Found = list[tuple[float, tuple[MinimumItem, ...]]]


@record
class Below:
    """The items below a minimum.

    Attributes:
        value_mm: what each of them measures, the smallest first.
        items: the items in that order, one each; of holes that are too close to one another two.
        judged: how many items were held against the minimum.
    """

    value_mm: tuple[float, ...]
    items: tuple[tuple[MinimumItem, ...], ...]
    judged: int

    @property
    def counted(self) -> str:
        """How many of what, e.g. `3 vias and 1 plated hole`."""
        nouns = [_PAIR if len(items) > 1 else items[0].noun for items in self.items]
        plural = {_PAIR: "pairs of holes"}
        words = [count(nouns.count(noun), noun, plural.get(noun, "")) for noun in _NOUNS if noun in nouns]
        return listed(words)


def below(board: Board, minimum: Minimum, spared: frozenset[int]) -> Below:
    """Return what is drawn below a minimum.

    Args:
        board: the board.
        minimum: any but that of clearance.
        spared: nets of which no item is judged.
    """
    found: Found
    if minimum.key == TRACK_WIDTH.key:
        value, judged = board.tracks.width_mm, _unspared(board.tracks.net, spared)
        rows = np.flatnonzero(judged & (value < minimum.value_mm - PRECISION_MM))
        found = [(float(value[row]), (_track(board, row),)) for row in rows.tolist()]
    elif minimum.key == HOLE_TO_HOLE.key:
        holes = board_holes(board)
        judged = holes.is_round & _unspared(holes.net, spared)
        found = [
            (gap, tuple(sorted((holes.item(board, one), holes.item(board, other)), key=_place)))
            for gap, one, other in _close_holes(holes, judged, minimum.value_mm - HOLE_EPSILON_MM)
        ]
    else:
        holes = board_holes(board)
        value = _values(board, holes, minimum)
        judged = ~np.isnan(value) & _unspared(holes.net, spared)
        rows = np.flatnonzero(judged & (value < minimum.value_mm - PRECISION_MM))
        found = [(float(value[row]), (holes.item(board, row),)) for row in rows.tolist()]
    kept = sorted(_without_excluded(board, minimum, found), key=_value_and_item)
    return Below(tuple(value for value, _ in kept), tuple(items for _, items in kept), int(np.sum(judged)))


def _value_and_item(found: tuple[float, tuple[MinimumItem, ...]]) -> tuple[float, str, float, float]:
    """An order that depends neither on that of the file nor on where the board lies."""
    value, items = found
    return round(value, 6), items[0].uuid, *_place(items[0])


def _place(item: MinimumItem) -> tuple[float, float]:
    return item.y_mm, item.x_mm


def _without_excluded(board: Board, minimum: Minimum, found: Found) -> Found:
    """Leave out what the user excluded in KiCad."""
    excluded = [uuids for check, uuids in board.project.exclusions if check == minimum.check]
    if not excluded:
        return found
    return [one for one in found if not any({item.uuid for item in one[1]} <= uuids for uuids in excluded)]


def _unspared(net: Ints, spared: frozenset[int]) -> Mask:
    if not spared:
        return np.ones(len(net), dtype=np.bool_)
    return ~np.isin(net, np.fromiter(spared, dtype=np.int64))


def _track(board: Board, row: int) -> MinimumItem:
    tracks = board.tracks
    x = (tracks.start_x_mm[row] + tracks.end_x_mm[row]) / 2
    y = (tracks.start_y_mm[row] + tracks.end_y_mm[row]) / 2
    if not np.isnan(tracks.mid_x_mm[row]):
        x, y = tracks.mid_x_mm[row], tracks.mid_y_mm[row]
    return MinimumItem(TRACK, int(tracks.net[row]), float(x), float(y), int(tracks.layer[row]), str(tracks.uuid[row]))


@entity
class BoardHoles:
    """Every drilled hole: the vias, then the pads with a hole, plated or not.

    Attributes:
        row: its row in the table of vias or of pads.
        is_round: False for slots, which are milled.
        start, end: copper layers from which and to which it goes.
    """

    row: Ints
    is_via: Mask
    is_micro: Mask
    is_plated: Mask
    is_round: Mask
    drill_mm: Floats
    x_mm: Floats
    y_mm: Floats
    net: Ints
    start: Ints
    end: Ints

    def item(self, board: Board, position: int) -> MinimumItem:
        """Return one of them with its place."""
        row, is_via = int(self.row[position]), bool(self.is_via[position])
        noun = (MICROVIA if self.is_micro[position] else VIA) if is_via else None
        noun = noun or (PLATED if self.is_plated[position] else UNPLATED)
        uuid = str((board.vias if is_via else board.pads).uuid[row])
        return MinimumItem(
            noun, int(self.net[position]), float(self.x_mm[position]), float(self.y_mm[position]), NO_LAYER, uuid
        )


def board_holes(board: Board) -> BoardHoles:
    """Return every drilled hole of a board."""
    vias, pads = board.vias, board.pads
    narrow = np.fmin(pads.drill_x_mm, pads.drill_y_mm)
    own = np.flatnonzero((narrow > 0) & np.isin(pads.kind, (PadKind.THROUGH, PadKind.NON_PLATED)))
    drilled = np.flatnonzero(vias.drill_mm > 0)
    is_via = np.arange(len(drilled) + len(own)) < len(drilled)
    no, yes = np.zeros(len(own), dtype=np.bool_), np.ones(len(drilled), dtype=np.bool_)
    bottom = np.full(len(own), board.layer_count - 1)
    return BoardHoles(
        row=np.concatenate([drilled, own]),
        is_via=is_via,
        is_micro=np.concatenate([vias.kind[drilled] == ViaKind.MICRO, no]),
        is_plated=np.concatenate([yes, pads.kind[own] == PadKind.THROUGH]),
        is_round=np.concatenate([yes, pads.drill_x_mm[own] == pads.drill_y_mm[own]]),
        drill_mm=np.concatenate([vias.drill_mm[drilled], narrow[own]]),
        x_mm=np.concatenate([vias.x_mm[drilled], pads.x_mm[own]]),
        y_mm=np.concatenate([vias.y_mm[drilled], pads.y_mm[own]]),
        net=np.concatenate([vias.net[drilled], pads.net[own]]),
        start=np.concatenate([vias.start_layer[drilled], np.zeros(len(own))]).astype(np.int64),
        end=np.concatenate([vias.end_layer[drilled], bottom]).astype(np.int64),
    )


def _values(board: Board, holes: BoardHoles, minimum: Minimum) -> Floats:
    """The value of each hole that a minimum limits; NaN where it has none of that, or it is not known."""
    is_micro = holes.is_via & holes.is_micro
    if minimum.key in (HOLE.key, MICROVIA_HOLE.key):
        return np.where(is_micro == (minimum.key == MICROVIA_HOLE.key), holes.drill_mm, np.nan)
    found = np.full(len(holes.row), np.nan)
    vias = holes.row[holes.is_via]
    pad_mm = np.fmin.reduce(board.vias.pad_size_mm[vias], axis=1, initial=np.inf)
    diameter = np.where(np.isinf(pad_mm), board.vias.size_mm[vias], pad_mm)
    if minimum.key == RING.key:
        found[holes.is_via] = (diameter - board.vias.drill_mm[vias]) / 2
        pads = np.flatnonzero(~holes.is_via & holes.is_plated)
        found[pads] = _pad_rings(board.pads, holes.row[pads])
        return found
    found[holes.is_via] = diameter
    wanted = {VIA_DIAMETER.key: ~is_micro, MICROVIA_DIAMETER.key: is_micro}[minimum.key]
    return np.where(wanted, found, np.nan)


def _pad_rings(pads: Pads, rows: Ints) -> Floats:
    """Rings of plated pads; NaN where the shape does not tell, or another pad of the same name adds to the copper.

    A hole off the middle of its pad has the ring of its narrow side. Of round pads with slots off the middle it is not
    known.
    """
    unclear = np.isnan(pads.corner_mm[rows]) | _has_twin(pads, rows)
    return np.where(unclear, np.nan, np.maximum(narrow_side_mm(pads, rows), 0.0))


def _has_twin(pads: Pads, rows: Ints) -> Mask:
    """Which pads may overlap another pad of their footprint and number: the copper of both is one to KiCad."""
    import shapely  # noqa: PLC0415

    names, number = np.unique(pads.number, return_inverse=True)
    key = pads.footprint * (len(names) + 1) + number
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    twins = np.flatnonzero(count[place] > 1)
    half = np.hypot(pads.size_x_mm[twins], pads.size_y_mm[twins]) / 2
    half += np.hypot(pads.shift_x_mm[twins], pads.shift_y_mm[twins])
    x, y = pads.x_mm[twins], pads.y_mm[twins]
    boxes = shapely.box(x - half, y - half, x + half, y + half)
    one, other = shapely.STRtree(boxes).query(boxes)
    same = (one != other) & (key[twins[one]] == key[twins[other]])
    found = np.zeros(len(pads), dtype=np.bool_)
    found[twins[one[same]]] = True
    return np.asarray(found[rows])


def _close_holes(holes: BoardHoles, judged: Mask, least_mm: float) -> list[tuple[float, int, int]]:
    """Pairs of round holes on common layers, from edge to edge nearer than `least_mm`; two microvias are no pair."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with holes needs it

    rows = np.flatnonzero(judged)
    x, y, radius = holes.x_mm[rows], holes.y_mm[rows], holes.drill_mm[rows] / 2
    reach = radius + least_mm / 2
    boxes = shapely.box(x - reach, y - reach, x + reach, y + reach)
    one, other = shapely.STRtree(boxes).query(boxes)
    one, other = one[one < other], other[one < other]
    apart = np.hypot(x[one] - x[other], y[one] - y[other])
    gap = np.maximum(apart - radius[one] - radius[other], 0.0)
    first, second = rows[one], rows[other]
    meet = np.maximum(holes.start[first], holes.start[second]) <= np.minimum(holes.end[first], holes.end[second])
    both_micro = holes.is_micro[first] & holes.is_micro[second]
    found = np.flatnonzero((gap < least_mm) & (apart > HOLE_EPSILON_MM) & meet & ~both_micro)
    return list(zip(gap[found].tolist(), first[found].tolist(), second[found].tolist(), strict=True))
