"""A backdrill stops earlier than it could and leaves a longer stub than necessary.

What it checks
--------------
Every backdrill, KiCad 10's own or declared: the stub that it nominally leaves, half way between its must-cut layer and
the next one, against what a standard backdrill leaves; but only where another unused layer lies between, so that it
could go deeper.

Why it matters
--------------
The hole costs a second drilling either way; the rest of the stub degrades the signal needlessly. Where an interface
requires backdrills, `missing-backdrill` judges what remains.

How to fix
----------
Set the must-cut layer next to the layer where the signal leaves.

What it cannot see
------------------
Whether the dielectric before the next layer suits the fab's depth tolerance is not known. Unused holes, holes that an
unfilled zone may use, and declared drills from a side where the hole does not end are skipped.

Sources
-------
0.25 mm is what fabs and Altium name as a good remaining stub.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM
from drc_rules.analysis.via.drilled_holes import DrilledHole, drilled_holes, place_of
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import told_apart
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import Stub, residual_mm

PLACES_SHOWN = 20


@record
class DrilledAlike:
    """Drills from one side to one layer, in holes that leave on one layer."""

    start: int
    must_cut: int
    first: int
    holes: tuple[DrilledHole, ...]


def _depths(ctx: Context, _clause: Clause) -> Iterator[DrilledAlike]:
    found: dict[tuple[int, int, int], list[DrilledHole]] = {}
    for drilled in drilled_holes(ctx):
        hole, drill = drilled.hole, drilled.drill
        if hole.used and not hole.is_unsure and drill.start in (hole.top, hole.bottom):
            first = hole.used[-1] if drill.start == hole.bottom else hole.used[0]
            found.setdefault((drill.start, drill.must_cut, first), []).append(drilled)
    for key in sorted(found):
        yield DrilledAlike(*key, holes=tuple(found[key]))


FORMULA = """
L ≤ L_max + 0.001

L: stub that the backdrill leaves, nominally [mm]
L_max: maximum stub of a standard backdrill [mm]
"""


@rule(
    "VIA011",
    kinds=("backdrill_depth",),
    over=_depths,
    formula=FORMULA,
    reads_fills=True,
    gives_way_to=("VIA001",),
)
def shallow_backdrill(ctx: Context, clause: Clause, alike: DrilledAlike) -> Iterator[DraftFinding]:
    """Yield one finding per depth at which drills leave more than they need to."""
    cuts_used = (alike.must_cut <= alike.first) if alike.start > alike.first else (alike.must_cut >= alike.first)
    if cuts_used or abs(alike.must_cut - alike.first) == 1:
        return
    faces = ctx.copper_faces_mm()
    if len(faces) != ctx.board.layer_count:
        raise MissingFact("the thickness of every stackup layer", DECLARE_STACKUP)
    drilled = alike.holes[0]
    left = residual_mm(Stub(drilled.hole, alike.start, alike.first, 0.0), drilled.drill, faces)
    allowed = clause.limit.max or 0.0
    names = [layer.name for layer in ctx.board.copper_layers]
    what = f"{len(alike.holes)} backdrills from {names[alike.start]} to {names[alike.must_cut]}"
    ctx.shows(what, L=left, L_max=allowed)
    if left.nominal <= allowed + TOLERANCE_MM:
        return
    deeper = names[alike.first + (1 if alike.start > alike.first else -1)]
    count = len(alike.holes)
    yield DraftFinding(
        title=(
            f"remaining stub {told_apart(left.nominal, allowed)} mm, maximum {allowed:g} mm: {count} "
            f"backdrill{'' if count == 1 else 's'} from "
            f"{names[alike.start]} to {names[alike.must_cut]}, signal on "
            f"{names[alike.first]}; {deeper} could be cut too"
        ),
        why="The second drilling costs the same at either depth",
        fix=f"Set the must-cut layer to {deeper}",
        ids=(names[alike.start], names[alike.must_cut], names[alike.first]),
        measured=Measured(value=round(left.nominal, 4), unit="mm"),
        limit_value=allowed,
        places=tuple(place_of(ctx, d, alike.must_cut) for d in alike.holes[:PLACES_SHOWN]),
    )
