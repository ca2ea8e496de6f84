"""Skew in a group of nets. Delays in ps.

Groups are the bytes of a memory, compared with their strobe, and the data of RGMII, compared with one another. A byte
is eight data nets and the strobe of its number, with names that begin alike. Its limit is what the user declares,
else the widest that a controller's guide allows for the generations that it may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from drc_rules.analysis.delay.pair_skew import PairSkew, skew_between
from drc_rules.analysis.delay.trace_delay import prepare_traces
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.nets.board_links import board_links, title_of
from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.requirements.interfaces import Interface, family, interface
from drc_rules.requirements.interfaces.names import normalise
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link

BITS = 8

_DATA = r"(?P<head>.*?)(?<![A-Z])(?!ADD)(?P<kind>[A-Z]*?D(?:Q|ATA)?)_?(?P<bit>\d+)(?P<tail>(?:_[A-D])?)"
_STROBE = r"(?P<head>.*?)(?<![A-Z])[A-Z]*?DQS_?[PTNC#]?_?(?P<lane>\d+)(?:[PTNC+#-]|_[PTNC])?(?P<tail>(?:_[A-D])?)"
_LANE = r"(?P<head>.*?)(?<![A-Z])(?P<way>[TR])X?D_?\d"
_MEMORIES = ("ddr", "gddr")
_PARALLEL = "rgmii"


@record
class SkewGroup:
    """Nets that must arrive together.

    Attributes:
        name: words for it, `byte /DDR3_DQ8..15`.
        title: of the interface.
        limit_ps: largest difference; `document` is the key of what states it, "" where the user declares it.
        declared: the user has said which interface it is.
        strobe: both traces of what the others are compared with; empty where they are compared with one another.
        members: the data.
    """

    name: str
    title: str
    limit_ps: float
    document: str
    declared: bool
    strobe: tuple[Link, ...]
    members: tuple[Link, ...]


def net_groups(ctx: Context) -> tuple[SkewGroup, ...]:
    """Return the routed groups that have a limit, by name; get them with `Context.get`."""
    roles: dict[NetRole, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role is not None and role.family in (*_MEMORIES, _PARALLEL):
            roles.setdefault(role, []).append(net)
    by_family: dict[tuple[str, str | None], list[int]] = {}
    for role, nets in roles.items():
        by_family.setdefault((role.family, role.interface), []).extend(nets)
    found: list[SkewGroup] = []
    for (of, _), nets in by_family.items():
        units = _bytes(ctx, nets) if of in _MEMORIES else _lanes(ctx, nets)
        found += [group for name, strobe, data in units if (group := _group(ctx, name, strobe, data)) is not None]
    return tuple(sorted(found, key=lambda one: (one.name, one.title)))


def _bytes(ctx: Context, nets: list[int]) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Yield name, strobe and data of each whole byte; none where strobes and bytes are not equally many."""
    data: dict[tuple[str, str, int], dict[int, int]] = {}
    strobes: dict[tuple[str, str, int], tuple[int, ...]] = {}
    for net in nets:
        path, name = ctx.board.nets[net].rpartition("/")[0], normalise(ctx.board.nets[net])
        if bit := re.fullmatch(_DATA, name):
            key = f"{path}/{bit['head']}", bit["tail"], int(bit["bit"]) // BITS
            data.setdefault(key, {})[int(bit["bit"])] = net
        elif read := re.fullmatch(_STROBE, name):
            key = f"{path}/{read['head']}", read["tail"], int(read["lane"])
            strobes[key] = (*strobes.get(key, ()), net)
    if len(data) != len(strobes):
        return
    for key, bits in data.items():
        if len(bits) == BITS and key in strobes:
            first = min(bits)
            yield f"{key[0].lstrip('/')}DQ{first}..{first + BITS - 1}{key[1]}", strobes[key], tuple(bits.values())


def _lanes(ctx: Context, nets: list[int]) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Yield the data nets of each direction of a parallel link."""
    found: dict[str, list[int]] = {}
    for net in nets:
        path, name = ctx.board.nets[net].rpartition("/")[0], normalise(ctx.board.nets[net])
        if read := re.fullmatch(_LANE, name):
            found.setdefault(f"{path}/{read['head']}{read['way']}XD".lstrip("/"), []).append(net)
    yield from ((name, (), tuple(data)) for name, data in found.items() if len(data) > 1)


def _group(ctx: Context, name: str, strobe: tuple[int, ...], data: tuple[int, ...]) -> SkewGroup | None:
    """Return a group of routed nets with its limit; None without one."""
    role, links = ctx.assignment.role_of(data[0]), ctx.get(board_links)
    traces = [one[0] for net in data if (one := links.of(net)) and one[0].length_mm]
    against = tuple(one[0] for net in strobe if (one := links.of(net)))  # one that is not routed leaves the group open
    if role is None or len(traces) < len(data) or (strobe and not any(one.length_mm for one in against)):
        return None
    row = declarations_by_net(ctx).get(data[0])
    own = row.group_skew_ps if row else None
    of = None if own else _widest(role)
    limit = own or (of.group_skew_ps if of else None)
    if not limit:
        return None
    document = of.document_of("group_skew_ps") if of else ""
    declared = ctx.assignment.is_declared(data[0])
    return SkewGroup(name, title_of(role), limit, document, declared, against, tuple(traces))


def _widest(role: NetRole) -> Interface | None:
    """Return the generation with the widest published limit, None where none has one."""
    choices = (interface(role.interface),) if role.interface else family(role.family).interfaces
    return max((one for one in choices if one.group_skew_ps), key=lambda one: one.group_skew_ps or 0.0, default=None)


def worst_group_skew(ctx: Context, group: SkewGroup) -> PairSkew:
    """Return the largest skew of a group: of a net and a trace of the strobe, or of two nets; the later one first.

    Raises:
        MissingFact: one of its nets is not routed from end to end.
    """
    prepare_traces(ctx, (*group.strobe, *group.members))
    if group.strobe:
        every = [(one, leg, _late_ps(ctx, one, leg)) for leg in group.strobe for one in group.members]
        one, leg, late_ps = max(every, key=lambda each: abs(each[2]))
        return skew_between(ctx, *((one, leg) if late_ps > 0 else (leg, one)))
    first = group.members[0]
    late = {one.index: _late_ps(ctx, one, first) for one in group.members}
    latest, earliest = (pick(group.members, key=lambda one: late[one.index]) for pick in (max, min))
    return skew_between(ctx, latest, earliest if earliest.index != latest.index else group.members[1])


def strobe_is_late_ps(ctx: Context, group: SkewGroup, net: int) -> float | None:
    """Return how much later a trace of the strobe is than the middle of its data, where moving it is enough.

    None where it would not, as the data are too far apart, or where the net is none of the strobe's.
    """
    leg = next((one for one in group.strobe if one.nets[0] == net), None)
    if leg is None:
        return None
    late = [_late_ps(ctx, one, leg) for one in group.members]
    return -(max(late) + min(late)) / 2 if max(late) - min(late) <= 2 * group.limit_ps else None


def _late_ps(ctx: Context, one: Link, other: Link) -> float:
    return 0.0 if one.index == other.index else skew_between(ctx, one, other).skew_ps.nominal
