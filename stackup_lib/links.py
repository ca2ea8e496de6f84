"""Links: nets joined through series two-pad parts (coupling capacitors, series resistors), from end to end.

What joins: a capacitor of 10 pF and more (or without a stated value), a resistor of at most 150 ohm, an inductor or
ferrite whose value says 0 ohm. What never joins: a part that is not fitted, a part to a rail or to ground (pull-ups,
bypasses, diodes), a part across a pair (terminations), a part with more than two pads. Where more than two such parts
meet, nobody knows which way the signal goes: nothing joins there, and the link says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from stackup_lib.board import Board, Flags, Floats, Ints
from stackup_lib.frozen import Frozen
from stackup_lib.pairs import UNCONNECTED, Pairs, find_pairs
from stackup_lib.rails import Rails, RailSign, find_rails
from stackup_lib.routes import Route, route_of
from stackup_lib.two_pads import PartKind, TwoPads, find_two_pads, refusal

__all__ = ["Link", "LinkPad", "Links", "PadRole", "Refused", "Route", "SeriesPart", "find_links", "route_of"]

NO_LINK = -1
MOST_WAYS = 2
"""Series parts of different far nets that may meet on one net: in and out."""

_LETTERS = re.compile(r"[A-Za-z]*")
_PROTECTS = re.compile(r"(?:^|[^A-Z])(?:ESD|TVS)|PROTECT", re.IGNORECASE)


DIODES = ("D", "TVS", "ESD", "LED")
"""Letters of references of parts that protect or show something."""


class PadRole(IntEnum):
    """What a pad is to its link."""

    END = 0
    SERIES = 1
    SHUNT = 2
    TEST = 3


class LinkPad(Frozen):
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


class SeriesPart(Frozen):
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


class Refused(Frozen):
    """A two-pad part on a net that does not join it to `net` (an index into `Board.nets`), and why."""

    reference: str
    value: str
    net: int
    why: str


class Link(Frozen):
    """Nets in order, from end to end.

    Attributes:
        index: its row in `Links`.
        nets: indices into `Board.nets`, from one end to the other; the end whose part comes first in the file leads.
        parts: between each net and the next; several where they lie side by side.
        ends: pads of parts that send or receive (chips, connectors), in the order of the nets.
        taps: pads that only hang on: protection, pull-ups, bypasses, test points.
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


@dataclass(frozen=True)
class Links:
    """The links of a board; every net that is no rail and not unconnected is in exactly one.

    Attributes:
        chains: link -> its nets in order.
        link_of_net: one per net of the board, `NO_LINK` for rails, unconnected pins and net 0.
        joints: (net, net) in ascending order -> rows of `parts` that join them.
        crossroads: nets at which more than two series parts meet.
        pad_role: `PadRole` of every pad of the board.
        net_length_mm: routed length, shape (nets, copper layers).
        net_vias: number of vias per net.
    """

    board: Board
    pairs: Pairs
    rails: Rails
    parts: TwoPads
    chains: tuple[tuple[int, ...], ...]
    link_of_net: Ints
    joints: Mapping[tuple[int, int], tuple[int, ...]]
    crossroads: frozenset[int]
    pad_role: Flags
    net_length_mm: Floats
    net_vias: Ints
    _links: dict[int, Link] = field(default_factory=dict, repr=False, compare=False)
    _routes: dict[int, Route] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.chains)

    def of(self, net: int) -> Link | None:
        """Return the link that a net is part of; None for a rail, an unconnected pin and net 0."""
        row = int(self.link_of_net[net])
        return None if row == NO_LINK else self.link(row)

    def of_nets(self, nets: Iterable[int]) -> tuple[Link, ...]:
        """Return the links that any of the nets are part of, each once, in order."""
        rows = sorted({int(self.link_of_net[net]) for net in nets} - {NO_LINK})
        return tuple(self.link(row) for row in rows)

    def link(self, row: int) -> Link:
        """Return one link by its row."""
        if row not in self._links:
            self._links[row] = _link(self, row)
        return self._links[row]

    def partner_of(self, link: Link) -> Link | None:
        """Return the other link of a differential pair; None when its nets pair with none, or with several links."""
        rows = self.partner_rows(link.index)
        return self.link(next(iter(rows))) if len(rows) == 1 else None

    def partner_rows(self, row: int) -> set[int]:
        """Return the links that hold the partners of a link's nets."""
        mates = (self.pairs.partner_of(net) for net in self.chains[row])
        return {int(self.link_of_net[mate]) for mate in mates if mate is not None} - {NO_LINK}

    def route(self, net: int) -> Route:
        """Return how a net runs between its ends and series parts; see `route_of`."""
        if net not in self._routes:
            rows = self._pads_of_net.get(net, [])
            self._routes[net] = route_of(self.board, net, [r for r in rows if self.pad_role[r] >= PadRole.SHUNT])
        return self._routes[net]

    def routes(self, link: Link) -> tuple[Route, ...]:
        """Return the routes of a link's nets, in order."""
        return tuple(self.route(net) for net in link.nets)

    def pads_of(self, net: int) -> tuple[LinkPad, ...]:
        """Return the pads of a net, in the order of the file."""
        pads, references = self.board.pads, self.board.footprints.reference
        return tuple(
            LinkPad(
                row=row,
                net=net,
                reference=str(references[pads.footprint[row]]),
                number=str(pads.number[row]),
                role=PadRole(int(self.pad_role[row])),
            )
            for row in self._pads_of_net.get(net, [])
        )

    def refused(self, net: int) -> tuple[Refused, ...]:
        """Return the two-pad parts on a net through which its link does not go, and why."""
        found = []
        for row in np.nonzero((self.parts.first_net == net) | (self.parts.second_net == net))[0].tolist():
            first, second = int(self.parts.first_net[row]), int(self.parts.second_net[row])
            other = second if first == net else first
            if row in self.joints.get((min(first, second), max(first, second)), ()):
                continue
            reference, value = _named(self.board, self.parts, row)
            why = _why_not(self.board, self.pairs, self.rails, self.parts, row)
            why = why or "more than two series parts meet here"
            found.append(Refused(reference=reference, value=value, net=other, why=why))
        return tuple(found)

    @cached_property
    def _pads_of_net(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for row, net in enumerate(self.board.pads.net.tolist()):
            found.setdefault(net, []).append(row)
        return found


def find_links(board: Board, pairs: Pairs | None = None) -> Links:
    """Return the links of a board. Lengths in mm; costs tens of milliseconds on a board of thousands of nets.

    Args:
        board: the board.
        pairs: its differential pairs, where they are known already.
    """
    pairs = pairs if pairs is not None else find_pairs(board)
    parts = find_two_pads(board)
    rails = find_rails(board, parts)
    joints, crossroads = _joints(board, pairs, rails, parts)
    roles = _pad_roles(board, rails, parts, joints)
    nets = [n for n, name in enumerate(board.nets) if name and not name.startswith(UNCONNECTED)]
    chains = _chains([n for n in nets if not rails.is_rail(n)], joints, _first_part(board, roles))
    link_of_net = np.full(len(board.nets), NO_LINK, dtype=np.int64)
    for row, chain in enumerate(chains):
        link_of_net[list(chain)] = row
    tracks, layers = board.tracks, max(board.layer_count, 1)
    on_layer = np.nonzero(tracks.layer >= 0)[0]
    cell = tracks.net[on_layer] * layers + tracks.layer[on_layer]
    lengths = np.bincount(cell, tracks.length_mm[on_layer], len(board.nets) * layers)
    return Links(
        board=board,
        pairs=pairs,
        rails=rails,
        parts=parts,
        chains=chains,
        link_of_net=link_of_net,
        joints=joints,
        crossroads=crossroads,
        pad_role=roles,
        net_length_mm=np.asarray(lengths.reshape(len(board.nets), layers), dtype=np.float64),
        net_vias=np.asarray(np.bincount(board.vias.net, minlength=len(board.nets)), dtype=np.int64),
    )


def _named(board: Board, parts: TwoPads, row: int) -> tuple[str, str]:
    footprint = parts.footprint[row]
    return str(board.footprints.reference[footprint]), str(board.footprints.value[footprint])


def _why_not(board: Board, pairs: Pairs, rails: Rails, parts: TwoPads, row: int) -> str:
    """Return why a two-pad part does not join its nets; "" when it may."""
    first, second = int(parts.first_net[row]), int(parts.second_net[row])
    for net in (first, second):
        if rails.is_ground(net):
            return "to ground"
    for net in (first, second):
        if rails.stops_links(net):
            return f"to {board.nets[net]}, which is taken for a rail" if rails.is_rail(net) else "to a net of many pads"
    if pairs.partner_of(first) == second:
        return "across the pair"
    return refusal(PartKind(int(parts.kind[row])), _named(board, parts, row)[1])


Joints = dict[tuple[int, int], tuple[int, ...]]


def _joints(board: Board, pairs: Pairs, rails: Rails, parts: TwoPads) -> tuple[Joints, frozenset[int]]:
    """Return which parts join which two nets, and the nets where so many meet that none of them does."""
    stops = rails.signs != 0
    between = np.nonzero(~stops[parts.first_net] & ~stops[parts.second_net])[0]
    found: Joints = {}
    ways: dict[int, set[int]] = {}
    for row in between.tolist():
        if not _why_not(board, pairs, rails, parts, row):
            first, second = sorted((int(parts.first_net[row]), int(parts.second_net[row])))
            found[first, second] = (*found.get((first, second), ()), row)
            ways.setdefault(first, set()).add(second)
            ways.setdefault(second, set()).add(first)
    crossroads = frozenset(net for net, far in ways.items() if len(far) > MOST_WAYS)
    return {key: rows for key, rows in found.items() if not crossroads.intersection(key)}, crossroads


def _pad_roles(board: Board, rails: Rails, parts: TwoPads, joints: Joints) -> Flags:
    """Return the role of every pad."""
    pads, footprints = board.pads, board.footprints
    part_role = np.full(len(footprints) + 1, PadRole.END, dtype=np.int8)
    grounded = np.zeros(len(footprints) + 1, dtype=bool)
    grounded[pads.footprint[(rails.signs[pads.net] & RailSign.GROUND) != 0]] = True
    pad_count = np.bincount(pads.footprint[pads.footprint >= 0], minlength=len(footprints))
    part_role[:-1][pad_count == 1] = PadRole.TEST
    for k, reference in enumerate(footprints.reference.tolist()):
        letters = _LETTERS.match(reference)
        word = letters[0].upper() if letters else ""
        if word == "TP":
            part_role[k] = PadRole.TEST
        elif grounded[k] and (word in DIODES or _PROTECTS.search(f"{footprints.value[k]} {footprints.library_id[k]}")):
            part_role[k] = PadRole.SHUNT
    passive = (parts.kind != PartKind.OTHER) | [_is_diode(board, k) for k in parts.footprint.tolist()]
    part_role[parts.footprint[passive]] = PadRole.SHUNT
    series = [row for rows in joints.values() for row in rows]
    part_role[parts.footprint[series]] = PadRole.SERIES
    return part_role[pads.footprint]


def _is_diode(board: Board, footprint: int) -> bool:
    letters = _LETTERS.match(str(board.footprints.reference[footprint]))
    return letters is not None and letters[0].upper() in DIODES


def _first_part(board: Board, roles: Flags) -> Ints:
    """Return the first footprint in the file that ends each net; the number of footprints when none does."""
    first = np.full(len(board.nets), len(board.footprints), dtype=np.int64)
    ends = np.nonzero(roles == PadRole.END)[0]
    np.minimum.at(first, board.pads.net[ends], board.pads.footprint[ends])
    return first


def _chains(nets: list[int], joints: Joints, first_part: Ints) -> tuple[tuple[int, ...], ...]:
    """Return every net once, joined ones in a row; a ring is opened at its lowest net."""
    ways: dict[int, list[int]] = {net: [] for net in nets}
    for one, other in sorted(joints):
        ways[one].append(other)
        ways[other].append(one)
    chains, seen = [], set[int]()
    for net in sorted(nets, key=lambda n: (len(ways[n]) == MOST_WAYS, n)):
        if net in seen:
            continue
        chain = [net]
        seen.add(net)
        while onward := [far for far in ways[chain[-1]] if far not in seen]:
            chain.append(onward[0])
            seen.add(onward[0])
        if (first_part[chain[-1]], chain[-1]) < (first_part[chain[0]], chain[0]):
            chain.reverse()
        chains.append(tuple(chain))
    return tuple(sorted(chains, key=min))


def _link(links: Links, row: int) -> Link:
    nets = links.chains[row]
    steps = list(pairwise(nets))
    lengths = links.net_length_mm[list(nets)].sum(axis=0)
    pads = [pad for net in nets for pad in links.pads_of(net)]
    return Link(
        index=row,
        nets=nets,
        parts=tuple(_parts_between(links, first, second) for first, second in steps),
        ends=tuple(pad for pad in pads if pad.role is PadRole.END),
        taps=tuple(pad for pad in pads if pad.role in (PadRole.SHUNT, PadRole.TEST)),
        length_mm_by_layer={int(k): float(lengths[k]) for k in np.nonzero(lengths)[0]},
        via_count=int(links.net_vias[list(nets)].sum()),
        notes=tuple(_notes(links, row)),
    )


def _parts_between(links: Links, first: int, second: int) -> tuple[SeriesPart, ...]:
    found = []
    for row in links.joints[min(first, second), max(first, second)]:
        reference, value = _named(links.board, links.parts, row)
        pads = int(links.parts.first_pad[row]), int(links.parts.second_pad[row])
        found.append(
            SeriesPart(
                reference=reference,
                value=value,
                kind=PartKind(int(links.parts.kind[row])),
                footprint=int(links.parts.footprint[row]),
                pads=pads if links.parts.first_net[row] == first else pads[::-1],
            )
        )
    return tuple(found)


def _notes(links: Links, row: int) -> Iterable[str]:
    nets, names = links.chains[row], links.board.nets
    for net in nets:
        if net in links.crossroads:
            yield f"more than two series parts meet at {names[net]}: the link is not followed through them"
    mates = links.partner_rows(row)
    if len(mates) > 1:
        yield "its nets pair with nets of different links"
    elif mates and row not in mates:
        mate = links.chains[mates.pop()]
        if _kinds(links, nets) not in (_kinds(links, mate), _kinds(links, mate)[::-1]):
            yield f"its series parts are not those of its partner {names[mate[0]]}"
    elif mates:
        yield "both nets of a pair are in this one link"


def _kinds(links: Links, nets: tuple[int, ...]) -> list[list[tuple[int, str]]]:
    """Return kind and value of the parts between each net and the next."""
    found = []
    for first, second in pairwise(nets):
        rows = links.joints[min(first, second), max(first, second)]
        found.append(sorted((int(links.parts.kind[row]), _named(links.board, links.parts, row)[1]) for row in rows))
    return found
