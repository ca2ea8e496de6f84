"""Which nets carry power, as names, filled copper, bypass capacitors and pads tell it: inferred, never sure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from enum import IntFlag
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Flags, Ints
from stackup_lib.board.layer_roles import is_ground, polygon_areas_mm2
from stackup_lib.core.kicad_text import as_kicad_shows
from stackup_lib.core.record import entity
from stackup_lib.nets.diff_pairs import NO_PAIR, Pairs
from stackup_lib.nets.two_pin_parts import TwoTerminalParts

RAIL_FILL_MM2 = 10.0
"""Filled copper from which a net counts as a rail: 3 mm square. A high-speed net has none, or a pad's worth."""

RAIL_PADS = 24
"""Pads from which a net is too wide to be part of a link, whatever its name."""

RAIL_BYPASSES = 3
"""Capacitors to ground from which a net counts as a rail; a filter has one or two."""

_WORDS = r"CC|DC|DD|EE|PP|TT|BUS|BATT?|IN|OUT|SYS|CORE|IO|REF|AUX|ANA|CCIO|DDIO|DDQ"
_VALUE = r"P?\d+(?:V\d*|[.P]\d+V)(?:DC|IN|OUT|SB)?"
_SUPPLY = re.compile(
    rf"^[+-]?{_VALUE}(?![A-Z])|^V\d+P\d+(?:$|[_.\-])|"
    r"^[+-]?\d+\.\d+(?![A-Z])|^[+-]\d|^\+[A-Z]|[_.\-]\+\d|"
    rf"(?:^|[_.\-])[ADPEU]?V(?!DC[A-Z])(?:{_WORDS})[A-Z]{{0,3}}\d*(?:[.P]\d+V?|V\d*)?(?:$|[_.\-])|"
    r"^V(?:_?MOT(?:ORS?)?|_(?:CC|DD|BATT?|BUS|IN|SYS|CORE|IO|AUX))\d*(?:$|[_.\-])"
)
_VOLTAGE = re.compile(rf"^{_VALUE}[_.\-](?P<rest>.+)")
_SUPPLY_ONLY = re.compile(rf"(?:(?:{_WORDS}|GND|V|[PNM+-])\d*(?:[_.\-]|$))*")
_LEVEL = re.compile(r"[_.\-]\d+V\d*$")
_EITHER = re.compile(r"^[^+-].*[_.\-](?:CTRL|CTL|I)$")
_CONTROL = re.compile(
    r"(?:^|[_.\-~{/])(?:[NP]?EN\d*|PG|P?GOOD|SEL|SENSE|SNS|FLG|FLT|FAULT|DET|MON|INT|OK|OC|ON|OFF|ISET|MODE\d*|FB|N?RST|N?RESET|CURR|IMON)"
    r"(?:$|[_.\-}/\d])"
)
_GENERATED = ("Net-(", "unconnected-(")


class RailSign(IntFlag):
    """What speaks for a net being a rail; 0 is nothing. Many pads alone make a wide net, not a rail."""

    NONE = 0
    GROUND = 1
    NAME = 2
    FILL = 4
    BYPASS = 8
    PADS = 16


_BUT_WIDE = ~int(RailSign.PADS)
"""All that speaks for a rail; as a plain number, which is quick to compare with that of each net."""

WORDS: Mapping[RailSign, str] = {
    RailSign.GROUND: "ground by name",
    RailSign.NAME: "supply by name",
    RailSign.FILL: "fills",
    RailSign.BYPASS: "bypassed",
    RailSign.PADS: "many pads",
}


@entity
class Rails:
    """What speaks for each net being a rail, one `RailSign` per net of the board."""

    signs: Flags
    fill_mm2: NDArray[np.float64]

    @property
    def grounds(self) -> NDArray[np.bool_]:
        """One per net: True for ground."""
        return np.asarray((self.signs & RailSign.GROUND) != 0)

    def is_rail(self, net: int) -> bool:
        """Tell whether a net counts as a rail or ground."""
        return bool(self.signs[net] & _BUT_WIDE)

    def stops_links(self, net: int) -> bool:
        """Tell whether no link goes through a net: a rail, or a net with too many pads for two ends."""
        return bool(self.signs[net])

    def is_ground(self, net: int) -> bool:
        """Tell whether a net counts as ground."""
        return bool(self.signs[net] & RailSign.GROUND)

    def why(self, net: int) -> tuple[str, ...]:
        """Return the evidence for it, as text; empty for a net that is no rail."""
        return tuple(words for sign, words in WORDS.items() if self.signs[net] & sign)


@lru_cache(maxsize=65536)
def reads_as_supply(net: str) -> bool:
    """Return True for a name that reads as a supply: `+3V3`, `1V8_AON`, `VDD_IO`, `VBUS`; not `VSYNC`, not `3V3_EN`.

    `SCL_3V3` is a signal of that level as often as a supply of something, hence not read as one here.
    """
    return _reads(net, _SUPPLY) and not _EITHER.search(_last(net))


@lru_cache(maxsize=65536)
def may_be_supply(net: str) -> bool:
    """Return True for a name that is a supply's when something bypasses the net, else a signal's.

    `FTDI_3V3` is a signal of that level, `VCC_CTRL` what switches a supply, `3V3_I` its current.
    """
    return _reads(net, _LEVEL) or (_reads(net, _SUPPLY) and bool(_EITHER.search(_last(net))))


@lru_cache(maxsize=65536)
def begins_with_voltage(net: str) -> bool:
    """Return True for a name with more behind a voltage: `1V8_AON`, or `1V8_PCIE_TX0_P`, a signal of that level."""
    return not net.startswith(_GENERATED) and _VOLTAGE.match(_last(net)) is not None


def _says_more(net: str) -> bool:
    """Tell whether a net of a pair has more than supply words behind its voltage: `15V_P` and `12V_IN_N` do not."""
    found = _VOLTAGE.match(_last(net))
    return found is not None and _SUPPLY_ONLY.fullmatch(found["rest"]) is None


def _reads(net: str, pattern: re.Pattern[str]) -> bool:
    last = _last(net)
    return not net.startswith(_GENERATED) and bool(pattern.search(last)) and not _CONTROL.search(last)


def _last(net: str) -> str:
    """Return what stands behind the last slash in capitals; a slash within the label is part of it."""
    return as_kicad_shows(net.rsplit("/", 1)[-1]).upper()


def find_rails(
    board: Board,
    parts: TwoTerminalParts,
    pairs: Pairs,
    *,
    with_fills: bool = True,
    signals: Set[int] = frozenset(),
) -> Rails:
    """Return which nets carry power. Net 0 (no net) is none, nor is half of a pair that only has filled copper.

    A voltage in front of the name alone makes no rail of half of a pair, nor of one of `signals`.

    Args:
        board: the board.
        parts: its two-pad parts.
        pairs: its differential pairs.
        with_fills: stored fills count; where they do not, nothing depends on whether they are stale.
        signals: nets that something else tells to be signals.
    """
    count = len(board.nets)
    ground = np.fromiter((bool(name) and is_ground(name) for name in board.nets), dtype=bool, count=count)
    bypasses = _bypasses(parts, ground, count)
    supply = np.fromiter((reads_as_supply(name) for name in board.nets), dtype=bool, count=count)
    supply |= np.fromiter((may_be_supply(name) for name in board.nets), dtype=bool, count=count) & (bypasses > 0)
    supply[_of_that_level(board, supply & (bypasses == 0), pairs, signals)] = False
    fill_mm2 = fill_by_net_mm2(board) if with_fills else np.zeros(count)
    pads = np.bincount(board.pads.net, minlength=count)
    signs = np.zeros(count, dtype=np.int8)
    for sign, says in (
        (RailSign.GROUND, ground),
        (RailSign.NAME, supply),
        (RailSign.FILL, fill_mm2 >= RAIL_FILL_MM2),
        (RailSign.BYPASS, bypasses >= RAIL_BYPASSES),
        (RailSign.PADS, pads >= RAIL_PADS),
    ):
        signs[says] |= sign
    signs[0] = 0
    signs[(signs == RailSign.FILL) & (pairs.pair_of_net != NO_PAIR)] = 0
    return Rails(signs, fill_mm2)


def _of_that_level(board: Board, supply: NDArray[np.bool_], pairs: Pairs, signals: Set[int]) -> list[int]:
    """Return the nets without a zone that read as a supply only for the voltage in front of a signal's name."""
    zoned = set(board.zones.net.tolist())
    named = (net for net in np.flatnonzero(supply).tolist() if net not in zoned)
    return [
        net
        for net in named
        if begins_with_voltage(board.nets[net])
        and (net in signals or (pairs.complement_of(net) is not None and _says_more(board.nets[net])))
    ]


def fill_by_net_mm2(board: Board) -> NDArray[np.float64]:
    """Return the filled copper of each net, all layers together, in mm2."""
    zones = board.zones
    areas = polygon_areas_mm2(zones.fill_x_mm, zones.fill_y_mm, zones.fill_start)
    if not len(areas):
        return np.zeros(len(board.nets))
    return np.asarray(np.bincount(zones.net[zones.fill_zone], areas, len(board.nets)), dtype=np.float64)


def _bypasses(parts: TwoTerminalParts, ground: NDArray[np.bool_], count: int) -> Ints:
    """Count the capacitors between each net and ground."""
    caps = parts.is_capacitor
    first, second = parts.first_net[caps], parts.second_net[caps]
    bypassed = np.concatenate([first[ground[second]], second[ground[first]]])
    return np.asarray(np.bincount(bypassed, minlength=count), dtype=np.int64)
