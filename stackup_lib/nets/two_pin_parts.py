"""Parts with two pads on two nets: what they are, what their values say, and which of them pass a signal on.

Each element of a resistor array is one of them.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Flags, Ints, PadKind
from stackup_lib.board.references import ReferenceKind, letters_of, reference_kind
from stackup_lib.core.record import entity
from stackup_lib.nets.capacitor_text import read_capacitor
from stackup_lib.nets.resistor_arrays import array_elements, element_value

MOST_SERIES_OHM = 150.0
"""A resistor up to this value passes a signal on; a larger one pulls, divides or limits."""

LEAST_COUPLING_PF = 10.0
"""A capacitor from this value couples; a smaller one shapes an edge or tunes."""


class PartKind(IntEnum):
    """What a part is by its reference designator (IEEE 315 / IPC-2612: C, R, L, FB)."""

    OTHER = 0
    CAPACITOR = 1
    RESISTOR = 2
    INDUCTOR = 3
    FERRITE = 4
    CHOKE = 5
    """One line of a common-mode choke."""


_BY_REFERENCE = {
    ReferenceKind.CAPACITOR: PartKind.CAPACITOR,
    ReferenceKind.RESISTOR: PartKind.RESISTOR,
    ReferenceKind.INDUCTOR: PartKind.INDUCTOR,
    ReferenceKind.FERRITE: PartKind.FERRITE,
}
_SPLIT = re.compile(r"[\s_/,;()|]+")
_OHM = re.compile(r"(\d+(?:\.\d+)?)(M|MEG|K|R|OHMS?|\u2126|\u03a9|MOHM|KOHM|mR|m)?(\d*)")
_BARE = re.compile(r"\d+(?:\.\d+)?")
NOT_FITTED = "not fitted"
NO_VALUE = "its value states no resistance"
NOT_ZERO_OHM = tuple(
    f"{kind.name.lower()} without 0 ohm as its value" for kind in (PartKind.INDUCTOR, PartKind.FERRITE)
)
NO_SERIES_PART = "neither capacitor nor resistor"
OPEN_REASONS = (NO_VALUE, *NOT_ZERO_OHM, NO_SERIES_PART)
"""Refusals of parts that may well pass a signal on."""
_UNFITTED = re.compile(
    r"(?:^|[\s_/(])(?:DNP|DNI|DNF|DNM|NC|NF|NP|NM|NO[ _-]?FIT|NO[ _-]?POP|UNFITTED|OPEN)(?:$|[\s_/)])"
)
_KILO = {"K": 1e3, "KOHM": 1e3, "M": 1e6, "MEG": 1e6, "MOHM": 1e6}


@entity
class TwoTerminalParts:
    """The parts of a board that have exactly two pad numbers, on two nets; one row each, in the order of the file.

    Behind them the elements of resistor arrays that state a value, a row for each.

    A part with several copper pads of one number counts when they are all on one net; pads without a number and holes
    without copper do not count.

    Attributes:
        footprint: index into `Board.footprints`.
        first_pad, second_pad: a pad of each number, indices into `Board.pads`.
        first_net, second_net: their nets, never 0, never the same.
        kind: `PartKind`.
    """

    footprint: Ints
    first_pad: Ints
    second_pad: Ints
    first_net: Ints
    second_net: Ints
    kind: Flags

    def __len__(self) -> int:
        return len(self.footprint)

    @property
    def is_capacitor(self) -> NDArray[np.bool_]:
        """True for each capacitor."""
        return np.asarray(self.kind == PartKind.CAPACITOR)


def find_two_pads(board: Board) -> TwoTerminalParts:
    """Return the two-pad parts of a board."""
    pads = board.pads
    rows = np.nonzero((pads.number != "") & (pads.kind != PadKind.NON_PLATED) & (pads.footprint >= 0))[0]
    few = rows[np.bincount(pads.footprint[rows], minlength=len(board.footprints))[pads.footprint[rows]] <= MOST_COPPER]
    by_part: dict[int, dict[str, tuple[int, int]]] = {}
    spoiled: set[int] = set()
    columns = (few, pads.footprint[few], pads.number[few], pads.net[few])
    for pad, footprint, number, net in zip(*(column.tolist() for column in columns), strict=True):
        numbers = by_part.setdefault(footprint, {})
        if numbers.setdefault(number, (pad, net))[1] != net:
            spoiled.add(footprint)
    found = []
    for footprint, numbers in by_part.items():
        if len(numbers) == 2 and footprint not in spoiled:
            (first, first_net), (second, second_net) = numbers.values()
            if first_net and second_net and first_net != second_net:
                found.append((footprint, first, second, first_net, second_net))
    kinds = [kind_of(str(board.footprints.reference[row[0]])) for row in found]
    for footprint, first, second in array_elements(board):
        if resistance_ohm(element_value(str(board.footprints.value[footprint]))) is not None:
            found.append((footprint, first, second, int(board.pads.net[first]), int(board.pads.net[second])))
            kinds.append(PartKind.RESISTOR)
    table = np.array(found, dtype=np.int64).reshape(-1, 5)
    return TwoTerminalParts(
        footprint=table[:, 0],
        first_pad=table[:, 1],
        second_pad=table[:, 2],
        first_net=table[:, 3],
        second_net=table[:, 4],
        kind=np.array(kinds, dtype=np.int8),
    )


MOST_COPPER = 8
"""Copper pads of a footprint beyond which it is not looked at: a two-pad part with split pads has four, or six."""


def kind_of(reference: str) -> PartKind:
    """Return what a part is by the letters of its reference: `C12`, `R3`, `L1`, `FB2`; `CN1` is none of them."""
    return _BY_REFERENCE.get(reference_kind(reference), PartKind.OTHER)


@lru_cache(maxsize=65536)
def reference_key(reference: str) -> tuple[bool, str, int, str]:
    """Return what orders parts: chips before connectors, then by letters and number (`U2` before `U10`)."""
    letters, digits = letters_of(reference), re.search(r"\d+", reference)
    return reference_kind(reference) is ReferenceKind.SOCKET, letters, int(digits[0]) if digits else 0, reference


@lru_cache(maxsize=65536)
def is_unfitted(value: str) -> bool:
    """Return True where the value says that the part is left out: DNP, NC and the like."""
    return bool(_UNFITTED.search(value.upper()))


def is_left_out(board: Board, footprint: int) -> bool:
    """Return True where a part (index into `Board.footprints`) is not fitted, by its attribute in KiCad or its value.

    One that is only excluded from the bill of materials is fitted: by the customer, or it is bare copper.
    """
    parts = board.footprints
    return bool(parts.unfitted[footprint]) or is_unfitted(str(parts.value[footprint]))


def is_bridge(board: Board, first_pad: int, second_pad: int) -> bool:
    """Return True for two pads that the copper of their part joins: a net tie, or KiCad's bridged solder jumper."""
    pads = board.pads
    is_tied = pads.tie[first_pad] >= 0 and pads.tie[first_pad] == pads.tie[second_pad]
    return bool(is_tied) or "Bridged" in str(board.footprints.library_id[pads.footprint[first_pad]])


@lru_cache(maxsize=65536)
def resistance_ohm(value: str) -> float | None:
    """Return the resistance that a value states: `22`, `4k7`, `0R`, `R_27R_0402`, `49.9 ohm`; None for none."""
    for word in _words(value):
        found = _OHM.fullmatch(word) or _OHM.fullmatch(word.upper())
        if found is None:
            continue
        number, unit, behind = found.groups()
        if not unit and (
            behind or (word.startswith("0") and word != "0" and "." not in word) or not _stands_alone(value, word)
        ):
            continue
        scale = 1e-3 if unit in ("mR", "m") else _KILO.get(unit or "", 1.0)
        return float(f"{number}.{behind}" if behind and "." not in number else number) * scale
    return None


def _words(value: str) -> list[str]:
    """Split a value into words, joining a number with the unit behind a blank (`49.9 ohm`)."""
    return [
        word for word in _SPLIT.split(re.sub(r"(\d)\s+(?=[A-Za-z\u00b5\u03bc\u2126\u03a9]+\b)", r"\1", value)) if word
    ]


def _stands_alone(value: str, word: str) -> bool:
    """A bare number is a resistance only where no other number could be: `22`, not `R0402_X_0402`."""
    return [one for one in _words(value) if _BARE.fullmatch(one)] == [word] and _words(value)[0] == word


def refusal(kind: PartKind, value: str) -> str:
    """Return why a part between two signals does not pass them on; "" when it does.

    Capacitors couple from 10 pF, or when they state no value: a coupling capacitor is the usual part there. Resistors
    pass up to 150 ohm, and only with a value. Lines of common-mode chokes do. Ferrites, inductors and all other parts
    do not, unless they state 0 ohm.
    """
    if is_unfitted(value):
        return NOT_FITTED
    if kind is PartKind.CHOKE:
        return ""
    if kind is PartKind.CAPACITOR:
        farad = read_capacitor(value).capacitance_f
        is_small = farad is not None and farad * 1e12 < LEAST_COUPLING_PF
        return f"too small to couple ({farad * 1e12:g} pF)" if farad is not None and is_small else ""
    ohm = resistance_ohm(element_value(value) if kind is PartKind.RESISTOR else value)
    if kind is PartKind.RESISTOR:
        if ohm is None:
            return NO_VALUE
        return f"too large to be in series ({ohm:g} ohm)" if ohm > MOST_SERIES_OHM else ""
    if kind in (PartKind.INDUCTOR, PartKind.FERRITE):
        return "" if ohm == 0 else f"{kind.name.lower()} without 0 ohm as its value"
    return NO_SERIES_PART
