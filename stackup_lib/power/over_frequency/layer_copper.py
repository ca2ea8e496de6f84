"""What a net's copper on one layer joins: pads, vias, tracks and fills, and the way from a pad or via to others."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.copper.stale_fills import TEARDROP
from stackup_lib.power.over_frequency.touching import Link, pad_middles, pad_polygons, track_links, track_paths

if TYPE_CHECKING:
    from shapely import Geometry

TOUCH_MM = 1e-3
"""Copper that is nearer joins."""

ACROSS = np.linspace(-0.5, 0.5, 33)
"""Where the width of a fill is sampled across a way; the middle one is on it."""

NANOMETRE_DIGITS = 6
"""Lengths of ways in mm are compared to the nanometre."""

NO_FAN = -1
"""Marks what a search did not reach through a fill."""


Step = tuple[int, int]
"""From one node of a layer's copper to the next."""


class CopperPiece(NamedTuple):
    """A piece of the way of a current: so long, and over copper so wide."""

    length_mm: float
    width_mm: float


@dataclass(frozen=True, slots=True)
class WayToVia:
    """The copper from a pad or via to a via: `via` is a row of `Board.vias`."""

    via: int
    length_mm: float
    nodes: tuple[int, ...]


def steps_of(way: WayToVia) -> Iterator[Step]:
    """Yield from which node to which a way leads."""
    return pairwise(way.nodes)


@dataclass(frozen=True)
class LayerCopper:
    """The copper of a net on a layer; nodes are its pads, then its vias, then places on its tracks.

    Tracks join what their copper touches at an end of either, not where two of them cross in mid-run. A custom pad
    counts as its anchor and its filled shapes, a rounded rectangle as the rectangle. Teardrops are part of tracks.
    """

    copper: CopperMap
    net: int
    layer: int

    @cached_property
    def pads(self) -> Ints:
        """Rows of the net's pads on the layer."""
        pads = self.copper.board.pads
        on_layer = holds_layer(pads.layers, self.layer) & (pads.kind != PadKind.NON_PLATED)
        return np.flatnonzero(on_layer & (pads.net == self.net))

    @cached_property
    def vias(self) -> Ints:
        """Rows of the net's vias that reach the layer."""
        vias = self.copper.board.vias
        reach = (vias.start_layer <= self.layer) & (vias.end_layer >= self.layer)
        return np.flatnonzero(reach & (vias.net == self.net))

    def pad_node(self, pad: int) -> int | None:
        """Return the node of a pad; None where it is not on the layer."""
        k = int(np.searchsorted(self.pads, pad))
        return k if k < len(self.pads) and self.pads[k] == pad else None

    def via_node(self, via: int) -> int:
        """Return the node of a via that reaches the layer."""
        return len(self.pads) + int(np.searchsorted(self.vias, via))

    def ways(self, start: int, accept: Callable[[int], bool], reach_mm: float, behind_mm: float) -> list[WayToVia]:
        """Return the shortest ways to vias, the nearest first.

        Args:
            start: node.
            accept: whether a via, a row of `Board.vias`, is one to look for.
            reach_mm: longest way.
            behind_mm: ways that are longer than the first by more are left out.
        """
        first_via, after = len(self.pads), len(self.pads) + len(self.vias)
        best, came = {start: (0.0, 0)}, dict[int, int]()
        queue: list[tuple[float, int, int, int]] = [(0.0, 0, start, NO_FAN)]
        fans: list[Iterator[tuple[float, int, int, int]]] = []
        found: list[WayToVia] = []
        limit, entered = reach_mm, set[int]()
        while queue:
            length, hops, node, fan = heapq.heappop(queue)
            if length > limit:
                break
            if fan != NO_FAN and (following := next(fans[fan], None)):
                heapq.heappush(queue, following)
            if (length, hops) > best[node]:
                continue
            if first_via <= node < after and node != start and accept(int(self.vias[node - first_via])):
                limit = min(limit, length + behind_mm)
                found.append(WayToVia(int(self.vias[node - first_via]), length, tuple(self._back(came, node))))
            for other, long, _ in self._links.get(node, ()):
                # of equal ways the one with fewer steps: through a fill rather than along a track in it
                offer = round(length + long, NANOMETRE_DIGITS), hops + 1
                if offer[0] <= limit and (other not in best or offer < best[other]):
                    best[other], came[other] = offer, node
                    heapq.heappush(queue, (*offer, other, NO_FAN))
            for area in self._areas_of.get(node, ()):
                if area not in entered:
                    entered.add(area)
                    fans.append(self._fan(area, node, (length, hops, limit), len(fans), (best, came)))
                    if following := next(fans[-1], None):
                        heapq.heappush(queue, following)
        return found

    def _fan(
        self,
        area: int,
        node: int,
        so_far: tuple[float, int, float],
        fan: int,
        search: tuple[dict[int, tuple[float, int]], dict[int, int]],
    ) -> Iterator[tuple[float, int, int, int]]:
        """Yield entries for what a fill joins to one of its nodes, the nearest first: most searches end there."""
        (length, hops, limit), (best, came) = so_far, search
        others = self._members[area]
        far = np.abs(self._at[others] - self._at[node])
        near = np.flatnonzero(far <= limit - length)
        near = near[np.argsort(far[near])]
        for k in near.tolist():
            other, offer = int(others[k]), (round(length + float(far[k]), NANOMETRE_DIGITS), hops + 1)
            if other not in best or offer < best[other]:
                best[other], came[other] = offer, node
                yield *offer, other, fan

    def steps(self, way: WayToVia, passed: Mapping[Step, int]) -> tuple[CopperPiece, ...]:
        """Return the copper of a way piece by piece; within the pad where it begins, that is as wide as the pad.

        What several ways share, as `passed` has it, is as many times as long.
        """
        start = way.nodes[0]
        pad = self._polygons[start] if start < len(self.pads) else None
        wide = self._size_mm(start)
        found: list[CopperPiece] = []
        for one, other in steps_of(way):
            long, width = self._between(one, other)
            long *= passed.get((one, other), 1)
            inside = self._share_inside(pad, one, other)
            found += [CopperPiece(long * inside, max(wide, width)), CopperPiece(long * (1 - inside), width)]
        return tuple(step for step in found if step.length_mm > 0)

    def _between(self, one: int, other: int) -> tuple[float, float]:
        """Length and width of the copper between two nodes of a way: of equal lengths the widest."""
        offers = [
            (round(long, NANOMETRE_DIGITS), -width) for to, long, width in self._links.get(one, ()) if to == other
        ]
        far = round(float(np.abs(self._at[one] - self._at[other])), NANOMETRE_DIGITS)
        shared = set(self._areas_of.get(one, ())) & set(self._areas_of.get(other, ()))
        long, width = min([*offers, *((far, -self._width_of(area, one, other)) for area in shared)])
        return long, -width

    def _width_of(self, area: int, one: int, other: int) -> float:
        """How wide a fill is across the middle of a way; the current spreads by no more than the way is long."""
        import shapely  # noqa: PLC0415 - heavy, and only a rail with capacitors needs it

        here, there = self._at[one], self._at[other]
        most = self._size_mm(one) + float(abs(there - here))
        if here == there:
            return most
        across = (here + there) / 2 + most * ACROSS * 1j * (there - here) / abs(there - here)
        inside = shapely.intersects_xy(self._areas[area], across.real, across.imag)
        middle = len(ACROSS) // 2
        if not inside[middle]:  # the current goes around a hole
            return self._size_mm(one)
        sides = inside[middle::-1], inside[middle:]
        run = sum(len(side) if side.all() else int(np.argmin(side)) for side in sides)
        return most * run / (len(ACROSS) + 1)

    def _size_mm(self, node: int) -> float:
        """How wide a node is: the shorter side of a pad, a land, a track."""
        pads, hubs = len(self.pads), len(self.pads) + len(self.vias)
        if node < pads:
            return float(self._short_mm[node])
        return 2 * float(self._radius_mm[node - pads] if node < hubs else self._joined[2][node - hubs])

    def _share_inside(self, pad: Geometry | None, one: int, other: int) -> float:
        """The share of a step that lies within a pad; 0 once it begins outside."""
        import shapely  # noqa: PLC0415

        here, there = complex(self._at[one]), complex(self._at[other])
        if pad is None or not shapely.intersects_xy(pad, here.real, here.imag):
            return 0.0
        if here == there:
            return 1.0
        straight = shapely.linestrings([here.real, there.real], [here.imag, there.imag])
        return float(shapely.length(shapely.intersection(pad, straight)) / abs(there - here))

    @staticmethod
    def _back(came: dict[int, int], node: int) -> Iterator[int]:
        nodes = [node]
        while nodes[-1] in came:
            nodes.append(came[nodes[-1]])
        return reversed(nodes)

    @cached_property
    def _short_mm(self) -> Floats:
        pads = self.copper.board.pads
        return np.asarray(np.fmin(pads.size_x_mm, pads.size_y_mm)[self.pads])

    @cached_property
    def _radius_mm(self) -> Floats:
        """Radius of the vias' lands, of their barrels where the layer has none."""
        vias = self.copper.board.vias
        land = np.nan_to_num(vias.pad_size_mm[self.vias, self.layer])
        return np.asarray(np.where(land > 0, land, np.nan_to_num(vias.drill_mm[self.vias])) / 2)

    @cached_property
    def _polygons(self) -> NDArray[np.object_]:
        return pad_polygons(self.copper.board, self.pads)

    @cached_property
    def _hubs(self) -> Complexes:
        vias = self.copper.board.vias
        return np.concatenate(
            [pad_middles(self.copper.board, self.pads), vias.x_mm[self.vias] + 1j * vias.y_mm[self.vias]]
        )

    @cached_property
    def _joined(self) -> tuple[dict[int, list[Link]], Complexes, Floats]:
        """Links by node, all nodes, and how far the copper of the nodes on tracks reaches."""
        import shapely  # noqa: PLC0415

        points = shapely.points(self._hubs.real, self._hubs.imag)
        pads = len(self.pads)
        shapes = np.concatenate([self._polygons, points[pads:]])
        grown = np.concatenate([np.zeros(pads), self._radius_mm]) + TOUCH_MM
        paths = track_paths(self.copper.board, self.net, self.layer)
        links, places, reach = track_links(paths, shapes, self._hubs, grown)
        for one, other in self._touching(shapes, grown):
            width = min(self._short_mm[k] if k < pads else 2 * self._radius_mm[k - pads] for k in (one, other))
            far = float(np.abs(self._hubs[one] - self._hubs[other]))
            for begin, end in ((one, other), (other, one)):
                links.setdefault(begin, []).append((end, far, float(width)))
        return links, np.concatenate([self._hubs, places]), reach

    @staticmethod
    def _touching(shapes: NDArray[np.object_], grown: Floats) -> Iterator[tuple[int, int]]:
        """Yield which pads and vias touch."""
        import shapely  # noqa: PLC0415

        if not len(shapes):
            return
        one, other = shapely.STRtree(shapes).query(shapes, predicate="dwithin", distance=grown + grown.max())
        one, other = one[one < other], other[one < other]
        touch = shapely.distance(shapes[one], shapes[other]) <= grown[one] + grown[other]
        yield from zip(one[touch].tolist(), other[touch].tolist(), strict=True)

    @property
    def _links(self) -> dict[int, list[Link]]:
        return self._joined[0]

    @property
    def _at(self) -> Complexes:
        return self._joined[1]

    @cached_property
    def _areas(self) -> list[Geometry]:
        """Fills and filled shapes of the net, prepared; teardrops left out."""
        import shapely  # noqa: PLC0415

        board = self.copper.board
        zones, drawn = board.zones, board.drawings
        rows = np.flatnonzero(zones.fill_layer == self.layer)
        rows = rows[np.diff(zones.fill_start)[rows] >= 3]
        names = zones.name[zones.fill_zone[rows]].tolist()
        found = [
            fill
            for (net, fill), name in zip(self.copper.fills(self.layer), names, strict=True)
            if net == self.net and not name.startswith(TEARDROP)
        ]
        shapes = (drawn.is_filled == 1) & (drawn.net == self.net) & holds_layer(drawn.layers, self.layer)
        for k in np.flatnonzero(shapes & (np.diff(drawn.start) >= 3)).tolist():
            own = slice(int(drawn.start[k]), int(drawn.start[k + 1]))
            found.append(shapely.Polygon(np.column_stack([drawn.x_mm[own], drawn.y_mm[own]])))
        shapely.prepare(found)
        return found

    @cached_property
    def _members(self) -> list[Ints]:
        """The nodes that each area touches."""
        import shapely  # noqa: PLC0415

        if not self._areas:
            return []
        points = shapely.points(self._at.real, self._at.imag)
        pads = len(self.pads)
        shapes = np.concatenate([self._polygons, points[pads:]])
        grown = np.concatenate([np.zeros(pads), self._radius_mm, self._joined[2]]) + TOUCH_MM
        tree = shapely.STRtree(shapes)
        found = []
        for area in self._areas:
            near = np.sort(tree.query(shapely.box(*area.bounds), predicate="dwithin", distance=float(grown.max())))
            found.append(near[shapely.dwithin(area, shapes[near], grown[near])])
        return found

    @cached_property
    def _areas_of(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for area, members in enumerate(self._members):
            for node in members.tolist():
                found.setdefault(node, []).append(area)
        return found
