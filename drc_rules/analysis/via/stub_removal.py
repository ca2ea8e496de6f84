"""How a stub is got rid of: with its via, by a drill, or only in the layout."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from drc_rules.analysis.via.press_fit import press_fit_parts
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.holes import drilled_one_mm
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.plated_holes import Backdrill, PlatedHole, Stub

USUAL_EXCESS_MM = 0.2
"""How much wider than its finished hole a backdrill has to be, as VIA006 judges it."""


SAME_DRILL_MM = 0.0005
"""Diameters that differ by less are one."""


class Removal(StrEnum):
    """What takes a stub away."""

    DELETE = "delete the via: nothing leaves it on another layer"
    DRILL = "backdrill"
    SHORTEN = "end the blind via where it is used"
    MOVE = "route the pin of a soldered part out on another layer, or use another part"


def removal_of(ctx: Context, stub: Stub) -> Removal:
    """Return what takes a stub away, drilled or not; a drill reaches vias and pressed-in pins from outside."""
    hole = stub.hole
    if hole.joins_nothing:
        return Removal.DELETE
    if not hole.is_via and hole.uuid not in ctx.get(_pressed_pads):
        return Removal.MOVE
    return Removal.DRILL if stub.side in (0, ctx.board.layer_count - 1) else Removal.SHORTEN


def doubt_of_drill(ctx: Context, hole: PlatedHole, drill: Backdrill | None) -> MissingFact | None:
    """Return what is doubtful about a backdrill that may leave plating; None where there is nothing.

    A hole is drilled wider than it is finished, for its plating. A backdrill no wider than that drill clears the
    plating at best where both have the same middle.
    """
    if drill is None or drill.size_mm is None:
        return None
    drilled_mm = drilled_one_mm(hole.drill_mm, hole.pad_mm)
    if drill.size_mm > drilled_mm + SAME_DRILL_MM:
        return None
    where = f"{ctx.board.nets[hole.net]} at {hole.x_mm:g}, {hole.y_mm:g} mm"
    wide_mm = hole.drill_mm + USUAL_EXCESS_MM
    return MissingFact(
        f"whether the backdrill of {drill.size_mm:g} mm takes the plating of {where} away: a finished hole of "
        f"{hole.drill_mm:g} mm is drilled with {drilled_mm:g} mm first",
        f"give the backdrill {wide_mm:g} mm or more: in KiCad, or as size_mm under [[backdrill]]",
    )


def _pressed_pads(ctx: Context) -> frozenset[str]:
    """Ids of the pads of parts that are pressed in."""
    pressed = [part.footprint for part in ctx.get(press_fit_parts)]
    return frozenset(ctx.board.pads.uuid[np.isin(ctx.board.pads.footprint, pressed)].tolist())


def ways_out(ctx: Context, stub: Stub, drill: str) -> str:
    """Return how to get rid of a stub: by the given backdrill, or without one; the pin of a soldered part stays."""
    names = [layer.name for layer in ctx.board.copper_layers]
    closer = f"oute out on a layer closer to {names[stub.side]}"
    return {
        Removal.DELETE: f"Delete the via, or join it on another layer: its net is on it on {names[stub.first]} alone",
        Removal.DRILL: f"{drill}, or r{closer}",
        Removal.SHORTEN: f"End the via on {names[stub.first]}, or r{closer}",
        Removal.MOVE: f"R{closer}, or use a surface-mount part; backdrilling helps only where pins are pressed in",
    }[removal_of(ctx, stub)]
