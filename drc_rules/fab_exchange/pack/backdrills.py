"""Backdrills of a fab pack: between which depths a drill has to end, and what of that a fab has to be asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from drc_rules.analysis.via.backdrill_table import BackdrillRow, backdrill_table
from drc_rules.fab_exchange.pack.table import FabTable, Question, figure_mm
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.cam import cam_limits
from drc_rules.requirements.fabs.holes import PLATING_ALLOWANCE_MM
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval

HEAD = ("from", "must cut", "must not cut", "finished hole mm", "backdrill mm", "depth mm", "stub mm", "holes", "nets")

SMALLEST_MM = 0.0005
"""Less than the three decimals show."""

ROUNDING = 1e-6
"""Of sums of thicknesses, um."""

DEPTH = (
    "Depth is from the face of the outer copper where the drill enters: over, to be through the layer that it must "
    "cut; under, because there the copper of the next layer begins."
)
NO_TOLERANCE = "No tolerance is taken off: all of the fab's depth tolerance has to lie between the two."
TOLERANCE = "Of the two, the tolerance is taken off already."
DRILLED = (
    f"Fabs drill a plated hole up to {PLATING_ALLOWANCE_MM:g} mm wider than its finished size: a backdrill has to be "
    "wider than that."
)


def backdrills_table(ctx: Context) -> FabTable:
    """Return the backdrills that the board file or the settings order; proposals are not among them."""
    try:
        table = backdrill_table(ctx)
    except MissingFact as missing:
        remark = f"Not computed: {missing.name} is not known."
        return FabTable(name="backdrill", title="Backdrills", head=HEAD, rows=(), remarks=(remark,))
    asked = [row for row in table.rows if not row.is_proposed]
    tolerance_mm = ctx.declarations.config.order.backdrill_tolerance_mm
    remarks = DEPTH, TOLERANCE if tolerance_mm else NO_TOLERANCE, DRILLED
    return FabTable(
        name="backdrill",
        title="Backdrills",
        head=HEAD,
        rows=tuple(_drill(row, tolerance_mm) for row in asked),
        remarks=remarks if asked else ("No backdrill is specified.",),
        questions=tuple(_questions(asked, tolerance_mm)),
    )


def proposed_drills(ctx: Context) -> tuple[BackdrillRow, ...]:
    """Return the depth groups that high-speed stubs need and that are not ordered: for the designer only."""
    try:
        return tuple(row for row in backdrill_table(ctx).rows if row.is_proposed)
    except MissingFact:
        return ()


def _drill(row: BackdrillRow, tolerance_mm: float | None) -> tuple[str, ...]:
    return (
        row.start,
        row.must_cut,
        row.must_not_cut,
        figure_mm(row.hole_mm),
        figure_mm(row.drill_mm),
        _depth(row.depth_mm, tolerance_mm),
        _between(row.residual_mm.low, row.residual_mm.high),
        str(row.holes),
        ", ".join(row.nets),
    )


def _depth(depth_mm: Interval, tolerance_mm: float | None) -> str:
    """Return the depths at which a drill may be set, so that its end stays off both layers."""
    low_mm, high_mm, tolerance = depth_mm.low, depth_mm.high, tolerance_mm or 0.0
    if _has_no_room(depth_mm, tolerance):
        return f"{_between(low_mm, high_mm)}: no room for +-{tolerance:g}"
    window = _between(low_mm + tolerance, high_mm - tolerance)
    return f"{window}, +-{tolerance:g}" if tolerance else window


def _has_no_room(depth_mm: Interval, tolerance_mm: float) -> bool:
    return tolerance_mm > 0 and depth_mm.high - depth_mm.low < 2 * tolerance_mm + SMALLEST_MM


def _between(low_mm: float, high_mm: float) -> str:
    """Return `over 0.150, under 0.250`, not a micrometre wider than it is: at its ends the drill touches copper."""
    low_um, high_um = math.ceil(low_mm * 1000 - ROUNDING), math.floor(high_mm * 1000 + ROUNDING)
    under = f"under {high_um / 1000:.3f}"
    return under if low_um <= 0 else f"over {low_um / 1000:.3f}, {under}"


def _questions(asked: Sequence[BackdrillRow], tolerance_mm: float | None) -> Iterator[Question]:
    """Yield what the drawing asks of the fab beyond what fabs do unasked."""
    usual = cam_limits().backdrill_stub_mm.usual
    short = [row for row in asked if row.residual_mm.high < usual - SMALLEST_MM]
    yield Question(f"stub shorter than the {usual:g} mm that fabs usually leave", tuple(map(_name, short)))
    if tolerance_mm is not None:
        tight = [row for row in asked if _has_no_room(row.depth_mm, tolerance_mm)]
        yield Question(f"no room for a depth tolerance of +-{tolerance_mm:g} mm", tuple(map(_name, tight)))


def _name(row: BackdrillRow) -> str:
    return f"{row.residual_mm.high:.3f} mm before {row.must_not_cut}"
