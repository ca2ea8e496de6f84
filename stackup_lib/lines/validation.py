"""Reference cases held against the field solver: value, difference, our own error estimate, time, verdict."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal

from stackup_lib.frozen import Frozen
from stackup_lib.lines.cases import section_of_case, value_of_quantity
from stackup_lib.lines.sections import GeometryError, Section
from stackup_lib.lines.solver import TOLERANCE, solve

if TYPE_CHECKING:
    from stackup_lib.lines.case_files import Case

Verdict = Literal["within", "in limit", "off", "explained", "not solved", "skipped"]
"""`within` the reference's uncertainty and our estimate; `in limit`: beyond them, or none is stated, but inside
the limit and the uncertainty; `off`: beyond those; `explained`: off, and the file says why; `not solved`: the section
cannot exist or a parameter is missing; `skipped`: no board line, or incomplete."""


class Outcome(Frozen):
    """What became of one case; figures are None where it was not solved."""

    id: str
    row: int
    geometry: str
    quantity: str
    mode: str
    reference: float
    uncertainty_pct: float | None
    value: float | None = None
    difference_pct: float | None = None
    estimate_pct: float | None = None
    time_ms: float | None = None
    verdict: Verdict
    reason: str = ""


class Summary(Frozen):
    """All cases together; differences in per cent of the reference, over all that were solved and not explained."""

    rows: int
    solved: int
    within: int
    in_limit: int
    off: int
    explained: int
    not_solved: int
    skipped: int
    limit_pct: float
    largest_pct: float | None
    largest_id: str
    median_pct: float | None
    agrees: bool


def validate(cases: Iterable[Case], limit_pct: float) -> Iterator[Outcome]:
    """Solve every case at the solver's own tolerance; a section with several values is solved once."""
    solved: dict[object, _Solved] = {}
    for case in cases:
        if case.skipped:
            yield _not_solved(case, "skipped", case.skipped)
            continue
        key = (case.geometry, tuple(sorted(case.parameters.items())), case.mode)
        try:
            if key not in solved:
                solved[key] = _Solved(section_of_case(case.geometry, case.parameters), case.mode)
            yield _judged(case, solved[key], limit_pct)
        except GeometryError as error:
            yield _not_solved(case, "not solved", f"{error.what}; {error.next_step}")


def summarize(outcomes: Sequence[Outcome], limit_pct: float) -> Summary:
    """Count verdicts; the whole agrees when something was solved, nothing is off and nothing was left unsolved."""
    counts = Counter(o.verdict for o in outcomes)
    plain = [
        (abs(o.difference_pct), o.id) for o in outcomes if o.difference_pct is not None and o.verdict != "explained"
    ]
    largest = max(plain, default=(None, ""))
    solved = sum(o.value is not None for o in outcomes)
    return Summary(
        rows=len(outcomes),
        solved=solved,
        within=counts["within"],
        in_limit=counts["in limit"],
        off=counts["off"],
        explained=counts["explained"],
        not_solved=counts["not solved"],
        skipped=counts["skipped"],
        limit_pct=limit_pct,
        largest_pct=largest[0],
        largest_id=largest[1],
        median_pct=median(d for d, _ in plain) if plain else None,
        agrees=solved > 0 and counts["off"] == 0 and counts["not solved"] == 0,
    )


class _Solved:
    """A cross section's solution, or its mode's first-order changes, and how long that took."""

    def __init__(self, section: Section, mode: str) -> None:
        self._values: dict[str, tuple[float, float]] = {}
        start = time.perf_counter()
        self._solution = solve(section, TOLERANCE)
        if mode:
            self._add_loss(section, mode)
        self.time_ms = (time.perf_counter() - start) * 1e3

    def value(self, quantity: str) -> tuple[float, float]:
        """Value and relative error estimate."""
        if quantity in self._values:
            return self._values[quantity]
        return value_of_quantity(self._solution, quantity), self._solution.error_estimate

    def _add_loss(self, section: Section, mode: str) -> None:
        raise GeometryError("loss figures are not wired yet", "leave the row out")


def _judged(case: Case, solved: _Solved, limit_pct: float) -> Outcome:
    value, estimate = solved.value(case.quantity)
    difference_pct = (value / case.reference - 1) * 100
    estimate_pct = estimate * 100
    far = abs(difference_pct)
    uncertainty = case.uncertainty_pct
    verdict: Verdict = "in limit"
    if uncertainty is not None and far <= uncertainty + estimate_pct:
        verdict = "within"
    elif far > limit_pct + (uncertainty or 0.0):
        verdict = "explained" if case.explained else "off"
    return Outcome(
        id=case.id,
        row=case.row,
        geometry=case.geometry,
        quantity=case.quantity,
        mode=case.mode,
        reference=case.reference,
        uncertainty_pct=uncertainty,
        value=value,
        difference_pct=difference_pct,
        estimate_pct=estimate_pct,
        time_ms=solved.time_ms,
        verdict=verdict,
        reason=case.explained if verdict == "explained" else "",
    )


def _not_solved(case: Case, verdict: Verdict, reason: str) -> Outcome:
    return Outcome(
        id=case.id,
        row=case.row,
        geometry=case.geometry,
        quantity=case.quantity,
        mode=case.mode,
        reference=case.reference,
        uncertainty_pct=case.uncertainty_pct,
        verdict=verdict,
        reason=reason,
    )
