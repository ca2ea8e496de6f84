"""Which generation of its family a net is of, by what names on its board spell out, else by the profile."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile

from drc_rules.requirements.interfaces.load import family, interface
from drc_rules.requirements.interfaces.model import Family, Interface
from drc_rules.requirements.interfaces.names import LONGEST, normalise

_NUMBER = re.compile(r"\d+(?!\d|G)")
"""What may count ports, channels or lanes; behind a rate such as `100G` stands its unit."""

_DIGITS = re.compile(r"\d+")


class SiblingNames:
    """The names of a board's nets, classes or sheets, and which numbers in them only count."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names
        self._counting: dict[tuple[str, str], bool] = {}

    def counts_behind(self, family_id: str, begin: str) -> bool:
        """Return True where the number behind a beginning counts.

        Then two names that differ only in it are there, of which one spells a generation out and the other none:
        `DDR3_DQ0` and `DDR0_DQ0`.
        """
        if (family_id, begin) not in self._counting:
            ends: dict[str, set[bool]] = {}
            for name in self._beginning(begin):
                if number := _DIGITS.match(name, len(begin)):
                    spells = spelled_generation(family_id, name) is not None
                    ends.setdefault(name[number.end() :], set()).add(spells)
            self._counting[family_id, begin] = any(len(found) > 1 for found in ends.values())
        return self._counting[family_id, begin]

    def _beginning(self, begin: str) -> Iterable[str]:
        first = bisect_left(self._in_order, begin)
        return takewhile(lambda name: name.startswith(begin), self._in_order[first:])

    @cached_property
    def _in_order(self) -> list[str]:
        return sorted({name.upper() for name in self._names})


class Generations:
    """What a board's names and its profile say of generations.

    Args:
        nets: names of all nets, as `normalise` returns them.
        classes: names of all net classes.
        sheets: names of all sheets.
        expected: family id -> interface id of the profile.
    """

    def __init__(
        self, nets: Iterable[str], classes: Iterable[str], sheets: Iterable[str], expected: Mapping[str, str]
    ) -> None:
        self._expected = expected
        self._nets, self._classes, self._sheets = SiblingNames(nets), SiblingNames(classes), SiblingNames(sheets)

    def of(
        self, of: Family, *, classes: Sequence[str] = (), net: str = "", sheets: Sequence[str] = ()
    ) -> tuple[str | None, str]:
        """Return the generation and what says so: its only one, a name that spells it out, or the profile.

        In a net's name a single letter before a number, as `PCIE_G3`, is believed less than the profile: processors
        call groups of links so.
        """
        if len(of.interfaces) == 1:
            return of.interfaces[0].id, ""
        name = normalise(net) if net else ""
        texts = (
            *((text, self._classes, True) for text in classes),
            (name, self._nets, False),
            *((text, self._sheets, True) for text in sheets),
        )
        for text, among, loosely in texts:
            if one := self._spelled(of.id, text, among, loosely=loosely):
                return one.id, f"; {spelled_word(one, text)} reads as {one.title}"
        if of.id in self._expected:
            return self._expected[of.id], f"; {interface(self._expected[of.id]).title} from the profile"
        if one := self._spelled(of.id, name, self._nets, loosely=True):
            return one.id, f"; {spelled_word(one, name)} reads as {one.title}"
        return None, ""

    def slower_than_expected(self, of: Family, interface_id: str | None) -> str:
        """Return the title of the profile's generation where another one is slower; "" where it is not."""
        if of.id not in self._expected or interface_id is None:
            return ""
        expected, said = interface(self._expected[of.id]), interface(interface_id)
        return expected.title if (said.nyquist_ghz or 0.0) < (expected.nyquist_ghz or 0.0) else ""

    def in_sheets(self, of: Family, sheets: Sequence[str]) -> bool:
        """Return True where a sheet's name spells a generation out."""
        return any(self._spelled(of.id, sheet, self._sheets, loosely=True) for sheet in sheets)

    def _spelled(self, family_id: str, text: str, among: SiblingNames, *, loosely: bool) -> Interface | None:
        spelled = spelled_generation(family_id, text, loosely=loosely)
        return interface(spelled) if spelled and not self._counts(family_id, spelled, text.upper(), among) else None

    def _counts(self, family_id: str, spelled: str, text: str, among: SiblingNames) -> bool:
        """True where a number of the word only counts, as the 3 of `DDR3_DQ71` next to `DDR0_DQ0` and `DDR3_DQ0`."""
        word = spelled_word(interface(spelled), text)
        start = text.find(word)
        if "GEN" in word:
            return False
        return any(
            among.counts_behind(family_id, text[: number.start()])
            for number in _NUMBER.finditer(text, start, start + len(word))
        )


@lru_cache(maxsize=65536)
def spelled_generation(family_id: str, text: str, *, loosely: bool = True) -> str | None:
    """Return the interface that a net or class name spells out, e.g. `PCIE_GEN5`; None for none or more than one.

    Args:
        family_id: the family.
        text: the name.
        loosely: take words as well that may mean something else in the name of a net.
    """
    hits = [one.id for one in family(family_id).interfaces if spelled_word(one, text, loosely=loosely)]
    return hits[0] if len(hits) == 1 else None


def spelled_word(one: Interface, text: str, *, loosely: bool = True) -> str:
    """Return the part of a net or class name that spells out a generation, `DDR3` of `DDR3_BYTE0`; empty for none."""
    for words in (one.words, one.loose_words if loosely else ""):
        if words and (found := re.search(words, text.upper()[:LONGEST])):
            return found.group()
    return ""
