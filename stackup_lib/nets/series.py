"""Which two-pad parts join their nets, and the chains of nets that come of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from stackup_lib.board.board import Board
from stackup_lib.board.references import ReferenceKind, letters_of, reference_kind
from stackup_lib.nets.diff_pairs import Pairs
from stackup_lib.nets.power_nets import Rails
from stackup_lib.nets.two_pin_parts import (
    NO_SERIES_PART,
    NOT_FITTED,
    PartKind,
    TwoTerminalParts,
    is_bridge,
    refusal,
)

Chain = tuple[int, ...]
SeriesJoins = Mapping[tuple[int, int], tuple[int, ...]]
"""(net, net) in ascending order -> rows of `TwoTerminalParts` that join them; several where they lie side by side."""


def joined_by(joints: SeriesJoins, first: int, second: int) -> tuple[int, ...]:
    """Return the parts between two nets."""
    return joints.get((min(first, second), max(first, second)), ())


def why_not(board: Board, pairs: Pairs, rails: Rails, parts: TwoTerminalParts, row: int) -> str:
    """Return why a two-pad part does not join its nets; "" when nothing speaks against it."""
    nets = int(parts.first_net[row]), int(parts.second_net[row])
    if any(rails.is_ground(net) for net in nets):
        return "to ground"
    for net in nets:
        if rails.is_rail(net):
            return f"to {board.nets[net]}, which counts as a supply rail"
        if rails.stops_links(net):
            return f"to {board.nets[net]}, which has very many pads"
    if pairs.complement_of(nets[0]) == nets[1]:
        return "across the pair"
    if board.footprints.unfitted[parts.footprint[row]]:
        return NOT_FITTED
    if is_bridge(board, int(parts.first_pad[row]), int(parts.second_pad[row])):
        return ""
    return refusal(PartKind(int(parts.kind[row])), str(board.footprints.value[parts.footprint[row]]))


def find_series_joins(board: Board, pairs: Pairs, rails: Rails, parts: TwoTerminalParts) -> SeriesJoins:
    """Return which parts join which nets; a net between both nets of a pair (a split termination) joins neither.

    Two parts alike that lead on from both nets of a pair join, whatever they are: the lane goes through them.
    """
    stops = rails.signs != 0
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    others: list[int] = []
    for row in np.nonzero(~stops[parts.first_net] & ~stops[parts.second_net])[0].tolist():
        why = why_not(board, pairs, rails, parts, row)
        if not why:
            key = _between(parts, row)
            found[key] = (*found.get(key, ()), row)
        elif why == NO_SERIES_PART:
            others.append(row)
    for row in _in_both_traces(board, pairs, parts, others):
        key = _between(parts, row)
        found[key] = (*found.get(key, ()), row)
    middle = {net for net, far in ways_of(found).items() if any(pairs.complement_of(one) in far for one in far)}
    return {key: rows for key, rows in found.items() if not middle.intersection(key)}


def _between(parts: TwoTerminalParts, row: int) -> tuple[int, int]:
    first, second = sorted((int(parts.first_net[row]), int(parts.second_net[row])))
    return first, second


NEVER_THROUGH = (ReferenceKind.DIODE, ReferenceKind.SOCKET, ReferenceKind.ANTENNA)
"""Parts that no lane goes through, though each of its traces may have one."""


def _in_both_traces(board: Board, pairs: Pairs, parts: TwoTerminalParts, rows: Collection[int]) -> Iterator[int]:
    """Yield the parts on a trace of a pair of which the other trace has one alike, each to a net of its own."""
    of_net: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        first, second = _between(parts, row)
        of_net.setdefault(first, []).append((row, second))
        of_net.setdefault(second, []).append((row, first))

    def named(row: int) -> tuple[str, str]:
        table, footprint = board.footprints, parts.footprint[row]
        return letters_of(str(table.reference[footprint])), str(table.value[footprint])

    def is_through(row: int, net: int, far: int) -> bool:
        complement = pairs.complement_of(net)
        alike = of_net.get(complement, ()) if complement is not None else ()
        return any(other != row and beyond not in (net, far) and named(other) == named(row) for other, beyond in alike)

    for row in rows:
        first, second = _between(parts, row)
        kind = reference_kind(str(board.footprints.reference[parts.footprint[row]]))
        if kind not in NEVER_THROUGH and (is_through(row, first, second) or is_through(row, second, first)):
            yield row


def ways_of(joints: SeriesJoins) -> Mapping[int, list[int]]:
    """Net -> the nets that series parts join it to, ascending."""
    ways: dict[int, list[int]] = {}
    for first, second in sorted(joints):
        ways.setdefault(first, []).append(second)
        ways.setdefault(second, []).append(first)
    return {net: sorted(far) for net, far in ways.items()}


def chains(nets: Collection[int], joints: SeriesJoins, end_parts: Mapping[int, set[int]]) -> tuple[Chain, ...]:
    """Return the ways from end to end: nets in order, each way once.

    A way ends at every net with an end of its own (a chip between two capacitors sends both ways, or one of them is
    left out), and where more or fewer than two ways meet. A net with ends on two parts is a way by itself too.

    Args:
        nets: the nets to look at.
        joints: which parts join which nets.
        end_parts: net -> ranks of the parts that end it; a chain begins at the lower one.
    """
    ways = ways_of(joints)
    stops = {net for net in ways if len(ways[net]) != 2 or end_parts.get(net)}
    found: set[Chain] = {(net,) for net in nets if net not in ways or len(end_parts.get(net, ())) > 1}
    for net in sorted(stops):
        found.update(_walk(net, onward, ways, stops) for onward in ways[net])
    walked = {net for chain in found for net in chain}
    for net in sorted(set(ways) - walked):  # a ring without an end
        if net not in walked:
            ring = _walk(net, ways[net][0], ways, {net})[:-1]
            walked.update(ring)
            found.add(ring)
    return tuple(sorted({_from_first_part(chain, end_parts) for chain in found}, key=lambda c: (min(c), c)))


def _walk(net: int, onward: int, ways: Mapping[int, list[int]], stops: Collection[int]) -> Chain:
    chain = [net, onward]
    while chain[-1] not in stops:
        before, here = chain[-2:]
        chain.append(next(far for far in ways[here] if far != before))
    return tuple(chain)


def _from_first_part(chain: Chain, end_parts: Mapping[int, set[int]]) -> Chain:
    """Turn a chain so that it begins at the part of the lower rank."""
    first, last = ((min(end_parts.get(net, ()), default=1 << 62), net) for net in (chain[0], chain[-1]))
    return chain[::-1] if last < first else chain


def branch_nets(joints: SeriesJoins, end_parts: Mapping[int, set[int]]) -> Iterator[int]:
    """Yield the nets without an end of their own where more than two series parts meet."""
    for net, far in ways_of(joints).items():
        if len(far) > 2 and not end_parts.get(net):
            yield net
