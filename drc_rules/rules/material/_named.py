"""Does a requirement name a laminate, and is a Df stated that the named laminate does not have?"""

from __future__ import annotations

from drc_rules.analysis.loss.df_limit import meets
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.against_sheet import MOST_DF_SHARE
from drc_rules.facts.dielectric.loss_class import CLASS_AT_GHZ
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.dielectric.ply_df import UNTOUCHED_DF
from drc_rules.requirements.clauses import Clause, Severity
from stackup_lib.core.facts import Fact, Origin
from stackup_lib.materials import CLASS_BORDER, catalogue

CLEARLY_ABOVE = 2.0
"""A Df without frequency decides only from this many times the limit: no laminate spreads so far over 1-20 GHz."""

FAR_ABOVE = 10.0
"""From this many times the named laminate's own Df no frequency, construction or moisture explains the number."""


def is_named(ctx: Context, ply: DielectricPly, clause: Clause) -> bool:
    """Return True when the clause's row names the ply's laminate; the answer rests on the ply's laminate fact.

    A name does not stand for a ply whose declared Df is not that of the named laminate.
    """
    if not clause.limit.named or not ply.laminate.known or _is_beyond_its_name(ply):
        return False
    families = {found.laminate.family for name in clause.limit.named if (found := catalogue().find(name)).laminate}
    return ctx.need(ply.laminate).family in families


def named_no_better(ply: DielectricPly, clause: Clause, at_ghz: float) -> str:
    """Return a laminate that the clause's row names and that has no less Df than the ply's, with it; "" for none.

    The row accepts its Df with the name, so it accepts as much of a laminate that it does not name. Of a laminate the
    typical Df counts as that of the named one does, unless the ply's is declared.
    """
    fact, laminate = ply.df.at(at_ghz), ply.laminate.value
    if fact.value is None or _is_beyond_its_name(ply):
        return ""
    typical = laminate.df_at(at_ghz).value if laminate is not None and fact.origin is Origin.CATALOGUE else None
    own = min(fact.value, fact.value if typical is None else typical)
    named = ((name, catalogue().find(name).df_at(at_ghz).value) for name in clause.limit.named)
    name, df = max(((name, df) for name, df in named if df is not None), key=lambda one: one[1], default=("", 0.0))
    return f"{name}, Df {df:.4f}" if name and own <= df + 1e-9 else ""


def bare_df_above(ply: DielectricPly, limit: float, at_ghz: float = CLASS_AT_GHZ) -> float | None:
    """Return a Df stated without a frequency that is clearly above a limit, and above what the laminate has there."""
    df, own = ply.df.bare, _highest_of_name(ply, at_ghz) or 0.0
    return df if df is not None and df >= CLEARLY_ABOVE * max(limit, own) else None


def sheet_above_too(ply: DielectricPly, clause: Clause, at_ghz: float) -> Fact[float] | None:
    """Return the sheet's Df of a ply whose stated one cannot be right, where both are too high; None elsewhere.

    Too high is above the limit and above the Df of every laminate that the clause's row names.
    """
    sheet = ply.df.sheet_at(at_ghz, f"Df of {ply.label} at {at_ghz:g} GHz by its data sheet")
    if ply.df.fault is None or ply.df.stated is None or sheet.value is None:
        return None
    named = (catalogue().find(name).df_at(at_ghz).value for name in clause.limit.named)
    accepted = max([clause.limit.max or 0.0, *(df for df in named if df is not None)])
    return None if meets(min(sheet.value, ply.df.stated), accepted) else sheet


def note_of_untouched(ply: DielectricPly) -> str:
    """Return what a finding says of KiCad's own Df in the row, "" where there is none."""
    if not ply.trusted or ply.is_declared or not ply.df.is_untouched:
        return ""
    return f". The loss tangent of {UNTOUCHED_DF:g} in the board file is KiCad's default and is ignored"


def severity_of_bare(ply: DielectricPly, df: float, at_ghz: float = CLASS_AT_GHZ) -> Severity | None:
    """Return a warning where the Df contradicts a name that may yet be right; else None, the clause's severity.

    Of an unknown laminate nothing else is known, and from `FAR_ABOVE` times the laminate's own the two cannot be of
    one material.
    """
    own = (ply.match.df_at(at_ghz).value if ply.match else None) or _highest_of_name(ply, at_ghz)
    return Severity.WARNING if ply.laminate.known and not (own and df >= FAR_ABOVE * own) else None


def _is_beyond_its_name(ply: DielectricPly) -> bool:
    """Tell whether a declared Df is worse than the sheets are sure of: the name does not stand for it."""
    declared = ply.declaration
    if declared.df is None or declared.at_ghz is None or ply.declarations.stale:
        return False
    highest = _highest_of_name(ply, declared.at_ghz)
    return highest is not None and declared.df > MOST_DF_SHARE * highest + 1e-9


def _highest_of_name(ply: DielectricPly, at_ghz: float) -> float | None:
    """Highest Df of the laminate at a frequency; of one without values, the maximum of its loss class."""
    laminate = ply.laminate.value
    if laminate is None:
        return None
    spread = laminate.df_range_at(at_ghz).value
    if spread is not None:
        return spread.high
    return CLASS_BORDER.get(laminate.loss_class) if laminate.loss_class else None
