"""A memory's data nets are longer, or change layers more often, than a controller's guide has them.

What it checks
--------------
Data, mask and strobe nets of DDR4, DDR5 and LPDDR5 memories, followed from end to end: length, changes of layer, and
whether the eight bits of a byte run on one layer, inner or outer: a net runs on the inner layer that has half of its
length, or on the outer one that has three quarters. Limits are those of the interface: 127 mm, 2 vias and one layer for
DDR5. Vias less than 0.5 mm apart count once. It is information: each controller has a guide of its own.

Why it matters
--------------
Data at 6.4 Gb/s on single nets has little margin. Each via adds crosstalk and a stub, each layer another delay within
the byte, and length adds loss that the receiver's equaliser was not made for.

How to fix
----------
Move the memories closer, route a byte on one inner layer near them, with one via at either end; or follow the guide of
your controller and accept the finding.

What it cannot see
------------------
Which controller it is, and its guide. Memories of unknown generation. Packages and DIMMs. Spacing between bits. Bits
swapped between bytes, bytes of fewer bits. A byte that runs outside as a whole, which AMD's guide has inside.

Sources
-------
AMD UG863, physical design rules for DDR4, DDR5 and LPDDR5/5X. Intel's Agilex 7 M-series guide allows DDR5 two
transition vias as well. For GDDR6 and GDDR7 no such values were found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drc_rules.analysis.nets.memory_data import MemoryBus, bytes_of, data_route, main_layer, memory_buses
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Source
from drc_rules.requirements.documents import cite
from drc_rules.rules.rule import DraftFinding, rule

FIELDS = {"memory_length": "data_length_mm", "memory_vias": "data_vias", "memory_byte_layers": "byte_layers"}
"""Kind of clause -> field of the interface that states its limit."""

UNITS = {"memory_length": "mm", "memory_vias": "vias", "memory_byte_layers": "layers"}

PLACES_SHOWN = 10

FORMULA = """
x ≤ x_max

x: longest data net in mm, most changes of layer of one, or most inner layers of a byte
x_max: its limit
"""


def _buses(ctx: Context, clause: Clause) -> Iterator[MemoryBus]:
    for bus in ctx.get(memory_buses):
        if getattr(bus.of, FIELDS[clause.kind]) is not None:
            yield bus


@rule("SKW004", kinds=tuple(FIELDS), over=_buses, formula=FORMULA)
def memory_net_beyond_guide(ctx: Context, clause: Clause, bus: MemoryBus) -> Iterator[DraftFinding]:
    """Yield one finding for a bus whose nets, or bytes, exceed a limit."""
    ctx.rests_on(bus.confidence)
    largest = float(getattr(bus.of, FIELDS[clause.kind]))
    measured = _measured(ctx, clause.kind, bus)
    if not measured:
        return
    worst = max(measured, key=lambda name: measured[name])
    ctx.shows(bus.name, x=measured[worst], x_max=largest)
    if measured[worst] > largest:
        yield _draft(ctx, clause.kind, bus, largest, measured)


def _measured(ctx: Context, kind: str, bus: MemoryBus) -> dict[str, float]:
    """What a clause of a kind judges, by net or byte."""
    nets = ctx.board.nets
    if kind == "memory_byte_layers":
        layers = {name: {main_layer(ctx, net) for net in byte} - {None} for name, byte in bytes_of(ctx, bus).items()}
        return {name: float(len(on)) for name, on in layers.items()}
    routes = {nets[net]: ctx.get(data_route, net) for net in bus.nets}
    if kind == "memory_vias":
        return {name: float(route.vias) for name, route in routes.items()}
    return {name: round(route.length_mm, 2) for name, route in routes.items()}


def _draft(ctx: Context, kind: str, bus: MemoryBus, largest: float, measured: Mapping[str, float]) -> DraftFinding:
    unit = UNITS[kind]
    wrong = sorted((name for name in measured if measured[name] > largest), key=lambda name: -measured[name])
    most, total = measured[wrong[0]], len(measured)
    what = "bytes" if kind == "memory_byte_layers" else "data nets"
    source = cite(Source(document=bus.of.document_of(FIELDS[kind])))
    return DraftFinding(
        title=f"{most:g} {unit}, maximum {largest:g}: {bus.name}, {wrong[0]}; {len(wrong)} of {total} {what}",
        why=f"Each via, layer and millimetre takes margin from data at {bus.of.rate:g} Gb/s",
        fix="Route each byte on one inner layer with a via at either end, closer to the memory; or follow your "
        "controller's guide",
        ids=(bus.of.id, bus.sheet or "/", kind),
        measured=Measured(value=most, unit=unit),
        limit_value=largest,
        places=tuple(Location(net=name) for name in wrong[:PLACES_SHOWN] if name in ctx.board.net_index),
        source=source,
    )
