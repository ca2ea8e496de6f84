"""A drawn size is below the board's own minimum under Board Setup, Constraints.

What it checks
--------------
Track widths, via diameters, annular rings, hole diameters, microvia diameters and holes, distances from hole to hole,
and clearances between nets, against the minimums that the project states (`.kicad_pro`, or the board itself in KiCad 4
and 5). A minimum of 0 is none. Where the project sets KiCad's check to `ignore`, this rule says nothing either, and
what the user excluded in KiCad stays excluded. A custom design rule that states a minimum takes Board Setup's place:
items that one applies to, or may apply to, are not judged. Clearances within 0.001 mm of the minimum keep it.

Why it matters
--------------
The minimums are what the board was meant to be made with. KiCad's design rule check (DRC) reports a board that violates
its own; either the drawing or the minimum is wrong.

How to fix
----------
Correct the drawing; or lower the minimum under File > Board Setup > Constraints, if your fab can make it.

What it cannot see
------------------
Left to `stackwright check --kicad-drc`: hole-to-copper and edge minimums, clearances between fills, of copper without a
net, or from net classes and zones. Custom and overlapping pads have no measured ring. Pairs of microvias do not count.

Sources
-------
Board Setup's constraints as the project file states them. Counts of items were compared with `kicad-cli pcb drc` of
KiCad 10.0.6: it compares sizes in whole nanometres and takes 0.0005 mm off the distance from hole to hole.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.board_minimums import Below, MinimumItem, below
from drc_rules.analysis.fabrication.clearance_places import between, more_pairs, one_per_nets, place, uuid_in
from drc_rules.analysis.fabrication.fab_clearances import layers_with_spaces, space_finder
from drc_rules.analysis.targets.configured_geometries import design_rules_of
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import NO_LAYER, Board
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.shapes import CopperShape
from stackup_lib.core.arrays import are_among
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.board_minimums import (
    CLEARANCE,
    HOLE_TO_HOLE,
    RING,
    Minimum,
    board_minimums,
    nets_with_own_minimum,
)

PLACES_SHOWN = 20
CLEARANCE_PRECISION_MM = 0.001
UNPLATED = "Make holes that are as large as their pad unplated, as those of locating pegs, or give their pads a ring"
WHY = "The board violates a limit that it sets itself, and KiCad's own check (DRC) reports it"


@record
class _Held:
    """A minimum and what is held against it: the items of the board, or the spaces of a layer.

    Attributes:
        spared: nets that a custom design rule may give a minimum of their own.
        found: the items below the minimum; None for spaces.
    """

    minimum: Minimum
    spared: frozenset[int]
    found: Below | None = None
    layer: int = NO_LAYER


def _held(ctx: Context, _clause: Clause) -> Iterator[_Held]:
    """Yield each minimum that anything is held against, that of clearance once per layer."""
    minimums = board_minimums(ctx.board.project)
    rules = design_rules_of(ctx) if minimums else None
    for minimum in minimums:
        spared = nets_with_own_minimum(ctx.board, rules, minimum.constraint)
        if spared is None:
            continue
        if minimum.key == CLEARANCE.key:
            yield from (_Held(minimum, spared, layer=layer) for layer in layers_with_spaces(ctx.board))
        elif (found := below(ctx.board, minimum, spared)).judged:
            yield _Held(minimum, spared, found)


FORMULA = """
v ≥ v_min

v: smallest drawn value [mm]
v_min: Board Setup's minimum [mm]
"""


@rule(
    "FAB020",
    kinds=("board_minimum",),
    over=_held,
    formula=FORMULA,
    gives_way_to=("FAB019",),
    by_stackup="unmoved",
)
def below_board_minimum(ctx: Context, _clause: Clause, held: _Held) -> Iterator[DraftFinding]:
    """Yield one finding per minimum that is not kept; of clearances one per layer."""
    if held.found is None:
        yield from _clearance(ctx, held)
    elif held.found.items:
        yield _items(ctx, held.minimum, held.found)


def _items(ctx: Context, minimum: Minimum, found: Below) -> DraftFinding:
    ctx.shows(minimum.what, v=found.value_mm[0], v_min=minimum.value_mm)
    several = "down to " if found.value_mm[-1] - found.value_mm[0] > 1e-6 else ""
    return DraftFinding(
        title=(
            f"{minimum.what} {several}{_mm(found.value_mm[0], minimum)}, "
            f"minimum {minimum.value_mm:.4g} mm (Board Setup): {found.counted}"
        ),
        why=WHY,
        fix=UNPLATED if minimum.key == RING.key and found.value_mm[0] <= 0 else _fix(minimum),
        ids=(minimum.key,),
        measured=Measured(value=round(found.value_mm[0], 6), unit="mm"),
        limit_value=minimum.value_mm,
        places=tuple(_place(ctx.board, items[0]) for items in found.items[:PLACES_SHOWN]),
    )


def _fix(minimum: Minimum) -> str:
    verb = "Move them apart" if minimum.key in (HOLE_TO_HOLE.key, CLEARANCE.key) else "Make them larger"
    return f"{verb}; or lower {minimum.label} (File > Board Setup > Constraints) if your fab can make it"


def _mm(value_mm: float, minimum: Minimum) -> str:
    """Return a length in the fewest decimals, from three on, that tell it from the minimum and from nothing."""
    for decimals in range(3, 6):
        shown = round(value_mm, decimals)
        if shown != round(minimum.value_mm, decimals) and (shown > 0 or value_mm <= 0):
            return f"{value_mm:.{decimals}f} mm"
    return f"{value_mm:.6f} mm"


def _place(board: Board, item: MinimumItem) -> Location:
    return Location(
        layer=None if item.layer == NO_LAYER else board.copper_layers[item.layer].name,
        net=board.nets[item.net] or None,
        uuid=item.uuid or None,
        x_mm=item.x_mm,
        y_mm=item.y_mm,
    )


def _clearance(ctx: Context, held: _Held) -> Iterator[DraftFinding]:
    board, minimum, layer = ctx.board, held.minimum, held.layer
    name, spaces = board.copper_layers[layer].name, ctx.get(space_finder).on(layer)
    is_narrow = spaces.gap_mm < minimum.value_mm - CLEARANCE_PRECISION_MM
    is_narrow &= (spaces.one.kind != CopperShape.FILL) | (spaces.other.kind != CopperShape.FILL)
    nets = np.fromiter(held.spared, dtype=np.int64)
    narrow = spaces.where(is_narrow)
    narrow = narrow.where(~are_among(narrow.one.net, nets) & ~are_among(narrow.other.net, nets))
    narrow = _without_excluded(board, minimum, narrow)
    if not len(narrow):
        _need_all_known(ctx, layer, spaces)
        return
    pairs = narrow.where(one_per_nets(board, narrow))
    gap = float(pairs.gap_mm[0])
    ctx.shows(f"{minimum.what} on {name}", v=gap, v_min=minimum.value_mm)
    yield DraftFinding(
        title=(
            f"{minimum.what} {_mm(gap, minimum)}, minimum {minimum.value_mm:.4g} mm (Board Setup): "
            f"{name}, {between(board, pairs)}{more_pairs(pairs)}"
        ),
        why=WHY,
        fix=_fix(minimum),
        ids=(minimum.key, name),
        measured=Measured(value=round(gap, 6), unit="mm"),
        limit_value=minimum.value_mm,
        places=tuple(place(ctx.copper, pairs, row) for row in range(min(len(pairs), PLACES_SHOWN))),
        counted=len(pairs),
    )


def _without_excluded(board: Board, minimum: Minimum, spaces: Spaces) -> Spaces:
    excluded = [uuids for check, uuids in board.project.exclusions if check == minimum.check]
    if not excluded or not len(spaces):
        return spaces

    def uuids(row: int) -> set[str]:
        ends = [(CopperShape(int(side.kind[row])), int(side.row[row])) for side in (spaces.one, spaces.other)]
        return {uuid_in(board, kind, at) or "" for kind, at in ends if kind != CopperShape.FILL}

    kept = [not any(uuids(row) <= one for one in excluded) for row in range(len(spaces))]
    return spaces.where(np.array(kept, dtype=np.bool_))


def _need_all_known(ctx: Context, layer: int, spaces: Spaces) -> None:
    """Raise `MissingFact` where a space may hide in fills that are not stored or out of date."""
    name = ctx.board.copper_layers[layer].name
    if len(unfilled_zones(ctx.board, (layer,))):
        raise MissingFact(f"the zone fills on {name}", FILL_ZONES)
    if spaces.stale:
        raise MissingFact(f"up-to-date zone fills on {name}: {spaces.stale}", FILL_ZONES)
