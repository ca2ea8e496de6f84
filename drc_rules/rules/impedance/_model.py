"""What the rules on impedance share: a computed impedance compared with its target, and how targets are worded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from drc_rules.analysis.lines.routed import References
from drc_rules.analysis.lines.routed_impedance import RoutedImpedance
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.lines.uncertainty import Cause, LineUncertainty
from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.targets.controlled import NetTarget, nets_by_target
from drc_rules.facts.context import Context
from drc_rules.requirements.documents import document
from drc_rules.settings.net_selection import nets_line
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing
from stackup_lib.core.record import record

MOST_CAUSES = 3
"""Causes named in one line, the largest first."""

EVEN_COPPER = "in KiCad, keep the fill next to it on both sides at one distance, or farther away"

FORMULA = """
Z by the two-dimensional field solver, from w, s, t, the planes, the dielectrics between, and d
p = 100 · (Z / Z_0 - 1)
|p| ≤ p_tol
fails where |p| > p_tol + u

Z: impedance of the geometry, nominal [ohm]
w: width at the base of the trace [mm]
s: gap of the pair, edge to edge; infinite for a trace alone [mm]
t: copper thickness [mm]
d: distance to filled copper on both sides on its own layer; infinite without [mm]
h_near: dielectric up to the nearer plane [mm]
h_far: dielectric up to the plane on the other side; infinite without one [mm]
Z_0: target; where a document accepts a range, what is nearest to Z [ohm]
p: deviation [%]
p_tol: tolerance of the target; where a document states least and most, the one on the side of Z, from Z_0 [%]
u: how far unknown inputs (Dk, taper, outer copper, mask) and uneven copper next to it may bring Z toward Z_0 [%]
"""


@record
class Judged:
    """A computed impedance against its target.

    Attributes:
        solved: nominal.
        ohm: with the range that is not known.
        target: with the accepted impedance that is nearest.
        uncertainty: what that range is made of.
        lacks: the generation, where only one of them accepts the impedance.
    """

    solved: RoutedImpedance
    ohm: Interval
    target: NetTarget
    uncertainty: LineUncertainty
    lacks: MissingFact | None = None

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
        """Within the tolerance, beyond it by more than is not known, or neither.

        It is within only where both ends are that the copper next to the line leaves open.
        """
        low, high = self.target.allowed_ohm
        found = self.ohm.against(minimum=low, maximum=high)
        if found is Standing.WITHIN and not all(map(self._allows, (self.solved.low_ohm, self.solved.high_ohm))):
            return Standing.UNSURE
        return found

    def _allows(self, ohm: float) -> bool:
        near = self.target if self.target.range_of else self.target.nearest_to(ohm)
        low, high = near.allowed_ohm
        return low <= ohm <= high

    @property
    def allowed_pct(self) -> float:
        """How far the impedance may be off on its side of the target, in percent of it."""
        return self.target.allowed_pct(self.ohm.nominal)

    def open_question(self, what: str) -> MissingFact:
        """Return what would settle an impedance that is neither within nor beyond: the causes, the largest first."""
        ohm, target, causes = self.ohm, self.target, self.uncertainty.open_causes
        within = target.allowed_words.removeprefix("tolerance ").removeprefix("allowed ")
        name = (
            f"impedance of {what} within {within}: {ohm.nominal:.1f} ohm, {self.off_pct:+.1f} % from "
            f"{target.ohm:g} ohm, {ohm.low:.1f} to {ohm.high:.1f} ohm"
        )
        fill_pct, ways = self.uncertainty.of(Cause.FILL), "change the width"
        if fill_pct:
            name += f", {fill_pct:.1f} % either way by copper next to it that is not on both sides at one distance"
            ways = f"{EVEN_COPPER}, or change the width"
        if not causes:
            return MissingFact(name, f"{ways}, or measure a coupon; nothing is left to declare")
        named = ", ".join(map(str, causes[:MOST_CAUSES])) + (" and more" if len(causes) > MOST_CAUSES else "")
        lines = (*self.uncertainty.lines, f"# or {ways}")
        return MissingFact(f"{name} ({named} not declared)", "\n".join(lines))


def answer_of_command(ctx: Context, layer: int, gap_mm: float | None, ohm: float) -> str:
    """Return what the command for a width answers; at a gap finer than fabs etch there may be no such width."""
    from drc_rules.analysis.impedance.impedance_table import limits_of  # noqa: PLC0415 - with the field solver

    is_fine = gap_mm is not None and gap_mm < limits_of(Lines(ctx), layer).min_gap_mm
    return f"gives the width for {ohm:g} ohm" + (", or the gap that it takes" if is_fine else "")


def judged(ctx: Context, target: NetTarget, solved: RoutedImpedance, uncertainty: LineUncertainty) -> Judged:
    """Hold a solved impedance against its target.

    Args:
        ctx: the board and its facts.
        target: what is required.
        solved: the nominal impedance.
        uncertainty: what is not known of it.
    """
    ohm = solved.ohm
    near = target.nearest_to(ohm)
    found = Judged(solved, uncertainty.around(ohm), near, uncertainty)
    if not target.range_of:
        return found
    alone = replace(found, target=target)
    if alone.standing is not Standing.WITHIN and found.standing is not Standing.BEYOND:
        return replace(alone, lacks=_of_one_generation(ctx, target, ohm))
    return alone


def of_another_maker(ctx: Context, target: NetTarget, nets: Iterable[int]) -> bool:
    """Tell whether a target stands in the guide to one maker's controllers, and none of these is on the nets."""
    known = document(target.document) if target.document else None
    if known is None or not known.controllers:
        return False
    links = ctx.get(board_links)
    parts = {int(ctx.board.pads.footprint[pad.row]) for link in links.of_nets(nets) for pad in link.ends}
    footprints = ctx.board.footprints
    names = (text.upper() for part in parts for text in (footprints.value[part], footprints.library_id[part]))
    return not any(re.search(known.controllers, name) for name in names)


def declared_target(ctx: Context, target: NetTarget) -> MissingFact:
    """Return what makes an inferred target one that the user states: only then is a miss an error."""
    lines = (
        "[[impedance]]",
        f'ohm = "?"  # inferred: {target.ohm:g}, from {target.source}',
        f'kind = "{target.kind}"',
        nets_line(ctx.board, ctx.get(nets_by_target)[target]),
    )
    return MissingFact(f"impedance target of {target.title}: {target.ohm:g} ohm is inferred", "\n".join(lines))


def _of_one_generation(ctx: Context, target: NetTarget, ohm: float) -> MissingFact:
    """Return that an impedance meets what one generation accepts, and not all others."""
    least, most = target.limit_ohm or target.range_ohm or (target.ohm, target.ohm)
    what = (
        f"whether {target.title} is {target.range_of}: {ohm:.0f} ohm is off {target.ohm:g} ohm, and not every "
        f"generation accepts {least:g} to {most:g} ohm"
    )
    return MissingFact(what, declared_target(ctx, target).how_to_give)


def target_ids(target: NetTarget) -> tuple[str, ...]:
    """Return what tells a target from others: declared and inferred nets of one interface are two."""
    return (target.title, f"{target.ohm:g}", *(("inferred",) if target.inferred else ()))


def line_numbers(ctx: Context, index: int, references: References | None) -> dict[str, float]:
    """Return what a line's surroundings give to its impedance, by the symbols of the rules' formula."""
    site = Lines(ctx).site(index, references).site
    sides = [(site.below, site.reference_below), (site.above, site.reference_above)]
    heights = [sum(sheet.thickness_mm for sheet in sheets) if plane else math.inf for sheets, plane in sides]
    return {"t": site.copper_mm, "h_near": min(heights), "h_far": max(heights)}
