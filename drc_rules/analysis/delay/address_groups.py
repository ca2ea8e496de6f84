"""Which address and command nets of a DDR memory are compared with which clock: a group for each memory and clock.

A net that joins several memories, as on a fly-by bus, is compared on its way from the controller to each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from drc_rules.analysis.delay.group_ends import chips_on, leads_on, links_of
from drc_rules.analysis.delay.group_limits import GroupLimit, address_limit
from drc_rules.analysis.delay.group_skew import SkewGroup, limits_without_group
from drc_rules.analysis.delay.memory_clocks import memory_clocks, nets_of_memories
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.nets.address_nets import read_address_net
from drc_rules.analysis.nets.board_links import title_of
from drc_rules.analysis.nets.byte_lanes import BusKey
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact

LIMIT = "address_skew_ps"

READ_AS = "DDR: A0 to A15, BA0, RAS, CAS, WE, CS, CKE, ODT, or CA0 to CA6, with CK_P and CK_N"


def address_groups(ctx: Context) -> tuple[SkewGroup, ...]:
    """Return the groups of all DDR memories, by name; get them with `Context.get`."""
    address: dict[BusKey, list[int]] = {}
    for net in nets_of_memories(ctx):
        read = read_address_net(ctx.board.nets[net])
        if read is not None and not read.is_clock and leads_on(ctx, net):
            address.setdefault(read.bus, []).append(net)
    found = list(_groups(ctx, address)) if address else []
    grouped = {net for group in found for net in group.nets}
    found += limits_without_group(ctx, grouped, LIMIT, "address of a clock", READ_AS)
    return tuple(sorted(found, key=lambda one: (one.name, one.title)))


def _groups(ctx: Context, address: Mapping[BusKey, Sequence[int]]) -> Iterator[SkewGroup]:
    """Yield the groups of each memory; a clock that cannot be followed leaves those of its bus open."""
    clocks = ctx.get(memory_clocks)
    for bus, pair, fact in clocks.open:
        yield _group(ctx, f"address of {ctx.board.nets[pair[0]]}", address.get(bus, ()), pair, open_for=fact)
    for between, by_bus in clocks.at.items():
        yield from _at_memory(ctx, between, by_bus, address)


def _at_memory(
    ctx: Context,
    between: tuple[int, int],
    clocks: Mapping[BusKey, Sequence[int]],
    address: Mapping[BusKey, Sequence[int]],
) -> Iterator[SkewGroup]:
    """Yield the groups between two parts.

    Of several clocks each has the nets whose names begin as its own; what begins as none, such as the address of a
    module with a clock for each rank, is compared with all of them.
    """
    one, other = (str(ctx.board.footprints.reference[part]) for part in between)
    name = f"address from {one} to {other}"
    every = tuple(leg for legs in clocks.values() for leg in legs)
    nets: dict[BusKey | None, list[int]] = {}
    open_for: dict[BusKey | None, MissingFact] = {}
    for of, candidates in address.items():
        bus = of if of in clocks else next(iter(clocks)) if len(clocks) == 1 else None
        for net in candidates:
            try:
                chips = chips_on(ctx, net, name)
                if len(chips) < 2:
                    raise _ends_at_part(ctx, net, name)
                if {*between} <= chips:
                    nets.setdefault(bus, []).append(net)
            except MissingFact as fact:
                if of in clocks:
                    nets.setdefault(of, []).append(net)
                    open_for.setdefault(of, fact)
    for bus, of_bus in nets.items():
        legs = every if bus is None else clocks[bus]
        of_clock = f", {ctx.board.nets[legs[0]]}" if bus is not None and len(clocks) > 1 else ""
        yield _group(ctx, name + of_clock, of_bus, legs, between=between, open_for=open_for.get(bus))


def _ends_at_part(ctx: Context, net: int, name: str) -> MissingFact:
    """Return what is not known of a net that goes from one chip to a part behind which it cannot be followed."""
    pads, names = ctx.board.pads, ctx.board.footprints.reference
    parts = sorted({str(names[part]) for part in pads.footprint[pads.net == net].tolist()})
    return MissingFact(
        f"the other end of {ctx.board.nets[net]}: only {', '.join(parts)} are on it",
        f"give a part in series a value in ohm, or compare {name} by hand",
    )


def _group(
    ctx: Context,
    name: str,
    nets: Sequence[int],
    legs: Sequence[int],
    *,
    between: tuple[int, ...] = (),
    open_for: MissingFact | None = None,
) -> SkewGroup:
    every = (*nets, *legs)
    of = ctx.assignment
    first = next((net for net in every if of.is_declared(net)), next(net for net in every if of.role_of(net)))
    role = of.role_of(first)
    limit = address_limit(ctx, declarations_by_net(ctx).get(first), role) if role else GroupLimit(0.0)
    strobe, members = (links_of(ctx, some) for some in (legs, nets))
    title = title_of(role) if role else ""
    return SkewGroup(name, title, limit, of.is_declared(first), every, strobe, members, between, open_for)
