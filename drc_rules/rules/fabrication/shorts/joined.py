"""Findings of pairs of nets that something joins: one for each pair, and one for all pairs beyond the most shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import DraftFinding
from stackup_lib.board.board import Board
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.record import record

PLACES_SHOWN = 20

MOST_FINDINGS = 50
"""Pairs of nets with a finding of their own; for a wrong netlist the rest adds nothing."""

WHY = "The nets are joined on the finished board"
MEANT = "Nothing if it is meant; a net tie says so to KiCad"

Nets = tuple[str, str]
"""The names of two nets, in order."""

T = TypeVar("T")


@record
class Joining(Generic[T]):
    """One kind of what joins two nets at a place.

    Attributes:
        fix: what to do.
        rest: id of the finding of all pairs beyond the most shown.
        how: what they do, behind `3 more pairs of nets`.
        overlap_mm: how far it overlaps.
        words: what joins what, as text.
        places: where; the first stands for all.
        harmless: why all that joins a pair breaks no circuit; "" where it may.
    """

    fix: str
    rest: str
    how: str
    overlap_mm: Callable[[T], float]
    words: Callable[[Board, T], str]
    places: Callable[[Board, T], tuple[Location, ...]]
    harmless: Callable[[Board, list[T]], str]


def findings(ctx: Context, by_nets: Mapping[Nets, list[T]], of: Joining[T]) -> Iterator[DraftFinding]:
    """Yield what a pair of nets is joined by, the widest overlaps first and what is harmless last."""
    board = ctx.board
    widest = {nets: _widest_first(found, of) for nets, found in by_nets.items()}
    harmless = {nets: of.harmless(board, found) for nets, found in widest.items()}
    pairs = sorted(widest, key=lambda nets: (bool(harmless[nets]), -round(of.overlap_mm(widest[nets][0]), 5), nets))
    for nets in pairs[:MOST_FINDINGS]:
        found, reason = widest[nets], harmless[nets]
        wide, what = of.overlap_mm(found[0]), and_more(of.words(board, found[0]), len(found))
        shows_overlap(ctx, nets, wide)
        places = [place for one in found[:PLACES_SHOWN] for place in of.places(board, one)][:PLACES_SHOWN]
        if reason:  # a remark that names both nets stands for its like in the other parts of a board
            places += [Location(net=net) for net in nets if net not in {place.net for place in places}]
        yield DraftFinding(
            title=f"{what}: {reason}" if reason else f"short: {what}",
            why=WHY,
            fix=MEANT if reason else of.fix,
            ids=nets,
            severity=Severity.INFO if reason else None,
            measured=Measured(value=round(wide, 4), unit="mm"),
            limit_value=0.0,
            places=tuple(places),
        )
    more = pairs[MOST_FINDINGS:]
    if more:
        what = f"{len(more)} more pair{'' if len(more) == 1 else 's'} of nets {of.how}"
        is_harmless = all(harmless[nets] for nets in more)
        yield DraftFinding(
            title=f"{what}, by the parts' own copper" if is_harmless else f"short: {what}",
            why=WHY,
            fix=MEANT if is_harmless else of.fix,
            ids=(of.rest,),
            severity=Severity.INFO if is_harmless else None,
            places=tuple(of.places(board, widest[nets][0])[0] for nets in more[:PLACES_SHOWN]),
            counted=len(more),
        )


def _widest_first(found: list[T], of: Joining[T]) -> list[T]:
    return sorted(found, key=lambda one: -round(of.overlap_mm(one), 5))


def shows_overlap(ctx: Context, nets: Nets, wide_mm: float) -> None:
    """Give the rule's formula its numbers for a pair of nets."""
    ctx.shows(" and ".join(nets), o=wide_mm, t=TOUCH_MM if wide_mm >= TOUCH_MM else 0.0)


def and_more(what: str, count: int) -> str:
    """Return a text, and at how many more places it holds."""
    more = count - 1
    return f"{what}, and at {more} more place{'' if more == 1 else 's'}" if more else what
