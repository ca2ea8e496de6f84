"""The elements of each trace of a link from end to end, and which of a pair's two traces run side by side. In mm."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from drc_rules.analysis.lines.link_geometry import LinkGeometry
from drc_rules.analysis.lines.solved_lines import LineKey
from drc_rules.analysis.loss.hole_loss import SAME_MM, place_key
from drc_rules.analysis.nets.board_links import complete_routes
from drc_rules.analysis.via.high_speed_vias import StubGroup, grouped_stubs
from drc_rules.facts.context import Context
from drc_rules.facts.part_models import part_models
from drc_rules.requirements.interfaces import Interface
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.capacitor_text import read_capacitor
from stackup_lib.nets.links import Link, SeriesPart
from stackup_lib.nets.routing.routes import Crossing, Route, pin_layers
from stackup_lib.vias.plated_holes import PlatedHole


@dataclass(frozen=True)
class LineElement:
    """A length of one cross-section."""

    key: LineKey
    mm: float

    @property
    def same(self) -> Hashable:
        """What an element of the other trace has to have in common to run next to it."""
        return self.key


@dataclass(frozen=True)
class BarrelElement:
    """The barrel of a hole between the layers that it joins."""

    group: StubGroup
    entry: int
    leaves: int

    @property
    def same(self) -> Hashable:
        """Layers and shape."""
        return "barrel", self.entry, self.leaves, self.group.shape


@dataclass(frozen=True)
class StubElement:
    """What is left of a hole beyond the path."""

    group: StubGroup

    @property
    def same(self) -> Hashable:
        """Layer, side, drill and shape."""
        stub, drill = self.group.stubs[0], self.group.drill
        return "stub", stub.first, stub.side, drill and (drill.start, drill.must_cut), self.group.shape


@dataclass(frozen=True)
class JointElement:
    """Series parts, side by side; `sort` tells those that are alike."""

    parts: tuple[SeriesPart, ...]
    sort: Hashable

    @property
    def same(self) -> Hashable:
        """Kind and value of the parts."""
        return "joint", self.sort


Element = LineElement | BarrelElement | StubElement | JointElement
SideBySide = tuple[Element | None, Element | None]
"""An element of P next to one of N; None where the other trace has none there."""


@dataclass(frozen=True)
class Leg:
    """Walks a trace and yields its elements."""

    ctx: Context
    interface: Interface
    geometry: LinkGeometry

    def elements(self, trace: Link) -> Iterator[Element]:
        """Yield the elements of a trace from end to end.

        Raises:
            MissingFact: the route is not whole, or a via is on a net of no interface.
        """
        routes = complete_routes(self.ctx, trace)
        for number, route in enumerate(routes):
            yield from self._at_pad(route, is_start=True)
            done, met = 0.0, set[Hashable]()
            for crossing in route.crossings:
                yield from self._tracks(route, done, crossing.at_mm)
                hole = self._hole_of(crossing)
                if hole not in met:  # a second via in the same hole is no second stub
                    yield from self._via(route, crossing)
                met.add(hole)
                done = crossing.at_mm
            yield from self._tracks(route, done, route.path_length_mm)
            yield from self._at_pad(route, is_start=False)
            if number < len(trace.parts):
                yield self._joint(trace.parts[number])

    def _joint(self, parts: tuple[SeriesPart, ...]) -> JointElement:
        return JointElement(parts, tuple(sorted(map(self._sort, parts), key=repr)))

    def _sort(self, part: SeriesPart) -> Hashable:
        size = read_capacitor(part.value, str(self.ctx.board.footprints.library_id[part.footprint])).size
        return part.kind, part.value, size, self.ctx.get(part_models).of(part.footprint)

    def _tracks(self, route: Route, begin: float, end: float) -> Iterator[LineElement]:
        """Yield the lines between two places of a route."""
        at = 0.0
        for piece in route.pieces:
            low, high = max(begin, at), min(end, at + piece.length_mm)
            at += piece.length_mm
            if high - low > SAME_MM / 10:
                for key, length in self.geometry.spread(piece):
                    yield LineElement(key, length * (high - low) / piece.length_mm)

    def _via(self, route: Route, crossing: Crossing) -> Iterator[Element]:
        """Yield what a signal meets in a via; those stacked on it have crossings of their own."""
        vias, row = self.ctx.board.vias, crossing.via
        span = int(vias.start_layer[row]), int(vias.end_layer[row])
        groups = self._groups_at(route.net, float(vias.x_mm[row]), float(vias.y_mm[row]), span)
        if not groups:
            name, one = self.ctx.board.nets[route.net], self.interface
            how = f'[[interface]]\nis = "{one.id}"\nnets = ["{name}"]  # in addition to those declared'
            raise MissingFact(f"whether {name} belongs to the {one.title} link that it is on", how)
        yield from _through(groups, crossing.entry_layer, crossing.exit_layer)

    def _at_pad(self, route: Route, *, is_start: bool) -> Iterator[Element]:
        """Yield barrel and stubs of a plated pad at an end of the route, from part to trace or the other way round.

        A via in the pad has a crossing of its own.
        """
        pad = route.start_pad if is_start else route.end_pad
        if pad is None:
            return
        pads = self.ctx.board.pads
        groups = self._groups_at(route.net, float(pads.x_mm[pad]), float(pads.y_mm[pad]))
        layers = pin_layers(self.ctx.board, route, is_start=is_start)
        if layers is None or not groups:
            yield from (StubElement(group) for group in groups if group.stubs)
        else:
            yield from _through(groups, *layers)

    def _groups_at(
        self, net: int, x_mm: float, y_mm: float, via_span: tuple[int, int] | None = None
    ) -> list[StubGroup]:
        """Return the groups of the via at a place from one layer to another; without these, of the pins there."""
        return self.ctx.get(_groups_by_place).get((*place_key(net, x_mm, y_mm), via_span), [])

    def _hole_of(self, crossing: Crossing) -> Hashable:
        vias, row = self.ctx.board.vias, crossing.via
        place = place_key(int(vias.net[row]), float(vias.x_mm[row]), float(vias.y_mm[row]))
        return place, int(vias.start_layer[row]), int(vias.end_layer[row])


def _through(groups: list[StubGroup], entry: int, leaves: int) -> Iterator[Element]:
    """Yield what a signal meets in a hole: stubs where it comes in, the barrel, stubs where it leaves."""
    before = [group for group in groups if group.stubs and group.stubs[0].first == entry]
    yield from (StubElement(group) for group in before)
    if entry != leaves:
        yield BarrelElement(groups[0], entry, leaves)
    yield from (StubElement(group) for group in groups if group.stubs and group not in before)


def side_by_side(positive: list[Element], negative: list[Element]) -> Iterator[SideBySide]:
    """Yield the elements of both traces in order: what both have next to each other, the rest alone."""
    matcher = SequenceMatcher(None, [one.same for one in positive], [one.same for one in negative], autojunk=False)
    for what, from_p, to_p, from_n, to_n in matcher.get_opcodes():
        if what == "equal":
            yield from zip(positive[from_p:to_p], negative[from_n:to_n], strict=True)
        else:
            yield from ((one, None) for one in positive[from_p:to_p])
            yield from ((None, one) for one in negative[from_n:to_n])


_Place = tuple[int, int, int, tuple[int, int] | None]
"""Net, place, and of a via its first and last layer."""


def _groups_by_place(ctx: Context) -> dict[_Place, list[StubGroup]]:
    """Return the groups of the holes of high-speed nets by net, place and layers."""
    found: dict[_Place, list[StubGroup]] = {}
    for group in ctx.get(grouped_stubs):
        for place in dict.fromkeys(map(_place, group.holes)):
            found.setdefault(place, []).append(group)
    return found


def _place(hole: PlatedHole) -> _Place:
    return (*place_key(hole.net, hole.x_mm, hole.y_mm), (hole.top, hole.bottom) if hole.is_via else None)
