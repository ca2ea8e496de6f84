"""What the rules on impedance share: what the model cannot know, and how a target is known again."""

from __future__ import annotations

import math

from drc_rules.context import Context
from drc_rules.controlled import NetTarget
from drc_rules.routed import References

DK_PCT, TAPER_PCT, OUTLINE_PCT, MASK_PCT = 1.0, 1.5, 0.3, 2.5
"""In percent of the impedance: Dk to 2 % at a sensitivity of at most a half; the trapezoid to a half at 0.03; the
outline of the mask; a mask that nobody has stated (10 to 30 um, Dk 3.3 to 3.8)."""


def model_pct(ctx: Context, index: int, references: References | None) -> float:
    """Return the model's own uncertainty for a line on a copper layer, in percent of its impedance."""
    where = ctx.lines.site(index, references)
    mask = OUTLINE_PCT if where.site.mask else 0.0
    unstated = MASK_PCT if any("solder mask" in text for text in where.assumptions) else 0.0
    return DK_PCT + TAPER_PCT + mask + unstated


def target_ids(target: NetTarget) -> tuple[str, ...]:
    """Return what tells a target from others: declared and inferred nets of one interface are two."""
    return (target.title, f"{target.ohm:g}", *(("inferred",) if target.inferred else ()))


def line_numbers(ctx: Context, index: int, references: References | None) -> dict[str, float]:
    """Return what a line's surroundings give to its impedance, by the symbols of the rules' formula."""
    site = ctx.lines.site(index, references).site
    sides = [(site.below, site.reference_below), (site.above, site.reference_above)]
    heights = [sum(sheet.thickness_mm for sheet in sheets) if plane else math.inf for sheets, plane in sides]
    return {"t": site.copper_mm, "h_near": min(heights), "h_far": max(heights)}
