"""Connectors, modules and memories that tell from their pins which interface a net belongs to; one TOML per subject."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from drc_rules.requirements.data_files import read_model
from stackup_lib.core.frozen import Frozen

FOLDER = Path(__file__).parent

LONGEST = 160
"""What is longer than this is no name of a part or a pin."""


class PinGroup(Frozen):
    """Pins of a part that belong to one family of interfaces.

    Attributes:
        family: id of the family.
        function: expression for the whole name of the symbol's pin, in capitals.
        numbers: pad numbers, for boards whose file has no pin names; empty where makers number them differently.
        also: families that the same pins may carry, where something else speaks for them.
        shared: the pins have other uses too, so that they say no more than a chip's pin name and contradict nothing.
    """

    family: str
    function: str
    numbers: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    shared: bool = False


class KnownPart(Frozen):
    """A kind of connector, module or chip.

    Attributes:
        title: what it is called in messages.
        match: expression for its footprint's name or its value, in capitals.
        source: where pin names and numbers stand.
        pins: its pins, family by family.
        for_cards: a slot for add-in cards of PCI Express, or the edge of one.
        tied: pads that such a part joins two by two, which tell it where neither footprint nor value does.
        generations: ids of interfaces, each with an expression for the beginning of the part numbers that mean it.
    """

    title: str
    match: str
    source: str
    pins: tuple[PinGroup, ...]
    for_cards: bool = False
    tied: tuple[tuple[str, str], ...] = ()
    generations: tuple[tuple[str, str], ...] = ()

    def group_of(self, function: str, number: str) -> PinGroup | None:
        """Return the group of a pin: by its name in capitals, by its pad number only where it has no name."""
        found = (g for g in self.pins if (re.fullmatch(g.function, function) if function else number in g.numbers))
        return next(found, None)

    def generation_of(self, part_number: str) -> str | None:
        """Return the interface that a part number stands for; None for none or more than one."""
        text = part_number.upper()[:LONGEST]
        found = [one for one, begin in self.generations if re.search(f"(?<![A-Z0-9])(?:{begin})", text)]
        return found[0] if len(found) == 1 else None


class _PartFile(Frozen):
    part: tuple[KnownPart, ...]


@cache
def known_parts() -> tuple[KnownPart, ...]:
    """Return all of them, in the order of their files' names."""
    return tuple(part for path in sorted(FOLDER.glob("*.toml")) for part in read_model(path, _PartFile).part)


@cache
def _tied_parts() -> tuple[KnownPart, ...]:
    return tuple(part for part in known_parts() if part.tied)


@cache
def _any_match() -> re.Pattern[str]:
    """One search that most parts of a board fail at once."""
    return re.compile("|".join(f"(?:{part.match})" for part in known_parts()))


@lru_cache(maxsize=65536)
def known_part(library_id: str, value: str) -> KnownPart | None:
    """Return what a part is by its footprint's name without the library, and its value; None where no row matches."""
    texts = [text.upper()[:LONGEST] for text in (library_id.rpartition(":")[2], value)]
    if not any(map(_any_match().search, texts)):
        return None
    return next((part for part in known_parts() if any(re.search(part.match, text) for text in texts)), None)


def part_by_ties(net_of_pad: Mapping[str, int]) -> KnownPart | None:
    """Return the part whose tied pads share nets, each two a net of their own; None where no part's pads do.

    Args:
        net_of_pad: net index by pad number; pads without a net are left out.
    """
    for part in _tied_parts():
        if not all(number in net_of_pad for two in part.tied for number in two):
            continue
        nets = [{net_of_pad[number] for number in two} for two in part.tied]
        if all(len(two) == 1 for two in nets) and len(set.union(*nets)) == len(nets):
            return part
    return None
