"""The delay of one trace from end to end. Lengths in mm, delays in ps.

A trace is followed through its series parts, tuning patterns as drawn. Each section counts with the delay per length of
its own cross section, a via, or a plated pin with its trace on another layer than its part, with the height that the
signal climbs and what it overhangs, a package with the pad-to-die length or delay that KiCad stores at the pads. A
height is no part of a length: KiCad counts that of a via, and not that of a pin.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from drc_rules.analysis.delay.bare_lines import BareKey, bare_mm, bare_ps_per_mm, without_plane
from drc_rules.analysis.delay.two_ways import TwoWays, two_ways, which_way
from drc_rules.analysis.delay.via_delay import Climb, climb_at_pin, climb_of, via_delay_ps
from drc_rules.analysis.lines.board_lines import lines_of
from drc_rules.analysis.lines.link_geometry import LinkGeometry
from drc_rules.analysis.lines.solved_lines import LineKey, Lines
from drc_rules.analysis.nets.board_links import board_links, complete_routes
from drc_rules.facts.context import Context
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link
from stackup_lib.nets.routing.routes import Route

DELAY_SPREAD = 0.05
"""What tolerance of Dk and neighbouring copper leave open of a delay per length: a tenth of the permittivity."""

ANY_DK = (2.0, 4.7)
"""Effective permittivity of any line on a board: a microstrip on a laminate of Dk 2.6, a stripline in FR-4."""


@record
class TraceRoute:
    """One trace: its line lengths by cross section, how many vias it has, those that change layers, and its package.

    `bare_mm` is what of the lines has no plane, by geometry; `loops` what second ways of its tracks leave open.
    """

    length_mm: float
    lines_mm: dict[LineKey, float]
    vias: int
    climbs: tuple[Climb, ...]
    die_mm: float
    die_ps: float
    bare_mm: Mapping[BareKey, float]
    loops: TwoWays | None

    @property
    def doubt_mm(self) -> float:
        """By how much longer than its shortest way it may be, for loops."""
        return self.loops.doubt_mm if self.loops else 0.0


@record
class TraceDelay:
    """The delay of one trace.

    Attributes:
        total_ps: with its range.
        lines_ps, vias_ps, package_ps: its parts.
        unsure: what would narrow the range, None where all is known.
    """

    total_ps: Interval
    lines_ps: float
    vias_ps: float
    package_ps: float
    unsure: MissingFact | None


def prepare_traces(ctx: Context, traces: Sequence[Link]) -> None:
    """Find out what touches what on the nets of some links, and in which geometries they run, all in one go."""
    if traces:
        ctx.get(board_links).prepare(traces)
        lines_of(ctx, [net for trace in traces for net in trace.nets])


def pair_traces(
    ctx: Context, positive: int, negative: int, between: Sequence[int] = ()
) -> tuple[TraceRoute, TraceRoute]:
    """Follow two links, by their rows; between two of their parts where these are given.

    Raises:
        MissingFact: one of their nets is not routed from pad to pad.
    """
    return ctx.get(_trace_of_row, positive, *between), ctx.get(_trace_of_row, negative, *between)


def _trace_of_row(ctx: Context, row: int, *between: int) -> TraceRoute:
    """Follow a link in the geometry of its own nets: another link may run otherwise on the same layer, as wide.

    Nets of a pair share the geometry that both have together.
    """
    link = ctx.get(board_links).link(row)
    return trace_of(ctx, link, LinkGeometry(ctx, link.nets), between)


def trace_of(ctx: Context, link: Link, geometry: LinkGeometry, between: Sequence[int] = ()) -> TraceRoute:
    """Follow a link from end to end, or between two of its parts, as indices into `Board.footprints`.

    Raises:
        MissingFact: one of its nets is not routed from pad to pad.
    """
    routes = complete_routes(ctx, link, between)
    lines: dict[LineKey, float] = {}
    for route in routes:
        for piece in route.pieces:
            for key, length in geometry.spread(piece):
                lines[key] = lines.get(key, 0.0) + length
    ends = _end_pads(routes)
    length_mm = sum(route.path_length_mm for route in routes)
    return TraceRoute(
        length_mm=length_mm,
        lines_mm=lines,
        vias=sum(len(route.crossings) for route in routes),
        climbs=tuple(climb for route in routes for climb in _climbs(ctx, route)),
        die_mm=float(sum(ctx.board.pads.die_length_mm[row] for row in ends)),
        die_ps=float(sum(ctx.board.pads.die_delay_ps[row] for row in ends)),
        bare_mm=bare_mm(ctx, link, length_mm),
        loops=two_ways(routes),
    )


def _climbs(ctx: Context, route: Route) -> Iterator[Climb]:
    """Yield the vias and pins of a route that change layers."""
    pins = (climb_at_pin(ctx, route, is_start=is_start) for is_start in (True, False))
    yield from (climb for climb in (*pins, *(climb_of(ctx, one) for one in route.crossings)) if climb)


def delay_of(ctx: Context, trace: TraceRoute) -> TraceDelay:
    """Return the delay of a trace.

    Raises:
        MissingFact: it has vias, and the stackup does not tell how high they climb.
    """
    nominal, spread, unsure = 0.0, 0.0, None
    for key, length in trace.lines_mm.items():
        delay, fact = delay_ps_per_mm(ctx, key)
        unsure = unsure or fact
        nominal += length * delay.nominal
        spread += length * (delay.high - delay.low) / 2
    less, more = _lines_off_ps(ctx, trace, nominal, spread)
    vias = climb_ps(ctx, trace.climbs)
    package = package_ps(ctx, trace)
    total = nominal + vias.nominal + package
    return TraceDelay(
        total_ps=Interval(
            low=total - less - (vias.nominal - vias.low),
            nominal=total,
            high=total + more + (vias.high - vias.nominal) + trace.doubt_mm * usual_ps_per_mm(ctx, trace),
        ),
        lines_ps=nominal,
        vias_ps=vias.nominal,
        package_ps=package,
        unsure=which_way(ctx, trace.loops) or unsure or without_plane(trace.bare_mm, trace.length_mm),
    )


def _lines_off_ps(ctx: Context, trace: TraceRoute, lines_ps: float, spread_ps: float) -> tuple[float, float]:
    """Return how much less and more the lines may take: without a plane, whatever any line may."""
    bare = sum(trace.bare_mm.values())
    if not bare:
        return spread_ps, spread_ps
    over_plane, ps_per_mm = 1 - bare / trace.length_mm, lines_ps / trace.length_mm
    fast, slow = bare_ps_per_mm(ctx)
    less, more = max(ps_per_mm - fast, 0.0), max(slow - ps_per_mm, 0.0)
    return over_plane * spread_ps + bare * less, over_plane * spread_ps + bare * more


def package_ps(ctx: Context, trace: TraceRoute) -> float:
    """Return the delay between pads and dies; KiCad counts a pad-to-die length as so much track."""
    return trace.die_ps + trace.die_mm * usual_ps_per_mm(ctx, trace)


def _end_pads(routes: Sequence[Route]) -> tuple[int, ...]:
    """Return the pads that a trace begins and ends on."""
    pads = {row for route in routes for row in (route.start_pad, route.end_pad) if row is not None}
    return tuple(sorted(pads))


def delay_ps_per_mm(ctx: Context, key: LineKey) -> tuple[Interval, MissingFact | None]:
    """Return the delay of a cross section; that of any board where it cannot be solved, with the reason."""
    return ctx.get(_ps_per_mm, key)


def _ps_per_mm(ctx: Context, key: LineKey) -> tuple[Interval, MissingFact | None]:
    try:
        value = fmean(line.delay_ps_per_mm for line in Lines(ctx).lines(key))
    except MissingFact as fact:
        return any_delay(), fact
    except StackwrightError as error:
        return any_delay(), MissingFact(f"the delay of a line ({error.what})", error.next_step)
    return Interval(low=value * (1 - DELAY_SPREAD), nominal=value, high=value * (1 + DELAY_SPREAD)), None


def any_delay() -> Interval:
    """Return the delay per length of any line on any board."""
    low, high = (1000 * math.sqrt(dk) / LIGHT_MM_GHZ for dk in ANY_DK)
    return Interval(low=low, nominal=(low + high) / 2, high=high)


def usual_ps_per_mm(ctx: Context, trace: TraceRoute) -> float:
    """Return the delay of the cross section in which most of a trace runs."""
    longest = max(trace.lines_mm, key=lambda key: trace.lines_mm[key], default=None)
    return any_delay().nominal if longest is None else delay_ps_per_mm(ctx, longest)[0].nominal


def climb_ps(ctx: Context, climbs: Sequence[Climb], others: Sequence[Climb] = ()) -> Interval:
    """Return the delay of a trace's vias minus that of `others`; those that both have are left out.

    Raises:
        MissingFact: the stackup does not tell how high they climb.
    """
    mine, theirs = Counter(climbs) - Counter(others), Counter(others) - Counter(climbs)
    if not mine and not theirs:
        return ZERO
    signed = [(ctx.get(via_delay_ps, climb), many) for climb, many in mine.items()]
    signed += [(ctx.get(via_delay_ps, climb), -many) for climb, many in theirs.items()]
    low = sum(many * one.low for one, many in signed)
    nominal = sum(many * one.nominal for one, many in signed)
    high = sum(many * one.high for one, many in signed)
    return Interval(low=min(low, nominal, high), nominal=nominal, high=max(low, nominal, high))
