"""Laminate and foil goals from the clauses: Df, loss class and foil next to high-speed layers."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.analysis.loss.df_limit import ALLOWANCE_PCT, meets
from drc_rules.requirements.clauses import Clause
from stackup_lib.core.record import record
from stackup_lib.materials import CLASS_BORDER, FoilGrade, Laminate, LossClass, catalogue
from stackup_lib.materials.df_limit import DfLimit


@record
class MaterialDemand:
    """What the high-speed layers require of laminate and foil.

    Attributes:
        named: families that meet every laminate clause, some of them only by name.
        clauses: (goal, value, clause) of what decides.
    """

    df_limit: DfLimit | None
    named: tuple[str, ...]
    foil: FoilGrade | None
    clauses: tuple[tuple[str, str, Clause], ...]


def materials_for(clauses: Iterable[Clause]) -> MaterialDemand:
    """Return the strictest demands; a laminate that every row names, or that meets it otherwise, is named."""
    wanted = [c for c in clauses if c.kind in ("laminate_df", "laminate_class", "foil")]
    laminate = [c for c in wanted if c.kind != "foil"]
    foils = [c for c in wanted if c.kind == "foil" and c.limit.at_least]
    decides = min(laminate, key=lambda c: _largest_df(c)[0], default=None)
    named = tuple(x.family for x in catalogue().laminates if laminate and all(_meets(x, c) for c in laminate))
    reasons = []
    limit = None
    if decides is not None:
        df, at_ghz = _largest_df(decides)
        allowed = ALLOWANCE_PCT if decides.kind == "laminate_df" else 0.0
        limit = DfLimit(max=df, at_ghz=at_ghz, allowance_pct=allowed)
        or_named = f", or named: {', '.join(decides.limit.named)}" if decides.limit.named else ""
        value = f"{df:g} at {at_ghz:g} GHz{or_named}"
        if decides.kind == "laminate_class":
            value = f"{decides.limit.at_least} loss class ({value})"
        reasons.append(("Df next to high-speed layers", value, decides))
    foil = max(foils, key=lambda c: FoilGrade(c.limit.at_least).rank, default=None)
    if foil is not None:
        reasons.append(("foil of high-speed layers", f"{foil.limit.at_least} or smoother", foil))
    return MaterialDemand(limit, named, FoilGrade(foil.limit.at_least) if foil else None, tuple(reasons))


def _largest_df(clause: Clause) -> tuple[float, float]:
    if clause.kind == "laminate_df":
        return clause.limit.max or 1.0, clause.limit.at_ghz or 10.0
    return CLASS_BORDER.get(LossClass(clause.limit.at_least), 1.0), 10.0


def _meets(laminate: Laminate, clause: Clause) -> bool:
    """As the rules compare: by name, else by loss class, else by Df."""
    families = {found.laminate.family for name in clause.limit.named if (found := catalogue().find(name)).laminate}
    if laminate.family in families:
        return True
    if clause.kind == "laminate_class":
        return laminate.loss_class is not None and laminate.loss_class >= LossClass(clause.limit.at_least)
    df = laminate.df_at(clause.limit.at_ghz or 10.0).value
    return df is not None and meets(df, clause.limit.max or 0.0)
