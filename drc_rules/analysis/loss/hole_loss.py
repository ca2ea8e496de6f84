"""What the plated holes of a link lose at Nyquist: the stub that hangs on, and the barrel that does not match."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.loss.hole_reflection import HoleLoss, hole_loss
from drc_rules.analysis.via.high_speed_vias import StubGroup, need_layers, stub_values
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record, workpiece
from stackup_lib.nets.routes import Route
from stackup_lib.vias.plated_holes import PlatedHole
from stackup_lib.vias.stub_resonance import ViaShape, loaded_dk, stub_loss_interval_db, via_ohm

SAME_MM = 0.001
"""Positions that differ by less are one hole."""

MOST_PAIRED = 0.99
"""Products of reflections that cancel no more: beyond, the minimum is nothing anyway."""

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


def added_db(losses_db: Sequence[Interval], share: float) -> Interval:
    """Return the loss of several reflecting parts of a link, each weighed by `share`.

    Nominal and maximum are the sum, which is their mean over frequency. At one frequency two parts that reflect r1 and
    r2 pass t1 t2/(1 - r1 r2) at most (Pozar, Microwave Engineering, multiple reflections), so the minimum is less.
    """
    total = ZERO
    for one in losses_db:
        total = total.plus(one.times(share))
    reflected = [math.sqrt(1 - 10 ** (-one.nominal / 10)) for one in losses_db]
    pairs = ((share * sum(reflected)) ** 2 - share * sum(r * r for r in reflected)) / 2
    cancelled_db = -20 * math.log10(1 - min(max(pairs, 0.0), MOST_PAIRED))
    return total.model_copy(update={"low": max(total.low - cancelled_db, 0.0)})


@record
class HolesOnLink:
    """What the holes of a link lose.

    Attributes:
        total_db: stubs and barrels.
        barrels_db: the barrels alone, which no backdrill takes away.
        count: how many holes.
    """

    total_db: Interval
    barrels_db: Interval
    count: float


@workpiece
class HoleLosses:
    """Losses of the holes of one interface, each kind of hole computed once."""

    ctx: Context
    interface: Interface
    groups: tuple[StubGroup, ...]
    _hole_db: dict[tuple[object, ...], HoleLoss] = field(default_factory=dict)

    def on(self, routes: Sequence[Route], share: float) -> HolesOnLink:
        """Return the loss of the holes on the paths of a link, each weighed by `share`.

        Raises:
            MissingFact: stackup, thickness or Dk is not known, or which layers use a hole.
        """
        found: list[HoleLoss] = []
        count = 0.0
        for route in routes:
            self._need_vias(route)
            for place in self._places(route):
                found += self._at(place)
                count += share if place in self._by_place else 0.0
        total = added_db([one.total_db for one in found], share)
        return HolesOnLink(total, added_db([one.barrel_db for one in found], share), count)

    def _at(self, place: tuple[int, int, int]) -> Iterator[HoleLoss]:
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
            yield self._hole_db[key]

    def _hole(self, hole: PlatedHole, rows: Sequence[int]) -> HoleLoss:
        """Return the loss of a hole: of its field, else of closed forms of the barrel and of each stub."""
        need_drills((hole.drill_mm,), f"the vias of {self.ctx.board.nets[hole.net]}")
        self._dk(self.interface.nyquist_ghz or 0.0)  # a field has another Dk where one is not known
        groups = [self.groups[row] for row in rows]
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
        rows = [(self.ctx.need(p.dk_at(frequency_ghz)), self.ctx.need(p.thickness)) for p in self.ctx.known_plies()]
        return sum(dk * mm for dk, mm in rows) / sum(mm for _, mm in rows)


def place_key(net: int, x_mm: float, y_mm: float) -> tuple[int, int, int]:
    """Return what holes of a net at one place have in common."""
    return net, round(x_mm / SAME_MM), round(y_mm / SAME_MM)
