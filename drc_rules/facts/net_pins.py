"""What the pins of connectors, modules and chips say about nets whose names say nothing: evidence, weighed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property, lru_cache

import numpy as np

from drc_rules.requirements.interfaces.load import families, family
from drc_rules.requirements.interfaces.names import ASIDE, LONGEST, family_by_name, is_sideband
from drc_rules.requirements.parts import KnownPart, known_part, part_by_ties
from stackup_lib.board.board import Board
from stackup_lib.core.record import entity, record
from stackup_lib.nets.chokes import across_chokes
from stackup_lib.nets.flow_through import across_protection
from stackup_lib.nets.links import Links, PadRole

NAME, KNOWN_PIN, ALSO_PIN, CHIP_PIN, GENERAL_PIN = 3.0, 2.0, 1.5, 1.0, 0.5
"""Weights: a name in series, a pin of a known part, what that pin may carry too, a chip's pin name read as a net name,
a pin for any use.

They only order the evidence: names before connectors, connectors before chips; a chip that agrees with what a connector
may carry too decides against what it usually carries.
"""

_NOT_FROM_CHIPS = ("ethernet-serdes", *ASIDE)
"""Pins of programmable transceivers read as the first, whatever runs on them; a clock has its own target."""

MOST_TIED = 40
"""A part with more pads is no socket: the balls of a chip are numbered alike."""

_MARKUP = re.compile(r"[~_^]?\{([^{}]*)\}")
_NUMBERED = re.compile(r"(?:PIN|PAD|P)?[_ ]?\d*")


@record
class PinReading:
    """What one pin says.

    Attributes:
        pad: `J1.A7`.
        part: `J1 (USB-C connector)`, or the reference and value of a chip.
        pin: name of the symbol's pin, or `pad A7` where it has none.
        family: id of the family that it reads as.
        also: families that it may carry too.
        known: True for a part in `requirements/parts`, on pins that have no other use.
    """

    pad: str
    part: str
    pin: str
    family: str
    also: tuple[str, ...]
    known: bool


Votes = Mapping[str, float]


@entity
class PinEvidence:
    """Readings of the pins of a board, and what follows for each net together with its series parts.

    Attributes:
        named: net -> family that class or name have decided already.
    """

    board: Board
    links: Links
    named: Mapping[int, str]
    readings: Mapping[int, tuple[PinReading, ...]]
    _winner: dict[int, str | None] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def across(self) -> Mapping[int, tuple[int, ...]]:
        """Net -> the nets on the other side of a common-mode choke or a protection part."""
        board, links = self.board, self.links
        both = (across_chokes(board, links.pairs, links.rails.grounds), across_protection(board))
        return {net: tuple(one[net] for one in both if net in one) for net in {*both[0], *both[1]}}

    def on_link(self, net: int) -> tuple[PinReading, ...]:
        """Return the readings of a net and of the nets that series parts join it to."""
        return tuple(reading for one in self._joined(net) for reading in self.readings.get(one, ()))

    def votes(self, net: int) -> Votes:
        """Return the summed weight by family."""
        found: dict[str, float] = {}
        for one in self._joined(net):
            if one in self.named and one != net and not family(self.named[one]).single_ended:
                found[self.named[one]] = found.get(self.named[one], 0.0) + NAME
        for reading in self.on_link(net):
            weight = KNOWN_PIN if reading.known else CHIP_PIN
            weight = GENERAL_PIN if family(reading.family).general else weight
            found[reading.family] = found.get(reading.family, 0.0) + weight
            for other in reading.also:
                found[other] = found.get(other, 0.0) + ALSO_PIN
        return found

    def winner(self, net: int) -> str | None:
        """Return the family with most weight; None for none, and where two have as much."""
        if net not in self._winner:
            ranked = sorted(self.votes(net).items(), key=lambda vote: -vote[1])
            clear = bool(ranked) and (len(ranked) == 1 or ranked[0][1] > ranked[1][1])
            self._winner[net] = ranked[0][0] if clear else None
        return self._winner[net]

    def family_of(self, net: int) -> str | None:
        """Return the family of a net; a family of pairs needs the other half of the pair to read alike."""
        won = self.winner(net)
        if won is None or is_sideband(self.board.nets[net], family(won)):
            return None
        if family(won).single_ended:
            return won
        halves = self._other_half(net)
        return won if any(self.named.get(half) == won or self.winner(half) == won for half in halves) else None

    def why(self, net: int) -> str:
        """Return the evidence for the family, as text."""
        won = self.winner(net)
        parts = list(dict.fromkeys(r.part for r in self.on_link(net) if won == r.family or won in r.also))
        if parts:
            return f"pins of {' and '.join(parts[:2])}"
        return "series parts to nets whose names"

    def held_apart(self, net: int, taken: str) -> bool:
        """True where pins or names in series say that a net of a class is of a family that such a class often holds."""
        known = [reading for reading in self.on_link(net) if reading.known]
        if any(taken in (reading.family, *reading.also) for reading in known):
            return False
        told = {reading.family for reading in known} | {self.named.get(one) for one in self._joined(net)}
        return not told.isdisjoint(family(taken).class_holds)

    def conflict(self, net: int, taken: str) -> PinReading | None:
        """Return a pin of a known part that contradicts the assignment of a net."""
        readings = self.readings.get(net, ())
        known = [reading for reading in readings if reading.known and not family(reading.family).general]
        if any(taken in (reading.family, *reading.also) for reading in known):
            return None
        return known[0] if known else None

    def _joined(self, net: int) -> tuple[int, ...]:
        near = self._chained(net)
        far = (one for here in near for there in self.across.get(here, ()) for one in self._chained(there))
        return tuple(dict.fromkeys([*near, *far]))

    def _chained(self, net: int) -> tuple[int, ...]:
        rows = self.links.rows_of_net.get(net, ())
        return (net, *(one for row in rows for one in self.links.chains[row]))

    def _other_half(self, net: int) -> Iterable[int]:
        complement = self.links.pairs.complement_of(net)
        if complement is not None:
            return (complement,)
        rows = (self.links.complement_row(row) for row in self.links.rows_of_net.get(net, ()))
        return tuple(one for row in rows if row is not None for one in self.links.chains[row])


def pin_evidence(board: Board, links: Links, named: Mapping[int, str]) -> PinEvidence:
    """Return what the pins of a board say; pads that only hang on a net, and pads of rails, say nothing."""
    pads, parts, found = board.pads, board.footprints, dict[int, list[PinReading]]()
    tied = _known_by_ties(board)
    rows = np.nonzero((links.pad_role == PadRole.END) & (pads.net > 0))[0]
    columns = (pads.net[rows], pads.footprint[rows], pads.number[rows], pads.function[rows])
    for net, part, number, function in zip(*(column.tolist() for column in columns), strict=True):
        if net not in links.rows_of_net:
            continue
        reference, value = str(parts.reference[part]), str(parts.value[part])
        read = pin_reader(reference, str(parts.library_id[part]), value, tied.get(part))(number, function)
        if read is not None and read not in found.setdefault(net, []):
            found[net].append(read)
    readings = {net: tuple(said) for net, said in found.items()}
    return PinEvidence(board, links, named, readings)


def _known_by_ties(board: Board) -> Mapping[int, KnownPart]:
    """Return the kind of each part that the nets of its pads tell, by row of `Board.footprints`."""
    nets: dict[int, dict[str, int]] = {}
    columns = (board.pads.net, board.pads.footprint, board.pads.number)
    for net, part, number in zip(*(column.tolist() for column in columns), strict=True):
        if net > 0 and number:
            nets.setdefault(part, {})[number] = net
    found = ((part, part_by_ties(on)) for part, on in nets.items() if len(on) <= MOST_TIED)
    return {part: known for part, known in found if known is not None}


@lru_cache(maxsize=4096)
def pin_reader(
    reference: str, library_id: str, value: str, tied: KnownPart | None = None
) -> Callable[[str, str], PinReading | None]:
    """Return what reads the pins of one part: by its table where the part is known, else by the names of its pins."""
    part = known_part(library_id, value) or tied

    def read(number: str, function: str) -> PinReading | None:
        name = _MARKUP.sub(r"\1", function)[:LONGEST].upper()
        name = "" if _NUMBERED.fullmatch(name) else name
        pad, pin = f"{reference}.{number}", name or f"pad {number}"
        group = part.group_of(name, number) if part else None
        if part and group is None and name == number.upper():
            group = part.group_of("", number)  # a symbol that calls pins by their pads has no names
        if part and group:
            return PinReading(pad, f"{reference} ({part.title})", pin, group.family, group.also, not group.shared)
        of = _family_of_chip_pin(function) if name else None
        return PinReading(pad, f"{reference} ({value})", pin, of, (), known=False) if of else None

    return read


@lru_cache(maxsize=65536)
def _family_of_chip_pin(function: str) -> str | None:
    """Return the family that a pin's name reads as; None where its alternative functions read differently."""
    read = {family_by_name(name) for name in function.split("/")} - {None}
    found = next(iter(read)) if len(read) == 1 else None
    if found is None or found in _NOT_FROM_CHIPS:
        return None
    name = _MARKUP.sub(r"\1", function)[:LONGEST].upper()
    return None if _names_another(name, found) else found


def _names_another(name: str, found: str) -> bool:
    """True for a pin of several uses, `DP2_D0_HDMI_D2_N`: another family's word stands elsewhere in its name."""
    own = [span for pattern in family(found).pattern if (span := re.search(pattern.head, name))]
    others = (one for one in families() if one.id not in (found, *ASIDE))
    spans = (span for one in others for pattern in one.pattern if (span := re.search(pattern.head, name)))
    return any(all(span.end() <= mine.start() or span.start() >= mine.end() for mine in own) for span in spans)
