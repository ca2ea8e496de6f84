"""How far the two traces of a differential pair run on different layers. No stackup is needed for it. Lengths in mm."""

from __future__ import annotations

from collections.abc import Mapping

from drc_rules.analysis.delay.pair_skew import LEAST_MM, compared_pairs, pair_name
from drc_rules.analysis.delay.trace_delay import TraceRoute, pair_traces
from drc_rules.analysis.lines.broadside_pairs import broadside_mm
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, ReturnPaths
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class PairLayers:
    """The layers of one pair.

    Attributes:
        nets: the first net of the positive trace, then that of the negative one.
        name: of the pair.
        apart_mm: how far the traces run on different layers, but for what lies over the other on the next layer.
        layers: those on which most of that is, of the positive and of the negative trace; None where it is nothing.
    """

    nets: tuple[int, int]
    name: str
    apart_mm: float
    layers: tuple[int, int] | None


@record
class GroupLayers:
    """The pairs of a group: those that were followed from end to end, and why others were not."""

    known: tuple[PairLayers, ...]
    missing: tuple[MissingFact, ...]


def layers_of(ctx: Context, group: HighSpeedGroup) -> GroupLayers:
    """Return on which layers the routed pairs of a group run apart."""
    return ctx.get(_layers_of, group.id)


def _layers_of(ctx: Context, group_id: str) -> GroupLayers:
    group = next(one for one in ReturnPaths(ctx).groups if one.id == group_id)
    known: list[PairLayers] = []
    missing: list[MissingFact] = []
    for positive, negative in compared_pairs(ctx, group):
        try:
            traces = pair_traces(ctx, positive.index, negative.index)
        except MissingFact as fact:
            missing.append(fact)
            continue
        by_layer = _differences(*traces)
        broadside = ctx.get(broadside_mm, deliberate=True)
        apart_mm = max(_apart_mm(by_layer) - sum(broadside.get(net, 0.0) for net in positive.nets), 0.0)
        layers = None
        if apart_mm >= LEAST_MM:
            layers = max(by_layer, key=lambda k: by_layer[k]), min(by_layer, key=lambda k: by_layer[k])
        name = pair_name(ctx, positive)
        known.append(PairLayers(nets=(positive.nets[0], negative.nets[0]), name=name, apart_mm=apart_mm, layers=layers))
    return GroupLayers(tuple(known), tuple(missing))


def _differences(positive: TraceRoute, negative: TraceRoute) -> dict[int, float]:
    """How much longer the positive trace is on each layer."""
    found: dict[int, float] = {}
    for trace, sign in ((positive, 1), (negative, -1)):
        for key, length in trace.lines_mm.items():
            found[key.layer] = found.get(key.layer, 0.0) + sign * length
    return found


def _apart_mm(by_layer: Mapping[int, float]) -> float:
    """Return the length that each trace has on layers where the other has less; a longer trace alone counts nothing."""
    longer = sum(mm for mm in by_layer.values() if mm > 0)
    shorter = -sum(mm for mm in by_layer.values() if mm < 0)
    return min(longer, shorter)
