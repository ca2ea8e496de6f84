"""Which link a reference clock serves: its impedance is that of the lanes that it is routed with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property

import numpy as np

from drc_rules.facts.net_interfaces import Assignment
from drc_rules.requirements.interfaces import families, family
from stackup_lib.board.board import Board, Ints
from stackup_lib.core.arrays import are_among, distinct
from stackup_lib.core.record import record
from stackup_lib.nets.diff_pairs import Pairs

CLOCK = "reference-clock"
_ANY_LANE = r"SERDES|XCVR|UPHY|MGT[A-Z]*|GT[HYMXP]"
"""Words of transceivers, which serve lanes of any family."""


@cache
def _names_of_families() -> tuple[tuple[str, re.Pattern[str]], ...]:
    serial = [of for of in families() if of.fast and not of.single_ended and of.class_words]
    return tuple((of.id, re.compile(rf"(?<![A-Z0-9])(?:{'|'.join(of.class_words)})(?![A-Z])")) for of in serial)


def family_named(net: str) -> str | None:
    """Return the high-speed family that a clock's name or sheet gives, e.g. `/M2_A/PCIE_REFCLK_P`, or None."""
    text = re.sub(_ANY_LANE, "", net.upper()[-160:])
    found = {of for of, words in _names_of_families() if words.search(text)}
    return found.pop() if len(found) == 1 else None


@record
class ClockLinks:
    """The fast lanes of a board, and which of them a clock may serve."""

    board: Board
    assignment: Assignment
    pairs: Pairs

    @cached_property
    def lanes(self) -> Mapping[str, Ints]:
        """Paired nets of each fast serial family, of families that the board has."""
        paired = self.pairs.complement_of_net >= 0
        serial = [of.id for of in families() if of.fast and not of.single_ended]
        found = {of: (nets := self.assignment.nets_of(of))[paired[nets]] for of in serial}
        return {of: nets for of, nets in found.items() if len(nets)}

    def served(self, clock: int) -> Iterator[Sequence[int]]:
        """Yield the lanes that a clock may serve, the surest choice first; each choice is of one family.

        By name and part, by name, by part, by sheet, and the only high-speed family of the board. A part on which
        several families end, such as a processor, tells nothing.
        """
        nets = [clock, *([complement_net] if (complement_net := self.pairs.complement_of(clock)) is not None else [])]
        at_part, on_sheet = self._at_part(nets), self._on_sheet(clock)
        named = family_named(self.board.nets[clock])
        if named is not None and named in self.lanes:
            for chosen in (at_part, on_sheet):
                yield from self._of_family(chosen, named)
            yield self.lanes[named].tolist()
            return
        if named is not None:
            return
        for chosen in (at_part, on_sheet, np.concatenate([*self.lanes.values(), np.zeros(0, dtype=np.int64)])):
            yield from self._of_one_family(chosen)

    def _of_family(self, nets: Ints, of: str) -> Iterator[Sequence[int]]:
        mine = _shared(self.lanes[of], nets).tolist()
        if mine:
            yield mine

    def _of_one_family(self, nets: Ints) -> Iterator[Sequence[int]]:
        present = [of for of, lanes in self.lanes.items() if len(_shared(lanes, nets))]
        if len(present) == 1:
            yield from self._of_family(nets, present[0])

    def _at_part(self, nets: Sequence[int]) -> Ints:
        """Return the lanes at the clock's parts, of those on which lanes of one family alone end."""
        pads = self.board.pads
        found: list[Ints] = []
        for part in distinct(pads.footprint[np.isin(pads.net, nets)]).tolist():
            here = distinct(pads.net[pads.footprint == part])
            of = [lanes for mine in self.lanes.values() if len(lanes := _shared(mine, here))]
            found += of if len(of) == 1 else []
        return distinct(np.concatenate([*found, np.zeros(0, dtype=np.int64)]))

    def _on_sheet(self, clock: int) -> Ints:
        """Return the lanes whose names begin with the clock's sheet; none for a name without one."""
        sheet, slash, _ = self.board.nets[clock].rpartition("/")
        if not slash or not sheet:
            return np.zeros(0, dtype=np.int64)
        every = np.concatenate([*self.lanes.values(), np.zeros(0, dtype=np.int64)]).tolist()
        return np.array([net for net in every if self.board.nets[net].startswith(f"{sheet}/")], dtype=np.int64)

    def title_of(self, lane: int) -> str:
        """Return for whom a lane is: its generation, else its family."""
        role = self.assignment.role_of(lane)
        if role is None:
            return ""
        of = family(role.family)
        return next((one.title for one in of.interfaces if one.id == role.interface), of.title)


def _shared(nets: Ints, others: Ints) -> Ints:
    return nets[are_among(nets, others)]
