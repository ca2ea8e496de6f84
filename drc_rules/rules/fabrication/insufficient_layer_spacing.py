"""The board thickness is too small for its number of layers.

What it checks
--------------
The thickness that copper leaves, divided by the number of dielectrics. Where a stackup is entered, its own copper
counts. Otherwise the board's stated thickness is judged between the thinnest copper (15 um inside, 35 um outside) and 2
oz throughout: only what no copper weight could fix is reported, and only what passes with any is passed. A board with
film of flexible boards, such as polyimide, is compared with your own fab alone.

Why it matters
--------------
Before any stackup is drawn, thickness and layer count decide whether there is one: 24 layers in a card of 1.57 mm leave
less than 0.05 mm each.

How to fix
----------
Use a thicker board (with a milled edge where a connector needs 1.57 mm), or fewer layers.

What it cannot see
------------------
It is an average: single thin dielectrics are `thin-dielectric`'s. Without an entered stackup the thickness is KiCad's,
often its default 1.6 mm, with or without solder mask. Build-up films and embedded capacitance, thin by design, are
reported too.

Sources
-------
Rush PCB and HIC, rigid boards: 3 mil between layers usual, 2 mil advanced. Beyond advanced is a warning, beyond
standard information.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar, bar, film_dielectrics, your_fab
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval

INNER_MM, OUTER_MM = 0.015, 0.035
"""Thinnest usual finished copper: half an ounce inside, half an ounce and plating outside."""

HEAVY_MM = 0.07
"""Two ounces."""


def _limit(ctx: Context, clause: Clause) -> Iterator[Bar]:
    least = bar(ctx, clause, "dielectric_mm", your_fab(ctx).dielectric_mm)
    if least is None or ctx.board.layer_count < 2 or (least.tier and film_dielectrics(ctx)):
        return
    yield least


FORMULA = """
h = (T - C) / (n - 1)
h ≥ h_min - 0.001

h: average dielectric [mm]
T: thickness from copper to copper [mm]
C: all copper together, the thinnest usual where no stackup is entered [mm]
n: copper layers
h_min: minimum of the fab [mm]
"""


@rule("FAB008", aliases=("crowded-layers",), kinds=("average_dielectric",), over=_limit, formula=FORMULA)
def insufficient_layer_spacing(ctx: Context, _clause: Clause, least: Bar) -> Iterator[DraftFinding]:
    """Yield one finding when the average dielectric is below the limit."""
    thickness, average = _average_mm(ctx)
    copper = thickness - average.high * (ctx.board.layer_count - 1)
    ctx.shows(f"the board, {least.who}", T=thickness, C=copper, n=ctx.board.layer_count, h_min=least.value)
    if average.low >= least.value - TOLERANCE_MM:
        return
    if average.high >= least.value - TOLERANCE_MM:
        raise MissingFact("the stackup", DECLARE_STACKUP)
    count = ctx.board.layer_count
    yield DraftFinding(
        title=(
            f"average dielectric {1000 * average.high:.0f} um, minimum {1000 * least.value:.0f} um ({least.who}): "
            f"{count} layers in {thickness:.2f} mm"
        ),
        why="Thickness and layer count decide whether there is a stackup at all",
        fix=f"Make the board {_least_thickness_mm(count, least.value):.2f} mm thick or more, or use fewer layers",
        ids=("average", least.tier or least.who),
        measured=Measured(value=round(average.high, 4), unit="mm"),
        limit_value=least.value,
    )


def _average_mm(ctx: Context) -> tuple[float, Interval]:
    """Thickness from copper to copper, and the average dielectric: exact of a stackup, else between copper weights."""
    count = ctx.board.layer_count
    stackup = None if ctx.is_default_stackup else ctx.board.stackup
    rows = [row for row in stackup.layers if row.is_dielectric] if stackup else []
    gaps = [row.thickness_mm for row in rows]
    if stackup and gaps and None not in gaps and len(stackup.copper) == count:
        total = sum(gap or 0.0 for gap in gaps)
        average = total / (count - 1)
        return total + sum(row.thickness_mm or 0.0 for row in stackup.copper), Interval(
            low=average, nominal=average, high=average
        )
    thickness = ctx.board.thickness_mm
    if thickness is None:
        raise MissingFact("board thickness", DECLARE_STACKUP)
    ctx.rests_on(Confidence.LOW)
    thin = (thickness - 2 * OUTER_MM - (count - 2) * INNER_MM) / (count - 1)
    heavy = (thickness - count * HEAVY_MM) / (count - 1)
    return thickness, Interval(low=heavy, nominal=(thin + heavy) / 2, high=thin)


def _least_thickness_mm(count: int, gap_mm: float) -> float:
    return (count - 1) * gap_mm + 2 * OUTER_MM + (count - 2) * INNER_MM
