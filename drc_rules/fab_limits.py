"""The limit of a fabrication clause on one board: a tier's number, or that of the fab that `[fab]` describes."""

from __future__ import annotations

from dataclasses import dataclass

from drc_rules.clauses import Clause
from drc_rules.config_fab import FabDeclaration
from drc_rules.context import Context
from drc_rules.fabs import Tier
from drc_rules.fabs.limits import LimitName, limit_of

OWN = "own"
"""Tier of the clauses that hold a board against the user's own fab."""

NANOMETRE = 1e-6


@dataclass(frozen=True)
class Bar:
    """A limit and who sets it.

    Attributes:
        value: the number; its unit is the limit's.
        who: in words, e.g. `best fabs` or the name of one's own.
        tier: None for one's own fab.
    """

    value: float
    who: str
    tier: Tier | None = None

    def says(self, verb: str) -> str:
        """Return who does what: `best fabs etch`, `our fab etches`."""
        return f"{self.who} {verb}" if self.tier else f"{self.who} {_third_person(verb)}"


def own_fab(ctx: Context) -> FabDeclaration:
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
    tier = Tier(clause.limit.at_least or Tier.BEST)
    value = limit_of(name, tier)
    return None if value is None else Bar(value, f"{tier} fabs", tier)


def bar_of(ctx: Context, clause: Clause, own: float | None) -> Bar | None:
    """Return the own fab's limit for a clause that asks for it, None for any other clause."""
    if clause.limit.at_least != OWN or own is None:
        return None
    return Bar(own, own_fab(ctx).name or "your fab")


def is_replaced(clause: Clause, own: float | None) -> bool:
    """Tell whether a clause does not apply: a tier's where the own fab is stated, the own fab's where it is not."""
    return (clause.limit.at_least == OWN) is (own is None)


def _third_person(verb: str) -> str:
    return verb + ("es" if verb.endswith(("ch", "sh", "s")) else "s")
