"""The path of a high-power component's heat through the board: the holes in its thermal pads, from pad to sink."""

from __future__ import annotations

from collections.abc import Sequence

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.thermal.hot_parts import HotPartOnBoard, Pad, give
from drc_rules.analysis.thermal.pad_holes import PadHole
from drc_rules.facts.context import DECLARE_STACKUP, Context
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.thermal.via_array import ThermalBarrel, array_k_per_w
from stackup_lib.vias.plated_holes import copper_heights_mm

RELIEF_MM = 0.8
"""Ring of a pad and gap of its thermal relief together are hardly wider."""


@record
class HeatPath:
    """What the holes of a part's thermal pads offer the heat.

    Attributes:
        sink: copper layer that the heat is led to.
        holes: how many of the holes reach it.
        k_per_w: of the holes from the pads to the sink.
        plane_name: the nearest layer between with copper on the holes, which spreads the heat as well; "" for none.
        to_plane_k_per_w: of the holes from the pads to that one.
        places_mm: where the holes are.
    """

    sink: int
    sink_name: str
    holes: int
    k_per_w: Interval
    plane_name: str = ""
    to_plane_k_per_w: Interval | None = None
    places_mm: tuple[tuple[float, float], ...] = ()

    @property
    def least_k_per_w(self) -> float:
        """What the way is at least: to the nearest plane, as if that spread the heat without loss."""
        near = self.to_plane_k_per_w
        return min(self.k_per_w.low, near.low) if near else self.k_per_w.low


def sink_of(ctx: Context, part: HotPartOnBoard) -> int:
    """Return the layer that a part's heat is led to.

    Raises:
        MissingFact: the declared one does not exist, or is the layer that the part sits on.
    """
    name = part.declared.sink
    if name is not None and ctx.board.layer_index.get(name) == part.layer:
        title = f"a sink for the heat of {part.reference}: {name} is the layer that it sits on"
        raise MissingFact(title, give(part, 'sink = "?"  # another copper layer; left out, the far side'))
    if name is None:
        return ctx.board.layer_count - 1 if part.layer == 0 else 0
    if name not in ctx.board.layer_index:
        cure = give(part, f'sink = "?"  # {did_you_mean(name, ctx.board.layer_index)}')
        raise MissingFact(f"the layer {name} that the heat of {part.reference} is led to", cure)
    return ctx.board.layer_index[name]


def heat_path(ctx: Context, part: HotPartOnBoard) -> HeatPath | None:
    """Return the way through a part's thermal pads to its sink; None where no hole of them leads to it.

    To an inner layer leads a hole that joins filled copper there; to an outer one each that ends there, where a
    heatsink touches its land.

    Raises:
        MissingFact: stackup, thicknesses, the declared sink, or a pad of a free shape.
    """
    sink = sink_of(ctx, part)
    is_outer = sink in {0, ctx.board.layer_count - 1}
    reaching = [
        (pad, [hole for hole in pad.holes if _reaches(part, hole, sink) and (is_outer or _touches(ctx, hole, sink))])
        for pad in part.pads
    ]
    ways = [_to_layer(ctx, part, pad, holes, sink) for pad, holes in reaching if holes]
    if not ways:
        return None
    near = _nearest_plane(ctx, part, sink)
    to_plane = [_to_layer(ctx, part, pad, holes, near) for pad, holes in reaching if holes] if near is not None else []
    return HeatPath(
        sink=sink,
        sink_name=ctx.board.copper_layers[sink].name,
        holes=sum(len(holes) for _, holes in reaching),
        k_per_w=_together(ways),
        plane_name=ctx.board.copper_layers[near].name if near is not None else "",
        to_plane_k_per_w=_together(to_plane) if to_plane else None,
        places_mm=tuple((hole.x_mm, hole.y_mm) for _, holes in reaching for hole in holes),
    )


def _together(ways: Sequence[Interval]) -> Interval:
    return Interval(low=_next_to(ways, "low"), nominal=_next_to(ways, "nominal"), high=_next_to(ways, "high"))


def _next_to(ways: Sequence[Interval], end: str) -> float:
    """Resistance of ways side by side, at one end of each interval."""
    return 1 / sum(1 / float(getattr(way, end)) for way in ways)


def _reaches(part: HotPartOnBoard, hole: PadHole, sink: int) -> bool:
    first, last = sorted((part.layer, hole.bottom))
    return first <= sink <= last


def _to_layer(ctx: Context, part: HotPartOnBoard, pad: Pad, holes: Sequence[PadHole], layer: int) -> Interval:
    if not pad.is_rectangle:
        name = f"resistance of pad {pad.number} of {part.reference}, which is no rectangle"
        raise MissingFact(name, give(part, 'path_k_per_w = "?"  # as simulated'))
    length = length_mm(ctx, part.layer, layer)
    need_drills((hole.drill_mm for hole in holes), "the holes in the thermal pad")
    barrels = [
        ThermalBarrel(hole.drill_mm, length, _fill(part, hole), part.declared.plating_um, is_class_3(ctx))
        for hole in holes
    ]
    at_mm = [(hole.along_mm, hole.across_mm) for hole in holes]
    return array_k_per_w(barrels, at_mm, pad.size_mm, ctx.need(ctx.copper_thickness_mm(part.layer)))


def length_mm(ctx: Context, layer: int, other: int) -> float:
    """Return how far apart two copper layers lie; raises `MissingFact` where a thickness is not stated."""
    heights = copper_heights_mm(ctx.stackup())
    if len(heights) != ctx.board.layer_count:
        raise MissingFact("the thickness of every row of the stackup", DECLARE_STACKUP)
    return abs(heights[layer] - heights[other])


def is_class_3(ctx: Context) -> bool:
    """Tell whether the order declares class 3 of IPC-6012, which plates holes thicker."""
    return str(ctx.declarations.config.order.ipc_class).startswith("3")


def _fill(part: HotPartOnBoard, hole: PadHole) -> str:
    if part.declared.via_fill is not None:
        return part.declared.via_fill
    if not hole.filled.known:
        return "microvia" if hole.is_laser else "unknown"
    if not hole.filled.value:
        return "none"
    return "microvia" if hole.is_laser else "filled"


def connected_layers(ctx: Context, part: HotPartOnBoard) -> tuple[int, ...]:
    """Return the layers, but the part's own, on which filled copper of its net lies at a hole of a thermal pad.

    A fill that a thermal relief keeps off the hole counts: its spokes lead heat too.
    """
    layers = [layer for layer in range(ctx.board.layer_count) if layer != part.layer and ctx.copper.is_filled(layer)]
    return tuple(k for k in layers if any(_reaches(part, hole, k) and _touches(ctx, hole, k) for hole in part.holes))


def _touches(ctx: Context, hole: PadHole, layer: int) -> bool:
    return hole.net in ctx.copper.nets_at(layer, hole.x_mm, hole.y_mm, hole.drill_mm / 2 + RELIEF_MM)


def _nearest_plane(ctx: Context, part: HotPartOnBoard, sink: int) -> int | None:
    """Return the layer with copper on the holes that is nearest to the part, between it and the sink."""
    first, last = sorted((part.layer, sink))
    between = [layer for layer in connected_layers(ctx, part) if first < layer < last]
    return min(between, key=lambda layer: abs(layer - part.layer), default=None)


def describe(k_per_w: float) -> str:
    """Return a resistance with two or three digits, never as a power of ten."""
    return f"{k_per_w:.0f}" if k_per_w >= 10 else f"{k_per_w:.2g}"
