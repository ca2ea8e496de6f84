"""Differential pairs by the names of their nets: KiCad's own rule first, then spellings that KiCad does not pair."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from stackup_lib.board.board import Board, Flags, Ints
from stackup_lib.core.record import entity

NO_PAIR = -1
""""None" in a pair or complement column."""

UNCONNECTED = "unconnected-("
"""How KiCad begins the net of a pin that is connected to nothing."""

_KICAD = re.compile(r"(?P<head>.*)(?P<sign>[PN+-])(?P<tail>[0-9_]*)", re.DOTALL)
_KICAD_SWAP = {"P": "N", "N": "P", "+": "-", "-": "+"}
_MARKUP = re.compile(r"[~_^]\{([^{}]*)\}")
FAR_SIDES = "AC|BUF|CAP|CC|CM|CMC|CONN?|ESD|EXT|FILT?|FLT|FPGA|HUB|IN|ISO|MCU|MUX|OUT|PHY|PROT|RAW|SHIFTED|SOC|SW|TERM"
"""Words behind the polarity: the far side of a capacitor, filter, connector, switch or level shifter, and CC of FMC."""

_SPELLED_FAR = re.compile(rf"(?P<head>.*[^/])(?P<sign>[PNM+-])(?P<tail>(?:_?\d+)*_(?:{FAR_SIDES})\d?)", re.DOTALL)
_SPELLED = re.compile(r"(?P<head>.*[^/])(?<!_CO)(?<!_CON)(?P<sign>[PNM+-])(?P<tail>(?:_?\d+)*(?:_[A-Z])?)", re.DOTALL)
_SPELLED_SWAP = {"P": "NM", "+": "-"}
POSITIVE = "P+"

_VOLTAGE = re.compile(r"(?<![A-Z0-9])(?:\d+|S|SENS_?|SENSOR_?)?V$|(?<![A-Z])SENSOR_CAP$")
"""What a sign turns into two voltages or sensor pins, not a pair: `VP`, `12V+`, `V-`, ESP32's `SENSOR_VP`, `SVN`."""

_ANALOG_PAIR = re.compile(r"(?<![A-Z])(?:XADC|SYSMON)(?![A-Z])")
"""AMD's converter, whose VP and VN are both sides of one input."""

_BAR = re.compile(r"~\{([^{}]*)\}|\{SLASH\}", re.IGNORECASE)
_BARRED = re.compile(r"(?<![A-Z])N(?=S?[LUR]?$)")
_OF_STROBE = re.compile(r"(?<![A-Z])S?[LUR]?$")
_STROBE_OR_CLOCK = re.compile(
    r"(?P<head>.*?)(?P<word>DQS[LU]?|(?<![A-Z])W?CK|(?<![A-Z])(?:SD?)?CLK|(?<![A-Z])SD?CK)(?P<early>_?[TCN]|#|)"
    r"(?P<index>(?:_?\d+|\[\d+\])?)(?P<inner>(?:_[AB](?=_))?)(?P<late>_?[TCN]|#|)(?P<outer>(?:_[A-D])?)"
)
_MEMORY = re.compile(r"DDR|DRAM|(?<![A-Z])(?:FB[A-H]|MEM(?![A-Z]))")
_TRUE_SWAP = {"T": "C", "": "#N"}
"""Sign of a true strobe or clock -> those of its complement: JEDEC's DQS0_T and DQS0_C, `DQS0` and `DQS0#`."""

_Spelled = tuple[str, str, str, str]
"""Path of a strobe or clock, what stands before the word, the word, and what stands behind it but the sign."""


@entity
class Pairs:
    """The differential pairs of a board, one row each, in the order of their first nets.

    Attributes:
        positive, negative: net indices.
        by_kicad: 1 where KiCad's own rule pairs them, 0 where only the spelling says so (a pair for us, not for KiCad).
        name: what both names have in common, head and tail: `/USB.D`, `/PCIE_TX_0`.
        pair_of_net: one per net of the board; the row of its pair, else `NO_PAIR`.
    """

    positive: Ints
    negative: Ints
    by_kicad: Flags
    name: tuple[str, ...]
    pair_of_net: Ints

    def __len__(self) -> int:
        return len(self.positive)

    @cached_property
    def complement_of_net(self) -> Ints:
        """The other net of the pair, one per net of the board; `NO_PAIR` for a net without."""
        complement = np.full(len(self.pair_of_net), NO_PAIR, dtype=np.int64)
        complement[self.positive], complement[self.negative] = self.negative, self.positive
        return complement

    def pair_of(self, net: int) -> int | None:
        """Return the row of a net's pair."""
        row = int(self.pair_of_net[net])
        return None if row == NO_PAIR else row

    def complement_of(self, net: int) -> int | None:
        """Return the other net of a net's pair."""
        complement = int(self.complement_of_net[net])
        return None if complement == NO_PAIR else complement


def find_pairs(board: Board) -> Pairs:
    """Return the differential pairs of a board; a net is in at most one.

    Nets that KiCad's rule leaves over are paired by spelling: small letters, `DP` with `DM`, KiCad's own markup
    (`TX_{P}`), and a letter or one of `FAR_SIDES` behind the polarity for the far side of a series part or connector
    (`TX_P_C`, `D+_HUB`). Strobes and clocks of memories are paired as JEDEC and makers of chips write them: `DQS0_T`
    with `DQS0_C`, `DQS0` with `DQS0#`, `~{DQS0}`, `DQS0N` or `DQS0_B`. Nets of unused pins, names that are nothing but
    a polarity and digits (`+12`, `/-5`), and voltages (`VP`, `12V+`, `SENSOR_VP`) are no pairs.
    """
    free = {name: i for i, name in enumerate(board.nets) if name and not name.startswith(UNCONNECTED)}
    rows = _by_kicad(free)
    taken = {net for row in rows for net in row[:2]}
    rows += _by_spelling({name: net for name, net in free.items() if net not in taken})
    taken = {net for row in rows for net in row[:2]}
    rows += _of_memories(free, taken)
    return _pairs(rows, len(board.nets))


def with_told(pairs: Pairs, told: Iterable[tuple[int, int, str]]) -> Pairs:
    """Return the pairs and those that something else than names tells: positive net, negative net, name."""
    known = zip(pairs.positive.tolist(), pairs.negative.tolist(), pairs.name, pairs.by_kicad.tolist(), strict=True)
    more = [(*one, False) for one in told]
    return _pairs([*known, *more], len(pairs.pair_of_net)) if more else pairs


def _pairs(rows: list[tuple[int, int, str, bool]], nets: int) -> Pairs:
    rows.sort(key=lambda row: min(row[:2]))
    of_net = np.full(nets, NO_PAIR, dtype=np.int64)
    for k, row in enumerate(rows):
        of_net[list(row[:2])] = k
    return Pairs(
        positive=np.array([row[0] for row in rows], dtype=np.int64),
        negative=np.array([row[1] for row in rows], dtype=np.int64),
        by_kicad=np.array([row[3] for row in rows], dtype=np.int8),
        name=tuple(row[2] for row in rows),
        pair_of_net=of_net,
    )


def _by_kicad(nets: dict[str, int]) -> list[tuple[int, int, str, bool]]:
    """Rows of positive net, negative net, name, True."""
    rows = []
    for name, net in nets.items():
        found = _KICAD.fullmatch(name)
        if found is None or found["sign"] not in POSITIVE or not _is_name(found["head"]):
            continue
        other = nets.get(found["head"] + _KICAD_SWAP[found["sign"]] + found["tail"])
        if other is not None:
            rows.append((net, other, (found["head"] + found["tail"]).rstrip("_"), True))
    return rows


def _by_spelling(nets: dict[str, int]) -> list[tuple[int, int, str, bool]]:
    """Rows of positive net, negative net, name, False; a spelling that two nets share pairs neither."""
    spelled: dict[str, list[tuple[str, int]]] = {}
    for name, net in nets.items():
        spelled.setdefault(_MARKUP.sub(r"_\1", name).upper(), []).append((name, net))
    alone = {key: here[0] for key, here in spelled.items() if len(here) == 1}
    rows, taken = [], set[int]()
    for key, (name, net) in alone.items():
        found = _SPELLED_FAR.fullmatch(key) or _SPELLED.fullmatch(key)
        if found is None or found["sign"] not in POSITIVE or not _is_name(found["head"]):
            continue
        complements = (found["head"] + sign + found["tail"] for sign in _SPELLED_SWAP[found["sign"]])
        other = next((alone[complement_net][1] for complement_net in complements if complement_net in alone), None)
        if other is not None and other not in taken:
            taken.add(other)
            rows.append((net, other, _common(name, found["head"] + found["tail"]), False))
    return rows


def _of_memories(nets: dict[str, int], taken: set[int]) -> list[tuple[int, int, str, bool]]:
    """Rows of true net, complement, name, False of strobes, and of clocks next to strobes or of a memory by name.

    T and C alone tell a clock as well; `CLK` and `~{CLK}` of other parts may be two single lines.
    """
    halves: dict[_Spelled, dict[str, list[int]]] = {}
    for name, net in nets.items():
        if net not in taken and (found := _strobe_or_clock(name)):
            halves.setdefault(found[0], {}).setdefault(found[1], []).append(net)
    strobed = {_bus_of_strobe(name) for name in nets if "DQS" in name.upper()} if halves else set()
    rows = []
    for (path, head, word, rest), signs in halves.items():
        of_memory = word.startswith("DQS") or (path, head) in strobed or _MEMORY.search(f"{path}{head}".upper())
        barred = halves.get((path, head, word, f"{rest}_B"), {}).get("", [])
        if (path, head, word, f"{rest}_A") in halves:
            barred = []  # DQS0_B is that of a channel
        for true, complements in _TRUE_SWAP.items():
            others = [net for sign in complements for net in signs.get(sign, ())] + ([] if true else barred)
            if (true or of_memory) and len(signs.get(true, ())) == len(others) == 1:
                rows.append((signs[true][0], others[0], f"{path}{head}{word}{rest}", False))
    return rows


def _bus_of_strobe(name: str) -> tuple[str, str]:
    """Return path and head that clocks of the same bus have."""
    path, slash, last = name.rpartition("/")
    return path + slash, _OF_STROBE.sub("", _BAR.sub(r"\1", last.upper()).partition("DQS")[0])


def _strobe_or_clock(name: str) -> tuple[_Spelled, str] | None:
    """Return what the two nets of a strobe or clock have in common, and the sign: T, C, #, N, or none."""
    path, slash, last = name.rpartition("/")
    plain = last.upper()
    if "DQS" not in plain and "CK" not in plain and "CLK" not in plain:
        return None
    found = _STROBE_OR_CLOCK.fullmatch(_MARKUP.sub(r"_\1", _BAR.sub(r"\1", plain)))
    if found is None:
        return None
    head, is_barred = found["head"], _BAR.search(plain) is not None
    if found["word"].startswith("DQS") and _BARRED.search(head):
        head, is_barred = _BARRED.sub("", head), True
    sign = (found["early"] + found["late"]).replace("_", "") or ("N" if is_barred else "")
    return (path + slash, head, found["word"], found["index"].strip("_[]") + found["inner"] + found["outer"]), sign


def _common(name: str, spelled: str) -> str:
    """Keep the path as it is written in front of the spelled name."""
    path = name.rpartition("/")[0]
    last = spelled.rpartition("/")[2].rstrip("_")
    return f"{path}/{last}" if path else last


def _is_name(head: str) -> bool:
    """Tell whether a name without its polarity is that of a signal: `+12` and `-12`, `VP` and `VN` are two voltages."""
    last = head.rpartition("/")[2].upper()
    if not any(char.isalnum() for char in last):
        return False
    return _VOLTAGE.search(last) is None or _ANALOG_PAIR.search(last) is not None
