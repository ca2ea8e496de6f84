"""The S-parameters of a link: its lines, vias, stubs, series parts and connectors in the order of the route.

Where both traces of a pair have the same element next to each other it counts in the odd and the even mode. What one
has more, or alone, stands in that trace only, uncoupled: from it come skew and conversion between modes. Lines have the
causal materials of their cross sections, anchored at the interface's Nyquist frequency. A via is a ladder of its field
between the layers that it joins, with what is left of the hole as an open stub; so is the plated pin at an end, from
the side of its part to the layer of the trace. Lengths in mm, frequencies in GHz.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.lines.link_geometry import LinkGeometry
from drc_rules.analysis.lines.solved_lines import LineKey
from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.loss.sparameters.elements import ElementChains, Modes
from drc_rules.analysis.loss.sparameters.joints import LinkParts
from drc_rules.analysis.loss.sparameters.legs import Element, JointElement, Leg, LineElement, side_by_side
from drc_rules.analysis.nets.board_links import complete_routes
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces.model import LossMask, ReturnMask
from stackup_lib.channels.ways import SignalWay, WayStep
from stackup_lib.core.record import entity
from stackup_lib.nets.routing.routes import Route
from stackup_lib.transmission_lines.four_port import (
    chain_of_legs,
    chain_of_modes,
    differential_chain,
    mixed_modes,
    nothing,
    s_of_pair_chain,
)
from stackup_lib.transmission_lines.two_port import in_a_row, pair_of_modes, s_of_chain

REFERENCE_OHM = 50.0
"""Of every port: of a pair, 100 ohm differential."""

SAME_LEG_MM = 0.01
"""Traces whose lengths differ by less run side by side: 0.07 ps."""

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]


@entity
class LinkNetwork:
    """The S-parameters of one link.

    Attributes:
        name: of its first net.
        nets: of both traces.
        ends: of each trace, the pads that it begins and ends on, as text.
        frequency_ghz: rising from 0.
        s: (frequencies, 2, 2) of a single trace, ports near and far; (frequencies, 4, 4) of a pair, ports P near, P
            far, N near, N far. All ports have `REFERENCE_OHM`.
        own_s: (frequencies, 2, 2) of a pair between differential ports, or of a single trace; of a pair each trace has
            `own_ohm`.
        own_ohm: impedance of the interface, of a pair half of the differential one; `REFERENCE_OHM` where it has none.
        limit_ghz: up to where its lines are quasi-static.
        skew_mm, skew_ps: by how much P is longer than N on tracks; None of a single trace.
        mask: largest loss of the whole channel, for the role that is declared; empty where none is published.
        return_mask: least return loss, likewise.
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
    skew_mm: float | None
    skew_ps: float | None
    mask: tuple[LossMask, ...]
    return_mask: tuple[ReturnMask, ...]
    parts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_pair(self) -> bool:
        """Four ports."""
        return bool(self.s.shape[1] > 2)

    def conversion_db(self) -> Real | None:
        """Return what of a differential signal arrives as a common one, dB per frequency; None of a single trace."""
        if not self.is_pair:
            return None
        return np.asarray(20 * np.log10(np.maximum(np.abs(mixed_modes(self.s)[:, 3, 0]), 1e-15)))


def link_network(ctx: Context, link: LinkLoss, frequency_ghz: Real) -> LinkNetwork:
    """Return the S-parameters of a link whose loss is known.

    Raises:
        MissingFact: a Dk, Df, drill or layer is not known.
        StackwrightError: a line cannot be solved, or the file of a part cannot be used.
    """
    built = _Built(ctx, link, frequency_ghz)
    built.cascade()
    is_pair = len(link.traces) > 1
    one = link.interface
    own_ohm = ((one.impedance_diff_ohm or 0.0) / 2 if is_pair else one.impedance_single_ohm) or REFERENCE_OHM
    own_s = built.s(own_ohm)
    return LinkNetwork(
        name=link.name,
        nets=tuple(ctx.board.nets[net] for net in link.nets),
        ends=tuple(built.ends()),
        frequency_ghz=frequency_ghz,
        s=built.s(REFERENCE_OHM),
        own_s=mixed_modes(own_s)[:, :2, :2] if is_pair else own_s,
        own_ohm=own_ohm,
        nyquist_ghz=link.interface.nyquist_ghz or 0.0,
        limit_ghz=built.chains.limit_ghz,
        skew_mm=built.skew_mm if is_pair else None,
        skew_ps=built.skew_ps if is_pair else None,
        mask=tuple(piece for piece in one.loss_mask if piece.role == (built.role or "")),
        return_mask=tuple(piece for piece in one.return_mask if piece.role == (built.role or "")),
        parts=tuple(built.parts()),
        notes=tuple(dict.fromkeys((*link.notes, *built.notes()))),
    )


@entity
class LinkWay:
    """The differential mode of a pair, element by element; of each step the cross-section, None of what is no line."""

    way: SignalWay
    keys: tuple[LineKey | None, ...]


def link_way(ctx: Context, link: LinkLoss, frequency_ghz: Real) -> LinkWay:
    """Return the way of a pair whose loss is known, from its near to its far end; raises as `link_network`."""
    built = _Built(ctx, link, frequency_ghz)
    built.cascade()
    way = SignalWay(frequency_ghz=frequency_ghz, steps=tuple(built.steps), reference_ohm=REFERENCE_OHM)
    return LinkWay(way=way, keys=tuple(built.keys))


@dataclass
class _Built:
    """The elements of one link while they are put in a row."""

    ctx: Context
    link: LinkLoss
    ghz: Real
    skew_mm: float = 0.0
    skew_ps: float = 0.0
    chains: ElementChains = field(init=False)
    steps: list[WayStep] = field(default_factory=list)
    keys: list[LineKey | None] = field(default_factory=list)
    """All elements in a row as the differential mode of a pair has them, and their cross-sections."""
    _run: list[tuple[LineElement, LineElement]] = field(default_factory=list)
    """Lines of both traces next to each other, since the last other element."""
    _told: list[tuple[str, float]] = field(default_factory=list)
    _alike: list[Modes] = field(default_factory=list)
    """Elements since the last one in which the traces differ."""
    _blocks: list[Complex] = field(default_factory=list)
    _connectors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        anchor = self.link.interface.nyquist_ghz or 1.0
        self.chains = ElementChains(self.ctx, self.ghz, anchor, LinkParts(self.ctx, self.ghz))

    @property
    def role(self) -> str | None:
        """The kind of channel, as declared."""
        row = self.ctx.get(declarations_by_net).get(self.link.nets[0])
        return row.role if row else None

    def cascade(self) -> None:
        """Put all elements in a row, the connectors at the ends."""
        geometry = LinkGeometry(self.ctx, self.link.nets)
        leg = Leg(self.ctx, self.link.interface, geometry)
        legs = [list(leg.elements(trace)) for trace in self.link.traces]
        self._connector(far=False)
        if len(legs) == 1:
            for element in legs[0]:
                self._both(element)
        else:
            for first, second in side_by_side(*legs):
                self._next(first, second)
            self._end_of_run()
        self._connector(far=True)

    def s(self, reference_ohm: float) -> Complex:
        """Return the S-parameters between ports of an impedance, in the order of `LinkNetwork.s`."""
        count = len(self.ghz)
        odd, even = (in_a_row((modes[k] for modes in self._alike), count) for k in (0, 1))
        if len(self.link.traces) == 1:
            return s_of_chain(odd, reference_ohm)
        if not self._blocks:
            return pair_of_modes(s_of_chain(odd, reference_ohm), s_of_chain(even, reference_ohm))
        whole = self._blocks[0]
        for block in (*self._blocks[1:], chain_of_modes(odd, even)):
            whole = whole @ block
        return s_of_pair_chain(whole, reference_ohm)

    def _next(self, first: Element | None, second: Element | None) -> None:
        """Add what both traces have next to each other, or what one of them has alone."""
        if isinstance(first, LineElement) and isinstance(second, LineElement):
            self._run.append((first, second))
            return
        self._end_of_run()
        if isinstance(first, JointElement) and isinstance(second, JointElement):
            both = self.chains.parts.choke(first.parts)
            if both is None:
                self._alike.append(self.chains.of(first))
                self._step(self._alike[-1][0])
            else:
                self._block(both)
                self._step(differential_chain(both))
            self._told.append((self.chains.parts.words(first.parts, second.parts), 0.0))
        elif first is not None and second is not None:
            self._both(first)
        elif first is not None:
            self._alone(first, _mm_of(first), of_first=True)
        elif second is not None:
            self._alone(second, _mm_of(second), of_first=False)

    def _end_of_run(self) -> None:
        """Add lines next to each other without anything between; what one trace has more of them stands behind."""
        both = sum(first.mm + second.mm for first, second in self._run) / 2
        more = sum(first.mm - second.mm for first, second in self._run)
        if abs(more) <= SAME_LEG_MM:
            more = 0.0
        for first, second in self._run:
            mm = (first.mm + second.mm) / 2 * (1 - abs(more) / 2 / both)
            self._both(first, mm, (first.mm, second.mm))
        if more:
            self._alone(self._run[0][0], abs(more), of_first=more > 0, is_drawn=False)
        self._run = []

    def _both(self, element: Element, mm: float | None = None, drawn_mm: tuple[float, float] = (0.0, 0.0)) -> None:
        self._alike.append(self.chains.of(element, mm))
        self._step(self._alike[-1][0], element, mm or 0.0, drawn_mm)
        self._tell(element, mm)

    def _step(
        self,
        chain: Complex,
        element: Element | None = None,
        mm: float = 0.0,
        drawn_mm: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Add a step to the way of the differential mode; what one trace has alone delays it by half."""
        line = self.chains.line(element, alone=0.0 in drawn_mm) if element else None
        self.steps.append(WayStep(chain=chain, line=line, mm=mm, drawn_mm=drawn_mm))
        self.keys.append(element.key if isinstance(element, LineElement) else None)

    def _tell(self, element: Element, mm: float | None, alone: str = "") -> None:
        """Put an element into the list; lines of one size in a row are one."""
        words = self.chains.words(element) + alone
        length = (_mm_of(element) if mm is None else mm) or 0.0
        if self._told and self._told[-1][0] == words and length:
            length += self._told.pop()[1]
        self._told.append((words, length))

    def _alone(self, element: Element, mm: float | None, *, of_first: bool, is_drawn: bool = True) -> None:
        sign = 1 if of_first else -1
        if mm is not None:
            self.skew_mm += sign * mm
            self.skew_ps += sign * self.chains.delay_ps(element, mm)
        chain, other = self.chains.alone(element, mm), nothing(len(self.ghz))
        both = chain_of_legs(*((chain, other) if of_first else (other, chain)))
        self._block(both)
        drawn = (mm or 0.0) if is_drawn else 0.0
        self._step(differential_chain(both), element, (mm or 0.0) / 2, (drawn, 0.0) if of_first else (0.0, drawn))
        self._tell(element, mm, f", {'P' if of_first else 'N'} alone")

    def _block(self, chain: Complex) -> None:
        """Add an element in which the traces differ."""
        count = len(self.ghz)
        odd, even = (in_a_row((modes[k] for modes in self._alike), count) for k in (0, 1))
        self._blocks += [chain_of_modes(odd, even), chain]
        self._alike = []

    def parts(self) -> Iterator[str]:
        """Yield the elements in order."""
        for words, mm in self._told:
            yield f"{mm:.3f} mm of {words}" if mm else words

    def _connector(self, *, far: bool) -> None:
        pads = [self._end_pad(routes, far=far) for routes in self._routes()]
        if None in pads:
            return
        found = self.chains.parts.connector(
            [int(self.ctx.board.pads.footprint[pad]) for pad in pads if pad is not None], far=far
        )
        if found is None:
            return
        chain, words = found
        if chain.shape[1] == 2:
            self._alike.append((chain, chain))
            self._step(chain)
        else:
            self._block(chain)
            self._step(differential_chain(chain))
        self._told.append((words, 0.0))
        self._connectors.append(words)

    def _routes(self) -> Iterator[tuple[Route, ...]]:
        for trace in self.link.traces:
            yield complete_routes(self.ctx, trace)

    @staticmethod
    def _end_pad(routes: tuple[Route, ...], *, far: bool) -> int | None:
        return routes[-1].end_pad if far else routes[0].start_pad

    def notes(self) -> Iterator[str]:
        """Yield what the network assumes and leaves out."""
        yield from self.chains.parts.notes
        if len(self.link.traces) > 1 and abs(self.skew_mm) > SAME_LEG_MM:
            longer = "P" if self.skew_mm > 0 else "N"
            yield f"{longer} is {abs(self.skew_mm):.3f} mm longer on tracks, {abs(self.skew_ps):.2f} ps"
        others = "" if self._connectors else "connectors, "
        yield f"pads, bends, {others}packages and crosstalk to other nets are not in it"

    def ends(self) -> Iterator[tuple[str, str]]:
        """Yield where each trace begins and ends."""
        for routes in self._routes():
            yield self._pad(routes[0], routes[0].start_pad), self._pad(routes[-1], routes[-1].end_pad)

    def _pad(self, route: Route, pad: int | None) -> str:
        net = self.ctx.board.nets[route.net]
        if pad is None:
            return net
        pads, parts = self.ctx.board.pads, self.ctx.board.footprints
        name = str(parts.reference[pads.footprint[pad]])
        beyond = ", beyond it" if any(words.startswith(f"{name} as in ") for words in self._connectors) else ""
        return f"{net} at {name} pad {pads.number[pad]}{beyond}"


def _mm_of(element: Element) -> float | None:
    return element.mm if isinstance(element, LineElement) else None
