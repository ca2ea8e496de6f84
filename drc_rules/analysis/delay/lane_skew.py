"""Lane skew: how much later one pair of a port arrives than another. Lengths in mm, delays in ps.

A port is what the names of its pairs have in common, `/CSI0` of `/CSI0_D0` and `/CSI0_CLK`. The lanes of PCI Express
are a port for each direction, `/PEG_TX` of `/PEG_TX0` and `/PEG_TX1`, between the same parts. Only interfaces with a
published limit have ports here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import combinations

from drc_rules.analysis.delay.card_ends import are_at_card_edge, are_at_slot
from drc_rules.analysis.delay.pair_skew import PairSkew, pair_name, worst_skew
from drc_rules.analysis.delay.trace_delay import prepare_traces
from drc_rules.analysis.nets.board_links import board_links, is_declared_as, title_of
from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.requirements.interfaces import Interface, family, interface
from stackup_lib.core.facts import MissingFact, Origin
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link

_LANE = re.compile(r"(?P<port>.*[^._\-/])[._\-/](?P<lane>[A-Za-z]{1,5}\d*|\d)")
_CLOSE = re.compile(r"(?P<port>.*\d)(?P<lane>D\d|CL?K\d?)", re.IGNORECASE)
"""Of names without a mark between port and lane, `CSI0D1` and `CSI0CK`: the number of the port is needed."""
_WAY = re.compile(r"(?P<port>.*?(?:[._\-/]|PE)[TR]X?)[._\-\[]?(?P<lane>\d+)\]?[._\-]?D?", re.IGNORECASE)
"""Of families whose directions are ports of their own; behind the lane may stand a rest of `DP`, `.P`, `]_P`."""
_BY_WAY = ("pcie",)
FIELDS = TO_CLOCK, OF_PATH, OF_SYSTEM, OF_CARD = (
    "clock_skew_ps",
    "lane_skew_ps",
    "lane_skew_system_ps",
    "lane_skew_card_ps",
)
"""Fields of `Interface` that are a limit of lanes."""
_CAPACITOR = r"(?<=[._\-/])([A-Za-z]{1,4}\d+)_C\d?$"
_CLOCK = re.compile(r"(?:C|CK|CLK|[TR]XC|[TR]XCK|[TR]XCLK|CLOCK)\d?", re.IGNORECASE)

NAMED_ALIKE = "name the lanes and the clock of a port alike, as CSI0_D0_P, CSI0_D1_P and CSI0_CLK_P"


@record
class LanePort:
    """The routed pairs of one port.

    Attributes:
        name: what the names of its pairs have in common.
        title: of the interface.
        limit: the generation with the widest limit of those that it may be.
        field: which of its limits counts, a field of `Interface`.
        declared: the user has said which interface it is.
        clock: positive trace of the clock, None where none was found.
        lanes: positive traces of the others.
        open_for: why a port that the user declared cannot be compared; None where it can.
    """

    name: str
    title: str
    limit: Interface
    field: str
    declared: bool
    clock: Link | None
    lanes: tuple[Link, ...]
    open_for: MissingFact | None = None

    @property
    def limit_ps(self) -> float:
        """The limit."""
        return float(getattr(self.limit, self.field))

    @property
    def to_clock(self) -> bool:
        """The limit is that between a lane and the clock, else that between any two lanes."""
        return self.field == TO_CLOCK

    @property
    def document(self) -> str:
        """Key of the document that states it."""
        return self.limit.document_of(self.field)

    @property
    def any_rate(self) -> bool:
        """Some generation that it may be has no limit at all: then one beyond it is information."""
        choices = family(self.limit.family).interfaces
        return self.limit.family in _BY_WAY and not self.declared and any(not getattr(i, self.field) for i in choices)

    @property
    def traces(self) -> tuple[Link, ...]:
        """The positive traces of the clock and the lanes."""
        return (*((self.clock,) if self.clock else ()), *self.lanes)


def lane_ports(ctx: Context) -> tuple[LanePort, ...]:
    """Return the ports with a published limit, by name; get them with `Context.get`."""
    links, done = ctx.get(board_links), set[int]()
    roles: dict[tuple[str, str, str | None, bool, frozenset[str]], NetRole] = {}
    found: dict[tuple[str, str, str | None, bool, frozenset[str]], list[tuple[str, Link]]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role is None or not _has_limit(role.family, role.interface):
            continue
        for link in links.of_nets([net]):
            complement = links.complement_of(link)
            if complement is None or complement.index == link.index or link.index in done:
                continue
            if not ctx.assignment.is_declared(net) and is_declared_as(ctx, role.family, link, complement):
                continue  # its declared net brings it
            done |= {link.index, complement.index}
            by_way = role.family in _BY_WAY
            name = re.sub(_CAPACITOR, r"\1", pair_name(ctx, link))
            lane = _WAY.fullmatch(name) if by_way else _CLOSE.fullmatch(name) or _LANE.fullmatch(name)
            if lane and all(one.length_mm or len(one.ends) > 1 for one in (link, complement)):
                ends = frozenset(pad.reference for pad in link.ends) if by_way else frozenset[str]()
                key = lane["port"], role.family, role.interface, ctx.assignment.is_declared(net), ends
                found.setdefault(key, []).append((lane["lane"], link))
                roles.setdefault(key, role)
    ports = [port for key, lanes in found.items() if (port := _port(ctx, key[0], roles[key], lanes))]
    prepare_traces(ctx, [trace for port in ports if not port.open_for for trace in port.traces])
    return tuple(sorted(ports, key=lambda one: (one.name, one.title)))


@cache
def _has_limit(family_id: str, interface_id: str | None) -> bool:
    choices = (interface(interface_id),) if interface_id else family(family_id).interfaces
    return any(getattr(one, field) for one in choices for field in FIELDS)


def _limit(role: NetRole, field: str) -> Interface | None:
    """Return the generation with the widest published limit of a kind, None where none has one."""
    choices = (interface(role.interface),) if role.interface else family(role.family).interfaces
    return max(
        (one for one in choices if getattr(one, field)), key=lambda one: float(getattr(one, field)), default=None
    )


def _port(ctx: Context, name: str, role: NetRole, lanes: Sequence[tuple[str, Link]]) -> LanePort | None:
    """Return a port that can be judged: with two pairs, and with one clock where the limit is against the clock."""
    clocks = [link for lane, link in lanes if _CLOCK.fullmatch(lane)]
    others = tuple(link for lane, link in lanes if not _CLOCK.fullmatch(lane))
    if not any(link.length_mm for _, link in lanes):
        return None
    field, fact = _field(ctx, role, others), None
    limit = _limit(role, field)
    if limit is None:
        return None
    if len(clocks) > 1 or len({lane for lane, _ in lanes}) < len(lanes):  # several ports, or both sides of a chip
        fact = MissingFact(f"which lanes are those of {name}: two have one name", NAMED_ALIKE)
    elif field == TO_CLOCK and not clocks:
        fact = MissingFact(f"the clock of {name}: no pair reads as it", NAMED_ALIKE)
    elif not others or len(lanes) < 2:
        return None
    is_declared = role.origin is Origin.DECLARED
    if fact is not None and (not is_declared or role.family in _BY_WAY):
        return None
    clock = clocks[0] if clocks else None
    return LanePort(name, title_of(role), limit, field, is_declared, clock, others, fact)


def _field(ctx: Context, role: NetRole, lanes: Sequence[Link]) -> str:
    """Return which limit counts for lanes: that to the clock, of their side of a slot, or of the whole path."""
    if _limit(role, TO_CLOCK):
        return TO_CLOCK
    if _limit(role, OF_CARD) and are_at_card_edge(ctx, lanes):
        return OF_CARD
    if _limit(role, OF_SYSTEM) and are_at_slot(ctx, lanes):
        return OF_SYSTEM
    return OF_PATH


def worst_lane_skew(ctx: Context, port: LanePort) -> PairSkew:
    """Return the skew that decides a port: of the clock and a lane, or of two lanes, its first pair the later one.

    Raises:
        MissingFact: one of its pairs is not routed from end to end.
    """
    ends = [(lane, port.clock) for lane in port.lanes] if port.to_clock and port.clock else combinations(port.traces, 2)
    return worst_skew(ctx, ends, port.limit_ps)
