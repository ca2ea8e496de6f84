"""Rows of a stackup whose laminate softens too early, and the nearest ones that do not. Lengths in mm."""

from __future__ import annotations

from collections.abc import Iterator

from stackup_lib.materials import catalogue
from stackup_lib.synthesis import CandidateStackup, TgLimit
from stackup_lib.synthesis.change_steps import ChangeStep, in_laminate
from stackup_lib.synthesis.constructions import why_nothing
from stackup_lib.synthesis.cost import laminate_factor


def tg_steps(current: CandidateStackup, limit: TgLimit | None) -> Iterator[ChangeStep]:
    """Yield the swaps that give every row enough Tg; none where every row has it.

    A family that the stackup holds already comes first, then the cheapest.
    """
    low = [row.name for row in current.dielectrics if limit and not _holds(row.laminate, limit)]
    if limit is None or not low:
        return
    for family in _families(current, limit):
        step = in_laminate(current, low, family)
        if step.candidate is not None:
            yield step


def _holds(family: str, limit: TgLimit) -> bool:
    laminate = catalogue().get(family)
    return laminate is not None and limit.is_met_by(laminate.tg) is True


def _families(current: CandidateStackup, limit: TgLimit) -> list[str]:
    sold = [x.family for x in catalogue().laminates if not why_nothing(x) and _holds(x.family, limit)]
    return sorted(sold, key=lambda family: (family not in current.laminates, laminate_factor(family), family))
