"""Pairs that have a coupling capacitor in one trace alone, and lanes without one among lanes that have one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from drc_rules.analysis.delay.pair_skew import compared_pairs, pair_name
from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, interface_groups
from drc_rules.facts.context import Context
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link
from stackup_lib.nets.two_pin_parts import NOT_FITTED, PartKind


@record
class WithoutCapacitor:
    """A trace or lane without a coupling capacitor, next to one that has it.

    Attributes:
        name: of the pair.
        net: index of the net at the start of the trace.
        instead: what is there, as text; "" for nothing.
    """

    name: str
    net: int
    instead: str


@record
class MissingCapacitors:
    """What lacks a coupling capacitor in a group.

    Attributes:
        traces: of pairs that have one in the other trace.
        lanes: whole pairs, of which others between the same parts have one.
        coupled: how many of these others there are.
    """

    traces: tuple[WithoutCapacitor, ...]
    lanes: tuple[WithoutCapacitor, ...]
    coupled: int


def missing_capacitors(ctx: Context, group: HighSpeedGroup) -> MissingCapacitors:
    """Return what lacks a coupling capacitor in a group."""
    return ctx.get(_missing_capacitors, group.id)


def _missing_capacitors(ctx: Context, group_id: str) -> MissingCapacitors:
    group = next(one for one in ctx.get(interface_groups) if one.id == group_id)
    traces: dict[int, WithoutCapacitor] = {}
    ports: dict[tuple[frozenset[str], str], list[tuple[Link, bool]]] = {}
    for pair in compared_pairs(ctx, group):
        coupled = [_is_coupled(trace) for trace in pair]
        if coupled[0] != coupled[1]:
            bare, whole = sorted(pair, key=_is_coupled)
            if _is_whole(bare) or _unfitted(ctx, bare):
                traces.setdefault(whole.index, _missing(ctx, pair[0], bare))
        elif any(coupled) or all(map(_is_whole, pair)):
            ends = frozenset(pad.reference for pad in pair[0].ends)
            for name in dict.fromkeys(re.sub(r"\d+", "#", ctx.board.nets[net]) for net in pair[0].nets):
                ports.setdefault((ends, name), []).append((pair[0], coupled[0]))
    lanes: dict[int, WithoutCapacitor] = {}
    others = set[int]()
    for of_port in ports.values():
        with_one = {link.index for link, is_coupled in of_port if is_coupled}
        if with_one and len(with_one) < len(of_port):
            others |= with_one
            lanes |= {link.index: _missing(ctx, link, link) for link, is_coupled in of_port if not is_coupled}
    return MissingCapacitors(tuple(traces.values()), tuple(lanes.values()), len(others))


def _is_coupled(link: Link) -> bool:
    """Tell whether a link runs through a capacitor, with nothing next to it that passes direct current."""
    return any(all(part.kind is PartKind.CAPACITOR for part in between) for between in link.parts)


def _is_whole(link: Link) -> bool:
    """Tell whether a link leads from part to part, through nothing of which we do not know what it is."""
    parts = {pad.reference for pad in link.ends}
    return len(parts) > 1 and all(part.kind is not PartKind.OTHER for between in link.parts for part in between)


def _unfitted(ctx: Context, link: Link) -> Sequence[str]:
    """Return the parts at which a link ends because they are not fitted."""
    refused = (part for net in link.nets for part in ctx.get(board_links).refused(net))
    return tuple(part.reference for part in refused if part.why == NOT_FITTED)


def _missing(ctx: Context, named: Link, bare: Link) -> WithoutCapacitor:
    return WithoutCapacitor(pair_name(ctx, named), bare.nets[0], ", ".join(_instead(ctx, bare)))


def _instead(ctx: Context, bare: Link) -> Iterator[str]:
    """Yield what a trace without a capacitor has, or has next to one."""
    yield from (f"{reference}, not fitted" for reference in _unfitted(ctx, bare))
    for between in bare.parts:
        yield from (f"{part.reference} ({part.value})" for part in between if part.kind is not PartKind.CAPACITOR)
