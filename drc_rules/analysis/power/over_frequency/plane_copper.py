"""The copper of a rail and its ground at low frequencies: of the planes that face one another, and as solved at DC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drc_rules.analysis.power.over_frequency.heights import LayerHeights
from drc_rules.analysis.power.power_rails import PowerRails, WholeDrop
from drc_rules.analysis.power.rail_copper import Thickness, copper_as_declared
from drc_rules.facts.context import Context
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.power.over_frequency.rail_planes import RailPlanes
from stackup_lib.power.rail_drop.spread import COPPER_C, finished_range_mm


@dataclass(frozen=True)
class PlaneCopper:
    """What limits the resistance of planes.

    Attributes:
        mm: copper that two equal planes have with the resistance of all facing layers: thin, as stated and thick.
        celsius: of the copper: cold, usual and hot.
        ground_share: of the resistance of both sides, that of the ground's.
        dc_ohm: from the regulator to the load and back, with all copper, as the DC solver finds it; None where it
            cannot tell.
        is_one_way: `dc_ohm` is without the ground return, which is not known.
    """

    mm: Interval
    celsius: Interval
    ground_share: float
    dc_ohm: Interval | None
    is_one_way: bool


def plane_copper(
    ctx: Context, row: RailDeclaration | None, load: str, planes: RailPlanes, heights: LayerHeights
) -> PlaneCopper:
    """Return the copper of a rail's planes, with the range that a fab delivers, and what the DC solver finds of it all.

    Raises:
        MissingFact: the copper that is declared for the rail contradicts the stackup.
    """
    last = ctx.board.layer_count - 1
    if row is not None:
        of = copper_as_declared(ctx, row)[1]
    else:
        stated = heights.copper_mm
        ends = [finished_range_mm(mm, outer=layer in (0, last)) for layer, mm in enumerate(stated)]
        of = {layer: (thin, stated[layer], thick) for layer, (thin, thick) in enumerate(ends)}
    low, nominal, high = (_sides_mm(planes, of, end) for end in range(3))
    warm = row.copper_c if row is not None else None
    dc, is_one_way = _at_dc(ctx, row, load)
    return PlaneCopper(
        mm=Interval(low=_equal_mm(low), nominal=_equal_mm(nominal), high=_equal_mm(high)),
        celsius=COPPER_C if warm is None else Interval.exact(warm),
        ground_share=nominal[0] / (nominal[0] + nominal[1]),
        dc_ohm=dc,
        is_one_way=is_one_way,
    )


def _sides_mm(planes: RailPlanes, of: Mapping[int, Thickness], end: int) -> tuple[float, float]:
    """Return the copper of all layers of the rail, and of ground, by the share of the outline on which they face."""
    sides: list[float] = []
    for side in ("rail_layer", "ground_layer"):
        share: dict[int, float] = {}
        for one in planes.facing:
            layer = getattr(one, side)
            share[layer] = max(share.get(layer, 0.0), one.area_mm2 / planes.area_mm2)
        sides.append(sum(of[layer][end] * part for layer, part in share.items()))
    return sides[0], sides[1]


def _equal_mm(sides: Sequence[float]) -> float:
    return 2 / (1 / sides[0] + 1 / sides[1])


def _at_dc(ctx: Context, row: RailDeclaration | None, load: str) -> tuple[Interval | None, bool]:
    """Return what the DC solver finds from a rail's source to a load and back, and whether the return is missing."""
    if row is None or not row.from_:
        return None, False
    try:
        whole = PowerRails(ctx).whole(row)
    except MissingFact:
        return None, False
    names = [one.name for one in whole.there.drop.loads]
    if load not in names:
        return None, False
    found = whole.resistance_ohm if len(names) == 1 else _of_one(whole, names.index(load))
    return found, whole.back is None


def _of_one(whole: WholeDrop, load: int) -> Interval:
    """Return what one of several loads sees alone, between bounds.

    In a network of resistors no other current lifts a load as much as its own does: its drop over all of the current is
    no more than its resistance, and over its own current no less.
    """
    there, drop = whole.there, whole.there.drop_of(load)
    own_a = there.drop.loads[load].current_a
    if whole.back is not None:
        at = whole.back.loads[load]
        drop = drop.plus(at.ratio.of(Interval.exact(at.own_v)))
    shared = whole.resistance_ohm
    low, high = min(drop.low / there.current_a, shared.low), max(drop.high / own_a, shared.high)
    return Interval(low=low, nominal=max(drop.nominal / there.current_a, shared.nominal), high=high)
