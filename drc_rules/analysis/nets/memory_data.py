"""Data nets of memories on the board: DQ, masks and strobes, bus by bus, with how each is routed. Lengths in mm."""

from __future__ import annotations

import re
from collections.abc import Mapping

from drc_rules.analysis.nets.board_links import board_links, complete_routes
from drc_rules.analysis.nets.byte_lanes import BITS, byte_lanes, read_lane_net
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface, interface
from drc_rules.requirements.interfaces.names import normalise
from stackup_lib.core.facts import Confidence, least
from stackup_lib.core.record import record
from stackup_lib.nets.routing.routes import Route

LIMITS = ("data_length_mm", "data_vias", "byte_layers")
"""Fields of an interface that state how the data nets of a memory are routed."""

ONE_VIA_MM = 0.5
"""Vias of a trace with less between them are one step: stacked and staggered microvias."""

LEAST_SHARE, OUTER_SHARE = 0.5, 0.75
"""A data net runs on the inner layer that has this share of its length, or on the outer one that has that share."""

_DATA = re.compile(r"(?<![A-Z])(?:[LU]?(?:DQS?|DMI?|DBI)|RDQS|WCK|EDC)(?![A-Z]{2})")


@record
class MemoryBus:
    """Data nets of one sheet that were taken for the same generation of memory.

    Attributes:
        of: the generation.
        sheet: path of the nets, "" for the root.
        nets: numbers of the nets, by name.
        confidence: of the least sure net.
    """

    of: Interface
    sheet: str
    nets: tuple[int, ...]
    confidence: Confidence

    @property
    def name(self) -> str:
        """Words for it: `DDR5-6400 of /memory`."""
        return f"{self.of.title} of {self.sheet}" if self.sheet else self.of.title


@record
class DataRoute:
    """How a data net runs from end to end: length, changes of layer, and length on each layer."""

    length_mm: float
    vias: int
    on_layer_mm: Mapping[int, float]


def is_memory_data(net: str) -> bool:
    """Tell whether a net is a data line of a memory by its name: data, mask, strobe or write clock."""
    return _DATA.search(normalise(net)) is not None


def memory_buses(ctx: Context) -> tuple[MemoryBus, ...]:
    """Return the memory buses of known generation of which a limit is published, by name; use `Context.get`."""
    board, found = ctx.board, dict[tuple[str, str], list[int]]()
    for net, role in enumerate(ctx.assignment.roles):
        if role is not None and role.interface and _is_data(board.nets[net]):
            found.setdefault((board.nets[net].rpartition("/")[0], role.interface), []).append(net)
    buses = (_bus(ctx, sheet, interface(name), nets) for (sheet, name), nets in found.items())
    known = (bus for bus in buses if any(getattr(bus.of, field) is not None for field in LIMITS))
    return tuple(sorted(known, key=lambda bus: (bus.name, bus.nets)))


def _is_data(net: str) -> bool:
    return bool(_DATA.search(normalise(net))) or read_lane_net(net) is not None


def _bus(ctx: Context, sheet: str, of: Interface, nets: list[int]) -> MemoryBus:
    named = tuple(sorted(nets, key=lambda net: ctx.board.nets[net]))
    return MemoryBus(of, sheet, named, least(*(ctx.assignment.confidence_of(net) for net in nets)))


def data_route(ctx: Context, net: int) -> DataRoute:
    """Return how a data net runs, through its series parts too; get it with `Context.get`.

    Raises:
        MissingFact: it does not lead from end to end.
    """
    links = ctx.get(board_links).of(net)
    routes = [route for link in links[:1] for route in complete_routes(ctx, link)]
    on_layer: dict[int, float] = {}
    for route in routes:
        for layer, length in route.length_mm_by_layer.items():
            on_layer[layer] = on_layer.get(layer, 0.0) + length
    return DataRoute(sum(route.path_length_mm for route in routes), sum(map(_steps, routes)), on_layer)


def _steps(route: Route) -> int:
    """Changes of layer along a path; those next to one another count once."""
    at = [crossing.at_mm for crossing in route.crossings if crossing.entry_layer != crossing.exit_layer]
    return sum(1 for k, here in enumerate(at) if k == 0 or here - at[k - 1] >= ONE_VIA_MM)


def bytes_of(ctx: Context, bus: MemoryBus) -> Mapping[str, tuple[int, ...]]:
    """Return the bytes of a bus whose eight bits are all there, by a name like `DQ8..15`."""
    lanes = byte_lanes(ctx.board, bus.nets)
    return {lane.name.rpartition("/")[2]: lane.bits for lane in lanes if len(lane.bits) == BITS}


def main_layer(ctx: Context, net: int) -> int | None:
    """Return the copper layer on which a data net runs; None for one that shares its length among several.

    Outside it has the breakouts at both its ends too, so that an outer layer needs more of it.
    """
    route = ctx.get(data_route, net)
    best = max(route.on_layer_mm, key=lambda layer: route.on_layer_mm[layer], default=None)
    if best is None:
        return None
    share = OUTER_SHARE if best in (0, ctx.board.layer_count - 1) else LEAST_SHARE
    return best if route.on_layer_mm[best] >= share * route.length_mm else None
