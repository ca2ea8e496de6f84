"""Skew in a group of nets. Delays in ps.

Groups are the bytes of a memory, compared with their strobe, the two traces of a memory's strobe or clock, and the data
of RGMII, compared with one another. A byte is its data nets, their masks and the strobe of its number, with names that
begin alike. Nets that join several memories are compared from the controller to each of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import combinations, product

import numpy as np

from drc_rules.analysis.delay.group_ends import ends_of, leads_on, link_of
from drc_rules.analysis.delay.group_limits import GroupLimit, byte_limit, pair_limit
from drc_rules.analysis.delay.pair_skew import PairSkew, skew_between, worst_skew
from drc_rules.analysis.delay.trace_delay import prepare_traces
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.nets.board_links import title_of
from drc_rules.analysis.nets.byte_lanes import ByteLane, byte_lanes
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import family
from drc_rules.requirements.interfaces.names import normalise
from stackup_lib.board.board import Floats
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link

_WAY = re.compile(r"(?P<head>.*?)(?<![A-Z])(?P<way>[TR])(?:X?D|X)_?\d")
_CONTROL = re.compile(r"(?P<head>.*?)(?<![A-Z])(?P<way>[TR])X?_?(?:CTL|CTRL|EN|DV)")
"""RGMII sends its control with the data; GMII has them at half the speed, and a limit of its own."""

_MEMORIES = ("ddr", "gddr")
_PARALLEL = "rgmii"

READ_AS = "DDR: DQ0 to DQ7 with DQS0_P and DQS0_N; RGMII: TXD0 to TXD3, RXD0 to RXD3"


@record
class SkewGroup:
    """Nets that must arrive together.

    Attributes:
        name: words for it, `byte /DDR3_DQ8..15`.
        title: of the interface.
        limit: largest difference.
        declared: the user has said which interface it is.
        nets: all of it that was named, as indices into `Board.nets`.
        strobe: both traces of what the others are compared with; empty where they are compared with one another.
        members: the data, and masks or control that are sampled with them.
        between: parts at both ends, as indices into `Board.footprints`, where the nets lead to more than two.
        open_for: why it cannot be compared; None where it can.
    """

    name: str
    title: str
    limit: GroupLimit
    declared: bool
    nets: tuple[int, ...]
    strobe: tuple[Link, ...]
    members: tuple[Link, ...]
    between: tuple[int, ...] = ()
    open_for: MissingFact | None = None


def net_groups(ctx: Context) -> tuple[SkewGroup, ...]:
    """Return the groups that have a limit, by name; get them with `Context.get`."""
    by_family: dict[str, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role is not None and role.family in (*_MEMORIES, _PARALLEL):
            by_family.setdefault(role.family, []).append(net)
    found: list[SkewGroup] = []
    pairs: list[SkewGroup] = []
    for of, nets in by_family.items():
        units = byte_lanes(ctx.board, nets) if of in _MEMORIES else _ways(ctx, nets)
        found += [group for unit in units for group in _groups(ctx, of, unit)]
        if of in _MEMORIES and not family(of).fast:  # pairs of a fast family are judged with all other pairs
            pairs += [group for pair in _pairs(ctx, of, nets) for group in _groups(ctx, of, pair, is_pair=True)]
    grouped = {net for group in found for net in group.nets}
    found += limits_without_group(ctx, grouped, "group_skew_ps", "data", READ_AS)
    found += pairs
    return tuple(sorted(found, key=lambda one: (one.name, one.title)))


def _ways(ctx: Context, nets: list[int]) -> Iterator[ByteLane]:
    """Yield the data and control nets of each direction of a parallel link."""
    data: dict[tuple[str, str], list[int]] = {}
    control: dict[tuple[str, str], list[int]] = {}
    for net in nets:
        path, name = ctx.board.nets[net].rpartition("/")[0], normalise(ctx.board.nets[net]).replace("[", "")
        for pattern, found in ((_WAY, data), (_CONTROL, control)):
            read = pattern.fullmatch(name.replace("]", ""))
            if read and (pattern is _WAY or "RGMII" in name):
                found.setdefault((f"{path}/{read['head']}", read["way"]), []).append(net)
    for key, of_way in data.items():
        yield ByteLane(f"{key[0]}{key[1]}XD".lstrip("/"), tuple(of_way), tuple(control.get(key, ())), ())


def _pairs(ctx: Context, of: str, nets: list[int]) -> Iterator[ByteLane]:
    """Yield both traces of each strobe and clock of a memory, as the bits of a lane."""
    for net in nets:
        other = ctx.pairs.complement_of(net)
        if other is None or not all(family(of).is_half(normalise(ctx.board.nets[one])) for one in (net, other)):
            continue
        pair = ctx.pairs.pair_of(net)
        if pair is not None and (net < other or ctx.assignment.role_of(other) is None):
            yield ByteLane(f"pair {ctx.pairs.name[pair]}", (net, other), (), ())


def _groups(ctx: Context, of: str, lane: ByteLane, *, is_pair: bool = False) -> Iterator[SkewGroup]:
    """Yield a byte, a direction or a pair with its limit, once for each memory that it leads to."""
    first = next((net for net in lane.bits if ctx.assignment.is_declared(net)), lane.bits[0])
    role, declared = ctx.assignment.role_of(first), ctx.assignment.is_declared(first)
    if role is None:
        return
    limit = pair_limit(role) if is_pair else byte_limit(declarations_by_net(ctx).get(first), role)
    bits = [net for net in lane.bits if leads_on(ctx, net)]
    others = [net for net in lane.masks if leads_on(ctx, net)]
    nets = (*bits, *others, *lane.strobe)

    def group(name: str, *, between: tuple[int, ...] = (), open_for: MissingFact | None = None) -> SkewGroup:
        links = {net: link for net in nets if (link := link_of(ctx, net)) is not None}
        strobe, members = (tuple(links[net] for net in some if net in links) for some in (lane.strobe, bits + others))
        return SkewGroup(name, title_of(role), limit, declared, nets, strobe, members, between, open_for)

    if not (lane.strobe or is_pair) and of in _MEMORIES:
        if bits and (declared or (lane.in_doubt and role.interface)):
            yield group(lane.name, open_for=_no_strobe(lane))
        return
    if len(bits) < (1 if lane.strobe else 2):
        return
    if not limit.ps:
        yield group(lane.name, open_for=limit.open_for)
        return
    try:
        ends = ends_of(ctx, of, lane.name, nets)
    except MissingFact as fact:
        yield group(lane.name, open_for=fact)
        return
    names = ctx.board.footprints.reference
    for between in ends:
        to = f", {names[between[0]]} to {names[between[1]]}" if len(ends) > 1 else ""
        yield group(lane.name + to, between=between)


def _no_strobe(lane: ByteLane) -> MissingFact:
    why = lane.in_doubt or "no net of its bus reads as a strobe"
    return MissingFact(
        f"the strobe of {lane.name} ({why})", f"name the nets as the memory's data sheet does ({READ_AS})"
    )


def limits_without_group(
    ctx: Context, grouped: Collection[int], field: str, what: str, read_as: str
) -> Iterator[SkewGroup]:
    """Yield what is left open of each declared limit among whose nets no group was found.

    Args:
        ctx: the board.
        grouped: nets of the groups that were found.
        field: of `[[interface]]`, that states the limit.
        what: it is for, `data` or `address`.
        read_as: names that would be read so.
    """
    nets_of: dict[int, list[int]] = {}
    rows = ctx.declarations.config.interface
    if not any(getattr(row, field) for row in rows):
        return
    numbers = {id(row): number for number, row in enumerate(rows, start=1)}
    for net, row in declarations_by_net(ctx).items():
        if getattr(row, field) and ctx.assignment.role_of(net) is not None:
            nets_of.setdefault(numbers[id(row)], []).append(net)
    for number, nets in nets_of.items():
        if {*nets}.isdisjoint(grouped) and (role := ctx.assignment.role_of(nets[0])) is not None:
            fact = MissingFact(
                f"what {field} of [[interface]] {number} is for: none of its nets reads as {what}",
                f"choose nets that read so ({read_as})",
            )
            limit = GroupLimit(getattr(rows[number - 1], field) or 0.0)
            name = f"[[interface]] {number}"
            declared = ctx.assignment.is_declared(nets[0])
            yield SkewGroup(name, title_of(role), limit, declared, tuple(nets), (), (), (), fact)


def worst_group_skew(ctx: Context, group: SkewGroup) -> PairSkew:
    """Return the skew that decides a group: of a net and a trace of the strobe, or of two nets; the later one first.

    Raises:
        MissingFact: one of its nets is not routed from end to end.
    """
    prepare_traces(ctx, (*group.strobe, *group.members))
    ends = product(group.members, group.strobe) if group.strobe else combinations(group.members, 2)
    return worst_skew(ctx, ends, group.limit.ps, group.between)


def nets_to_move(ctx: Context, group: SkewGroup) -> tuple[tuple[Link, ...], float] | None:
    """Return the nets of a byte to move by which its limit is met, and how late they are in ps.

    One bit where it alone is off, else the one trace of the strobe that is off, else the whole strobe. None where
    nothing of this is enough.
    """
    late = np.array([[_late_ps(ctx, one, leg, group.between) for leg in group.strobe] for one in group.members])
    is_off = np.abs(late) > group.limit.ps
    rows, legs = np.flatnonzero(is_off.any(axis=1)), np.flatnonzero(is_off.any(axis=0))
    if len(rows) == 1 and len(group.members) > 2:  # of two bits, either may be the one
        return (group.members[rows[0]],), _middle(late[rows[0]])
    moved = legs if len(legs) else np.arange(len(group.strobe))
    if np.ptp(late[:, moved]) <= 2 * group.limit.ps:
        return tuple(group.strobe[leg] for leg in moved), -_middle(late[:, moved])
    return None


def _middle(late_ps: Floats) -> float:
    return float(late_ps.max() + late_ps.min()) / 2


def _late_ps(ctx: Context, one: Link, other: Link, between: tuple[int, ...]) -> float:
    return 0.0 if one.index == other.index else skew_between(ctx, one, other, between).skew_ps.nominal
