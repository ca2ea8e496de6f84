"""Intra-pair skew: how much later one trace of a differential pair arrives than the other. Lengths in mm, delays in ps.

A trace is followed from end to end through its series parts, tuning patterns as drawn. Each stretch counts with the
delay per length of its own cross section, a via with the height that the signal climbs, a package with the pad-to-die
length or delay that KiCad stores at the pads. What both traces have in common cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from drc_rules.analysis.lines.link_geometry import LineKey, LinkGeometry
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.nets.board_links import board_links, complete_routes
from drc_rules.analysis.return_path.return_paths import FastGroup, ReturnPaths
from drc_rules.facts.context import DECLARE_STACKUP, Context
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.nets.links import Link
from stackup_lib.nets.routes import Route
from stackup_lib.vias.plated_holes import copper_heights_mm

DELAY_SPREAD = 0.05
"""What tolerance of Dk and neighbouring copper leave open of a delay per length: a tenth of the permittivity."""

ANY_DK = (2.0, 4.7)
"""Effective permittivity of any line on a board: a microstrip on a laminate of Dk 2.6, a stripline in FR-4."""

BARREL_LOADING = (1.0, 1.5, 2.2)
"""Dk_eff over Dk of a via's barrel: bare, usual, and with all its pads between planes (2.1 by a 3-D solution of through
vias of 1.5 mm, signal-integrity test board of Antmicro, openEMS)."""

USUAL_DK = 4.0
"""Along a via where a Dk is not known."""

LEAST_MM = 0.001
"""Lengths that differ by less are equal: KiCad's grid and the rounding of widths."""


@dataclass(frozen=True)
class TraceRoute:
    """One trace of a pair: its line lengths by cross section, the height of its vias, and its package."""

    length_mm: float
    lines_mm: dict[LineKey, float]
    spans: tuple[tuple[int, int], ...]
    die_mm: float
    die_ps: float


@dataclass(frozen=True)
class PairSkew:
    """What sets the traces of one pair apart.

    Attributes:
        nets: the first net of the positive trace, then that of the negative one.
        name: of the pair.
        length_mm: of both traces, along the tracks.
        skew_ps: positive minus negative, with its range.
        layer: copper layer with the largest difference of length, None where the tracks are equally long.
        layer_mm: that difference, positive minus negative.
        vias_ps, package_ps: parts of the skew.
        ps_per_mm: of the cross section in which most of the pair runs.
        unsure: what would narrow the range, None where all is known.
    """

    nets: tuple[int, int]
    name: str
    length_mm: tuple[float, float]
    skew_ps: Interval
    layer: int | None
    layer_mm: float
    vias_ps: float
    package_ps: float
    ps_per_mm: float
    unsure: MissingFact | None

    @property
    def size_ps(self) -> Interval:
        """The amount of the skew, whichever trace is late."""
        low, high = self.skew_ps.low, self.skew_ps.high
        ends = sorted((abs(low), abs(high)))
        return Interval(low=0.0 if low < 0 < high else ends[0], nominal=abs(self.skew_ps.nominal), high=ends[1])


@dataclass(frozen=True)
class GroupSkews:
    """The pairs of a group: those that were measured, the largest skew first, and why others were not."""

    known: tuple[PairSkew, ...]
    missing: tuple[MissingFact, ...]


def skews_of(ctx: Context, group: FastGroup) -> GroupSkews:
    """Return the skew of every routed pair of a group."""
    return ctx.get(_skews_of, group.id)


def _skews_of(ctx: Context, group_id: str) -> GroupSkews:
    group = next(one for one in ReturnPaths(ctx).groups if one.id == group_id)
    known: list[PairSkew] = []
    missing: list[MissingFact] = []
    links = ctx.get(board_links)
    pairs = list(_pairs(ctx, group))
    links.prepare(trace for traces in pairs for trace in traces)
    for positive, negative in pairs:
        try:
            known.append(_skew(ctx, positive, negative))
        except MissingFact as fact:
            missing.append(fact)
    known.sort(key=lambda one: (-one.size_ps.nominal, one.name))
    return GroupSkews(tuple(known), tuple(missing))


def _pairs(ctx: Context, group: FastGroup) -> Iterator[tuple[Link, Link]]:
    """Yield the links of a group that are pairs, the positive one first; those of unused pins lead nowhere."""
    links, done = ctx.get(board_links), set[int]()
    for link in links.of_nets(group.nets):
        partner = links.partner_of(link)
        if partner is None or link.index in done or partner.index == link.index or _is_another(ctx, group, link):
            continue
        done |= {link.index, partner.index}
        if all(one.length_mm or len(one.ends) > 1 for one in (link, partner)):
            yield link, partner


def _is_another(ctx: Context, group: FastGroup, link: Link) -> bool:
    """Tell whether a link belongs to another group: by its own nets, where it shares one with this group."""
    roles = [role for role in map(ctx.assignment.role_of, link.nets) if role is not None]
    return any(role.family != group.family for role in roles)


def _skew(ctx: Context, positive: Link, negative: Link) -> PairSkew:
    nets = (*positive.nets, *negative.nets)
    geometry = LinkGeometry(ctx, nets)
    first, second = (_trace(ctx, link, geometry) for link in (positive, negative))
    nominal, spread, unsure = 0.0, 0.0, None
    by_layer: dict[int, float] = {}
    for key in dict.fromkeys((*first.lines_mm, *second.lines_mm)):
        apart_mm = first.lines_mm.get(key, 0.0) - second.lines_mm.get(key, 0.0)
        by_layer[key[0]] = by_layer.get(key[0], 0.0) + apart_mm
        if abs(apart_mm) < LEAST_MM:
            continue
        delay, fact = _delay_ps_per_mm(ctx, key)
        unsure = unsure or fact
        nominal += apart_mm * delay.nominal
        spread += abs(apart_mm) * (delay.high - delay.low) / 2
    vias = _vias_ps(ctx, first.spans, second.spans)
    die_mm = first.die_mm - second.die_mm
    ps_per_mm = _usual_ps_per_mm(ctx, first)
    package = first.die_ps - second.die_ps + die_mm * ps_per_mm  # KiCad counts a pad-to-die length as so much track
    layer = max(by_layer, key=lambda k: abs(by_layer[k]), default=None)
    is_apart = layer is not None and abs(by_layer[layer]) >= LEAST_MM
    total = nominal + vias.nominal + package
    return PairSkew(
        nets=(positive.nets[0], negative.nets[0]),
        name=_name(ctx, positive),
        length_mm=(first.length_mm, second.length_mm),
        skew_ps=Interval(
            low=total - spread - (vias.nominal - vias.low),
            nominal=total,
            high=total + spread + (vias.high - vias.nominal),
        ),
        layer=layer if is_apart else None,
        layer_mm=by_layer[layer] if is_apart and layer is not None else 0.0,
        vias_ps=vias.nominal,
        package_ps=package,
        ps_per_mm=ps_per_mm,
        unsure=unsure,
    )


def _name(ctx: Context, link: Link) -> str:
    pair = ctx.pairs.pair_of(link.nets[0])
    return ctx.pairs.name[pair] if pair is not None else ctx.board.nets[link.nets[0]]


def _trace(ctx: Context, link: Link, geometry: LinkGeometry) -> TraceRoute:
    routes = complete_routes(ctx, link)
    lines: dict[LineKey, float] = {}
    for route in routes:
        for piece in route.pieces:
            for key, length in geometry.spread(piece):
                lines[key] = lines.get(key, 0.0) + length
    ends = _end_pads(routes)
    return TraceRoute(
        length_mm=sum(route.path_length_mm for route in routes),
        lines_mm=lines,
        spans=tuple((c.entry_layer, c.exit_layer) for route in routes for c in route.crossings),
        die_mm=float(sum(ctx.board.pads.die_length_mm[row] for row in ends)),
        die_ps=float(sum(ctx.board.pads.die_delay_ps[row] for row in ends)),
    )


def _end_pads(routes: Sequence[Route]) -> tuple[int, ...]:
    """Return the pads that a trace begins and ends on."""
    pads = {row for route in routes for row in (route.start_pad, route.end_pad) if row is not None}
    return tuple(sorted(pads))


def _delay_ps_per_mm(ctx: Context, key: LineKey) -> tuple[Interval, MissingFact | None]:
    """Return the delay of a cross section; that of any board where it cannot be solved, with the reason."""
    try:
        value = Lines(ctx).solved(*key).delay_ps_per_mm
    except MissingFact as fact:
        return _any_delay(), fact
    except StackwrightError as error:
        return _any_delay(), MissingFact(f"the delay of a line ({error.what})", error.next_step)
    return Interval(low=value * (1 - DELAY_SPREAD), nominal=value, high=value * (1 + DELAY_SPREAD)), None


def _any_delay() -> Interval:
    low, high = (1000 * math.sqrt(dk) / LIGHT_MM_GHZ for dk in ANY_DK)
    return Interval(low=low, nominal=(low + high) / 2, high=high)


def _usual_ps_per_mm(ctx: Context, trace: TraceRoute) -> float:
    """Return the delay of the cross section in which most of a trace runs."""
    longest = max(trace.lines_mm, key=lambda key: trace.lines_mm[key], default=None)
    return _any_delay().nominal if longest is None else _delay_ps_per_mm(ctx, longest)[0].nominal


def _vias_ps(ctx: Context, first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]) -> Interval:
    """Return the delay of one trace's vias minus that of the other's; 0 where they climb the same layers."""
    climbs = [sorted(tuple(sorted(span)) for span in spans if span[0] != span[1]) for spans in (first, second)]
    if climbs[0] == climbs[1]:
        return Interval(low=0.0, nominal=0.0, high=0.0)
    heights = copper_heights_mm(ctx.stackup())
    if len(heights) != ctx.board.layer_count or any(b <= a for a, b in pairwise(heights)):
        raise MissingFact("the thickness of every stackup layer", DECLARE_STACKUP)
    apart_mm = sum(heights[b] - heights[a] for a, b in climbs[0]) - sum(heights[b] - heights[a] for a, b in climbs[1])
    ends = sorted(1000 * apart_mm * math.sqrt(_mean_dk(ctx) * loading) / LIGHT_MM_GHZ for loading in BARREL_LOADING)
    return Interval(low=ends[0], nominal=ends[1], high=ends[2])


def _mean_dk(ctx: Context) -> float:
    """Mean Dk of the board by thickness."""
    rows = [(ply.dk_at(1.0).value, ply.thickness.value) for ply in ctx.plies]
    known = [(dk, mm) for dk, mm in rows if dk is not None and mm]
    return sum(dk * mm for dk, mm in known) / sum(mm for _, mm in known) if known else USUAL_DK
