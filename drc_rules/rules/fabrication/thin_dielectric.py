"""A dielectric is thinner than fabs laminate.

What it checks
--------------
The distance between adjacent copper layers of the stackup against the clause's fab tier, or your own fab's `[fab]`
`dielectric_mm`; a dielectric of several rows or prepreg plies counts as a whole. A board of two layers that is thick
enough with any copper passes without an entered stackup. Film of flexible boards, such as polyimide, is compared with
your own fab alone.

Why it matters
--------------
A thin dielectric is one ply of fine glass or none: it fills heavy copper badly, and thickness and impedance have the
largest uncertainty of the board. A scratch in it is a short.

How to fix
----------
Use thicker dielectrics, or fewer layers in the same thickness. Where it is intended (embedded capacitance, a build-up
for laser vias), tell the fab which product it is.

What it cannot see
------------------
Thicknesses are as entered, maybe the prepreg as delivered: resin that flows into heavy copper leaves tens of
micrometres less. The number and glass of prepreg plies are not judged. Rounding from mil is reported; voltage
requirements are unknown.

Sources
-------
Rush PCB and HIC, rigid boards: 3 mil usual, 2 mil advanced. Thinner ones are bought as products, so no tier is an
error: beyond advanced is a warning, beyond standard information. `[fab]` takes the place of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, film_dielectrics, not_covered, your_fab
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import distance_text, rounded_mm
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.record import record

HEAVIEST_COPPER_MM = 0.3
"""Both layers of 4 oz."""


@record
class Dielectrics:
    """The distances between neighbouring copper layers, top to bottom, and which of them the limit is not for."""

    gaps_mm: tuple[float, ...]
    least: Bar
    films: frozenset[int] = frozenset()

    @property
    def judged(self) -> list[int]:
        """Positions of the dielectrics that the limit is for."""
        return [k for k in range(len(self.gaps_mm)) if k not in self.films]


def _dielectrics(ctx: Context, clause: Clause) -> Iterator[Dielectrics]:
    least = bar(ctx, clause, "dielectric_mm", your_fab(ctx).dielectric_mm)
    if least is None or ctx.board.layer_count < 2:
        return
    if ctx.board.layer_count == 2 and _is_surely_thick(ctx, least):
        ctx.rests_on(Confidence.LOW)
        yield Dielectrics(((ctx.board.thickness_mm or 0.0) - HEAVIEST_COPPER_MM,), least)
        return
    faces = ctx.copper_faces_mm()
    if len(faces) < 2:
        raise MissingFact("the thickness of every stackup layer", DECLARE_STACKUP)
    gaps = tuple(round(below[0] - above[1], 6) for above, below in pairwise(faces))
    found = Dielectrics(gaps, least, film_dielectrics(ctx) if least.tier else frozenset())
    if found.judged:
        yield found


def _is_surely_thick(ctx: Context, least: Bar) -> bool:
    """Tell whether a board of two layers and no entered stackup is thick enough in any copper."""
    is_entered = ctx.board.stackup is not None and not ctx.is_default_stackup
    return not is_entered and (ctx.board.thickness_mm or 0.0) - HEAVIEST_COPPER_MM >= least.value


FORMULA = """
h ≥ h_min - 0.001

h: thinnest dielectric between two copper layers [mm]
h_min: minimum of the fab [mm]
"""


@rule("FAB007", kinds=("dielectric_thickness",), over=_dielectrics, formula=FORMULA)
def thin_dielectric(ctx: Context, _clause: Clause, of: Dielectrics) -> Iterator[DraftFinding]:
    """Yield one finding for all dielectrics below the limit."""
    thinnest = min(of.gaps_mm[k] for k in of.judged)
    ctx.shows(f"{len(of.judged)} dielectrics, {of.least.who}", h=thinnest, h_min=of.least.value)
    thin = [k for k in of.judged if of.gaps_mm[k] < of.least.value - TOLERANCE_MM]
    if not thin:
        return
    gaps = np.array(of.gaps_mm)
    rest, is_covered = not_covered(np.array(thin), lambda limit: gaps < limit.value - TOLERANCE_MM, of.least)
    thin = rest.tolist()
    rows = [row.name for row in ctx.stackup().copper]
    worst = min(thin, key=lambda k: of.gaps_mm[k])
    yield DraftFinding(
        title=(
            f"dielectric thickness {distance_text(of.gaps_mm[worst])}, minimum {of.least.value:g} mm ({of.least.who}): "
            f"{rows[worst]} to {rows[worst + 1]}, {len(thin)} of {len(of.judged)} dielectrics"
        ),
        why="It is one ply of fine glass or none: thickness and impedance have their largest uncertainty there",
        fix="Use thicker dielectrics or fewer layers; if the thickness is intended, name the product to the fab",
        ids=(of.least.tier or of.least.who, *(rows[k] for k in thin)),
        measured=Measured(value=rounded_mm(of.gaps_mm[worst]), unit="mm"),
        limit_value=of.least.value,
        places=tuple(Location(layer=rows[k]) for k in thin),
        is_covered=is_covered,
        defect="dielectrics",
    )
