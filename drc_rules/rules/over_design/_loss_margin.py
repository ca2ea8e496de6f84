"""What a board needs at least: by the clauses of its workload, and by the loss of its links as they are routed.

Callers get None where that is not known in full: over-design is no defect, so unknown inputs give no finding.
"""

from __future__ import annotations

from collections.abc import Mapping

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.loss.judged_links import judged_links
from drc_rules.analysis.loss.laminate_demand import MaterialDemand, materials_for
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_shares import share_of
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import interface_ids
from drc_rules.requirements.profiles.profile import assemble, load_form, load_profile
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.materials import CLASS_BORDER, FoilGrade, LossClass

AT_GHZ = 10.0
"""Frequency near which the loss classes have their borders."""

BORDERS: Mapping[LossClass, float] = {LossClass.STANDARD: 0.025, **CLASS_BORDER}
"""Maximum Df near 10 GHz of each class; FR-4 is 0.018 to 0.025."""

KEPT = 0.1
"""Share of the loss budget that cheaper materials have to leave as margin."""

FOIL_SPREAD = 1.5
"""Factor by which a rougher foil's added loss may exceed nominal: roughest of its grade, and roughness model."""


@record
class LinkRoom:
    """One link and what the board may lose on it.

    Attributes:
        board_db: the share without package and connector, at their maximum, and without the tenth that is kept in
            reserve.
    """

    link: LinkLoss
    board_db: float

    @property
    def left_db(self) -> float:
        """What is left at the maximum loss."""
        return self.board_db - self.link.total_db.high

    @property
    def title(self) -> str:
        """The link as text, with its length."""
        return f"{self.link.name} ({self.link.interface.title}, {self.link.length_mm:.0f} mm)"


def demands(ctx: Context) -> tuple[Clause, ...] | None:
    """Return the clauses that apply to the board; None where no workload is stated or a generation is not known."""
    assignment = ctx.assignment
    if not ctx.profile or assignment.families_without_generation():
        return None
    profile = load_profile(ctx.profile)
    form = ctx.form or profile.form
    said = {row.is_ for row in ctx.declarations.config.interface} & set(interface_ids())
    interfaces = {*assignment.interfaces(), *said}
    return assemble(profile, load_form(form) if form else None, interfaces, ()).clauses


def material_demands(ctx: Context) -> MaterialDemand | None:
    """Return what the clauses require of laminate and foil adjacent to high-speed layers; None like `demands`."""
    clauses = demands(ctx)
    return None if clauses is None else materials_for(clauses)


def rooms(ctx: Context) -> tuple[LinkRoom, ...] | None:
    """Return every link whose loss is judged, the tightest first; None unless all surely close with a tenth kept."""
    found: list[LinkRoom] = []
    try:
        for judged, _ in judged_links(ctx):
            share = share_of(ctx, judged.interface, judged.row)
            losses = LinkLosses(ctx).of(judged.interface.id, declared=judged.declared)
            unsure = Confidence.LOW in (losses.confidence, losses.df_confidence)
            if share is None or unsure or any(judged.nets.intersection(nets) for nets, _ in losses.missing):
                return None
            mine = [link for link in losses.known if judged.nets.intersection(link.nets)]
            found += [LinkRoom(link, (1 - KEPT) * (share.db - share.allowance_db.high)) for link in mine]
    except (MissingFact, StackwrightError):
        return None
    if not found or any(room.left_db < 0 for room in found):
        return None
    return tuple(sorted(found, key=lambda room: room.left_db))


def df_that_would_do(ctx: Context, room: LinkRoom) -> tuple[float, float] | None:
    """Return the largest Df at 10 GHz at which a link still surely closes, and its Df there now; None if not known."""
    now = LinkLosses(ctx).adjacent_df(room.link, AT_GHZ)
    dielectric = room.link.dielectric_db
    if not now or dielectric <= 0:
        return None
    return now * (1 + room.left_db / dielectric), now


def class_for(df: float) -> LossClass:
    """Return the lossiest class all of whose laminates stay below a Df near 10 GHz."""
    return next((c for c in sorted(BORDERS, key=lambda c: c.rank) if BORDERS[c] <= df), LossClass.SUPER_ULTRA_LOW)


def with_foil_db(ctx: Context, link: LinkLoss, grade: FoilGrade) -> Interval:
    """Return the loss of a link if all copper next to it were of another grade; its spread is taken generously."""
    nyquist = link.interface.nyquist_ghz or 0.0
    more = 0.0
    for section in link.sections:
        other = Lines(ctx).changed_loss_db_per_mm(section.key, nyquist, foil=grade.value)
        more += section.length_mm * (other - section.loss.total_db_per_mm.nominal)
    more = max(more, 0.0)
    now = link.total_db
    return Interval(low=now.low, nominal=now.nominal + more, high=now.high + FOIL_SPREAD * more)
