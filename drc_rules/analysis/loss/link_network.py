"""The S-parameters of a link: its lines, vias and stubs in the order of the route. Lengths in mm, frequencies in GHz.

A pair counts as symmetric: the route of its first trace, with the mean length of both, once in the odd and once in
the even mode. Every line has the causal materials of its cross section, anchored at the interface's Nyquist frequency.
A via is a loaded barrel between the layers that it joins, with what is left of the hole as an open stub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.lines.link_geometry import LineKey, LinkGeometry
from drc_rules.analysis.lines.solved_lines import Lines, limit_of
from drc_rules.analysis.loss.hole_loss import SAME_MM, place_key
from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.nets.board_links import complete_routes
from drc_rules.analysis.via.high_speed_vias import StubGroup, grouped_stubs, stub_values
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.nets.routes import Crossing, Route
from stackup_lib.transmission_lines.loss import loss_per_length
from stackup_lib.transmission_lines.lossy import even_line_of, line_of
from stackup_lib.transmission_lines.two_port import (
    barrel_chain,
    in_a_row,
    line_chain,
    open_stub_chain,
    pair_of_modes,
    s_of_chain,
)
from stackup_lib.vias.stub_resonance import ViaShape, loaded_dk, via_ohm

REFERENCE_OHM = 50.0
"""Of every port: of a pair, 100 ohm differential."""

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]
Modes = tuple[Complex, Complex]
"""Chain in the odd mode, or of a single line, and in the even mode."""


@record
class LinkNetwork:
    """The S-parameters of one link.

    Attributes:
        name: of its first net.
        nets: of both traces.
        ends: of each trace, the pads that it begins and ends on, as text.
        frequency_ghz: rising from 0.
        s: (frequencies, 2, 2) of a single trace, ports near and far; (frequencies, 4, 4) of a pair, ports P near, P
            far, N near, N far. All ports have `REFERENCE_OHM`.
        own_s: (frequencies, 2, 2) of a pair's odd mode, which is its differential one, or of a single trace, between
            ports of `own_ohm`.
        own_ohm: impedance of the interface, of a pair half of the differential one; `REFERENCE_OHM` where it has none.
        limit_ghz: up to where its lines are quasi-static.
        parts: the elements in order, as text.
        notes: what was assumed or left out.
    """

    name: str
    nets: tuple[str, ...]
    ends: tuple[tuple[str, str], ...]
    frequency_ghz: Real
    s: Complex
    own_s: Complex
    own_ohm: float
    nyquist_ghz: float
    limit_ghz: float
    parts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_pair(self) -> bool:
        """Four ports."""
        return bool(self.s.shape[1] > 2)


def link_network(ctx: Context, link: LinkLoss, frequency_ghz: Real) -> LinkNetwork:
    """Return the S-parameters of a link whose loss is known.

    Raises:
        MissingFact: a Dk, Df, drill or layer is not known.
        StackwrightError: a line cannot be solved.
    """
    built = _Built(ctx, link, frequency_ghz)
    chains = list(built.chains())
    odd, even = (in_a_row((modes[k] for modes in chains), len(frequency_ghz)) for k in (0, 1))
    s_odd = s_of_chain(odd, REFERENCE_OHM)
    is_pair = len(link.traces) > 1
    one = link.interface
    own_ohm = ((one.impedance_diff_ohm or 0.0) / 2 if is_pair else one.impedance_single_ohm) or REFERENCE_OHM
    return LinkNetwork(
        name=link.name,
        nets=tuple(ctx.board.nets[net] for net in link.nets),
        ends=tuple(built.ends()),
        frequency_ghz=frequency_ghz,
        s=pair_of_modes(s_odd, s_of_chain(even, REFERENCE_OHM)) if is_pair else s_odd,
        own_s=s_of_chain(odd, own_ohm),
        own_ohm=own_ohm,
        nyquist_ghz=link.interface.nyquist_ghz or 0.0,
        limit_ghz=built.limit_ghz,
        parts=tuple(built.parts),
        notes=tuple(dict.fromkeys((*link.notes, *built.notes()))),
    )


@dataclass
class _Built:
    """The elements of one link while they are put in a row."""

    ctx: Context
    link: LinkLoss
    ghz: Real
    parts: list[str] = field(default_factory=list)
    limit_ghz: float = float("inf")
    _lines: dict[LineKey, Callable[[float], Modes]] = field(default_factory=dict)

    @property
    def anchor_ghz(self) -> float:
        """Where Dk and Df are read."""
        return self.link.interface.nyquist_ghz or 1.0

    def notes(self) -> Iterator[str]:
        """Yield what the network leaves out."""
        if len(self.link.traces) > 1:
            yield "the pair is symmetric: skew and conversion between modes are not in it"
        if any(len(trace.nets) > 1 for trace in self.link.traces):
            yield "series parts are joined through without their own parasitics"
        yield "pads, bends, connectors, packages and crosstalk to other nets are not in it"

    def ends(self) -> Iterator[tuple[str, str]]:
        """Yield where each trace begins and ends."""
        for trace in self.link.traces:
            routes = complete_routes(self.ctx, trace)
            yield self._pad(routes[0], routes[0].start_pad), self._pad(routes[-1], routes[-1].end_pad)

    def _pad(self, route: Route, pad: int | None) -> str:
        net = self.ctx.board.nets[route.net]
        if pad is None:
            return net
        pads, parts = self.ctx.board.pads, self.ctx.board.footprints
        return f"{net} at {parts.reference[pads.footprint[pad]]} pad {pads.number[pad]}"

    def chains(self) -> Iterator[Modes]:
        """Yield the elements from end to end."""
        routes = [complete_routes(self.ctx, trace) for trace in self.link.traces]
        lengths = [sum(route.path_length_mm for route in one) for one in routes]
        scale = sum(lengths) / len(lengths) / lengths[0]
        geometry = LinkGeometry(self.ctx, self.link.nets)
        for route in routes[0]:
            yield from self._at_pad(route, route.start_pad)
            done = 0.0
            for crossing in route.crossings:
                yield from self._tracks(route, done, crossing.at_mm, geometry, scale)
                yield from self._via(route, crossing)
                done = crossing.at_mm
            yield from self._tracks(route, done, route.path_length_mm, geometry, scale)
            yield from self._at_pad(route, route.end_pad)

    def _tracks(self, route: Route, begin: float, end: float, geometry: LinkGeometry, scale: float) -> Iterator[Modes]:
        """Yield the lines between two places of a route."""
        at = 0.0
        for piece in route.pieces:
            low, high = max(begin, at), min(end, at + piece.length_mm)
            at += piece.length_mm
            if high - low > SAME_MM / 10:
                for key, length in geometry.spread(piece):
                    yield self._line(key, scale * length * (high - low) / piece.length_mm)

    def _line(self, key: LineKey, length_mm: float) -> Modes:
        if key not in self._lines:
            lines = Lines(self.ctx)
            solved, materials = lines.solved(*key), lines.nominal_materials(key, self.anchor_ghz)
            self.limit_ghz = min(self.limit_ghz, limit_of(solved).frequency_ghz)
            odd = loss_per_length(line_of(solved, materials), self.ghz)
            even = loss_per_length(even_line_of(solved, materials), self.ghz) if solved.solution.is_pair else odd
            self._lines[key] = lambda mm: (line_chain(odd, mm), line_chain(even, mm))
        layer, width, gap, _ = key
        name = self.ctx.board.copper_layers[layer].name
        size = f"{width:.4g} mm" if gap is None else f"{width:.4g}/{gap:.4g} mm"
        self.parts.append(f"{length_mm:.3f} mm of {size} on {name}")
        return self._lines[key](length_mm)

    def _via(self, route: Route, crossing: Crossing) -> Iterator[Modes]:
        vias = self.ctx.board.vias
        x_mm, y_mm = float(vias.x_mm[crossing.via]), float(vias.y_mm[crossing.via])
        groups = self._groups_at(route.net, x_mm, y_mm)
        if not groups:
            name, one = self.ctx.board.nets[route.net], self.link.interface
            how = f'[[interface]]\nis = "{one.id}"\nnets = ["{name}"]  # in addition to those declared'
            raise MissingFact(f"whether {name} belongs to the {one.title} link that it is on", how)
        before = [group for group in groups if group.stubs and group.stubs[0].first == crossing.entry_layer]
        yield from (self._stub(group) for group in before)
        yield from self._barrel(groups[0], crossing.entry_layer, crossing.exit_layer)
        yield from (self._stub(group) for group in groups if group.stubs and group not in before)

    def _at_pad(self, route: Route, pad: int | None) -> Iterator[Modes]:
        """Yield the stubs of a plated pad at an end of the route."""
        if pad is not None:
            pads = self.ctx.board.pads
            for group in self._groups_at(route.net, float(pads.x_mm[pad]), float(pads.y_mm[pad])):
                if group.stubs:
                    yield self._stub(group)

    def _groups_at(self, net: int, x_mm: float, y_mm: float) -> list[StubGroup]:
        return self.ctx.get(_groups_by_place).get(place_key(net, x_mm, y_mm), [])

    def _barrel(self, group: StubGroup, entry: int, leaves: int) -> Iterator[Modes]:
        heights = self.ctx.copper_heights_mm()
        length = abs(heights[leaves] - heights[entry])
        if length <= 0:
            return
        need_drills((group.holes[0].drill_mm,), f"the vias of {self.ctx.board.nets[group.holes[0].net]}")
        names = [self.ctx.board.copper_layers[layer].name for layer in (entry, leaves)]
        self.parts.append(f"via from {names[0]} to {names[1]}, {length:.3f} mm")
        dk, df = self._dk_df()
        one, other = (
            barrel_chain(self.ghz, length, via_ohm(shape, dk, length).nominal, _loaded(shape, dk, length), df)
            for shape in _modes_of(group.shape)
        )
        yield one, other

    def _stub(self, group: StubGroup) -> Modes:
        figures = stub_values(self.ctx, group)
        length = group.shape.stub_length_mm(figures.length_mm).nominal
        name = self.ctx.board.copper_layers[group.stubs[0].first].name
        self.parts.append(f"open stub of {figures.length_mm.nominal:.3f} mm from {name}")
        df = self._dk_df()[1]
        dk = figures.dk.nominal
        one, other = (
            open_stub_chain(self.ghz, length, via_ohm(shape, dk, length).nominal, _loaded(shape, dk, length), df)
            for shape in _modes_of(group.shape)
        )
        return one, other

    def _dk_df(self) -> tuple[float, float]:
        """Mean Dk and Df of the board by thickness, over the plies that have one: a via is not known well enough."""
        plies = [(self.ctx.need(ply.thickness), ply) for ply in self.ctx.known_plies()]
        rows = [(mm, self.ctx.need(ply.dk_at(self.anchor_ghz)), ply.df_at(self.anchor_ghz).value) for mm, ply in plies]
        known = [(mm, df) for mm, _, df in rows if df is not None]
        df = sum(mm * df for mm, df in known) / sum(mm for mm, _ in known) if known else 0.0
        return sum(mm * dk for mm, dk, _ in rows) / sum(mm for mm, _, _ in rows), df


def _modes_of(shape: ViaShape) -> tuple[ViaShape, ViaShape]:
    """Return the via in the odd mode, and in the even one, in which its complement carries no return current."""
    return shape, shape.model_copy(update={"partner_mm": None})


def _loaded(shape: ViaShape, dk: float, length_mm: float) -> float:
    return loaded_dk(shape, Interval(low=dk, nominal=dk, high=dk), length_mm).nominal


def _groups_by_place(ctx: Context) -> dict[tuple[int, int, int], list[StubGroup]]:
    """Return the groups of the holes of high-speed nets by net and place."""
    found: dict[tuple[int, int, int], list[StubGroup]] = {}
    for group in ctx.get(grouped_stubs):
        for place in {place_key(hole.net, hole.x_mm, hole.y_mm) for hole in group.holes}:
            found.setdefault(place, []).append(group)
    return found
