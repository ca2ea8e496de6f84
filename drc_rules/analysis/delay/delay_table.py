"""The delay of every routed link of an interface, by port or bus. Lengths in mm, delays in ps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from drc_rules.analysis.delay.bare_lines import knows_planes
from drc_rules.analysis.delay.pair_skew import pair_name
from drc_rules.analysis.delay.trace_delay import TraceDelay, TraceRoute, delay_of, prepare_traces, trace_of
from drc_rules.analysis.lines.link_geometry import LinkGeometry
from drc_rules.analysis.nets.board_links import board_links, counted_in, title_of
from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.report.delay_rows import DelayGroup, LinkDelay
from drc_rules.requirements.interfaces.names import ASIDE
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.nets.links import Link
from stackup_lib.nets.routing.kicad_length import KicadLength, kicad_lengths

_LANE = re.compile(r"(.*[^._\-/])[._\-][A-Za-z]{1,4}\d*")
"""The name of a pair without its lane: `/CSI6` of `/CSI6_D0`."""
_BEHIND_CAPACITOR = re.compile(r"_C\d?$")


def delay_table(ctx: Context) -> tuple[DelayGroup, ...]:
    """Return the links of every interface by port or bus, the group with most links first."""
    links = ctx.get(board_links)
    by_role: dict[NetRole, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role is not None and role.family not in ASIDE:
            by_role.setdefault(role, []).append(net)
    counted = counted_in(links, by_role)
    found: dict[tuple[str, str], list[tuple[Link, Link | None]]] = {}
    for role, nets in by_role.items():
        own = [link for link in links.of_nets(nets) if counted[link.index] == role and link.length_mm]
        units = _units(ctx, own)
        is_bus = any(complement is None for _, complement in units)
        ports = [role.group if is_bus else _port(pair_name(ctx, link)) for link, _ in units]
        for unit, port in zip(units, ports, strict=True):
            by = port if ports.count(port) > 1 else role.group
            found.setdefault((title_of(role), by), []).append(unit)
    traces = [link for units in found.values() for unit in units for link in unit if link is not None]
    prepare_traces(ctx, traces)
    by_kicad = _by_kicad(ctx, traces)
    groups = [_group(ctx, by_kicad, title, by, units) for (title, by), units in found.items()]
    return tuple(sorted(groups, key=lambda one: (-len(one.links), one.title, one.by)))


def _by_kicad(ctx: Context, links: Sequence[Link]) -> Mapping[int, KicadLength]:
    """Return KiCad's length of the nets of some links; none where the thickness of a layer is missing."""
    try:
        heights = ctx.copper_heights_mm()
    except MissingFact:
        return {}
    return kicad_lengths(ctx.board, [net for link in links for net in link.nets], heights)


def _units(ctx: Context, own: Sequence[Link]) -> list[tuple[Link, Link | None]]:
    """Return each pair once, its positive trace first, and each single trace."""
    links, done = ctx.get(board_links), set[int]()
    units: list[tuple[Link, Link | None]] = []
    for link in own:
        if link.index in done:
            continue
        complement = links.complement_of(link)
        if complement is not None and (
            complement.index in done or complement.index == link.index or not complement.length_mm
        ):
            complement = None
        done |= {link.index, *((complement.index,) if complement else ())}
        units.append((link, complement))
    return units


def _port(name: str) -> str:
    found = _LANE.fullmatch(_BEHIND_CAPACITOR.sub("", name))
    return found[1] if found else name.rsplit("/", 1)[0]


def _group(
    ctx: Context,
    by_kicad: Mapping[int, KicadLength],
    title: str,
    by: str,
    units: Sequence[tuple[Link, Link | None]],
) -> DelayGroup:
    known: list[LinkDelay] = []
    unknown: list[tuple[str, str]] = []
    for link, complement in units:
        try:
            known.append(_link_delay(ctx, by_kicad, link, complement))
        except MissingFact as fact:
            unknown.append((_name(ctx, link, complement), f"{fact.name} is not known; {fact.how_to_give}"))
    known.sort(key=lambda one: (-one.delay_ps.nominal, one.name))
    return DelayGroup(title=title, by=by, links=tuple(known), open_links=tuple(unknown))


def _name(ctx: Context, link: Link, complement: Link | None) -> str:
    return ctx.board.nets[link.nets[0]] if complement is None else pair_name(ctx, link)


def _link_delay(ctx: Context, by_kicad: Mapping[int, KicadLength], link: Link, complement: Link | None) -> LinkDelay:
    both = [link] if complement is None else [link, complement]
    nets = tuple(net for one in both for net in one.nets)
    geometry = LinkGeometry(ctx, nets)
    traces = [trace_of(ctx, one, geometry) for one in both]
    delays = [delay_of(ctx, trace) for trace in traces]
    unsure = next((one.unsure for one in delays if one.unsure), None)
    return LinkDelay(
        name=_name(ctx, link, complement),
        nets=tuple(ctx.board.nets[net] for net in nets),
        tracks_mm=_mean([trace.length_mm for trace in traces]),
        kicad_mm=_mean([sum(by_kicad[net].total_mm for net in one.nets) for one in both]) if by_kicad else None,
        delay_ps=Interval(
            low=_mean([one.total_ps.low for one in delays]),
            nominal=_mean([one.total_ps.nominal for one in delays]),
            high=_mean([one.total_ps.high for one in delays]),
        ),
        lines_ps=_mean([one.lines_ps for one in delays]),
        vias_ps=_mean([one.vias_ps for one in delays]),
        package_ps=_mean([one.package_ps for one in delays]),
        vias=max(trace.vias for trace in traces),
        layers=_layers(ctx, traces[0]),
        skew_ps=_skew(delays),
        unsure=f"{unsure.name}: {unsure.how_to_give}" if unsure else "",
        no_plane_mm=_mean([sum(trace.bare_mm.values()) for trace in traces]) if ctx.get(knows_planes) else None,
    )


def _skew(delays: Sequence[TraceDelay]) -> float | None:
    return None if len(delays) == 1 else delays[0].total_ps.nominal - delays[1].total_ps.nominal


def _layers(ctx: Context, trace: TraceRoute) -> tuple[tuple[str, float], ...]:
    sums: dict[int, float] = {}
    for key, length in trace.lines_mm.items():
        sums[key.layer] = sums.get(key.layer, 0.0) + length
    order = sorted(sums, key=lambda layer: (-sums[layer], layer))
    return tuple((ctx.board.copper_layers[layer].name, sums[layer]) for layer in order)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
