"""Clocks of DDR memories, and at which memories they arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drc_rules.analysis.delay.group_ends import chips_on, controller_of
from drc_rules.analysis.nets.address_nets import read_address_net
from drc_rules.analysis.nets.byte_lanes import BusKey
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

FAMILY = "ddr"

_Pair = tuple[int, int]


@record
class MemoryClocks:
    """Where the clocks of a board's memories arrive.

    Attributes:
        at: both traces of each clock, as indices into `Board.nets`, by the bus that their names tell, for each
            controller and memory, as indices into `Board.footprints`.
        open: clocks that cannot be followed, with their bus and what is missing.
    """

    at: Mapping[tuple[int, int], Mapping[BusKey, tuple[int, ...]]]
    open: tuple[tuple[BusKey, _Pair, MissingFact], ...]


def nets_of_memories(ctx: Context) -> Iterator[int]:
    """Yield the nets of DDR memories."""
    return (net for net, role in enumerate(ctx.assignment.roles) if role is not None and role.family == FAMILY)


def memory_clocks(ctx: Context) -> MemoryClocks:
    """Return the clocks of a board's memories; get them with `Context.get`."""
    at: dict[tuple[int, int], dict[BusKey, tuple[int, ...]]] = {}
    left: list[tuple[BusKey, _Pair, MissingFact]] = []
    for bus, pair in _clocks(ctx):
        name = f"the clock {ctx.board.nets[pair[0]]}"
        try:
            parts = chips_on(ctx, pair[0], name) & chips_on(ctx, pair[1], name)
            if len(parts) < 2:
                continue
            controller = _controller(ctx, name, parts)
        except MissingFact as fact:
            left.append((bus, pair, fact))
            continue
        for memory in sorted(parts - {controller}):
            of_memory = at.setdefault((controller, memory), {})
            of_memory[bus] = (*of_memory.get(bus, ()), *pair)
    return MemoryClocks(at, tuple(left))


def _clocks(ctx: Context) -> Iterator[tuple[BusKey, _Pair]]:
    for net in nets_of_memories(ctx):
        read, other = read_address_net(ctx.board.nets[net]), ctx.pairs.complement_of(net)
        if read is not None and read.is_clock and other is not None and net < other:
            yield read.bus, (net, other)


def _controller(ctx: Context, name: str, parts: set[int]) -> int:
    """Return the controller; of two parts that may be it, either: the way between them is the same."""
    try:
        return controller_of(ctx, FAMILY, name, parts)
    except MissingFact:
        if len(parts) > 2:
            raise
        return min(parts, key=lambda part: str(ctx.board.footprints.reference[part]))
