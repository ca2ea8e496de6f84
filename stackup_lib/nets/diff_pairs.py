"""Differential pairs by the names of their nets: KiCad's own rule first, then spellings that KiCad does not pair."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from stackup_lib.board.board import Board, Flags, Ints
from stackup_lib.core.record import record

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


@record
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
    (`TX_P_C`, `D+_HUB`). Nets of unused pins, and names that are nothing but a polarity and digits (`+12`, `/-5`), are
    no pairs.
    """
    free = {name: i for i, name in enumerate(board.nets) if name and not name.startswith(UNCONNECTED)}
    rows = _by_kicad(free)
    taken = {net for row in rows for net in row[:2]}
    rows += _by_spelling({name: net for name, net in free.items() if net not in taken})
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


def _common(name: str, spelled: str) -> str:
    """Keep the path as it is written in front of the spelled name."""
    path = name.rpartition("/")[0]
    last = spelled.rpartition("/")[2].rstrip("_")
    return f"{path}/{last}" if path else last


def _is_name(head: str) -> bool:
    """Tell whether something is left of a name without its polarity: `+12` and `-12` are two rails, not a pair."""
    return any(char.isalnum() for char in head.rpartition("/")[2])
