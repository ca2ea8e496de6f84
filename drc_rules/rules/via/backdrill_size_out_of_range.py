"""A backdrill is too narrow to clear its hole, or wider than necessary.

What it checks
--------------
The diameter of every backdrill, KiCad 10's own or declared, less that of its hole as KiCad stores it: at least
0.20 mm, at most 0.40 mm. Of a declared one without `size_mm` it is not verifiable.

Why it matters
--------------
A narrow drill leaves slivers of plating when it wanders: the rules on stubs do not pass one that is no wider than the
hole's own drill. One that is no wider than the finished hole cuts none at all: stubs count as not backdrilled. A wide
one takes clearance from adjacent copper.

How to fix
----------
Set the backdrill's diameter to that of the hole plus 0.2 to 0.4 mm, or ask the fab for its own value. Other programs
state the excess as a radius.

What it cannot see
------------------
Most fabs drill 0.1 mm wider than the finished hole: a backdrill at the minimum may clear that drill by only 0.1 mm. A
slotted pin counts by its first diameter. The limits are common practice; `[fab]` has no key.

Sources
-------
NCAB, Multi-CB and others: 0.20 mm over the via's drill. It is counted from the finished hole, because that is the size
that KiCad stores with the backdrill's, and Multi-CB gives its two sizes side by side (0.40 mm for a via of 0.20 mm).
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM
from drc_rules.analysis.via.drilled_holes import DECLARE_SIZE, SIZE, DrilledHole, drilled_holes, place_of
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

PLACES_SHOWN = 20

NONE_CUT = "A drill no wider than the finished hole cuts no plating: the stub stays"


@record
class SizedDrills:
    """Backdrills of one diameter, None where not stated, in holes of one diameter."""

    hole_mm: float
    drill_mm: float | None
    holes: tuple[DrilledHole, ...]


def _sizes(ctx: Context, _clause: Clause) -> Iterator[SizedDrills]:
    found: dict[tuple[float, float], list[DrilledHole]] = {}
    for drilled in drilled_holes(ctx):
        found.setdefault((drilled.hole.drill_mm, drilled.drill.size_mm or 0.0), []).append(drilled)
    for (hole_mm, drill_mm), holes in sorted(found.items(), key=lambda item: item[0]):
        yield SizedDrills(hole_mm, drill_mm or None, tuple(holes))


FORMULA = """
e = D - d
e_min - 0.001 ≤ e ≤ e_max + 0.001

e: how much wider the backdrill is than its hole [mm]
D: diameter of the backdrill [mm]
d: finished diameter of the hole, as KiCad stores it [mm]
e_min: minimum [mm]
e_max: maximum [mm]
"""


@rule("VIA006", aliases=("odd-backdrill-size",), kinds=("backdrill_size",), over=_sizes, formula=FORMULA)
def backdrill_size_out_of_range(ctx: Context, clause: Clause, drills: SizedDrills) -> Iterator[DraftFinding]:
    """Yield one finding per pair of diameters outside the clause's range."""
    if drills.drill_mm is None:
        raise MissingFact(SIZE, DECLARE_SIZE)
    need_drills([drills.hole_mm], "the backdrilled vias")
    excess = drills.drill_mm - drills.hole_mm
    least, most = clause.limit.min or 0.0, clause.limit.max or float("inf")
    what = f"{len(drills.holes)} backdrills"
    ctx.shows(what, e=excess, D=drills.drill_mm, d=drills.hole_mm, e_min=least, e_max=most)
    if least - TOLERANCE_MM <= excess <= most + TOLERANCE_MM:
        return
    limit = least if excess < least else most
    count = len(drills.holes)
    word = "minimum" if excess < least else "maximum"
    yield DraftFinding(
        title=(
            f"backdrill {excess:+.2f} mm over the finished hole, {word} {limit:+.2f} mm: "
            f"{count} backdrill{'' if count == 1 else 's'} of {drills.drill_mm:g} mm in {drills.hole_mm:g} mm holes"
        ),
        why=NONE_CUT
        if excess <= 0
        else "A narrow drill leaves slivers of plating, a wide one takes clearance from copper",
        fix=f"Backdrill with {drills.hole_mm + least:.2f} to {drills.hole_mm + most:.2f} mm",
        ids=(f"{drills.drill_mm:g} in {drills.hole_mm:g}",),
        measured=Measured(value=round(excess, 4), unit="mm"),
        limit_value=limit,
        places=tuple(place_of(ctx, d, d.drill.start) for d in drills.holes[:PLACES_SHOWN]),
    )
