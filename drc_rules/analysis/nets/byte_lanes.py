"""Byte lanes of memories by the names of their nets: which data, masks and strobes belong together.

Names are read part by part, since makers order the parts differently: `DQS0_P`, `DQS_P0`, `DQSA0_T`, `DQS0_T_A`,
`LDQS#`, `DQ[3]`, `DQU7`, `DMI1`, `CB4`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from drc_rules.requirements.interfaces.names import LONGEST, normalise
from stackup_lib.board.board import Board
from stackup_lib.core.record import record

BITS = 8

DATA, CHECK, MASK = "DQ", "CB", "DM"
STROBES = ("DQS", "RDQS", "WCK")
"""Strobes, and the clock that samples data where there is none: the first kind that a bus has counts."""

_KINDS = {"DQ": DATA, "DATA": DATA, "D": DATA, "CB": CHECK} | {one: one for one in STROBES}
BRACKETS = re.compile(r"[\[\]<>]")
"""Around the index of a bus."""

"""Of the index of a bus."""
_PART = re.compile(r"\d+|[A-Z]|[+#-]")

BusKey = tuple[str, str]
"""Path with the beginning of the names, and the channel, `A` to `D` or nothing."""


@record
class LaneNet:
    """What a net's name says of its place in a memory bus.

    Attributes:
        kind: `DATA`, `CHECK` (bits of an error correcting code), `MASK` or one of `STROBES`.
        bus: of which it is a net.
        head: path and beginning of its name, as it is spelled.
        side: `L` or `U`, the lower or upper byte of a memory; "" where a number tells.
        number: of the bit or of the lane; None without one.
    """

    kind: str
    bus: BusKey
    head: str
    side: str
    number: int | None


@record
class ByteLane:
    """One byte of a bus.

    Attributes:
        name: `mem/DQ8..15`.
        bits: its data, or check bits, as indices into `Board.nets`.
        masks: of the same lane; the strobe samples them as it samples data.
        strobe: both traces, or the one of a single-ended strobe; empty where it is not known.
        in_doubt: then what makes it so; "" on a bus without any strobe.
    """

    name: str
    bits: tuple[int, ...]
    masks: tuple[int, ...]
    strobe: tuple[int, ...]
    in_doubt: str = ""


@cache
def _spelling() -> re.Pattern[str]:
    kind = r"R?DQS|WCK|DQM|DMI?(?:\d*_?DBI)?|DBI|DQ|DATA|D|CB"
    return re.compile(
        r"(?P<head>.*?)(?<![A-Z])(?!ADD)(?P<before>[A-Z]*?)(?P<side>[LU]?)"
        rf"(?P<kind>{kind})(?P<rest>(?:_?(?:\d+|[LUA-DPTN+#-])){{0,4}})"
    )


def read_lane_net(net: str) -> LaneNet | None:
    """Return what a net's name says of its place in a memory bus; None for address, command, clock and other nets."""
    name = BRACKETS.sub("", normalise(net))
    found = _spelling().fullmatch(name) if len(name) <= LONGEST else None
    if found is None:
        return None
    kind = _KINDS.get(found["kind"], MASK)
    numbers, sides, channels, signs = name_parts(found["rest"], is_bit=kind in (DATA, CHECK))
    if found["side"]:
        sides.append(found["side"])
    if found["before"] in ("A", "B", "C", "D"):
        channels.append(found["before"])
    if max(len(numbers), len(sides), len(channels), len(signs)) > 1:
        return None
    if kind in (DATA, CHECK) and (signs or not numbers):
        return None
    if found["kind"] in ("D", "DATA") and not (found["rest"].lstrip("_")[0].isdigit() and len(found["before"]) < 2):
        return None  # no CMD0, and no D behind which letters stand
    path, number = net.rpartition("/")[0], numbers[0] if numbers else None
    bus = f"{path}/{found['head'].strip('_.-')}", "".join(channels)
    return LaneNet(kind, bus, f"{path}/{found['head']}", "".join(sides), number)


def name_parts(rest: str, *, is_bit: bool) -> tuple[list[int], list[str], list[str], list[str]]:
    """Return the numbers, sides, channels and signs behind the kind; C is a channel's where there is a sign too."""
    parts = _PART.findall(rest)
    letters = [part for part in parts if not part.isdigit()]
    signs = [one for one in letters if one in "PTN+#-"]
    has_channel_c = is_bit or bool(signs)
    channels = [one for one in letters if one in "ABD" or (one == "C" and has_channel_c)]
    signs += [one for one in letters if one == "C" and not has_channel_c]
    return [int(part) for part in parts if part.isdigit()], [one for one in letters if one in "LU"], channels, signs


def byte_lanes(board: Board, nets: Iterable[int]) -> Iterator[ByteLane]:
    """Yield the byte lanes of some nets, bus by bus."""
    buses: dict[BusKey, list[tuple[int, LaneNet]]] = {}
    for net in nets:
        if (read := read_lane_net(board.nets[net])) is not None:
            buses.setdefault(read.bus, []).append((net, read))
    for (head, channel), on_bus in buses.items():
        if channel == "B" and (head, "") in buses and (head, "A") not in buses and not _has_bits(on_bus):
            buses[head, ""] += on_bus  # DQS0_B is the complement of DQS0 where there is no channel A
    for on_bus in buses.values():
        if _has_bits(on_bus):
            yield from _lanes_of_bus(on_bus)


def _has_bits(on_bus: Iterable[tuple[int, LaneNet]]) -> bool:
    return any(read.kind in (DATA, CHECK) for _, read in on_bus)


_Lane = tuple[str, int | str]
"""Kind of bits, and number of the byte or its side."""


def _lanes_of_bus(on_bus: list[tuple[int, LaneNet]]) -> Iterator[ByteLane]:
    bits: dict[_Lane, list[tuple[int, LaneNet]]] = {}
    for net, read in on_bus:
        if read.kind in (DATA, CHECK) and read.number is not None:
            bits.setdefault((read.kind, read.side or read.number // BITS), []).append((net, read))
    kind = next((one for one in STROBES if any(read.kind == one for _, read in on_bus)), "")
    strobes = _by_lane(on_bus, kind)
    masks = _by_lane(on_bus, MASK)
    lane_of, in_doubt = _strobe_lanes(bits, strobes)
    for key, of_lane in bits.items():
        strobe, why = strobes.get(lane_of.get(key, ""), ()), in_doubt
        if len({read.number for _, read in of_lane}) < len(of_lane) or len(of_lane) > BITS:
            strobe, why = (), "two nets have the name of one bit"
        elif strobes and not strobe and not why:
            why = "no strobe has its number"
        mask = masks.get(lane_of.get(key, ""), ()) if strobe else ()
        yield ByteLane(
            _name_of(key, of_lane), tuple(net for net, _ in of_lane), mask, strobe, why if not strobe else ""
        )


def _by_lane(on_bus: Iterable[tuple[int, LaneNet]], kind: str) -> dict[int | str, tuple[int, ...]]:
    """Return the strobes or masks of a bus by their lane: its number, its side, both as text, or "" where it has none.

    The sides of a single memory may have a number as well, `LDQS0` and `UDQS0`, which then says nothing.
    """
    mine = [(net, read) for net, read in on_bus if read.kind == kind]
    of_sides = {read.number for _, read in mine if read.side}
    found: dict[int | str, tuple[int, ...]] = {}
    for net, read in mine:
        lane: int | str = read.side if read.number is None or read.side else read.number
        if read.side and len(of_sides) > 1:
            lane = f"{read.side}{read.number}"
        found[lane] = (*found.get(lane, ()), net)
    return found


def _strobe_lanes(
    bits: Mapping[_Lane, object], strobes: Mapping[int | str, tuple[int, ...]]
) -> tuple[dict[_Lane, int | str], str]:
    """Return which strobe each byte has, by lane, and what leaves all in doubt: strobes that are no byte's."""
    data = [lane for kind, lane in bits if kind == DATA]
    if len(bits) == 1 and len(strobes) == 1 and "" in strobes:
        return {next(iter(bits)): ""}, ""
    side_of: dict[int | str, int | str] = {}
    if {*data} <= {0, 1} and {*strobes} <= {"L", "U"}:
        side_of = {0: "L", 1: "U"}
    elif {*data} <= {"L", "U"} and {*strobes} <= {0, 1}:
        side_of = {"L": 0, "U": 1}
    found: dict[_Lane, int | str] = {(DATA, lane): side_of.get(lane, lane) for lane in data}
    found = {key: lane for key, lane in found.items() if lane in strobes}
    spare = [lane for lane in strobes if lane not in found.values()]
    check = [key for key in bits if key[0] == CHECK]
    if len(check) == 1 and len(spare) == 1:
        return found | {check[0]: spare[0]}, ""
    if spare:
        return {}, "there are more strobes than bytes, as where a memory has a strobe for four bits"
    return found, ""


def _name_of(key: _Lane, of_lane: list[tuple[int, LaneNet]]) -> str:
    first = min(of_lane, key=lambda one: one[1].number or 0)[1]
    last = max(read.number or 0 for _, read in of_lane)
    side, channel = (key[1] if isinstance(key[1], str) else ""), first.bus[1]
    return f"{first.head.lstrip('/')}{first.kind}{side}{first.number}..{last}{f'_{channel}' if channel else ''}"
