"""Nets of memory buses whose names do not tell the interface: `DQ00_A`, `/RAM/CA0`, `DRAM_DQS0_P`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from drc_rules.requirements.interfaces.load import families
from drc_rules.requirements.interfaces.model import Bus
from drc_rules.requirements.interfaces.names import LONGEST, is_generated, normalise, sheet_name
from stackup_lib.board.board import Board

_COMPLEMENTS = {"P": "N", "T": "C", "+": "-", "": "#N"}
"""Sign of a true strobe -> those of its complement: `DQS0#` and `DQS0N` are that of `DQS0`."""

_Key = tuple[str, str]
"""The path of a net and what its name begins with; `~{DRAM_CAS}` and `DRAM_~{CAS}` begin with `DRAM`."""


def family_by_bus(board: Board) -> dict[int, str]:
    """Return net -> id of the family whose bus it is a net of.

    A bus has a pair of strobe nets, or a sheet of its own. Its nets are those of the same path and the same beginning
    of the name that join at least two parts of those that the strobes join; so an analog input `A0` on another part is
    no address line.
    """
    found: dict[int, str] = {}
    for family in families():
        if family.bus is not None:
            found |= dict.fromkeys(_nets_of(board, family.bus), family.id)
    return found


def _nets_of(board: Board, bus: Bus) -> Iterator[int]:
    strobes = _strobes(board, re.compile(bus.strobe), re.compile(bus.sheet))
    if not strobes:
        return
    member, parts_of = re.compile(bus.member), _parts_of_nets(board)
    joined = {key: {part for net in nets for part in parts_of.get(net, ())} for key, nets in strobes.items()}
    if bus.needs:
        having = {key for key, _ in _joining(board, re.compile(bus.needs), joined, parts_of)}
        joined = {key: parts for key, parts in joined.items() if key in having}
    for _, net in _joining(board, member, joined, parts_of):
        yield net


def _joining(
    board: Board, pattern: re.Pattern[str], joined: Mapping[_Key, set[int]], parts_of: Mapping[int, set[int]]
) -> Iterator[tuple[_Key, int]]:
    """Yield bus and number of the nets of that name that join at least two parts of their bus."""
    for net, path, name in _named(board):
        read = pattern.fullmatch(name)
        if read is None:
            continue
        key = path, read["bus"].strip("_")
        if len(parts_of.get(net, set()) & joined.get(key, set())) > 1:
            yield key, net


def _strobes(board: Board, strobe: re.Pattern[str], sheet: re.Pattern[str]) -> dict[_Key, list[int]]:
    """Return the strobes' nets of each bus; one without its complement is none, except on a sheet of the memory."""
    halves: dict[tuple[_Key, str], dict[str, int]] = {}
    for net, path, name in _named(board):
        read = strobe.fullmatch(name)
        if read is not None:
            start, end = read.span("sign")
            without = (name[:start].rstrip("_") + name[end:]).lstrip("_")
            sign = read["sign"] or ("N" if "~{" in board.nets[net] else "")
            halves.setdefault(((path, read["bus"].strip("_")), without), {})[sign] = net
    found: dict[_Key, list[int]] = {}
    for (key, without), nets in halves.items():
        barred = halves.get((key, f"{without}_B"), {}).get("")
        if "" in nets and barred is not None and (key, f"{without}_A") not in halves:
            found.setdefault(key, []).extend((nets[""], barred))  # DQS0_B is a channel's only where there is a DQS0_A
        for true, complements in _COMPLEMENTS.items():
            other = next((nets[one] for one in complements if one in nets), None)
            if true in nets and other is not None:
                found.setdefault(key, []).extend((nets[true], other))
        if sheet.fullmatch(sheet_name(key[0].rpartition("/")[2])):
            found.setdefault(key, []).extend(nets.values())
    return found


def _named(board: Board) -> Iterator[tuple[int, str, str]]:
    """Yield net, path and the part of its name that people read."""
    for net, name in enumerate(board.nets):
        if name and not is_generated(name) and len(read := normalise(name)) <= LONGEST:
            yield net, name.rpartition("/")[0], read


def _parts_of_nets(board: Board) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for net, part in zip(board.pads.net.tolist(), board.pads.footprint.tolist(), strict=True):
        found.setdefault(net, set()).add(part)
    return found
