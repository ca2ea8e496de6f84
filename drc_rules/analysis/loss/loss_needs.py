"""What a link would need to close: how long it may be, which Df, which foil; all from its loss. Losses in dB."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses, LossSection
from drc_rules.analysis.loss.loss_shares import share_of
from drc_rules.analysis.loss.open_inputs import df_is_open
from drc_rules.analysis.via.stub_removal import Removal
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import interface
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.materials import FoilGrade
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError

CLOSE_DB, STEPS = 1e-4, 5
"""How near to the budget a Df has to come, and the maximum number of secant steps."""

WORST_DF = 0.1
"""No laminate is worse: beyond this a Df by proportion is as good as a solved one."""

ROUGHEST_FIRST = (FoilGrade.STD, FoilGrade.RTF, FoilGrade.LP, FoilGrade.VLP, FoilGrade.HVLP)


def longest_length_mm(budget_db: float, holes_db: float, loss_db_per_mm: float) -> float:
    """Return the length at which line and holes use a budget up; 0 where the holes alone do.

    Args:
        budget_db: what the board may lose, without package and connector.
        holes_db: what the link's vias and pins lose, however long it is.
        loss_db_per_mm: of the line.
    """
    return max(budget_db - holes_db, 0.0) / loss_db_per_mm


def longest_by_layer(link: LinkLoss, budget_db: float) -> Mapping[int, float]:
    """Return how long a link may be in all if it ran on one of its layers alone, by layer, the longest part first.

    Args:
        link: its loss; on each layer the geometry counts in which most of it runs there.
        budget_db: what the board may lose, without package and connector.
    """
    usual: dict[int, LossSection] = {}
    for section in link.sections:
        usual.setdefault(section.key.layer, section)
    holes = link.holes_db.nominal
    return {layer: longest_length_mm(budget_db, holes, s.loss.total_db_per_mm.nominal) for layer, s in usual.items()}


class HoleRemedy(StrEnum):
    """The least change of the holes with which a link closes, its lines as they are."""

    STUBS = "stubs"
    PINS = "pins"
    HOLES = "holes"
    NONE = "none"


def hole_remedy(link: LinkLoss, budget_db: float) -> HoleRemedy:
    """Return with which change of its holes alone a link closes, nominally.

    Without vias that join nothing and stubs that a drill reaches; without pins, too; without any hole; or with none.

    Args:
        link: its loss.
        budget_db: what the board may lose, without package and connector.
    """
    line, holes = link.line_db.nominal, link.holes
    if holes.removals & {Removal.DRILL, Removal.DELETE} and line + holes.rid_db.nominal <= budget_db:
        return HoleRemedy.STUBS
    if holes.has_pins and line + holes.vias_db.nominal <= budget_db:
        return HoleRemedy.PINS
    return HoleRemedy.HOLES if line <= budget_db else HoleRemedy.NONE


def roughest_foil(ctx: Context, link: LinkLoss, budget_db: float) -> FoilGrade | None:
    """Return the roughest grade of foil with which a link closes if all copper has it; None where none does.

    It closes where the roughest foil of the grade does; with the highest Df, where none is declared: as LOS001 judges.

    Args:
        ctx: the board and its facts.
        link: its loss.
        budget_db: what the board may lose, without the most that package and connector may take.
    """
    nyquist, is_df_open, lines = link.interface.nyquist_ghz or 0.0, df_is_open(ctx, link), Lines(ctx)

    def most_db(section: LossSection, grade: FoilGrade) -> float:
        loss = lines.loss(section.key, nyquist, grade.value)
        rise = loss.foil_rise_db_per_mm + (loss.df_rise_db_per_mm if is_df_open else 0.0)
        return section.length_mm * (loss.total_db_per_mm.nominal + rise)

    for grade in ROUGHEST_FIRST:
        try:
            line_db = sum(most_db(section, grade) for section in link.sections)
        except GeometryError:  # as rough as a dielectric is thick
            continue
        if line_db + link.holes_db.nominal <= budget_db:
            return grade
    return None


def df_needed(link: LinkLoss, budget_db: float, df: float) -> float | None:
    """Return the largest Df at which a link closes, all else as it is; None where even a lossless laminate does not.

    Dielectric loss is proportional to Df. The Df of every dielectric next to the link is changed by the same factor.

    Args:
        link: its loss.
        budget_db: what the board may lose, without package and connector.
        df: what one of its dielectrics has now, at the frequency at which the answer is wanted.
    """
    left = budget_db - (link.total_db.nominal - link.dielectric_db)
    return df * left / link.dielectric_db if left > 0 and link.dielectric_db > 0 else None


def exact_df_needed(ctx: Context, link: LinkLoss, budget_db: float, df: float) -> float | None:
    """Return the largest Df at which a link closes as `df_needed`, but solved with the whole model of its lines.

    With the Df the Dk at Nyquist moves, and the solder mask keeps its own Df. Where another laminate next to the link
    would have to lose more than is possible, the answer is that of `df_needed`.
    """
    nyquist = link.interface.nyquist_ghz or 0.0

    def over(factor: float) -> float:
        lines = sum(
            s.length_mm * Lines(ctx).changed_loss_db_per_mm(s.key, nyquist, df_factor=factor) for s in link.sections
        )
        return float(lines) + link.holes_db.nominal - budget_db

    if abs(link.total_db.nominal - budget_db) <= CLOSE_DB:
        return df
    guess = df_needed(link, budget_db, df)
    if guess is None or guess > WORST_DF:
        return guess
    last, factor = (1.0, link.total_db.nominal - budget_db), guess / df
    for _ in range(STEPS):
        try:
            now = (factor, over(factor))
        except DielectricDataError:  # next to a good laminate a lossy one would need more than any dielectric can lose
            return guess
        slope = (now[1] - last[1]) / (now[0] - last[0]) if now[0] != last[0] else 0.0
        if abs(now[1]) <= CLOSE_DB or slope <= 0:
            break
        last, factor = now, max(factor - now[1] / slope, 0.0)
    return df * factor if factor > 0 else None


def df_that_closes(ctx: Context, link: LinkLoss, budget_db: float, at_ghz: float | None = None) -> str | None:
    """Return the Df at which a link meets its budget: `Df up to 0.0046 at 16 GHz (0.0080 now)`; None where none does.

    Args:
        ctx: the board and its facts.
        link: its loss.
        budget_db: what the board may lose, without package and connector.
        at_ghz: frequency of the Df, by default Nyquist.
    """
    frequency = at_ghz or link.interface.nyquist_ghz or 0.0
    now = LinkLosses(ctx).adjacent_df(link, frequency)
    needed = exact_df_needed(ctx, link, budget_db, now) if now else None
    return None if needed is None else f"Df up to {needed:.4f} at {frequency:g} GHz ({now:.4f} now)"


def physics_except_df(ctx: Context, interface_id: str, at_ghz: float, layers: Collection[int]) -> str:
    """Return a sentence with the Df at which the worst declared link on some layers closes.

    It is empty where none of them runs mostly there, or its loss cannot be computed.

    Args:
        ctx: the board and its facts.
        interface_id: whose links.
        at_ghz: frequency of the requirement's Df.
        layers: indices of the copper layers next to the dielectric that is judged.
    """
    losses, one = LinkLosses(ctx), interface(interface_id)
    nets = losses.nets_of(interface_id, declared=True)
    try:
        share = share_of(ctx, one, losses.rows.get(nets[0])) if nets and one.nyquist_ghz else None
        known = losses.of(interface_id, declared=True).known if share else ()
        worst = next((link for link in known if link.sections[0].key.layer in layers), None)
        if share is None or worst is None:
            return ""
        text = df_that_closes(ctx, worst, share.db - share.allowance_db.nominal, at_ghz)
    except (MissingFact, StackwrightError):
        return ""
    if text is None:
        return ""
    layer = ctx.board.copper_layers[worst.sections[0].key.layer].name
    return f". The worst link on {layer} ({worst.name}, {worst.length_mm:.0f} mm) meets its budget with {text}"
