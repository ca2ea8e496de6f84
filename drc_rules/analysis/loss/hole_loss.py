"""What the plated holes of a link lose at Nyquist: the stub that hangs on, and the barrel that does not match."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.via.high_speed_vias import StubGroup, doubtful_drill, need_layers, stub_values
from drc_rules.analysis.via.stub_removal import Removal, removal_of
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record, workpiece
from stackup_lib.nets.routing.routes import Route
from stackup_lib.vias.plated_holes import PlatedHole
from stackup_lib.vias.stub_resonance import ViaShape, loaded_dk, stub_loss_interval_db, via_ohm

if TYPE_CHECKING:
    from drc_rules.analysis.loss.hole_reflection import HoleLoss

SAME_MM = 0.001
"""Positions that differ by less are one hole."""

MOST_CANCELLED_DB = 120.0
"""A part that loses more cancels whatever else there is."""

USUAL_OHM = 50.0
"""Of a line whose interface states no impedance."""


def barrel_loss_db(frequency_ghz: float, length_mm: float, dk: float, line_ohm: float, barrel_ohm: float) -> float:
    """Return the loss by reflection of a lossless line of another impedance between two matched ones.

    |S21|^2 = 1/(1 + ((Zb/Z - Z/Zb)/2)^2 sin^2(2 pi f l sqrt(Dk)/c)), exact (Pozar, Microwave Engineering, from the
    ABCD matrix of a line).
    """
    angle = 2 * math.pi * frequency_ghz * length_mm * math.sqrt(dk) / LIGHT_MM_GHZ
    step = (barrel_ohm / line_ohm - line_ohm / barrel_ohm) / 2
    return 10 * math.log10(1 + (step * math.sin(angle)) ** 2)


def added_db(losses_db: Sequence[Interval]) -> Interval:
    """Return the loss of several reflecting parts in a row on one trace.

    Nominal and maximum are the sum, which is their mean over frequency. At one frequency two parts that reflect r1 and
    r2 pass t1 t2/(1 - r1 r2) at most (Pozar, Microwave Engineering, multiple reflections). With r = tanh(u) that is
    1/cosh(u1 - u2), and of lossless parts in a row u adds up like the sides of a triangle: whatever the distances, one
    part keeps what it has more than all others together. The minimum takes that one at its least, the others at their
    most.
    """
    total = ZERO
    for one in losses_db:
        total = total.plus(one)
    least, most = [_u(one.low) for one in losses_db], [_u(one.high) for one in losses_db]
    left = max((low + high for low, high in zip(least, most, strict=True)), default=0.0) - sum(most)
    return total.model_copy(update={"low": min(20 * math.log10(math.cosh(max(left, 0.0))), total.low)})


def _u(loss_db: float) -> float:
    """Return u of a part of reflection tanh(u): it loses 20 log10 cosh(u)."""
    return math.acosh(10 ** (min(max(loss_db, 0.0), MOST_CANCELLED_DB) / 20))


def mean_db(traces_db: Sequence[Interval]) -> Interval:
    """Return the loss of a pair, mean of its traces, each with reflections of its own; nothing without a trace."""
    total = ZERO
    for one in traces_db:
        total = total.plus(one.times(1 / len(traces_db)))
    return total


@record
class HolesOnLink:
    """What the holes of a link lose.

    Attributes:
        total_db: stubs and barrels.
        rid_db: what is left without vias that join nothing, and without stubs that a drill reaches.
        vias_db: the same without the pins of parts, too.
        count: how many holes.
        removals: what takes the stubs away.
        has_pins: some of the holes are pins.
    """

    total_db: Interval
    rid_db: Interval
    vias_db: Interval
    count: float
    removals: frozenset[Removal]
    has_pins: bool


NO_HOLES = HolesOnLink(total_db=ZERO, rid_db=ZERO, vias_db=ZERO, count=0, removals=frozenset(), has_pins=False)


@record
class _HoleOnTrace:
    """A hole with what it loses, and what takes its stubs away."""

    is_via: bool
    loss: HoleLoss
    removals: frozenset[Removal]

    @property
    def rid_db(self) -> Interval:
        """What is left of its loss."""
        if Removal.DELETE in self.removals:
            return ZERO
        return self.loss.barrel_db if self.removals == {Removal.DRILL} else self.loss.total_db


@workpiece
class HoleLosses:
    """Losses of the holes of one interface, each kind of hole computed once."""

    ctx: Context
    interface: Interface
    groups: tuple[StubGroup, ...]
    _hole_db: dict[tuple[object, ...], HoleLoss] = field(default_factory=dict)

    def on(self, traces: Sequence[Sequence[Route]]) -> HolesOnLink:
        """Return the loss of the holes on the paths of a link, mean of its traces, each given by its routes.

        Raises:
            MissingFact: stackup, thickness or Dk is not known, which layers use a hole, or whether a drill cuts it.
        """
        found: list[list[_HoleOnTrace]] = []
        count = 0
        for routes in traces:
            found.append([])
            for route in routes:
                self._need_vias(route)
                for place in self._places(route):
                    found[-1] += self._at(place)
                    count += place in self._by_place
        return HolesOnLink(
            total_db=mean_db([added_db([one.loss.total_db for one in trace]) for trace in found]),
            rid_db=mean_db([added_db([one.rid_db for one in trace]) for trace in found]),
            vias_db=mean_db([added_db([one.rid_db for one in trace if one.is_via]) for trace in found]),
            count=count / len(traces),
            removals=frozenset().union(*(one.removals for trace in found for one in trace)),
            has_pins=any(not one.is_via for trace in found for one in trace),
        )

    def _at(self, place: tuple[int, int, int]) -> Iterator[_HoleOnTrace]:
        """Yield the losses of the holes at one place; one with a stub at both ends is in two rows, and counts once."""
        found: dict[tuple[int, int], tuple[PlatedHole, list[int]]] = {}
        for row in self._by_place.get(place, ()):
            group = self.groups[row]
            need_layers(self.ctx, group)
            for hole in self._holes(group, place):
                found.setdefault((hole.top, hole.bottom), (hole, []))[1].append(row)
        for hole, rows in found.values():
            key = (hole.top, hole.bottom, hole.used, *rows)
            if key not in self._hole_db:
                self._hole_db[key] = self._hole(hole, rows)
            groups = (self.groups[row] for row in rows)
            stubs = (replace(one.stubs[0], hole=hole) for one in groups if one.stubs and not _is_drilled_up(one))
            removals = frozenset(removal_of(self.ctx, stub) for stub in stubs)
            yield _HoleOnTrace(hole.is_via, self._hole_db[key], removals)

    def _hole(self, hole: PlatedHole, rows: Sequence[int]) -> HoleLoss:
        """Return the loss of a hole: of its field, else of closed forms of the barrel and of each stub."""
        from drc_rules.analysis.loss.hole_reflection import HoleLoss, hole_loss  # noqa: PLC0415 - few boards have links

        need_drills((hole.drill_mm,), f"the vias of {self.ctx.board.nets[hole.net]}")
        self._dk(self.interface.nyquist_ghz or 0.0)  # a field has another Dk where one is not known
        groups = [self.groups[row] for row in rows]
        for doubt in (doubtful_drill(self.ctx, group) for group in groups):
            if doubt is not None:
                raise doubt
        found = hole_loss(self.ctx, self.interface.nyquist_ghz or 0.0, self.line_ohm, hole, groups)
        if found is not None:
            return found
        barrel = total = self._barrel_of(groups[0].shape, self._barrel_mm(hole))
        for group in groups:
            total = total.plus(self._stub_of(group) if group.stubs else ZERO)
        return HoleLoss(total, barrel)

    @cached_property
    def _by_place(self) -> dict[tuple[int, int, int], list[int]]:
        found: dict[tuple[int, int, int], list[int]] = {}
        for row, group in enumerate(self.groups):
            for hole in group.holes:
                found.setdefault(place_key(hole.net, hole.x_mm, hole.y_mm), []).append(row)
        return found

    def _need_vias(self, route: Route) -> None:
        """Refuse to count a via as nothing because its net, behind a series part, was not assigned to the interface."""
        vias = self.ctx.board.vias
        for crossing in route.crossings:
            k = crossing.via
            if place_key(route.net, float(vias.x_mm[k]), float(vias.y_mm[k])) not in self._by_place:
                name, one = self.ctx.board.nets[route.net], self.interface
                how = f'[[interface]]\nis = "{one.id}"\nnets = ["{name}"]  # in addition to those declared'
                raise MissingFact(f"whether {name} belongs to the {one.title} link that it is on", how)

    def _places(self, route: Route) -> set[tuple[int, int, int]]:
        board = self.ctx.board
        vias = [crossing.via for crossing in route.crossings]
        pads = [row for row in (route.start_pad, route.end_pad, *route.passed_pads) if row is not None]
        found = {place_key(route.net, float(board.vias.x_mm[k]), float(board.vias.y_mm[k])) for k in vias}
        return found | {place_key(route.net, float(board.pads.x_mm[k]), float(board.pads.y_mm[k])) for k in pads}

    def _holes(self, group: StubGroup, place: tuple[int, int, int]) -> list[PlatedHole]:
        here = (hole for hole in group.holes if place_key(hole.net, hole.x_mm, hole.y_mm) == place)
        return sorted(here, key=lambda hole: (hole.top, hole.bottom))

    def _stub_of(self, group: StubGroup) -> Interval:
        figures, nyquist = stub_values(self.ctx, group), self.interface.nyquist_ghz or 0.0
        length = figures.length_mm.nominal
        if length <= 0:
            return ZERO
        ohm = via_ohm(group.shape, self._dk(nyquist), length)
        loss = stub_loss_interval_db(nyquist, figures.resonance_ghz, self.line_ohm, ohm)
        # at and past its resonance a stub costs much, but how much is not known: nothing is sure
        return loss if math.isfinite(loss.low) else loss.model_copy(update={"low": 0.0})

    def _barrel_mm(self, hole: PlatedHole) -> float:
        heights = self.ctx.copper_heights_mm()
        return round(abs(heights[hole.used[-1]] - heights[hole.used[0]]), 4)

    def _barrel_of(self, shape: ViaShape, length_mm: float) -> Interval:
        if length_mm <= 0:
            return ZERO
        nyquist = self.interface.nyquist_ghz or 0.0
        dk = self._dk(nyquist)
        ohm = via_ohm(shape, dk, length_mm)
        loaded = loaded_dk(shape, Interval.exact(dk), length_mm)
        nominal = barrel_loss_db(nyquist, length_mm, loaded.nominal, self.line_ohm, ohm.nominal)
        ends = [barrel_loss_db(nyquist, length_mm, loaded.high, self.line_ohm, z) for z in (ohm.low, ohm.high)]
        return Interval(low=0.0, nominal=nominal, high=max(nominal, *ends))

    @property
    def line_ohm(self) -> float:
        """Impedance that a via sees on either side: of a pair the odd-mode one, half of the differential."""
        one = self.interface
        return (one.impedance_diff_ohm or 0.0) / 2 or one.impedance_single_ohm or USUAL_OHM

    def _dk(self, frequency_ghz: float) -> float:
        """Mean Dk of the board by thickness: the via's impedance is not known well enough for more."""
        rows = [(self.ctx.need(p.dk.at(frequency_ghz)), self.ctx.need(p.thickness)) for p in self.ctx.known_plies()]
        return sum(dk * mm for dk, mm in rows) / sum(mm for _, mm in rows)


def _is_drilled_up(group: StubGroup) -> bool:
    """Tell whether a drill takes all layers next to the last one used: a deeper one would cut the signal."""
    return group.drill is not None and abs(group.drill.must_cut - group.stubs[0].first) <= 1


def place_key(net: int, x_mm: float, y_mm: float) -> tuple[int, int, int]:
    """Return what holes of a net at one place have in common."""
    return net, round(x_mm / SAME_MM), round(y_mm / SAME_MM)
