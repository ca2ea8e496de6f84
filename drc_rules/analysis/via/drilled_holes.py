"""Every backdrill of a board with its hole: KiCad 10's own, and those that `stackwright.toml` declares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from stackup_lib.board.board import NO_LAYER, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import Backdrill, PlatedHole, plated_holes

BACKDRILL = "backdrill"

SIZE = "diameter of the declared backdrills"
DECLARE_SIZE = "size_mm = ?  # under [[backdrill]]"


@record
class DrilledHole:
    """A hole and one of its backdrills, or what else is milled around it.

    Attributes:
        kind: what it is, in one word.
        lacks: what is missing to tell which layers it passes, None where that is known.
    """

    hole: PlatedHole
    drill: Backdrill
    kind: str = BACKDRILL
    lacks: MissingFact | None = None

    @property
    def passed(self) -> range:
        """Layers that the drill takes away, top to bottom."""
        first, last = sorted((self.drill.start, self.drill.must_cut))
        return range(first, last + 1)


def drilled_holes(ctx: Context) -> tuple[DrilledHole, ...]:
    """Every backdrill with its hole, net by net; costs next to nothing on a board without."""
    return ctx.get(_drilled_holes)


def _drilled_holes(ctx: Context) -> tuple[DrilledHole, ...]:
    return tuple(_each_drilled(ctx))


def _each_drilled(ctx: Context) -> Iterator[DrilledHole]:
    nets = _drilled_nets(ctx)
    declared = ctx.declarations.backdrills
    for hole in plated_holes(ctx.board, nets) if len(nets) else ():
        for drill in hole.backdrills:
            yield DrilledHole(hole, drill)
        for drill, of in declared:
            if hole.net in of and drill.start in (hole.top, hole.bottom):
                yield DrilledHole(hole, drill)


def _drilled_nets(ctx: Context) -> Ints:
    found = [np.array(sorted(of), dtype=np.int64) for _, of in ctx.declarations.backdrills]
    for table in (ctx.board.vias, ctx.board.pads):
        drilling = table.drilling
        rows = (drilling.backdrill_start != NO_LAYER) | (drilling.tertiary_start != NO_LAYER)
        found.append(table.net[rows])
    return distinct(np.concatenate(found))


def place_of(ctx: Context, drilled: DrilledHole, layer: int) -> Location:
    """Where a backdrilled hole is, on one layer."""
    hole = drilled.hole
    return Location(
        layer=ctx.board.copper_layers[layer].name,
        net=ctx.board.nets[hole.net] or None,
        uuid=hole.uuid or None,
        x_mm=hole.x_mm,
        y_mm=hole.y_mm,
    )
