"""The limit of a fabrication clause on one board: a tier's number, or that of the fab that `[fab]` describes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import STRICTEST_FIRST, Tier
from drc_rules.requirements.fabs.limits import LimitName, limit_of
from drc_rules.settings.config_fab import FabDeclaration
from stackup_lib.board.board import Ints
from stackup_lib.core.record import record

OWN = "own"
"""Tier of the clauses that hold a board against the user's own fab."""

TOLERANCE_MM = 1e-3
"""Geometric limits are met to a micrometre: 0.1499986 mm is 0.15 mm, drawn in inches or rounded on the way."""

MIL_MM = 0.0254

MIL_PRECISION_MM = 0.002
"""What a limit of whole mils allows: 0.125 mm is drawn, and etched, where 5 mil (0.127 mm) is required."""

NEAR_MIL = 0.02
"""A limit this near to a whole number of mils is one, written down in micrometres."""


@record
class Bar:
    """A limit and who sets it.

    Attributes:
        value: the number; its unit is the limit's.
        who: as text, e.g. `best fabs` or the name of your fab.
        tier: None for one's own fab.
        stricter: the limit of the next stricter tier that has one; what misses it is reported there.
    """

    value: float
    who: str
    tier: Tier | None = None
    stricter: Bar | None = None

    @property
    def precision_mm(self) -> float:
        """By how much a width or a space may miss it."""
        return precision_mm(self.value, is_own=self.tier is None)


def precision_mm(limit_mm: float, *, is_own: bool = False) -> float:
    """Return by how much a width or a space may miss a limit: 0.001 mm, or 0.002 mm where fabs round mils to mm.

    Fabs write 5 mil and 0.127 mm, 3.5 mil (0.0889 mm) and 0.09 mm for the same class: neither is etched otherwise.

    Args:
        limit_mm: the least width or space.
        is_own: one's own fab states it: whole mils are meant as they are.
    """
    mils = limit_mm / MIL_MM
    of_half_mils = limit_mm - math.floor(2 * mils) / 2 * MIL_MM
    if TOLERANCE_MM < of_half_mils < MIL_PRECISION_MM:
        return MIL_PRECISION_MM
    return TOLERANCE_MM if is_own or abs(mils - round(mils)) > NEAR_MIL else MIL_PRECISION_MM


def your_fab(ctx: Context) -> FabDeclaration:
    """Return what is declared of the user's own fab; everything is None where nothing is."""
    return ctx.declarations.config.fab


def bar(ctx: Context, clause: Clause, name: LimitName, own: float | None) -> Bar | None:
    """Return the limit that a clause sets; None where it does not apply.

    One's own fab takes the place of all tiers: a clause of a tier does not apply where `own` is given, one of the own
    fab only there.
    """
    found = bar_of(ctx, clause, own)
    if found is not None or own is not None or clause.limit.at_least == OWN:
        return found
    return bar_of_tier(lambda tier: limit_of(name, tier), Tier(clause.limit.at_least or Tier.BEST))


def bar_of_tier(limit: Callable[[Tier], float | None], tier: Tier) -> Bar | None:
    """Return the limit of a tier with those of the stricter ones; None where the tier has none."""
    value, found = limit(tier), None
    if value is None:
        return None
    for one in STRICTEST_FIRST[: STRICTEST_FIRST.index(tier)]:
        stricter = limit(one)
        found = found if stricter is None else Bar(stricter, f"{one} fabs", one, found)
    return Bar(value, f"{tier} fabs", tier, found)


def not_covered(rows: Ints, misses: Callable[[Bar], NDArray[np.bool_]], least: Bar) -> tuple[Ints, bool]:
    """Return the rows to report of those that miss a limit, and whether a stricter tier reports all of them.

    Args:
        rows: positions that miss `least`.
        misses: tells of a limit which positions miss it.
        least: the limit; those of stricter tiers hang on it.
    """
    if least.stricter is None:
        return rows, False
    rest = rows[~misses(least.stricter)[rows]]
    return (rest, False) if len(rest) else (rows, len(rows) > 0)


def bar_of(ctx: Context, clause: Clause, own: float | None) -> Bar | None:
    """Return your fab's limit for a clause that requires it, None for any other clause."""
    if clause.limit.at_least != OWN or own is None:
        return None
    return Bar(own, your_fab(ctx).name or "your fab")


def is_replaced(clause: Clause, own: float | None) -> bool:
    """Tell whether a clause does not apply: a tier's where the own fab is stated, the own fab's where it is not."""
    return (clause.limit.at_least == OWN) is (own is None)


def film_dielectrics(ctx: Context) -> frozenset[int]:
    """Return the dielectrics made of flexible film alone, by the copper layer above: no tier states limits of films."""
    film: dict[int, bool] = {}
    for ply in ctx.plies:
        laminate = ply.match.laminate if ply.match else None
        film[ply.above] = film.get(ply.above, True) and laminate is not None and laminate.film
    return frozenset(above for above, is_film in film.items() if is_film)
