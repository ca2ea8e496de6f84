"""The network of a rail: capacitors gathered at ports of the plane pair, the regulator, the load; its solutions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from drc_rules.analysis.power.over_frequency.decoupling import RailCapacitor
from drc_rules.analysis.power.over_frequency.load import LoadPort
from drc_rules.analysis.power.over_frequency.plane_copper import PlaneCopper
from drc_rules.analysis.power.over_frequency.plane_floors import PlaneFloors
from drc_rules.analysis.power.over_frequency.supply import Supply
from drc_rules.settings.config_pdn import PdnDeclaration
from stackup_lib.power.over_frequency.circuit import GROUND, PlaneNodes, SeriesBranch, SolvedNetwork, solve
from stackup_lib.power.over_frequency.plane_outline import OutlineModes, outline_modes
from stackup_lib.power.over_frequency.plane_pair import OtherCopper, PlanePair, PlanePort
from stackup_lib.transmission_lines.materials.conductor_models import Real

LOAD, AT_LOAD, DIE, REGULATOR, PACKAGE = "load", "planes at the load", "die", "regulator", "package"
LOAD_VIAS = "vias of the load"

MOST_PORTS = 20
"""Places of capacitors on the planes, in addition to load and regulator; nearby ones are gathered."""

GATHERED = 0.25
"""Capacitors whose places are closer than this share of their way to the load count as one place."""

PORT_MM = 1.0
"""Side of the square in which a capacitor's vias meet the planes."""

APART_MM = 0.25
"""How far ports at one place are moved apart."""

SPACING_RANGE = 0.1
"""What pressed dielectrics may differ from the stackup: a tenth."""

End = Literal["low", "nominal", "high"]

JOINT_RANGE: dict[End, float] = {"low": 0.5, "nominal": 1.0, "high": 2.0}
"""What the inductance of vias between floors may be of its value: their return path is the nearest via of ground."""


class Corner(NamedTuple):
    """Which end of its range each input is at."""

    capacitance: End = "nominal"
    loss: End = "nominal"
    inductance: End = "nominal"
    regulator: End = "nominal"


_ENDS: tuple[End, End] = ("low", "high")
_OTHER: dict[End, End] = {"low": "high", "nominal": "nominal", "high": "low"}
CORNERS = tuple(
    Corner(capacitance, *ends)
    for capacitance in ("low", "nominal", "high")
    for ends in itertools.product(_ENDS, repeat=3)
)
"""All ends together: errors of parts of one kind may all point one way. Peaks move with the capacitance."""


@dataclass(frozen=True)
class CapacitorPlace:
    """A port of the planes and the capacitors gathered there."""

    node: str
    x_mm: float
    y_mm: float
    layer: int
    capacitors: tuple[RailCapacitor, ...]


@dataclass(frozen=True)
class RailNetwork:
    """All elements of a rail between regulator and load.

    Attributes:
        pair: what is between the planes, as stated.
        floors: their outline, one piece.
        copper: of the planes and, at DC, of all that joins regulator and load.
        capacitors: with their places on the board.
        package: as declared.
    """

    pair: PlanePair
    floors: PlaneFloors
    copper: PlaneCopper
    capacitors: tuple[RailCapacitor, ...]
    supply: Supply
    load: LoadPort
    package: PdnDeclaration

    @cached_property
    def places(self) -> tuple[CapacitorPlace, ...]:
        """Ports of the capacitors, nearest to the load first."""
        share = GATHERED
        while len(found := _gathered(self.capacitors, self.load, share)) > MOST_PORTS:
            share *= 1.4
        return tuple(found)

    @property
    def seen_at(self) -> str:
        """The node at which the impedance is seen."""
        if self.package.package_ph is not None:
            return DIE
        return AT_LOAD if self.load.vias_h.high == 0 else LOAD

    @cached_property
    def _modes(self) -> dict[End, OutlineModes]:
        """The planes with a port per place, the load's and the regulator's, at each end of what joins their floors."""
        if not len(self.floors.cells.joints):
            return dict.fromkeys(JOINT_RANGE, self._modes_at("nominal"))
        return {end: self._modes_at(end) for end in JOINT_RANGE}

    def _modes_at(self, end: End) -> OutlineModes:
        floors, supply = self.floors, self.supply
        load = floors.port((self.load.x_mm, self.load.y_mm), self.load.size_mm, self.load.layer)
        layer = floors.layers[floors.cells.main_floor] if supply.layer is None else supply.layer
        feed = floors.port(supply.at_mm or floors.cells.middle_mm, supply.size_mm, layer)
        places = [floors.port((place.x_mm, place.y_mm), PORT_MM, place.layer) for place in self.places]
        cells = replace(floors.cells, joint_sheet=floors.cells.joint_sheet / JOINT_RANGE[end])
        return outline_modes(cells, _apart([load, feed, *places]))

    def planes(self, frequencies_hz: Real, corner: Corner) -> PlaneNodes:
        """Return the planes of a corner with their ports as nodes."""
        return self._nodes(self._pair(corner), corner.inductance, frequencies_hz)

    def _nodes(self, pair: PlanePair, end: End, frequencies_hz: Real) -> PlaneNodes:
        nodes = (AT_LOAD, REGULATOR, *(place.node for place in self.places))
        return PlaneNodes(nodes, self._modes[end].impedance_ohm(pair, frequencies_hz))

    def _pair(self, corner: Corner) -> PlanePair:
        """Return what is between the planes at a corner, with as much other copper as the DC solver finds.

        Return current keeps under the rail where the inductance of a detour exceeds the resistance that it saves. Of a
        detour to a deeper plane it is that of a gap or so, of one beyond the edge of a sheet mu0/(2 k) with k = pi/side
        for the side of the sheet. The low end has the first, so that it is as low as the resistance can be.
        """
        bare = self._bare(corner)
        share = 1.0 if bare.copper_mm is None else min(self._dc_ohm(corner) / (self._squares * bare.sheet_ohm), 1.0)
        if share >= 1:
            return bare
        gap_mm = bare.spacing_mm
        if corner.loss != "low":
            gap_mm = max(gap_mm, math.sqrt(bare.area_mm2) / (2 * math.pi))
        return replace(bare, other=OtherCopper(bare.sheet_ohm * share / (1 - share), gap_mm))

    def _bare(self, corner: Corner) -> PlanePair:
        factor = {"low": 1 - SPACING_RANGE, "nominal": 1.0, "high": 1 + SPACING_RANGE}[corner.inductance]
        copper_mm = getattr(self.copper.mm, _OTHER[corner.loss])
        celsius = getattr(self.copper.celsius, corner.loss)
        return replace(self.pair, spacing_mm=self.pair.spacing_mm * factor, copper_mm=copper_mm, copper_c=celsius)

    @cached_property
    def _squares(self) -> float:
        """How many squares in series the planes are from the load to the regulator and back, at DC."""
        pair, hz = self._bare(Corner()), np.array([1e3])
        short = SeriesBranch(REGULATOR, REGULATOR, GROUND, 1e-12)
        return (
            float(solve([short], AT_LOAD, hz, self._nodes(pair, "nominal", hz)).impedance_ohm[0].real) / pair.sheet_ohm
        )

    def _dc_ohm(self, corner: Corner) -> float:
        """Return the resistance from regulator to load and back at a corner; that of the planes where none is known."""
        planes_ohm = self._squares * self._bare(corner).sheet_ohm
        if self.copper.dc_ohm is None:
            return 0.0 if corner.loss == "low" else planes_ohm
        ground_ohm = planes_ohm * self.copper.ground_share if self.copper.is_one_way and corner.loss != "low" else 0.0
        return float(getattr(self.copper.dc_ohm, corner.loss)) + ground_ohm

    def branches(self, corner: Corner) -> list[SeriesBranch]:
        """Return all branches except the planes, with their values at the ends of a corner.

        What the copper has at DC beyond its planes, in tracks, pads and barrels, is in series with the regulator.
        """
        beyond = max(self._dc_ohm(corner) - self._squares * self._bare(corner).sheet_ohm, 0.0)
        found = [
            SeriesBranch(
                REGULATOR,
                REGULATOR,
                GROUND,
                getattr(self.supply.resistance_ohm, corner.regulator) + beyond,
                getattr(self.supply.inductance_h, corner.regulator),
            )
        ]
        for place in self.places:
            found += [_bank(place.node, parts, corner) for parts in _alike(place.capacitors)]
        vias = getattr(self.load.vias_h, corner.inductance)
        if vias > 0:
            found.append(SeriesBranch(LOAD_VIAS, AT_LOAD, LOAD, 0.0, vias))
        stated = self.package
        if stated.package_ph is not None:
            inner = LOAD if vias > 0 else AT_LOAD
            ohm = (stated.package_mohm or 0.0) * 1e-3
            found.append(SeriesBranch(PACKAGE, inner, DIE, ohm, stated.package_ph * 1e-12))
        if stated.die_nf is not None:
            found.append(SeriesBranch(DIE, DIE, GROUND, (stated.die_mohm or 0.0) * 1e-3, 0.0, stated.die_nf * 1e-9))
        return found

    def solved(self, frequencies_hz: Real, corners: Sequence[Corner]) -> Iterator[SolvedNetwork]:
        """Yield the solution at each of some corners; planes that they have in common are solved once."""
        planes: dict[PlanePair, PlaneNodes] = {}
        for corner in corners:
            pair = self._pair(corner)
            if pair not in planes:
                planes[pair] = self._nodes(pair, corner.inductance, frequencies_hz)
            yield solve(self.branches(corner), self.seen_at, frequencies_hz, planes[pair])

    def spreading_h(self) -> float:
        """Return the inductance from the load to perfect capacitors at the places of the real ones."""
        hz = np.array([1e7])
        shorts = [SeriesBranch(place.node, place.node, GROUND, 1e-9) for place in self.places]
        shorts = shorts or [SeriesBranch(REGULATOR, REGULATOR, GROUND, 1e-9)]
        ohm = solve(shorts, AT_LOAD, hz, self.planes(hz, Corner())).impedance_ohm[0]
        return float(ohm.imag) / (2 * math.pi * 1e7) + self.load.vias_h.nominal


def _apart(ports: Sequence[PlanePort]) -> list[PlanePort]:
    """Return the ports with those that are at one place moved apart: two equal ports have no separate impedances."""
    found: list[PlanePort] = []
    for port in ports:
        free = (
            (x, y)
            for x, y in _around(port)
            if all(math.hypot(one.x_mm - x, one.y_mm - y) >= APART_MM / 2 for one in found)
        )
        found.append(PlanePort(*next(free), port.size_mm, port.floor))
    return found


def _around(port: PlanePort) -> Iterator[tuple[float, float]]:
    """Yield the place of a port, and places on a spiral around it."""
    for turn in itertools.count():
        away, angle = APART_MM * math.sqrt(turn), 2.4 * turn
        yield port.x_mm + away * math.cos(angle), port.y_mm + away * math.sin(angle)


def _bank(node: str, parts: Sequence[RailCapacitor], corner: Corner) -> SeriesBranch:
    """Equal parts in parallel, each with the inductance that all of them have together times their number."""
    count = len(parts)
    inductances = [getattr(part.mounting_h, corner.inductance) for part in parts]
    part = parts[0]
    esl = getattr(part.data.esl_h, corner.inductance)
    together = count / sum(1 / (esl + one) for one in inductances)
    of = getattr(part.data.esr_ohm, corner.loss), esl, getattr(part.data.skin_ohm, corner.loss)
    farad = getattr(part.data.capacitance_f, corner.capacitance)
    return part.data.branch(part.group, node, farad, of, mounting_h=max(together - esl, 0.0), count=count)


def _alike(capacitors: Sequence[RailCapacitor]) -> list[list[RailCapacitor]]:
    """Return the capacitors by value, size and data; only their mounting differs then."""
    found: dict[tuple[str, str, str], list[RailCapacitor]] = {}
    for one in capacitors:
        found.setdefault((one.group, one.data.bias, one.data.source), []).append(one)
    return list(found.values())


def _gathered(capacitors: Sequence[RailCapacitor], load: LoadPort, share: float) -> list[CapacitorPlace]:
    """Gather capacitors by place, those nearest to the load first."""
    ordered = sorted(
        capacitors, key=lambda one: (math.hypot(one.x_mm - load.x_mm, one.y_mm - load.y_mm), one.reference)
    )
    places: list[list[RailCapacitor]] = []
    for one in ordered:
        way = math.hypot(one.x_mm - load.x_mm, one.y_mm - load.y_mm)
        near = (
            place
            for place in places
            if place[0].layer == one.layer
            and math.hypot(place[0].x_mm - one.x_mm, place[0].y_mm - one.y_mm) <= max(share * way, PORT_MM)
        )
        place = next(near, None)
        if place is None:
            places.append([one])
        else:
            place.append(one)
    return [
        CapacitorPlace(
            f"place {number}",
            float(np.mean([one.x_mm for one in place])),
            float(np.mean([one.y_mm for one in place])),
            place[0].layer,
            tuple(place),
        )
        for number, place in enumerate(places)
    ]
