"""Where a net changes layers, and how far the next hole is by which its return current can follow. Lengths in mm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from stackup_lib.board.board import NO_LAYER, Drilling, Floats, Ints, PadKind, Vias
from stackup_lib.copper.copper_map import NO_COPPER, CopperMap
from stackup_lib.copper.floating_fills import TOUCH_MM, plated_reach_mm
from stackup_lib.core.arrays import alike_rows
from stackup_lib.core.record import record
from stackup_lib.nets.routing.routes import Crossing
from stackup_lib.return_path.plane_copper import refuse_untrue_fills

AROUND_MM = (0.4, 0.8, 1.6)
"""The net of a plane around a via is looked for on circles so far beyond its land; the nearest with copper counts."""

KEPT_SHARE = 0.3
"""Of the return current, on planes that both layers share: the detour of the rest counts with the square of that rest,
(1 - 0.3)^2, which is less than half of what it is without such a plane."""

DIRECTIONS = 16
"""Points on each circle."""
_TURN = np.exp(2j * np.pi * np.arange(DIRECTIONS) / DIRECTIONS)


_Hit = tuple[float, int]
"""Distance in mm and net of a hole."""


@record
class LayerChange:
    """A via by which a net goes from one layer to another, and the return current from one plane to another.

    Attributes:
        net, via: indices into `Board.nets` and `Board.vias`.
        entry_layer, exit_layer: copper layers of the tracks.
        entry_plane, exit_plane: their reference planes; the same where enough of the current stays on one.
        entry_nets, exit_nets: nets of those planes' copper around the via, ascending.
        shared_net: net that both planes have there, None where there is none: then only capacitors join them.
        distance_mm: between the centres of via and hole; 0 where the plane is the same, None where none joins them.
        other_planes: where none does, two other reference planes of the layers that a hole joins, or of one net where
            the first two are of different ones; only the share of the current that flows in them goes that way. None
            where there are none.
        other_distance_mm: how far that hole is; None where none joins them.
    """

    net: int
    via: int
    x_mm: float
    y_mm: float
    entry_layer: int
    exit_layer: int
    entry_plane: int
    exit_plane: int
    entry_nets: tuple[int, ...]
    exit_nets: tuple[int, ...]
    shared_net: int | None
    distance_mm: float | None
    other_planes: tuple[int, int] | None = None
    other_distance_mm: float | None = None

    @property
    def keeps_plane(self) -> bool:
        """True where enough stays on one plane: the current goes through its antipad or along the same face."""
        return self.entry_plane == self.exit_plane


def layer_changes(
    copper: CopperMap, crossings: Sequence[Crossing], planes: Mapping[int, Mapping[int, float]]
) -> tuple[LayerChange, ...]:
    """Return the layer changes among the vias on a route, in order, each with its nearest return via.

    Args:
        copper: the board's fills.
        crossings: of `Route.crossings`.
        planes: signal layer -> its reference planes with their shares of the return current, the largest first; where
            too little stays on planes that both layers have, the first of each count.

    A via or plated pad joins two planes when it goes through both, no backdrill cuts it off from one, it is of their
    net, and touches that net's fill on both. Layers without a plane in `planes` are left out.

    Raises:
        MissingFact: fills of a plane are missing or stale.
    """
    found = []
    for crossing in crossings:
        before, after = planes.get(crossing.entry_layer, {}), planes.get(crossing.exit_layer, {})
        if crossing.entry_layer == crossing.exit_layer or not before or not after:
            continue
        kept = {plane: min(share, after[plane]) for plane, share in before.items() if plane in after}
        if sum(kept.values()) >= KEPT_SHARE:
            most = max(kept, key=lambda plane: kept[plane])
            pairs = [(most, most)]
        else:
            pairs = [(one, two) for one, two in product(before, after) if one != two]
        found.append((crossing, pairs))
    vias_at: dict[int, set[int]] = {}
    for crossing, pairs in found:
        for plane in (plane for pair in pairs for plane in pair):
            vias_at.setdefault(plane, set()).add(crossing.via)
    nets: dict[tuple[int, int], tuple[int, ...]] = {}
    for plane in sorted(vias_at):
        refuse_untrue_fills(copper, plane)
        vias = sorted(vias_at[plane])
        around = zip(vias, nets_around(copper.planes, plane, np.array(vias)), strict=True)
        nets |= {(via, plane): here for via, here in around}
    holes = _Holes(copper)
    return tuple(
        _change(holes, crossing, pairs, {plane: nets[crossing.via, plane] for pair in pairs for plane in pair})
        for crossing, pairs in found
    )


def _change(
    holes: _Holes, crossing: Crossing, pairs: Sequence[tuple[int, int]], nets: Mapping[int, tuple[int, ...]]
) -> LayerChange:
    vias, via, planes = holes.copper.board.vias, crossing.via, pairs[0]
    x, y = float(vias.x_mm[via]), float(vias.y_mm[via])

    def shared_by(pair: tuple[int, int]) -> list[int]:
        return sorted(set(nets[pair[0]]) & set(nets[pair[1]]))

    def nearest(pair: tuple[int, int]) -> _Hit | None:
        return min((hit for hit in (holes.nearest(net, pair, x, y) for net in shared_by(pair)) if hit), default=None)

    keeps = planes[0] == planes[1]
    near, shared = None if keeps else nearest(planes), shared_by(planes)
    rest = [] if near else [(pair, nearest(pair)) for pair in pairs[1:] if shared_by(pair)]
    other = next((one for one in rest if one[1]), None if shared else next(iter(rest), None))
    return LayerChange(
        net=int(vias.net[via]),
        via=via,
        x_mm=x,
        y_mm=y,
        entry_layer=crossing.entry_layer,
        exit_layer=crossing.exit_layer,
        entry_plane=planes[0],
        exit_plane=planes[1],
        entry_nets=nets[planes[0]],
        exit_nets=nets[planes[1]],
        shared_net=near[1] if near else shared[0] if shared else None,
        distance_mm=0.0 if keeps else near[0] if near else None,
        other_planes=other[0] if other else None,
        other_distance_mm=other[1][0] if other and other[1] else None,
    )


def nets_around(copper: CopperMap, layer: int, rows: Ints) -> list[tuple[int, ...]]:
    """Return the nets of a layer's filled copper around some vias, beyond their antipads; none where all is void."""
    vias, found = copper.board.vias, list[tuple[int, ...]]([()] * len(rows))
    middle, land_mm = vias.x_mm[rows] + 1j * vias.y_mm[rows], vias.size_mm[rows]
    for beyond in AROUND_MM:
        void = np.array([k for k, nets in enumerate(found) if not nets], dtype=np.int64)
        at = (middle[void, None] + _TURN * (land_mm[void, None] / 2 + beyond)).ravel()
        nets_at = copper.net_at(layer, at.real, at.imag).reshape(len(void), DIRECTIONS)
        for k, nets in zip(void.tolist(), nets_at.tolist(), strict=True):
            found[k] = tuple(sorted(set(nets) - {NO_COPPER}))
    return found


def _stacks(vias: Vias) -> Iterator[tuple[int, int, int]]:
    """Yield (row of one of them, first layer, last layer) of vias of a net that stand on one another."""
    _, place = alike_rows(np.column_stack([vias.net, vias.x_mm, vias.y_mm]))
    rows = np.flatnonzero(np.bincount(place)[place] > 1)
    rows = rows[np.lexsort((vias.start_layer[rows], place[rows]))]
    spans = zip(place[rows].tolist(), vias.start_layer[rows].tolist(), vias.end_layer[rows].tolist(), strict=True)
    at, top, bottom = -1, 0, 0
    for row, (here, first, last) in zip(rows.tolist(), spans, strict=True):
        if here == at and first <= bottom < last:
            bottom = last
            yield row, top, bottom
        elif here != at or first > bottom:
            at, top, bottom = here, first, last


def _left_plated(drilling: Drilling, hole_mm: Floats, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the layers between which holes are plated, without what backdrills wider than they are take away."""
    top, bottom = first, last
    for start, cut, size in (
        (drilling.backdrill_start, drilling.backdrill_must_cut, drilling.backdrill_size_mm),
        (drilling.tertiary_start, drilling.tertiary_must_cut, drilling.tertiary_size_mm),
    ):
        cuts = (start != NO_LAYER) & (size > hole_mm)
        top = np.where(cuts & (start == first), np.maximum(top, cut.astype(np.int64) + 1), top)
        bottom = np.where(cuts & (start == last), np.minimum(bottom, cut.astype(np.int64) - 1), bottom)
    return top, bottom


class _Holes:
    """Vias, stacks of them and plated pads by net, each with the layers that it goes through."""

    def __init__(self, copper: CopperMap) -> None:
        self.copper = copper
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        self._rows: dict[tuple[int, int, int], Ints] = {}
        board = copper.board
        vias, pads = board.vias, board.pads
        through = np.flatnonzero((pads.kind == PadKind.THROUGH) & (pads.drill_x_mm > 0))
        stacks = list(_stacks(vias))
        first = np.array([row for row, _, _ in stacks], dtype=np.int64)
        self.net: Ints = np.concatenate([vias.net, vias.net[first], pads.net[through]])
        self.x_mm: Floats = np.concatenate([vias.x_mm, vias.x_mm[first], pads.x_mm[through]])
        self.y_mm: Floats = np.concatenate([vias.y_mm, vias.y_mm[first], pads.y_mm[through]])
        self.reach_mm: list[Floats] = []
        for layer in range(board.layer_count):
            via_mm, pad_mm = plated_reach_mm(board, layer)
            self.reach_mm.append(np.concatenate([via_mm, via_mm[first], pad_mm[through]]))
        ends = (layer.astype(np.int64) for layer in (vias.start_layer, vias.end_layer))
        of_vias = _left_plated(vias.drilling, vias.drill_mm, *ends)
        outer = (np.full(len(pads), layer, dtype=np.int64) for layer in (0, board.layer_count - 1))
        of_pads = _left_plated(pads.drilling, pads.drill_x_mm, *outer)
        self.top = np.concatenate([of_vias[0], [top for _, top, _ in stacks], of_pads[0][through]])
        self.bottom = np.concatenate([of_vias[1], [bottom for _, _, bottom in stacks], of_pads[1][through]])

    def nearest(self, net: int, planes: tuple[int, int], x_mm: float, y_mm: float) -> _Hit | None:
        """Return (distance, net) of the nearest hole of a net that touches its fill on both planes."""
        rows = self._through(net, min(planes), max(planes))
        distance = np.hypot(self.x_mm[rows] - x_mm, self.y_mm[rows] - y_mm)
        for k in _rising(distance):
            row = int(rows[k])
            if all(net in self._touched(row, plane) for plane in planes):
                return float(distance[k]), net
        return None

    def _through(self, net: int, top: int, bottom: int) -> Ints:
        """Return the holes of a net that go through two layers and all between them."""
        if (net, top, bottom) not in self._rows:
            is_there = (self.net == net) & (self.top <= top) & (self.bottom >= bottom)
            self._rows[net, top, bottom] = np.flatnonzero(is_there)
        return self._rows[net, top, bottom]

    def _touched(self, row: int, plane: int) -> frozenset[int]:
        """Return the nets of the fills that a hole's copper touches on a plane."""
        if (row, plane) not in self._known:
            reach = float(self.reach_mm[plane][row]) + TOUCH_MM
            self._known[row, plane] = self.copper.nets_at(plane, float(self.x_mm[row]), float(self.y_mm[row]), reach)
        return self._known[row, plane]


def _rising(values: Floats) -> Iterator[int]:
    """Yield the rows of some values in rising order: mostly the first is enough."""
    if len(values):
        yield int(np.argmin(values))
        yield from np.argsort(values, kind="stable")[1:].tolist()
