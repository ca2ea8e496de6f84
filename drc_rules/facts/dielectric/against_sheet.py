"""A stated Dk or Df that is not that of the laminate which the row names: one of the two statements is wrong.

Nothing is judged on such a value: it would pass, or fail, a board that is built otherwise. Data sheets differ by test
method, lot, resin content and frequency, and designers round: the limits leave room for all of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from drc_rules.facts.row_faults import limit_of
from stackup_lib.core.facts import Confidence, Fact, least
from stackup_lib.core.record import record
from stackup_lib.core.words import count
from stackup_lib.materials import CLASS_BORDER, Laminate, LossClass, Spread

SHEET_GHZ = (1.0, 10.0)
"""Frequencies between which a Dk or Df without a frequency may have been taken."""

LEAST_DF_SHARE = 0.6
"""A Df below this share of the lowest of a laminate's sheets is not the laminate's.

Of the laminates whose constructions are tabulated with Df, none has one below 0.62 of its typical value at the same
frequency (Tachyon 100G), so that a sheet which tabulates none leaves no more room. What this finds are unit slips,
values of other laminates, and values at 1 GHz of the very low-loss ones, stated for 10 GHz or more.
"""

MOST_DF_SHARE = 1.1
"""A Df above this share of the highest of a laminate's sheets is worse than they are sure of."""

LOWEST_OF_FR4 = CLASS_BORDER[LossClass.LOW]
"""A bare "FR4" may be any laminate of standard or mid loss."""


@record
class Understated:
    """A Df that is better than the data sheets of the named laminate allow.

    Attributes:
        row: what states it, e.g. `dielectric 1 (370HR)`.
        df: as stated.
        where: the file that states it.
        at_ghz: its frequency, None where none is stated.
        sheets: the range of the laminate's sheets there; of a generic name from the best FR-4.
        family: the laminate.
        counts: losses would be solved with it.
    """

    row: str
    df: float
    where: str
    at_ghz: float | None
    sheets: Spread
    family: str
    counts: bool


@lru_cache(maxsize=256)
def sheet_dk(laminate: Laminate) -> Fact[Spread]:
    """Return the lowest and highest Dk of a laminate's sheets, over constructions and frequency."""
    facts = [laminate.dk_range_at(ghz) for ghz in SHEET_GHZ]
    known = [fact for fact in facts if fact.known]
    confidence = least(*(fact.confidence for fact in known)) if known else Confidence.HIGH
    return replace(known[0] if known else facts[0], value=_joined(fact.value for fact in known), confidence=confidence)


@lru_cache(maxsize=256)
def sheet_df(laminate: Laminate, at_ghz: float | None) -> Spread | None:
    """Return the lowest and highest Df of a laminate's sheets at a frequency, or between those of `SHEET_GHZ`."""
    found = _joined(laminate.df_range_at(ghz).value for ghz in ((at_ghz,) if at_ghz else SHEET_GHZ))
    if found is None or not laminate.generic:
        return found
    return Spread(low=min(found.low, LOWEST_OF_FR4), high=found.high)


def dk_allowance_pct(laminate: Laminate) -> float:
    """Return by how much a Dk may be outside a laminate's sheets; the common range of FR-4 has no allowance."""
    return 0.0 if laminate.generic else limit_of("dk_plausible").max or 0.0


def is_dk_of(laminate: Laminate, dk: float) -> bool:
    """Tell whether a Dk may be that of a laminate; True where no sheet tells."""
    sheets, slack = sheet_dk(laminate).value, dk_allowance_pct(laminate) / 100
    return sheets is None or sheets.low * (1 - slack) <= dk <= sheets.high * (1 + slack)


def is_better_than(laminate: Laminate, df: float, at_ghz: float | None) -> bool:
    """Tell whether a Df is far below those of a laminate's sheets; False where no sheet tells."""
    sheets = sheet_df(laminate, at_ghz)
    return sheets is not None and df < LEAST_DF_SHARE * sheets.low


def is_worse_than(laminate: Laminate, df: float, at_ghz: float) -> bool:
    """Tell whether a Df is above those of a laminate's sheets by more than they are sure of; False where none tells."""
    sheets = sheet_df(laminate, at_ghz)
    return sheets is not None and df > MOST_DF_SHARE * sheets.high + 1e-9


def understated_notes(found: Iterable[Understated]) -> Iterator[str]:
    """Yield a note for each Df that is too good for its laminate; rows that state the same share one."""
    groups: dict[tuple[object, ...], list[Understated]] = {}
    for one in found:
        groups.setdefault((one.df, one.at_ghz, one.where, one.family), []).append(one)
    for first, *others in groups.values():
        rows = first.row + (f" and {count(len(others), 'other row')}" if others else "")
        at = f" at {first.at_ghz:g} GHz" if first.at_ghz else ""
        so = "loss is not judged" if first.counts else f"loss follows the data sheets of {first.family}"
        sheets = f"{first.sheets.low:.2g} to {first.sheets.high:.2g}"
        yield f"{rows}: Df {first.df:g}{at}, {first.where}, is not that of {first.family}, {sheets}: {so}"


def _joined(spreads: Iterable[Spread | None]) -> Spread | None:
    known = [one for one in spreads if one is not None]
    return Spread(low=min(s.low for s in known), high=max(s.high for s in known)) if known else None
