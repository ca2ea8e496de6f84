"""Which rows of a fab's table stand for which row of the board; what either side lacks is said, not refused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from drc_rules.fab_exchange.answer.stackup_text import FabRow
from stackup_lib.board.board import LayerKind
from stackup_lib.board.planned import PlannedRow
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.record import record
from stackup_lib.core.words import count

_SKIPPED = 0.6
"""Cost of a copper layer that the other side lacks; one that agrees in nothing costs 1."""


@record
class RowGroup:
    """A row of the board with the fab's rows for it; `is_missing` where the table lacks it."""

    row: PlannedRow
    fab: tuple[FabRow, ...] = ()
    is_missing: bool = False


@record
class Aligned:
    """The board's rows in order; `extra` are copper rows of the table that the board has not."""

    groups: tuple[RowGroup, ...]
    extra: tuple[FabRow, ...] = ()
    notes: tuple[str, ...] = ()


def align(rows: Sequence[PlannedRow], fab: Sequence[FabRow], where: str) -> Aligned:
    """Align by number of layers, else by all their names, else by their numbers, else by names and thickness.

    Raises:
        ConfigError: the table has no copper rows, or the board several dielectric rows between two copper layers.
    """
    mine = [k for k, row in enumerate(rows) if row.kind is LayerKind.COPPER]
    theirs = [k for k, row in enumerate(fab) if row.kind == "copper"]
    if not theirs or not mine:
        what = f"has {count(len(theirs), 'copper row')}, the board {len(mine)}"
        raise ConfigError(where, what, "give the table of this board's layers, or name the rows' type")
    for a, b in pairwise(mine):
        if b - a > 2:
            what = f"{rows[a].name} and {rows[b].name} have {b - a - 1} dielectric rows between them in the board"
            raise ConfigError(where, what, "open the board in KiCad and save it")
    pairs, note = _copper_pairs(rows, fab, mine, theirs)
    found: dict[int, tuple[FabRow, ...]] = {a: (fab[b],) for a, b in pairs}
    for (a, c), (b, d) in pairwise(pairs):
        found |= _dielectrics(rows, a, b, [row for row in fab[c + 1 : d] if row.kind not in ("mask", "copper")])
    masks = (
        (range(mine[0]), [row for row in fab[: theirs[0]] if row.kind == "mask"]),
        (range(mine[-1] + 1, len(rows)), [row for row in fab[theirs[-1] + 1 :] if row.kind == "mask"]),
    )
    for places, given in masks:
        found |= {k: tuple(given[:1]) for k in places}
    groups = [
        RowGroup(row, found.get(k, ()), is_missing=mine[0] <= k <= mine[-1] and not found.get(k))
        for k, row in enumerate(rows)
    ]
    paired = {b for _, b in pairs}
    extra = tuple(fab[k] for k in theirs if k not in paired)
    return Aligned(tuple(groups), extra, (note,) if note else ())


def _dielectrics(
    rows: Sequence[PlannedRow], first: int, last: int, given: Sequence[FabRow]
) -> dict[int, tuple[FabRow, ...]]:
    """The dielectric rows between two copper rows that the table has: all to one, else in order."""
    places = [k for k in range(first + 1, last) if rows[k].kind is not LayerKind.COPPER]
    if not places:
        return {}
    return {place: tuple(given[n:] if place == places[-1] else given[n : n + 1]) for n, place in enumerate(places)}


def _copper_pairs(
    rows: Sequence[PlannedRow], fab: Sequence[FabRow], mine: Sequence[int], theirs: Sequence[int]
) -> tuple[list[tuple[int, int]], str]:
    numbers = [fab[k].number for k in theirs]
    stated = [n for n in numbers if n is not None]
    is_rising = len(stated) == len(theirs) and all(a < b for a, b in pairwise(stated))
    if len(mine) == len(theirs):
        return list(zip(mine, theirs, strict=True)), ""
    counts = f"the table has {count(len(theirs), 'copper row')}, the board {len(mine)}"
    by_name = {rows[k].name.casefold(): k for k in mine}
    named = [by_name.get(fab[k].name.strip().casefold(), -1) for k in theirs]
    if named[0] >= 0 and all(a < b for a, b in pairwise(named)):
        return list(zip(named, theirs, strict=True)), f"{counts}: matched by the layers' names"
    if is_rising and stated[0] >= 1:
        pairs = [(mine[n - 1], k) for n, k in zip(stated, theirs, strict=True) if n <= len(mine)]
        if pairs:
            return pairs, f"{counts}: matched by the layers' numbers"
    return _likeliest(rows, fab, mine, theirs), f"{counts}: matched by names and thickness, check which are missing"


def _likeliest(
    rows: Sequence[PlannedRow], fab: Sequence[FabRow], mine: Sequence[int], theirs: Sequence[int]
) -> list[tuple[int, int]]:
    """The pairs in order whose names and thicknesses agree best."""
    best: dict[tuple[int, int], tuple[float, tuple[tuple[int, int], ...]]] = {}
    for i in range(len(mine), -1, -1):
        for j in range(len(theirs), -1, -1):
            if i == len(mine) or j == len(theirs):
                best[i, j] = _SKIPPED * (len(mine) - i + len(theirs) - j), ()
                continue
            pair, after = (mine[i], theirs[j]), best[i + 1, j + 1]
            choices = [(after[0] + _unlike(rows, fab, *pair), (pair, *after[1]))]
            choices += [(best[k][0] + _SKIPPED, best[k][1]) for k in ((i + 1, j), (i, j + 1))]
            best[i, j] = min(choices, key=lambda choice: choice[0])
    return list(best[0, 0][1]) or [(mine[0], theirs[0])]


def _unlike(rows: Sequence[PlannedRow], fab: Sequence[FabRow], a: int, b: int) -> float:
    """Between 0, the same name or thicknesses, and 1."""
    if rows[a].name.casefold() == fab[b].name.strip().casefold():
        return 0.0
    own = sum(row.thickness_mm or 0.0 for row in rows[a + 1 : a + 2])
    below: list[float] = []
    for row in fab[b + 1 :]:
        if row.kind == "copper":
            break
        below.append(row.thickness_mm or 0.0)
    return 0.5 * _apart(rows[a].thickness_mm, fab[b].thickness_mm) + 0.5 * _apart(own, sum(below))


def _apart(a: float | None, b: float | None) -> float:
    if not a or not b:
        return 0.0 if a == b else 0.5
    return min(1.0, 3 * abs(a - b) / max(a, b))
