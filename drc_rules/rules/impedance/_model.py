"""What the rules on impedance share: a computed impedance compared with its target, and how targets are worded."""

from __future__ import annotations

import math

from drc_rules.analysis.lines.routed import References
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.lines.uncertainty import LineUncertainty
from drc_rules.analysis.targets.controlled import NetTarget
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record

MOST_CAUSES = 3
"""Causes named in one line, the largest first."""

FORMULA = """
Z by the two-dimensional field solver, from w, s, t, the planes and the dielectrics between
p = 100 · (Z / Z_0 - 1)
|p| ≤ p_tol
fails where |p| > p_tol + u

Z: impedance of the geometry, nominal [ohm]
w: width at the base of the trace [mm]
s: gap of the pair, edge to edge; infinite for a trace alone [mm]
t: copper thickness [mm]
h_near: dielectric up to the nearer plane [mm]
h_far: dielectric up to the plane on the other side; infinite without one [mm]
Z_0: target [ohm]
p: deviation [%]
p_tol: tolerance of the target [%]
u: how far unknown inputs (Dk, taper, outer copper, mask) may bring Z toward Z_0 [%]
"""


@record
class Judged:
    """A computed impedance against its target.

    Attributes:
        ohm: with the range that is not known.
        uncertainty: what that range is made of.
    """

    ohm: Interval
    target: NetTarget
    uncertainty: LineUncertainty

    @property
    def off_pct(self) -> float:
        """Deviation of the nominal impedance, in percent of the target."""
        return 100 * (self.ohm.nominal / self.target.ohm - 1)

    @property
    def toward_pct(self) -> float:
        """How far what is not known may bring the impedance toward the target, in percent of the target."""
        end = self.ohm.low if self.off_pct > 0 else self.ohm.high
        return 100 * abs(self.ohm.nominal - end) / self.target.ohm

    @property
    def standing(self) -> Standing:
        """Within the tolerance, beyond it by more than is not known, or neither."""
        share = self.target.tolerance_pct / 100
        return self.ohm.against(minimum=self.target.ohm * (1 - share), maximum=self.target.ohm * (1 + share))

    def open_question(self, what: str) -> MissingFact:
        """Return what would settle an impedance that is neither within nor beyond: the causes, the largest first."""
        ohm, target, causes = self.ohm, self.target, self.uncertainty.open_causes
        name = (
            f"impedance of {what} within {target.tolerance_pct:g} %: {ohm.nominal:.1f} ohm, {self.off_pct:+.1f} % from "
            f"{target.ohm:g} ohm, {ohm.low:.1f} to {ohm.high:.1f} ohm"
        )
        if not causes:
            return MissingFact(name, "change the width, or measure a coupon; nothing is left to declare")
        named = ", ".join(map(str, causes[:MOST_CAUSES])) + (" and more" if len(causes) > MOST_CAUSES else "")
        lines = (*self.uncertainty.lines, "# or change the width")
        return MissingFact(f"{name} ({named} not declared)", "\n".join(lines))


def judged(
    ctx: Context, target: NetTarget, ohm: float, size: tuple[int, float, float | None], references: References | None
) -> Judged:
    """Hold a solved impedance against its target.

    Args:
        ctx: the board and its facts.
        target: what is required.
        ohm: what was solved.
        size: layer, width and gap.
        references: planes above and below.
    """
    uncertainty = Lines(ctx).uncertainty(*size, references)
    return Judged(uncertainty.around(ohm), target, uncertainty)


def target_ids(target: NetTarget) -> tuple[str, ...]:
    """Return what tells a target from others: declared and inferred nets of one interface are two."""
    return (target.title, f"{target.ohm:g}", *(("inferred",) if target.inferred else ()))


def line_numbers(ctx: Context, index: int, references: References | None) -> dict[str, float]:
    """Return what a line's surroundings give to its impedance, by the symbols of the rules' formula."""
    site = Lines(ctx).site(index, references).site
    sides = [(site.below, site.reference_below), (site.above, site.reference_above)]
    heights = [sum(sheet.thickness_mm for sheet in sheets) if plane else math.inf for sheets, plane in sides]
    return {"t": site.copper_mm, "h_near": min(heights), "h_far": max(heights)}
