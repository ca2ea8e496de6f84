"""Impedance along the route of every link with a target: mean weighted by length, worst section, what was ignored.

What counts is what `IMP002` judges: sections that are longer than a breakout at each end. A section over a hole in the
planes has no impedance of width and gap; its length is reported separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.analysis.lines.broadside_pairs import ASK_THE_FAB, BROADSIDE, is_broadside
from drc_rules.analysis.lines.routed import ROUNDING_MM, RoutedLine
from drc_rules.analysis.lines.routed_impedance import routed_uncertainty
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.targets.controlled import ControlledLine, NetTarget, controlled_lines, judged_nets
from drc_rules.facts.context import Context
from drc_rules.report.link_rows import LinkImpedance, RouteSection
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import ZERO
from stackup_lib.core.record import record


@record
class ImpedanceSection:
    """So much of one geometry on a link: `length_mm` of one trace on average, and whether it is too long to ignore."""

    line: RoutedLine
    length_mm: float
    counts: bool


def link_impedances(ctx: Context) -> tuple[LinkImpedance, ...]:
    """Return the impedance of every link with a target; of each target the worst first, unknown ones last."""
    found: list[LinkImpedance] = []
    of_target: dict[NetTarget, list[ControlledLine]] = {}
    for line in ctx.get(controlled_lines):
        of_target.setdefault(line.target, []).append(line)
    for target, lines in of_target.items():
        nets, judged = sorted({net for line in lines for net in line.line.nets}), judged_nets(lines)
        rows = [_impedance(ctx, target, mine, _sections(lines, judged, mine, n)) for mine, n in _links(ctx, nets)]
        found += sorted(rows, key=lambda row: (row.problem != "", -abs(row.off_pct), row.name))
    return tuple(found)


def _links(ctx: Context, nets: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the nets of each link, of a pair those of both traces, and how many traces they are."""
    links, left = ctx.get(board_links), set(nets)
    # of two links that share a net the first by name takes it, in whatever order the file numbers them
    for link in sorted(links.of_nets(nets), key=lambda link: [ctx.board.nets[net] for net in link.nets]):
        if not left.intersection(link.nets):
            continue
        complement = links.complement_of(link)
        both = link.nets if complement is None else (*link.nets, *complement.nets)
        mine = tuple(net for net in both if net in left)
        left.difference_update(mine)
        yield mine, 1 if complement is None or not set(mine).intersection(complement.nets) else 2
    for net in nets:
        if net in left:
            complement_net = ctx.pairs.complement_of(net)
            mine = (net, complement_net) if complement_net is not None and complement_net in left else (net,)
            left.difference_update(mine)
            yield mine, len(mine)


def _impedance(
    ctx: Context, target: NetTarget, nets: tuple[int, ...], sections: Sequence[ImpedanceSection]
) -> LinkImpedance:
    solid = [s for s in sections if s.line.references != (None, None)]
    counted = [s for s in solid if s.counts]
    total = sum(s.length_mm for s in sections)
    gaps = _gap_range([s for s in sections if s.counts])
    row = LinkImpedance(
        name=_name(ctx, nets),
        nets=tuple(ctx.board.nets[net] for net in nets),
        target=target.title,
        kind=target.kind,
        target_ohm=target.ohm,
        tolerance_pct=target.tolerance_pct,
        inferred=target.inferred,
        length_mm=total,
        forgiven_mm=sum(s.length_mm for s in solid) - sum(s.length_mm for s in counted),
        forgiven_up_to_mm=target.lumped_mm,
        over_holes_mm=total - sum(s.length_mm for s in solid),
        uncoupled_mm=sum(s.length_mm for s in sections if s.line.is_pair and s.line.gap_mm is None),
        gap_min_mm=gaps[0] if gaps else None,
        gap_max_mm=gaps[1] if gaps else None,
    )
    if not counted:
        return row
    try:
        with ctx.recording():
            return row.model_copy(update=_weighted(ctx, target, counted))
    except (MissingFact, StackwrightError) as error:
        return row.model_copy(update={"problem": error.what, "cure": error.next_step})


def _weighted(ctx: Context, target: NetTarget, counted: Sequence[ImpedanceSection]) -> dict[str, object]:
    """Return the mean and the worst section of what counts; raises what solving raises."""
    if any(is_broadside(ctx, s.line, net) for s in counted for net in s.line.nets):
        raise MissingFact(f"its impedance: {BROADSIDE}", ASK_THE_FAB)
    ohms = [ControlledLine(target, s.line).impedance_ohm(Lines(ctx)) for s in counted]
    ranges = [routed_uncertainty(Lines(ctx), s.line).around(ohm) for s, ohm in zip(counted, ohms, strict=True)]
    length = sum(s.length_mm for s in counted)
    mean = ZERO
    for s, one in zip(counted, ranges, strict=True):
        mean = mean.plus(one.times(s.length_mm / length))
    ohm, worst = max(zip(ohms, counted, strict=True), key=lambda pair: (abs(pair[0] - target.ohm), pair[1].length_mm))
    section = RouteSection(
        layer=ctx.board.copper_layers[worst.line.layer].name,
        width_mm=worst.line.width_mm,
        gap_mm=worst.line.gap_mm,
        length_mm=worst.length_mm,
        impedance_ohm=ohm,
    )
    return {"mean_ohm": mean, "worst": section}


def _gap_range(long: Sequence[ImpedanceSection]) -> tuple[float, float] | None:
    """Return the widest range of gaps that one width has on one layer, with planes or without.

    Another width may go with another gap.
    """
    gaps: dict[tuple[int, float], list[float]] = {}
    for s in long:
        if s.line.gap_mm is not None:
            gaps.setdefault((s.line.layer, s.line.width_mm), []).append(s.line.gap_mm)
    ranges = [(min(of), max(of)) for of in gaps.values()]
    return max(ranges, key=lambda ends: (ends[1] - ends[0], ends[0]), default=None)


def _sections(
    lines: Sequence[ControlledLine], judged: Sequence[frozenset[int]], nets: tuple[int, ...], traces: int
) -> list[ImpedanceSection]:
    """Return what a link has of each geometry; `judged` are the nets on which each is long enough to count."""
    sections = []
    for found, on in zip(lines, judged, strict=True):
        line = found.line
        here = [k for k, net in enumerate(line.nets) if net in nets]
        if here:
            length = sum(line.net_lengths_mm[k] for k in here) / traces
            apart = line.is_pair and line.gap_mm is None and max(line.net_runs_mm[k] for k in here)
            counts = not on.isdisjoint(nets) or apart > found.target.lumped_mm + ROUNDING_MM
            sections.append(ImpedanceSection(line, length, counts))
    return sections


def _name(ctx: Context, nets: tuple[int, ...]) -> str:
    pair = ctx.pairs.pair_of(nets[0])
    return ctx.board.nets[nets[0]] if pair is None else ctx.pairs.name[pair]
