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
_STROBE = r"(?P<head>.*?)(?<![A-Z])[A-Z]*?DQS_?[PT]?_?(?P<lane>\d+)(?:[PT+]|_[PT])?(?P<tail>(?:_[A-D])?)"
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
        strobe: what the others are compared with; None where they are compared with one another.
        members: the data.
    """

    name: str
    title: str
    limit_ps: float
    document: str
    declared: bool
    strobe: Link | None
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


def _bytes(ctx: Context, nets: list[int]) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield name, strobe and data of each whole byte; none where strobes and bytes are not equally many."""
    data: dict[tuple[str, str, int], dict[int, int]] = {}
    strobes: dict[tuple[str, str, int], int] = {}
    for net in nets:
        path, name = ctx.board.nets[net].rpartition("/")[0], normalise(ctx.board.nets[net])
        if bit := re.fullmatch(_DATA, name):
            key = f"{path}/{bit['head']}", bit["tail"], int(bit["bit"]) // BITS
            data.setdefault(key, {})[int(bit["bit"])] = net
        elif read := re.fullmatch(_STROBE, name):
            strobes.setdefault((f"{path}/{read['head']}", read["tail"], int(read["lane"])), net)
    if len(data) != len(strobes):
        return
    for key, bits in data.items():
        if len(bits) == BITS and key in strobes:
            first = min(bits)
            yield f"{key[0].lstrip('/')}DQ{first}..{first + BITS - 1}{key[1]}", strobes[key], tuple(bits.values())


def _lanes(ctx: Context, nets: list[int]) -> Iterator[tuple[str, None, tuple[int, ...]]]:
    """Yield the data nets of each direction of a parallel link."""
    found: dict[str, list[int]] = {}
    for net in nets:
        path, name = ctx.board.nets[net].rpartition("/")[0], normalise(ctx.board.nets[net])
        if read := re.fullmatch(_LANE, name):
            found.setdefault(f"{path}/{read['head']}{read['way']}XD".lstrip("/"), []).append(net)
    yield from ((name, None, tuple(data)) for name, data in found.items() if len(data) > 1)


def _group(ctx: Context, name: str, strobe: int | None, data: tuple[int, ...]) -> SkewGroup | None:
    """Return a group of routed nets with its limit; None without one."""
    role, links = ctx.assignment.role_of(data[0]), ctx.get(board_links)
    traces = [one[0] for net in data if (one := links.of(net)) and one[0].length_mm]
    against = next((one for one in (links.of(strobe) if strobe is not None else ()) if one.length_mm), None)
    if role is None or len(traces) < len(data) or (strobe is not None and against is None):
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
    """Return the largest skew of a group: of a net and the strobe, or of two nets; the later one first.

    Raises:
        MissingFact: one of its nets is not routed from end to end.
    """
    first = group.strobe or group.members[0]
    others = [one for one in group.members if one.index != first.index]
    prepare_traces(ctx, (first, *others))
    late_ps = {one.index: skew_between(ctx, one, first).skew_ps.nominal for one in others}
    if group.strobe is not None:
        worst = max(others, key=lambda one: abs(late_ps[one.index]))
        ends = (worst, first) if late_ps[worst.index] > 0 else (first, worst)
        return skew_between(ctx, *ends)
    late_ps[first.index] = 0.0
    every = (first, *others)
    latest, earliest = (pick(every, key=lambda one: late_ps[one.index]) for pick in (max, min))
    return skew_between(ctx, latest, earliest if earliest.index != latest.index else others[0])
