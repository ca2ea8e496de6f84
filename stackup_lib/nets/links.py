"""Links: nets joined through series two-pad parts (coupling capacitors, series resistors), from end to end.

What joins: a capacitor of 10 pF and more (or without a stated value), a resistor of at most 150 ohm, also one of an
array, an inductor or ferrite whose value says 0 ohm, a net tie or bridged jumper, a common-mode choke between two
pairs, and two other parts alike in both traces of a pair. What never joins: a part that is not fitted, a part to a rail
or to ground (pull-ups, bypasses, diodes), a part across a pair (terminations), other parts with more than two pads.

A link ends at the first net on which a chip or connector sits: a chip between two coupling capacitors is the end of two
links, as it is with parts fitted one way or the other. Hence a net may be on more than one link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field
from functools import cached_property
from itertools import pairwise

import numpy as np

from stackup_lib.board.board import Board, Flags, Floats, Ints
from stackup_lib.board.references import reference_kind
from stackup_lib.core.record import entity, record
from stackup_lib.core.stopwatch import timed
from stackup_lib.nets.chokes import with_chokes
from stackup_lib.nets.diff_pairs import UNCONNECTED, Pairs, find_pairs
from stackup_lib.nets.pad_roles import PadRole, pad_roles
from stackup_lib.nets.power_nets import Rails, find_rails
from stackup_lib.nets.routing.route_contacts import graphs_of
from stackup_lib.nets.routing.route_graph import Graph
from stackup_lib.nets.routing.routes import Route, route_of
from stackup_lib.nets.series import (
    NEVER_THROUGH,
    Chain,
    SeriesJoins,
    branch_nets,
    chains,
    find_series_joins,
    joined_by,
    why_not,
)
from stackup_lib.nets.two_pin_parts import (
    NO_SERIES_PART,
    OPEN_REASONS,
    PartKind,
    TwoTerminalParts,
    find_two_pads,
    reference_key,
)

__all__ = ["Link", "LinkPad", "Links", "PadRole", "Refused", "Route", "SeriesPart", "find_links", "route_of"]


@record
class LinkPad:
    """A pad on a link; `row` is an index into `Board.pads`."""

    row: int
    net: int
    reference: str
    number: str
    role: PadRole

    @property
    def name(self) -> str:
        """Reference and pad number: `U1.A7`."""
        return f"{self.reference}.{self.number}" if self.number else self.reference


@record
class SeriesPart:
    """A part between two nets of a link.

    Attributes:
        reference, value: as on the board.
        kind: capacitor, resistor ...
        footprint: index into `Board.footprints`.
        pads: its pads toward the start and the end of the link, indices into `Board.pads`.
    """

    reference: str
    value: str
    kind: PartKind
    footprint: int
    pads: tuple[int, int]


@record
class Refused:
    """A two-pad part on a net that does not join it to `net` (an index into `Board.nets`), and why."""

    reference: str
    value: str
    net: int
    why: str

    @property
    def may_lead_on(self) -> bool:
        """Tell whether it may pass a signal on nevertheless: nothing says what it is, or of which value."""
        is_end = self.why == NO_SERIES_PART and reference_kind(self.reference) in NEVER_THROUGH
        return self.why in OPEN_REASONS and not is_end


@record
class Link:
    """Nets in order, from end to end.

    Attributes:
        index: its row in `Links`.
        nets: indices into `Board.nets`, from one end to the other; chips before connectors, then by reference.
        parts: between each net and the next; several where they lie side by side.
        ends: pads of parts that send or receive (chips, connectors), in the order of the nets.
        taps: pads that no signal passes: protection, pull-ups, bypasses, test points.
        length_mm_by_layer: copper layer -> all that is routed on it, branches too.
        via_count: vias on all its nets.
        notes: what is doubtful about it, a sentence each.
    """

    index: int
    nets: tuple[int, ...]
    parts: tuple[tuple[SeriesPart, ...], ...]
    ends: tuple[LinkPad, ...]
    taps: tuple[LinkPad, ...]
    length_mm_by_layer: Mapping[int, float]
    via_count: int
    notes: tuple[str, ...] = ()

    @property
    def length_mm(self) -> float:
        """All that is routed, branches too; the length from end to end is that of its routes."""
        return sum(self.length_mm_by_layer.values())


_RouteKey = tuple[int, tuple[int, ...], tuple[int, ...]]


@entity
class Links:
    """The links of a board; every net that is no rail and not unconnected is in one at least.

    Attributes:
        chains: link -> its nets in order.
        rows_of_net: net -> the links that it is part of; rails and unconnected pins are absent.
        joints: (net, net) in ascending order -> rows of `parts` that join them.
        branch_nets: nets without an end at which more than two series parts meet.
        pad_role: `PadRole` of every pad of the board.
        net_length_mm: routed length, shape (nets, copper layers).
        net_vias: number of vias per net.
    """

    board: Board
    pairs: Pairs
    rails: Rails
    parts: TwoTerminalParts
    chains: tuple[Chain, ...]
    rows_of_net: Mapping[int, tuple[int, ...]]
    joints: SeriesJoins
    branch_nets: frozenset[int]
    pad_role: Flags
    net_length_mm: Floats
    net_vias: Ints
    _links: dict[int, Link] = field(default_factory=dict, repr=False, compare=False)
    _routes: dict[_RouteKey, Route] = field(default_factory=dict, repr=False, compare=False)
    _graphs: dict[int, Graph] = field(default_factory=dict, repr=False, compare=False)
    _complements: dict[int, int | None] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.chains)

    def of(self, net: int) -> tuple[Link, ...]:
        """Return the links that a net is part of: mostly one; none for a rail, an unconnected pin and net 0."""
        return tuple(self.link(row) for row in self.rows_of_net.get(net, ()))

    def of_nets(self, nets: Iterable[int]) -> tuple[Link, ...]:
        """Return the links that any of the nets are part of, each once, in order."""
        rows = {row for net in nets for row in self.rows_of_net.get(net, ())}
        return tuple(self.link(row) for row in sorted(rows))

    def link(self, row: int) -> Link:
        """Return one link by its row."""
        if row not in self._links:
            self._links[row] = _link(self, row)
        return self._links[row]

    def complement_of(self, link: Link) -> Link | None:
        """Return the other link of a differential pair: the one with most of the complements of its nets."""
        row = self.complement_row(link.index)
        return None if row is None else self.link(row)

    def complement_row(self, row: int) -> int | None:
        """Return the link that holds most of the complements of a link's nets; None where none or several do."""
        if row not in self._complements:
            self._complements[row] = self._complement_row(row)
        return self._complements[row]

    def _complement_row(self, row: int) -> int | None:
        nets, met = self.chains[row], dict[int, int]()
        for complement_net in (self.pairs.complement_of(net) for net in nets):
            for other in self.rows_of_net.get(complement_net, ()) if complement_net is not None else ():
                met[other] = met.get(other, 0) + 1
        met.pop(row, None)
        parts = self._end_parts(row)
        rank = {
            other: (count, len(self.chains[other]) == len(nets), self._end_parts(other) == parts)
            for other, count in met.items()
        }
        best = [other for other in rank if rank[other] == max(rank.values())]
        return best[0] if len(best) == 1 else None

    def _end_parts(self, row: int) -> set[int]:
        pads = [pad for net in self.chains[row] for pad in self._pads_of_net.get(net, [])]
        return {int(self.board.pads.footprint[pad]) for pad in pads if self.pad_role[pad] == PadRole.END}

    def route(self, net: int) -> Route:
        """Return how a whole net runs between its ends; see `route_of`."""
        return self._route(net, (), ())

    def routes(self, link: Link, between: Sequence[int] = ()) -> tuple[Route, ...]:
        """Return how the link runs over each of its nets, in order: from its end to the part, from part to part ...

        Args:
            link: the link.
            between: the parts at its two ends, as indices into `Board.footprints`, where it leads to more than two.
        """
        part_of, found = self.board.pads.footprint, []
        if len(link.nets) == 1 and between:
            first, last = (tuple(pad.row for pad in link.ends if part_of[pad.row] == one) for one in between)
            return (self._route(link.nets[0], first, last),)
        for k, net in enumerate(link.nets):
            ends = tuple(
                pad.row for pad in link.ends if pad.net == net and (not between or part_of[pad.row] in between)
            )
            before = tuple(part.pads[1] for part in link.parts[k - 1]) if k else ends
            behind = tuple(part.pads[0] for part in link.parts[k]) if k < len(link.parts) else ends
            found.append(self._route(net, before, behind) if len(link.nets) > 1 else self.route(net))
        return tuple(found)

    def _route(self, net: int, starts: tuple[int, ...], ends: tuple[int, ...]) -> Route:
        key = (net, starts, ends)
        if key not in self._routes:
            taps = [row for row in self._pads_of_net.get(net, []) if self._is_tap[row]]
            graph = self._graphs.pop(net, None)
            self._routes[key] = route_of(self.board, net, taps, starts=starts, ends=ends, graph=graph)
        return self._routes[key]

    def prepare(self, links: Iterable[Link]) -> None:
        """Find out what touches what on the nets of links whose routes are needed, all in one go."""
        known = {net for net, _, _ in self._routes}
        nets = sorted({net for link in links for net in link.nets}.difference(known))
        self._graphs.update(zip(nets, graphs_of(self.board, nets), strict=True))

    def pads_of(self, net: int) -> tuple[LinkPad, ...]:
        """Return the pads of a net: chips before connectors, then by reference and number."""
        pads, references = self.board.pads, self.board.footprints.reference
        found = (
            LinkPad(
                row=row,
                net=net,
                reference=str(references[pads.footprint[row]]),
                number=str(pads.number[row]),
                role=PadRole(int(self.pad_role[row])),
            )
            for row in self._pads_of_net.get(net, [])
        )
        return tuple(
            sorted(found, key=lambda pad: (reference_key(pad.reference), len(pad.number), pad.number, pad.row))
        )

    def refused(self, net: int) -> tuple[Refused, ...]:
        """Return the two-pad parts on a net through which no link goes, and why."""
        found, parts = [], self.parts
        for row in np.nonzero((parts.first_net == net) | (parts.second_net == net))[0].tolist():
            first, second = int(parts.first_net[row]), int(parts.second_net[row])
            if row in joined_by(self.joints, first, second):
                continue
            reference, value = _named(self, row)
            why = why_not(self.board, self.pairs, self.rails, parts, row) or "half of a termination between a pair"
            found.append(Refused(reference=reference, value=value, net=second if first == net else first, why=why))
        return tuple(found)

    @cached_property
    def _is_tap(self) -> list[bool]:
        return [role >= PadRole.SHUNT for role in np.asarray(self.pad_role).tolist()]

    @cached_property
    def _pads_of_net(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for row, net in enumerate(self.board.pads.net.tolist()):
            found.setdefault(net, []).append(row)
        return found


@timed("links")
def find_links(
    board: Board, pairs: Pairs | None = None, *, with_fills: bool = True, signals: Set[int] = frozenset()
) -> Links:
    """Return the links of a board. Lengths in mm; costs tens of milliseconds on a board of thousands of nets.

    Args:
        board: the board.
        pairs: its differential pairs, where they are known already.
        with_fills: stored fills tell rails; without them nothing depends on whether they are stale.
        signals: nets that are no rails for the voltage in front of their names alone.
    """
    pairs = pairs if pairs is not None else find_pairs(board)
    parts = find_two_pads(board)
    rails = find_rails(board, parts, pairs, with_fills=with_fills, signals=signals)
    parts = with_chokes(parts, board, pairs, rails.grounds)
    joints = find_series_joins(board, pairs, rails, parts)
    series = np.array([row for rows in joints.values() for row in rows], dtype=np.int64)
    roles = pad_roles(board, rails, parts, series)
    end_parts = _ending_parts(board, roles)
    named = (n for n, name in enumerate(board.nets) if name and not name.startswith(UNCONNECTED))
    found = _positive_first(chains([n for n in named if not rails.is_rail(n)], joints, end_parts), pairs)
    rows_of_net: dict[int, tuple[int, ...]] = {}
    for row, chain in enumerate(found):
        for net in chain:
            rows_of_net[net] = (*rows_of_net.get(net, ()), row)
    return Links(
        board=board,
        pairs=pairs,
        rails=rails,
        parts=parts,
        chains=found,
        rows_of_net=rows_of_net,
        joints=joints,
        branch_nets=frozenset(branch_nets(joints, end_parts)),
        pad_role=roles,
        net_length_mm=_net_lengths(board),
        net_vias=np.asarray(np.bincount(board.vias.net, minlength=len(board.nets)), dtype=np.int64),
    )


def _positive_first(found: tuple[Chain, ...], pairs: Pairs) -> tuple[Chain, ...]:
    """Put the positive trace of a pair before the negative one: nets are numbered as the file happens to name them."""
    negative = set(pairs.negative.tolist())

    def order(chain: Chain) -> tuple[int, bool]:
        complements = [
            complement_net for complement_net in map(pairs.complement_of, chain) if complement_net is not None
        ]
        return min([*chain, *complements]), not negative.isdisjoint(chain)

    return tuple(sorted(found, key=order))


def _ending_parts(board: Board, roles: Flags) -> dict[int, set[int]]:
    """Net -> ranks of the parts that end it; chips come before connectors, then by reference."""
    references = board.footprints.reference.tolist()
    order = sorted(range(len(references)), key=lambda k: (reference_key(references[k]), k))
    rank = {footprint: place for place, footprint in enumerate(order)}
    end_parts: dict[int, set[int]] = {}
    ends = np.nonzero(roles == PadRole.END)[0]
    for net, footprint in zip(board.pads.net[ends].tolist(), board.pads.footprint[ends].tolist(), strict=True):
        end_parts.setdefault(net, set()).add(rank[footprint])
    return end_parts


def _net_lengths(board: Board) -> Floats:
    """Return the routed length of each net on each copper layer."""
    tracks, layers = board.tracks, max(board.layer_count, 1)
    rows = np.nonzero(tracks.layer >= 0)[0]
    cell = tracks.net[rows] * layers + tracks.layer[rows]
    lengths = np.bincount(cell, tracks.length_mm[rows], len(board.nets) * layers)
    return np.asarray(lengths.reshape(len(board.nets), layers), dtype=np.float64)


def _named(links: Links, row: int) -> tuple[str, str]:
    footprint = links.parts.footprint[row]
    return str(links.board.footprints.reference[footprint]), str(links.board.footprints.value[footprint])


def _link(links: Links, row: int) -> Link:
    nets = links.chains[row]
    lengths = links.net_length_mm[list(nets)].sum(axis=0)
    pads = [pad for net in nets for pad in links.pads_of(net)]
    return Link(
        index=row,
        nets=nets,
        parts=tuple(_parts_between(links, first, second) for first, second in pairwise(nets)),
        ends=tuple(pad for pad in pads if pad.role is PadRole.END),
        taps=tuple(pad for pad in pads if pad.role in (PadRole.SHUNT, PadRole.TEST)),
        length_mm_by_layer={int(k): float(lengths[k]) for k in np.nonzero(lengths)[0]},
        via_count=int(links.net_vias[list(nets)].sum()),
        notes=tuple(_notes(links, row)),
    )


def _parts_between(links: Links, first: int, second: int) -> tuple[SeriesPart, ...]:
    found, parts = [], links.parts
    for row in joined_by(links.joints, first, second):
        reference, value = _named(links, row)
        pads = int(parts.first_pad[row]), int(parts.second_pad[row])
        found.append(
            SeriesPart(
                reference=reference,
                value=value,
                kind=PartKind(int(parts.kind[row])),
                footprint=int(parts.footprint[row]),
                pads=pads if parts.first_net[row] == first else pads[::-1],
            )
        )
    return tuple(found)


def _notes(links: Links, row: int) -> Iterable[str]:
    nets, names = links.chains[row], links.board.nets
    for net in (net for net in nets if net in links.branch_nets):
        yield f"more than two series parts meet at {names[net]}: which way the signal goes is not known"
    if any(links.pairs.complement_of(net) in nets for net in nets):
        yield "both nets of a pair are in this one link"
        return
    complement_net = links.complement_row(row)
    if complement_net is not None:
        complements = links.chains[complement_net]
        if _kinds(links, nets) not in (_kinds(links, complements), _kinds(links, complements)[::-1]):
            yield f"its series parts differ from those of its complement {names[complements[0]]}"
    elif len(nets) > 1 and any(links.pairs.complement_of(net) is not None for net in nets):
        yield "its nets pair with nets of several links"


def _kinds(links: Links, nets: Chain) -> list[list[tuple[int, str]]]:
    """Return kind and value of the parts between each net and the next."""
    rows = (joined_by(links.joints, first, second) for first, second in pairwise(nets))
    return [sorted((int(links.parts.kind[row]), _named(links, row)[1]) for row in between) for between in rows]
