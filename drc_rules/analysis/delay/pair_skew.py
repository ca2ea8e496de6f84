"""Intra-pair skew: how much later one trace of a differential pair arrives than the other. Lengths in mm, delays in ps.

What both traces have in common cancels: the range of the skew is that of the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from drc_rules.analysis.delay.bare_lines import skew_of_bare_ps
from drc_rules.analysis.delay.broadside_skew import broadside_ps, not_modelled
from drc_rules.analysis.delay.trace_delay import (
    DELAY_SPREAD,
    any_delay,
    climb_ps,
    delay_ps_per_mm,
    pair_traces,
    prepare_traces,
    usual_ps_per_mm,
)
from drc_rules.analysis.delay.two_ways import which_way
from drc_rules.analysis.lines.routed import References
from drc_rules.analysis.lines.solved_lines import LineKey
from drc_rules.analysis.nets.board_links import board_links, chokes_on, is_declared_as
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, interface_groups
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface, family
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link
from stackup_lib.nets.two_pin_parts import PartKind

LEAST_MM = 0.001
"""Lengths that differ by less are equal: KiCad's grid and the rounding of widths."""

INNER_SPREAD, OUTER_SPREAD = 0.005, 0.015
"""How far the delays of two cross sections between the same planes, as of a pair and of a lone trace, move apart.

By the field solver, with Dk 10 % off, core against prepreg: 0.15 % on an inner layer, 0.7 % on an outer one. What else
touches an outer one, solder mask and neighbouring copper, is engineering judgement."""

SAME_PS = 6
"""Decimals to which skews are compared: of equal ones the first counts."""

HARMLESS_SHARE = 0.02
"""Of the unit interval, as TI SPRACP4A allows MIPI D-PHY: a skew below it is information."""


@record
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
        chokes: common-mode chokes on either trace, of which no skew and delay is in it.
        bare_ps: by how much earlier and later the first trace may be for its sections without a plane; in `skew_ps`.
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
    chokes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    bare_ps: tuple[float, float] = (0.0, 0.0)

    @property
    def reach_ps(self) -> float:
        """The amount that must be within the limit: nominal, and what missing facts and planes may add to it."""
        if self.unsure:
            return self.size_ps.high
        earlier, later = self.bare_ps
        return max(abs(self.skew_ps.nominal - earlier), abs(self.skew_ps.nominal + later))

    @property
    def size_ps(self) -> Interval:
        """The amount of the skew, whichever trace is late."""
        low, high = self.skew_ps.low, self.skew_ps.high
        ends = sorted((abs(low), abs(high)))
        return Interval(low=0.0 if low < 0 < high else ends[0], nominal=abs(self.skew_ps.nominal), high=ends[1])


@record
class GroupSkews:
    """The pairs of a group: those that were measured, the largest skew first, and why others were not."""

    known: tuple[PairSkew, ...]
    missing: tuple[MissingFact, ...]


def unit_interval_ps(one: Interface) -> float:
    """Half a period of Nyquist: of NRZ a bit, of PAM4 a symbol."""
    return 500 / (one.nyquist_ghz or 1.0)


def skew_groups(ctx: Context) -> tuple[HighSpeedGroup, ...]:
    """Return the groups of which pairs are judged: fast ones, declared ones, those with a limit that matters."""
    return tuple(
        group
        for group in ctx.get(interface_groups)
        if family(group.family).fast or is_slow_and_declared(group) or _has_limit(group)
    )


def is_slow_and_declared(group: HighSpeedGroup) -> bool:
    """Return True for declared pairs of a slow family without a limit that matters at its rate.

    Memories are left out: their strobes have rules of their own.
    """
    of = family(group.family)
    paired = any(one.impedance_diff_ohm for one in group.choices)
    return group.declared and not of.fast and not of.single_ended and paired and not _has_limit(group)


def _has_limit(group: HighSpeedGroup) -> bool:
    held = (one for one in group.choices if group.declared or not one.skew_if_declared)
    return any((one.skew_ps or 0.0) >= HARMLESS_SHARE * unit_interval_ps(one) for one in held)


def skews_of(ctx: Context, group: HighSpeedGroup) -> GroupSkews:
    """Return the skew of every routed pair of a group."""
    return ctx.get(_skews_of, group.id)


def _skews_of(ctx: Context, group_id: str) -> GroupSkews:
    known: list[PairSkew] = []
    missing: list[MissingFact] = []
    for positive, negative in ctx.get(_pairs_by_group)[group_id]:
        try:
            known.append(skew_between(ctx, positive, negative))
        except MissingFact as fact:
            missing.append(fact)
    known.sort(key=lambda one: (-one.size_ps.nominal, one.name))
    return GroupSkews(tuple(known), tuple(missing))


def _pairs_by_group(ctx: Context) -> dict[str, list[tuple[Link, Link]]]:
    """Return the routed pairs of every group that is judged."""
    found = {group.id: list(compared_pairs(ctx, group)) for group in ctx.get(skew_groups)}
    prepare_traces(ctx, [trace for pairs in found.values() for traces in pairs for trace in traces])
    return found


def routed_pairs(ctx: Context, group: HighSpeedGroup) -> Iterator[tuple[Link, Link]]:
    """Yield the links of a group that are pairs, the positive one first; those of unused pins end open.

    A link of which only some nets are declared is of the declared group alone.
    """
    links, done = ctx.get(board_links), set[int]()
    for link in links.of_nets(group.nets):
        complement = links.complement_of(link)
        if complement is None or link.index in done or complement.index == link.index or _is_another(ctx, group, link):
            continue
        done |= {link.index, complement.index}
        if not group.declared and is_declared_as(ctx, group.family, link, complement):
            continue
        if all(one.length_mm or len(one.ends) > 1 for one in (link, complement)):
            yield link, complement


def _is_another(ctx: Context, group: HighSpeedGroup, link: Link) -> bool:
    """Tell whether a link belongs to another group: by its own nets, where it shares one with this group."""
    roles = [role for role in map(ctx.assignment.role_of, link.nets) if role is not None]
    return any(role.family != group.family for role in roles)


def compared_pairs(ctx: Context, group: HighSpeedGroup) -> Iterator[tuple[Link, Link]]:
    """Yield the routed pairs of a group but for those of which only one trace goes out, over coaxial cable."""
    return (traces for traces in routed_pairs(ctx, group) if not _is_coaxial(ctx, *traces))


def _is_coaxial(ctx: Context, *traces: Link) -> bool:
    """Tell whether one trace leads to another part, and the other ends at its own in a resistor to a rail."""
    ended, going = sorted(traces, key=lambda trace: len(_end_parts(trace)))
    resistors = ctx.get(_resistor_pads)
    return len(_end_parts(ended)) == 1 < len(_end_parts(going)) and any(tap.row in resistors for tap in ended.taps)


def _end_parts(trace: Link) -> set[str]:
    return {pad.reference for pad in trace.ends}


def _resistor_pads(ctx: Context) -> frozenset[int]:
    parts = ctx.get(board_links).parts
    rows = parts.kind == PartKind.RESISTOR
    return frozenset([*parts.first_pad[rows].tolist(), *parts.second_pad[rows].tolist()])


def skew_between(ctx: Context, positive: Link, negative: Link, between: Sequence[int] = ()) -> PairSkew:
    """Return how much later the first of two traces arrives than the second; also of traces of different pairs.

    Args:
        ctx: the board.
        positive: a trace.
        negative: the other.
        between: the parts at their ends, as indices into `Board.footprints`, where they lead to more than two.

    Raises:
        MissingFact: one of them is not routed from end to end, or the height of their vias is not known.
    """
    first, second = pair_traces(ctx, positive.index, negative.index, between)
    untrue = ctx.get(_untrue_fills)
    if untrue and Counter(first.climbs) != Counter(second.climbs):
        raise untrue
    apart_mm = {
        key: first.lines_mm.get(key, 0.0) - second.lines_mm.get(key, 0.0)
        for key in dict.fromkeys((*first.lines_mm, *second.lines_mm))
    }
    by_layer: dict[int, float] = {}
    for key, length_mm in apart_mm.items():
        by_layer[key.layer] = by_layer.get(key.layer, 0.0) + length_mm
    nominal, spread, unsure = _lines_ps(ctx, apart_mm, untrue)
    over = 0.0 if untrue else broadside_ps(ctx, positive.nets, negative.nets, apart_mm)
    unsure = (
        which_way(ctx, first.loops, second.loops)
        or unsure
        or (not_modelled(pair_name(ctx, positive)) if over else None)
    )
    vias = climb_ps(ctx, first.climbs, second.climbs)
    die_mm = first.die_mm - second.die_mm
    ps_per_mm = any_delay().nominal if untrue else usual_ps_per_mm(ctx, first)
    package = first.die_ps - second.die_ps + die_mm * ps_per_mm  # KiCad counts a pad-to-die length as so much track
    bare = skew_of_bare_ps(ctx, first.bare_mm, second.bare_mm, ps_per_mm)
    layer = max(by_layer, key=lambda k: abs(by_layer[k]), default=None)
    is_apart = layer is not None and abs(by_layer[layer]) >= LEAST_MM
    total = nominal + vias.nominal + package
    return PairSkew(
        nets=(positive.nets[0], negative.nets[0]),
        name=pair_name(ctx, positive),
        length_mm=(first.length_mm, second.length_mm),
        skew_ps=Interval(
            low=total - spread - bare[0] - max(over, 0.0) - (vias.nominal - vias.low) - second.doubt_mm * ps_per_mm,
            nominal=total,
            high=total + spread + bare[1] - min(over, 0.0) + (vias.high - vias.nominal) + first.doubt_mm * ps_per_mm,
        ),
        layer=layer if is_apart else None,
        layer_mm=by_layer[layer] if is_apart and layer is not None else 0.0,
        vias_ps=vias.nominal,
        package_ps=package,
        ps_per_mm=ps_per_mm,
        unsure=unsure,
        chokes=(chokes_on(positive), chokes_on(negative)),
        bare_ps=bare,
    )


def worst_skew(
    ctx: Context, ends: Iterable[tuple[Link, Link]], limit_ps: float, between: Sequence[int] = ()
) -> PairSkew:
    """Return the skew that decides whether all of some traces are within a limit, the later trace first.

    That is the largest of those surely beyond it, else the largest; where that is within, what may reach farthest.

    Raises:
        MissingFact: as `skew_between`.
    """
    every: list[PairSkew] = []
    for first, second in ends:
        skew = skew_between(ctx, first, second, between)
        every.append(skew if skew.skew_ps.nominal > 0 else skew_between(ctx, second, first, between))
    beyond = [one for one in every if one.size_ps.against(maximum=limit_ps) is Standing.BEYOND]
    worst = max(beyond or every, key=lambda one: round(one.size_ps.nominal, SAME_PS))
    if worst.size_ps.nominal > limit_ps:
        return worst
    farthest = max(every, key=lambda one: round(one.reach_ps, SAME_PS))
    return farthest if farthest.reach_ps > limit_ps else worst


def _lines_ps(
    ctx: Context, apart_mm: Mapping[LineKey, float], untrue: MissingFact | None
) -> tuple[float, float, MissingFact | None]:
    """Return by how much the lines of one trace are later, its spread, and what would narrow that.

    Cross sections between the same planes are in the same dielectrics, whose Dk moves them together; those
    that differ by the copper next to them alone move as one in all that is not known.
    """
    nominal, spread, unsure = 0.0, 0.0, None
    alike: dict[LineKey, dict[LineKey, float]] = {}
    for key, length_mm in apart_mm.items():
        if abs(length_mm) >= LEAST_MM:
            alike.setdefault(replace(key, near_fill=None), {})[key] = length_mm
    between: dict[tuple[int, References | None], list[float]] = {}
    for shape, lengths in alike.items():
        delays = {key: (any_delay(), untrue) if untrue else delay_ps_per_mm(ctx, key) for key in lengths}
        later_ps = sum(length_mm * delays[key][0].nominal for key, length_mm in lengths.items())
        nominal += later_ps
        fact = next((fact for _, fact in delays.values() if fact is not None), None)
        if fact is None:
            between.setdefault((shape.layer, shape.references), []).append(later_ps)
        else:
            unsure = unsure or fact
            spread += abs(sum(lengths.values())) * (any_delay().high - any_delay().low) / 2
    for (layer, _), of_shapes in between.items():
        together_ps, each_ps = abs(sum(of_shapes)), sum(map(abs, of_shapes))
        own_spread = OUTER_SPREAD if layer in (0, ctx.board.layer_count - 1) else INNER_SPREAD
        spread += DELAY_SPREAD * together_ps + own_spread * (each_ps - together_ps)
    return nominal, spread, unsure


def _untrue_fills(ctx: Context) -> MissingFact | None:
    """Return what is missing where fills are out of date: no plane of a line is known then, and its delay is any."""
    try:
        ctx.need_true_fills()
    except MissingFact as fact:
        return fact
    return None


def pair_name(ctx: Context, link: Link) -> str:
    """Return how messages call the pair that a link is one trace of."""
    pair = ctx.pairs.pair_of(link.nets[0])
    return ctx.pairs.name[pair] if pair is not None else ctx.board.nets[link.nets[0]]
