"""Laminates of a stackup: one alone, or low loss adjacent to high-speed layers and a plainer one elsewhere."""

from __future__ import annotations

from stackup_lib.materials import Laminate, catalogue, clad_foils
from stackup_lib.synthesis.constructions import why_nothing
from stackup_lib.synthesis.cost import df_of, laminate_factor
from stackup_lib.synthesis.fill.choices import LaminatePair
from stackup_lib.synthesis.goals import Goals
from stackup_lib.synthesis.rejected import Rejections

MOST_PLAINER = 2
"""Plainer laminates that are tried together with a low-loss one."""

LIKE_TG_C = 45.0
"""Laminates that are pressed together: their Tg, by one method, differs by at most this; engineering judgement."""


def laminate_pairs(goals: Goals, lost: Rejections) -> list[LaminatePair]:
    """Return the laminates alone, then the hybrids; what is left out and why goes to `lost`."""
    sound: list[Laminate] = []
    fast: list[str] = []
    for laminate in catalogue().laminates:
        why = _unfit(laminate, goals, lost)
        if why:
            continue
        sound.append(laminate)
        if _meets_df(laminate, goals, lost) and _has_foil(laminate, goals, lost):
            fast.append(laminate.family)
    alone = [LaminatePair(fast=family, rest=family) for family in fast]
    if not goals.hybrids:
        return alone
    return alone + [LaminatePair(fast=family, rest=rest) for family in fast for rest in plainer_than(family, sound)]


def plainer_than(family: str, offered: list[Laminate]) -> list[str]:
    """Return plainer laminates that bear the press of a family: of its maker first, then the cheapest."""
    fast = catalogue().get(family)
    if fast is None:
        return []
    found = []
    for other in offered:
        apart = tg_apart_c(fast, other)
        if laminate_factor(other.family) >= laminate_factor(family) or apart is None or apart > LIKE_TG_C:
            continue
        found.append((laminate_factor(other.family), other.maker != fast.maker, df_of(other.family), other.family))
    cheapest = sorted(found)[:MOST_PLAINER]
    own = [f for f in sorted(found) if not f[1]][:1]
    return [f[3] for f in dict.fromkeys([*own, *cheapest])][:MOST_PLAINER]


def tg_apart_c(one: Laminate, other: Laminate) -> float | None:
    """Return how far apart two Tg are, by a method that both are known by; None without one."""
    first = {t.method: t.value_c for t in reversed(one.tg)}
    second = {t.method: t.value_c for t in reversed(other.tg)}
    both = [abs(first[m] - second[m]) for m in first if m in second]
    return max(both) if both else None


def _unfit(laminate: Laminate, goals: Goals, lost: Rejections) -> bool:
    family, tg = laminate.family, goals.tg_limit
    if goals.laminates and family not in goals.laminates and family not in goals.excluded_laminates:
        return True
    if family in goals.excluded_laminates:
        lost.add(family, "excluded")
    elif why := why_nothing(laminate):
        lost.add(family, why, "the catalogue has no prepreg rows or no cores to build from")
    elif tg is None:
        return False
    elif (met := tg.is_met_by(laminate.tg)) is None:
        needed = f"{tg.min_c:g} degrees are needed"
        reason = f"no Tg by {tg.method.value} is known, {needed}"
        lost.add(family, reason, reason)
    elif not met:
        reason = f"Tg below {tg.min_c:g} degrees by {tg.method.value}"
        has = next(f"{t.value_c:g} degrees by {t.method.value}" for t in laminate.tg)
        lost.add(family, f"Tg {has}, {tg.min_c:g} are needed", reason)
    else:
        return False
    return True


def _meets_df(laminate: Laminate, goals: Goals, lost: Rejections) -> bool:
    limit = goals.df_limit
    if limit is None or laminate.family in goals.named_laminates:
        return True
    df = laminate.df_at(limit.at_ghz).value
    if df is None:
        reason = f"no Df at {limit.at_ghz:g} GHz is known"
        lost.add(laminate.family, reason, reason)
        return False
    if not limit.is_met_by(df):
        words = f"Df {df:.4f} at {limit.at_ghz:g} GHz, {limit.max:g} allowed"
        lost.add(laminate.family, words, f"Df above {limit.max:g} at {limit.at_ghz:g} GHz")
        return False
    return True


def _has_foil(laminate: Laminate, goals: Goals, lost: Rejections) -> bool:
    """Tell whether cores come with the foil that high-speed layers need; True where the maker's offer is not known."""
    offered = clad_foils(laminate.family) if goals.foil else None
    if goals.foil is None or offered is None or offered.least(goals.foil) is not None:
        return True
    reason = f"its cores are not clad with {goals.foil.value} foil"
    lost.add(
        laminate.family,
        f"clad with {', '.join(g.value for g in offered.grades)} only, {goals.foil.value} is needed",
        reason,
    )
    return False
