"""Candidates that no other one beats in loss, cost, thickness, laminations, laminates, routed lines and preferences.

The number of laminates counts because two that are pressed together have to agree in curing and expansion, which no
value here covers: a build of one laminate is not beaten by a hybrid that only costs less.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

import numpy as np

from stackup_lib.synthesis.candidates import CandidateStackup
from stackup_lib.synthesis.evaluate import Evaluated
from stackup_lib.synthesis.goals import Goals

ALIKE_LOSS, ALIKE_COST = 0.03, 0.05
"""Candidates of one high-speed laminate that differ by less are one answer; engineering judgement."""

Objectives = tuple[float, float, float, float, float, float, float]


def objectives_of(one: Evaluated, loss_db_per_inch: float, goals: Goals) -> Objectives:
    """Return loss, cost, thickness, laminations, laminates, rerouted sizes and missed preferences; less is better.

    Thickness is 0 within half the tolerance, 1 beyond: a fab's own is as wide. Where none is required it does not
        count.
    """
    thickness = 0.0
    if goals.thickness_mm is not None:
        thickness = float(floor(2 * abs(one.thickness_error) / goals.thickness_tolerance - 1e-9) > 0)
    laminations, laminates = float(one.laminations), float(len(one.candidate.laminates))
    moved, missed = float(one.rerouted), float(len(one.missed_wishes))
    return round(loss_db_per_inch, 3), one.cost.index, thickness, laminations, laminates, moved, missed


def undominated(objectives: Sequence[Objectives]) -> list[int]:
    """Return the positions that no other one beats: no worse in anything, better in something."""
    table = np.array(objectives, dtype=float).reshape(len(objectives), -1)
    no_worse = (table[:, None, :] <= table[None, :, :]).all(axis=2)
    better = (table[:, None, :] < table[None, :, :]).any(axis=2)
    return [int(k) for k in np.flatnonzero(~(no_worse & better).any(axis=0))]


def how_better(a: Objectives, b: Objectives) -> str:
    """Return as text what the first has over the second."""
    words = (
        "loses {:g} instead of {:g} dB/inch",
        "costs {:g} instead of {:g}",
        "comes nearer to the thickness",
        "takes {:g}, not {:g} laminations",
        "is of {:g} laminate, not {:g}",
        "moves {:g}, not {:g} routed sizes out of tolerance",
        "misses {:g}, not {:g} preferred clauses",
    )
    return " and ".join(text.format(x, y) for text, x, y in zip(words, a, b, strict=True) if x < y)


class Kind(NamedTuple):
    """What makes candidates comparable as one answer."""

    layers: int
    laminates: frozenset[str]
    fast_laminate: str
    pattern: str


def kind_of(candidate: CandidateStackup) -> Kind:
    """Return the kind of a candidate."""
    copper, sheets = candidate.copper, candidate.dielectrics
    adjacent = (s.laminate for k, s in enumerate(sheets) if "fast" in (copper[k].use, copper[k + 1].use))
    fast = next(adjacent, sheets[0].laminate)
    return Kind(len(copper), frozenset(s.laminate for s in sheets), fast, candidate.order.pattern)


def have_equal_objectives(a: Kind, a_objectives: Objectives, b: Kind, b_objectives: Objectives) -> bool:
    """Tell whether two candidates are one answer: of the same laminates and order, or nearly equal."""
    if (a.layers, a.fast_laminate) != (b.layers, b.fast_laminate) or a_objectives[3:] != b_objectives[3:]:
        return False
    if (a.laminates, a.pattern) == (b.laminates, b.pattern):
        return True
    loss = abs(a_objectives[0] - b_objectives[0]) <= ALIKE_LOSS * max(a_objectives[0], b_objectives[0])
    cost = abs(a_objectives[1] - b_objectives[1]) <= ALIKE_COST * max(a_objectives[1], b_objectives[1])
    return loss and cost
