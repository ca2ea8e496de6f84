"""By how much the clock of a DDR memory arrives after the strobes of its data. Delays in ps.

On a fly-by bus the clock reaches one memory after another; its strobes go to each directly. Write levelling evens out
the difference within the range that the controller has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from drc_rules.analysis.delay.group_ends import chips_on, links_of
from drc_rules.analysis.delay.memory_clocks import memory_clocks, nets_of_memories
from drc_rules.analysis.delay.pair_skew import SAME_PS, PairSkew, skew_between
from drc_rules.analysis.delay.trace_delay import prepare_traces
from drc_rules.analysis.nets.board_links import title_of
from drc_rules.analysis.nets.byte_lanes import STROBES, BusKey, read_lane_net
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.requirements.interfaces import Interface, family, interface
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Standing
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link

FIELD = "clock_after_strobe_ps"


@record
class StrobeWindow:
    """The strobes of a memory and its clock.

    Attributes:
        name: words for it, `clock from U1 to U2`.
        title: of the interface.
        declared: the user has said which interface it is.
        clock, strobes: the traces of the clock, and of all strobes, as links.
        nets: of all of these, as indices into `Board.nets`.
        between: controller and memory, as indices into `Board.footprints`.
        least_ps, most_ps: by which the clock may arrive after a strobe.
        document: key of what states it.
        of: title of the generation that it is stated for.
        open_for: why it cannot be judged within these; None where it can.
    """

    name: str
    title: str
    declared: bool
    clock: tuple[Link, ...]
    strobes: tuple[Link, ...]
    nets: tuple[int, ...]
    between: tuple[int, int]
    least_ps: float
    most_ps: float
    document: str
    of: str
    open_for: MissingFact | None = None


def strobe_windows(ctx: Context) -> tuple[StrobeWindow, ...]:
    """Return the memories of which a limit is known, by name; get them with `Context.get`."""
    strobes: dict[BusKey, list[int]] = {}
    for net in nets_of_memories(ctx):
        read = read_lane_net(ctx.board.nets[net])
        if read is not None and read.kind == STROBES[0]:
            strobes.setdefault(read.bus, []).append(net)
    found = [
        window
        for between, clocks in (ctx.get(memory_clocks).at.items() if strobes else ())
        for window in _at_memory(ctx, between, clocks, strobes)
    ]
    return tuple(sorted(found, key=lambda one: (one.name, one.title)))


def _at_memory(
    ctx: Context,
    between: tuple[int, int],
    clocks: Mapping[BusKey, Sequence[int]],
    strobes: Mapping[BusKey, Sequence[int]],
) -> Iterator[StrobeWindow]:
    """Yield the windows between two parts: of several clocks each has the strobes whose names begin as its own."""
    one, other = (str(ctx.board.footprints.reference[part]) for part in between)
    if ReferenceKind.SOCKET in (reference_kind(one), reference_kind(other)):
        return  # on a module the clock has its own way from there
    for bus, legs in clocks.items():
        name = f"clock from {one} to {other}" + (f", {ctx.board.nets[legs[0]]}" if len(clocks) > 1 else "")
        mine = [net for of, nets in strobes.items() if of == bus or len(clocks) == 1 for net in nets]
        reaching, lost = _reaching(ctx, mine, between, name)
        role = ctx.assignment.role_of(legs[0]) or ctx.assignment.role_of(legs[1])
        if not reaching or role is None:
            continue
        own = interface(role.interface) if role.interface else None
        stated = [own] if own else [*family(role.family).interfaces]
        if limits := [one for one in stated if one.clock_after_strobe_ps]:
            every = (*legs, *reaching)
            yield StrobeWindow(
                name,
                title_of(role),
                any(ctx.assignment.is_declared(net) for net in every),
                links_of(ctx, legs),
                links_of(ctx, reaching),
                every,
                between,
                *_widest(limits),
                open_for=lost or (None if own else generation_of(ctx, role.family)),
            )


def _reaching(
    ctx: Context, nets: Sequence[int], between: tuple[int, int], name: str
) -> tuple[list[int], MissingFact | None]:
    """Return the strobes that run between two parts, and what is missing of one that cannot be followed."""
    found: list[int] = []
    lost: MissingFact | None = None
    for net in nets:
        try:
            if {*between} <= chips_on(ctx, net, name):
                found.append(net)
        except MissingFact as fact:
            lost = lost or fact
    return found, lost


def _widest(stated: Sequence[Interface]) -> tuple[float, float, str, str]:
    """Return the widest range that any of some generations has, its document and its title."""
    ranges = {one.id: one.clock_after_strobe_ps or (0.0, 0.0) for one in stated}
    of = max(stated, key=lambda one: ranges[one.id][1] - ranges[one.id][0])
    return (
        min(low for low, _ in ranges.values()),
        max(high for _, high in ranges.values()),
        of.document_of(FIELD),
        of.title,
    )


def clock_after_strobe(ctx: Context, window: StrobeWindow) -> PairSkew:
    """Return the skew, clock minus strobe, that decides a window.

    That is the farthest of those surely outside it, else the one farthest outside or nearest to an end.

    Raises:
        MissingFact: one of its nets is not routed from end to end.
    """
    prepare_traces(ctx, (*window.clock, *window.strobes))
    every = [skew_between(ctx, *ends, window.between) for ends in product(window.clock, window.strobes)]
    limits = {"minimum": window.least_ps, "maximum": window.most_ps}
    beyond = [one for one in every if one.skew_ps.against(**limits) is Standing.BEYOND]
    return min(beyond or every, key=lambda one: round(_inside_ps(window, one), SAME_PS))


def _inside_ps(window: StrobeWindow, one: PairSkew) -> float:
    return min(one.skew_ps.nominal - window.least_ps, window.most_ps - one.skew_ps.nominal)


def may_leave(window: StrobeWindow, one: PairSkew) -> bool:
    """Tell whether missing facts, or sections without a plane, may take a skew that is inside out of its window."""
    earlier, later = one.bare_ps
    low, high = one.skew_ps.nominal - earlier, one.skew_ps.nominal + later
    if one.unsure:
        low, high = one.skew_ps.low, one.skew_ps.high
    return low < window.least_ps or high > window.most_ps
