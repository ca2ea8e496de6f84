"""How a pad reaches the planes: by which vias that copper joins to it, over which steps of copper, shared by whom."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from stackup_lib.board.board import Board, Ints
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.power.over_frequency.layer_copper import CopperPiece, LayerCopper, Step, WayToVia, steps_of
from stackup_lib.power.over_frequency.touching import pad_middles

REACH_MM = 30.0
"""A via farther away than this along the copper is not the pad's own; so far a track is an inductance to 500 MHz."""

ALONGSIDE_MM = 0.5
"""Vias to which the way is no more than this longer than to the nearest one carry the current with it."""

EQUAL_MM = 0.05
"""Pads whose ways to a via differ by no more than this share it."""

ON_PLANE_MM = 1.0
"""A via so near to a plane of its net is joined to it, by thermal spokes if need be."""

MOST_STAGGERED = 4
"""Vias one after the other by which copper goes down, at most."""

PLATING_MM = 0.025
"""Copper in a hole, of which KiCad states the finished diameter."""

_ANGLES = np.linspace(0, 2 * np.pi, 12, endpoint=False)
AROUND: Complexes = np.asarray(ON_PLANE_MM * np.append(0, np.exp(1j * _ANGLES)), dtype=np.complex128)
"""A point and a circle around it."""


@dataclass(frozen=True, slots=True)
class Landing:
    """The way of a pad to its vias.

    Attributes:
        x_mm, y_mm: middle of the vias.
        steps: copper from the middle of the pad to the nearest of them, none where it is there; a piece that several
            pads share is as many times as long: each has that part of its current.
        vias: how many carry the current; of a via that several pads share, each has a part.
        barrel_mm: outer diameter of one.
        layers: of those to look for, the ones that it meets.
    """

    x_mm: float
    y_mm: float
    steps: tuple[CopperPiece, ...]
    vias: float
    barrel_mm: float
    layers: frozenset[int]

    @property
    def length_mm(self) -> float:
        """Of all steps together."""
        return sum(step.length_mm for step in self.steps)


class _Descent(NamedTuple):
    """How a via goes on to planes: over which copper between vias, and to which layers."""

    steps: tuple[CopperPiece, ...]
    layers: frozenset[int]


@dataclass(frozen=True)
class Landings:
    """How pads of a board reach its planes; the copper of a net on a layer is read on first use."""

    copper: CopperMap
    _layers: dict[tuple[int, int], LayerCopper] = field(default_factory=dict)
    _descents: dict[tuple[int, frozenset[int], int], _Descent | None] = field(default_factory=dict)

    @property
    def board(self) -> Board:
        """The board of the copper."""
        return self.copper.board

    @cached_property
    def _by_net(self) -> dict[int, Ints]:
        if not len(self.board.vias):
            return {}
        order = np.argsort(self.board.vias.net, kind="stable")
        nets, start = np.unique(self.board.vias.net[order], return_index=True)
        return dict(zip(nets.tolist(), np.split(order, start[1:]), strict=True))

    def met(self, net: int, layers: frozenset[int], x_mm: float, y_mm: float) -> frozenset[int]:
        """Return those of some layers on which filled copper of a net is at a point, or next to it."""
        x, y = x_mm + AROUND.real, y_mm + AROUND.imag
        return frozenset(layer for layer in layers if (self.copper.net_at(layer, x, y) == net).any())

    def of(self, pads: Sequence[int], layers: frozenset[int], *, back: bool) -> dict[int, Landing]:
        """Return how pads that carry current at the same time reach planes; those that do not are left out.

        A via is of the pad that is nearest to it, and of others as near; a pad that has none shares the nearest.

        Args:
            pads: indices into `Board.pads`, of one net.
            layers: of the planes.
            back: their parts sit on the bottom.
        """
        found: dict[int, Landing] = {}
        ways: dict[int, list[WayToVia]] = {}
        rows, drill = self.board.pads, np.fmin(self.board.pads.drill_x_mm, self.board.pads.drill_y_mm)
        for pad in dict.fromkeys(pads):
            if drill[pad] > 0:
                x, y, net = float(rows.x_mm[pad]), float(rows.y_mm[pad]), int(rows.net[pad])
                on = self.met(net, layers, x, y)
                found[pad] = Landing(x, y, (), 1.0, float(drill[pad]) + 2 * PLATING_MM, on)
            elif own := self._ways(pad, layers, back=back):
                ways[pad] = own
        users = _users(ways)
        used = {pad: [way for way in own if pad in users[way.via]] for pad, own in ways.items()}
        passed = Counter(step for own in used.values() for step in steps_of(own[0]))
        return found | {pad: self._landing(pad, own, (users, passed), layers, back=back) for pad, own in used.items()}

    def middles_mm(self, pads: Sequence[int]) -> list[complex]:
        """Return the middles of the copper of pads, x + iy."""
        found: list[complex] = pad_middles(self.board, np.array(pads, dtype=np.int64)).tolist()
        return found

    def _on(self, net: int, layer: int) -> LayerCopper:
        return self._layers.setdefault((net, layer), LayerCopper(self.copper, net, layer))

    def _outer(self, *, back: bool) -> int:
        return self.board.layer_count - 1 if back else 0

    def _ways(self, pad: int, layers: frozenset[int], *, back: bool) -> list[WayToVia]:
        outer = self._outer(back=back)
        copper = self._on(int(self.board.pads.net[pad]), outer)
        node = copper.pad_node(pad)
        if node is None:
            return []
        return copper.ways(
            node, lambda via: self._descent(via, layers, outer, MOST_STAGGERED) is not None, REACH_MM, ALONGSIDE_MM
        )

    def _landing(
        self,
        pad: int,
        own: Sequence[WayToVia],
        shared: tuple[Mapping[int, Sequence[int]], Mapping[Step, int]],
        layers: frozenset[int],
        *,
        back: bool,
    ) -> Landing:
        """Return how a pad reaches its own vias; `shared` are the pads at each via, and how many pass each step."""
        vias, outer, (users, passed) = self.board.vias, self._outer(back=back), shared
        rows = [way.via for way in own]
        share = np.array([1 / len(users[via]) for via in rows])
        descents = [self._descent(via, layers, outer, MOST_STAGGERED) for via in rows]
        steps = self._on(int(self.board.pads.net[pad]), outer).steps(own[0], passed)
        below = descents[0].steps if descents[0] else ()
        return Landing(
            x_mm=float(np.average(vias.x_mm[rows], weights=share)),
            y_mm=float(np.average(vias.y_mm[rows], weights=share)),
            steps=steps + tuple(one._replace(length_mm=one.length_mm * len(users[rows[0]])) for one in below),
            vias=float(share.sum()),
            barrel_mm=float(np.median(vias.drill_mm[rows])) + 2 * PLATING_MM,
            layers=frozenset[int]().union(*(one.layers for one in descents if one)),
        )

    def _descent(self, via: int, layers: frozenset[int], came: int, most: int) -> _Descent | None:
        """Return how a via that is entered on a layer reaches planes, by others if need be; None where it does not."""
        key = via, layers, came
        if key not in self._descents:
            self._descents[key] = None  # no way leads in a circle
            self._descents[key] = self._found_descent(via, layers, came, most)
        return self._descents[key]

    def _found_descent(self, via: int, layers: frozenset[int], came: int, most: int) -> _Descent | None:
        vias = self.board.vias
        net, span = int(vias.net[via]), range(int(vias.start_layer[via]), int(vias.end_layer[via]) + 1)
        direct = self.met(net, layers & frozenset(span), float(vias.x_mm[via]), float(vias.y_mm[via]))
        if direct or most == 0 or len(span) == self.board.layer_count:
            return _Descent((), direct) if direct else None
        for layer in sorted(span, key=lambda one: -abs(one - came)):
            if layer == came:
                continue
            copper = self._on(net, layer)
            leads = partial(self._leads, layers=layers, span=span, came=layer, most=most)
            ways = copper.ways(copper.via_node(via), leads, REACH_MM, 0.0)
            if ways and (below := self._descent(ways[0].via, layers, layer, most - 1)):
                return _Descent(copper.steps(ways[0], {}) + below.steps, below.layers)
        return None

    def _leads(self, via: int, layers: frozenset[int], span: range, came: int, most: int) -> bool:
        """Tell whether a via goes on to layers that another one does not have, and from there to planes."""
        first, last = int(self.board.vias.start_layer[via]), int(self.board.vias.end_layer[via])
        goes_on = first not in span or last not in span
        return goes_on and self._descent(via, layers, came, most - 1) is not None

    def near(self, net: int, box_mm: tuple[float, float, float, float], *, back: bool) -> Ints:
        """Return the vias of a net inside of a box (left, top, right, bottom) that begin at a side of the board."""
        vias, outer = self.board.vias, self.board.layer_count - 1 if back else 0
        rows = self._by_net.get(net, np.zeros(0, dtype=np.int64))
        left, top, right, bottom = box_mm
        inside = (vias.x_mm[rows] >= left) & (vias.x_mm[rows] <= right)
        inside &= (vias.y_mm[rows] >= top) & (vias.y_mm[rows] <= bottom)
        return rows[inside & (vias.start_layer[rows] <= outer) & (vias.end_layer[rows] >= outer)]

    def reached(self, pads: Ints, vias: Ints, reach_mm: float, *, back: bool) -> Ints:
        """Return those of some vias that outer copper joins to any of some pads of their net.

        Args:
            pads: indices into `Board.pads`.
            vias: rows of `Board.vias`.
            reach_mm: longest way from the outline of a pad.
            back: the pads are on the bottom.
        """
        rows, outer, left = self.board.pads, self._outer(back=back), set(vias.tolist())
        for pad in pads.tolist():
            copper = self._on(int(rows.net[pad]), outer)
            node = copper.pad_node(pad)
            if node is not None and left:
                reach = reach_mm + math.hypot(rows.size_x_mm[pad], rows.size_y_mm[pad]) / 2
                left -= {way.via for way in copper.ways(node, left.__contains__, reach, math.inf)}
        return np.array([via for via in vias.tolist() if via not in left], dtype=np.int64)


def _users(ways: Mapping[int, Sequence[WayToVia]]) -> dict[int, list[int]]:
    """Return which pads carry current by each via: the nearest ones, and those that have no other."""
    nearest: dict[int, float] = {}
    for own in ways.values():
        for way in own:
            nearest[way.via] = min(way.length_mm, nearest.get(way.via, math.inf))
    users: dict[int, list[int]] = {via: [] for via in nearest}
    for pad, own in ways.items():
        taken = [way.via for way in own if way.length_mm <= nearest[way.via] + EQUAL_MM]
        for via in taken or [own[0].via]:
            users[via].append(pad)
    return users


def apart_mm(first: Landing, second: Landing) -> float:
    """Return the distance of two landings, at least so far that their barrels do not touch."""
    away = math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm)
    return max(away, 1.05 * max(first.barrel_mm, second.barrel_mm))
