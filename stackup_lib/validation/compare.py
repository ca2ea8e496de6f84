"""Reference cases held against the field solver: value, difference, our own error estimate, time, verdict."""

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal

from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.frozen import Frozen
from stackup_lib.field_solver.sections import GeometryError, Section
from stackup_lib.field_solver.solver import TOLERANCE, solve
from stackup_lib.validation.cases import section_of_case, value_of_quantity

if TYPE_CHECKING:
    from stackup_lib.field_solver.perturbation import Mode
    from stackup_lib.field_solver.solution import LineSolution
    from stackup_lib.validation.case_files import ReferenceCase

MODES: "dict[str, Mode]" = {"single": "single", "odd": "odd", "even": "even"}

LOSS_TOLERANCE = 1e-4
"""Of crowding and shares: the floor of their own estimate."""

Verdict = Literal["within", "in limit", "off", "explained", "not solved", "skipped"]
"""`within` the reference's uncertainty and our estimate; `in limit`: beyond them, or none is stated, but inside
the limit and the uncertainty; `off`: beyond those; `explained`: off, and the file says why; `not solved`: the section
cannot exist or a parameter is missing; `skipped`: no board line, incomplete, or a cell that cannot be read."""


class CaseOutcome(Frozen):
    """What became of one case; values are None where it was not solved, the reference where it could not be read."""

    id: str
    row: int
    geometry: str
    quantity: str
    mode: str
    reference: float | None
    uncertainty_pct: float | None
    value: float | None = None
    difference_pct: float | None = None
    estimate_pct: float | None = None
    time_ms: float | None = None
    verdict: Verdict
    reason: str = ""


class Summary(Frozen):
    """All cases together; differences in per cent, of shares in per cent of the whole, over all that were solved."""

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


def validate(cases: "Iterable[ReferenceCase]", limit_pct: float) -> Iterator[CaseOutcome]:
    """Solve every case at the solver's own tolerance; a section with several values is solved once."""
    solved: dict[object, _Solved] = {}
    for case in cases:
        if case.skipped or case.reference is None:
            yield _outcome(case, "skipped", case.skipped)
            continue
        key = (case.geometry, tuple(sorted(case.parameters.items())), case.mode)
        try:
            if key not in solved:
                solved[key] = _Solved(section_of_case(case.geometry, case.parameters), case.mode)
            yield _judged(case, case.reference, solved[key], limit_pct)
        except GeometryError as error:
            yield _outcome(case, "not solved", f"{error.what}; {error.next_step}")


def summarize(outcomes: Sequence[CaseOutcome], limit_pct: float) -> Summary:
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
    """A cross section's solution, or a mode's with its first-order changes, and how long that took."""

    def __init__(self, section: Section, mode: str) -> None:
        start = time.perf_counter()
        self._solution = solve(section, TOLERANCE)
        self._values = {} if mode == "" else _loss_figures(section, self._solution, mode)
        self.time_ms = (time.perf_counter() - start) * 1e3

    def value(self, quantity: str) -> tuple[float, float]:
        """Value and relative error estimate."""
        if not self._values:
            return value_of_quantity(self._solution, quantity), self._solution.error_estimate
        if quantity not in self._values:
            raise GeometryError(f'unknown figure of loss "{quantity}"', did_you_mean(quantity, self._values))
        return self._values[quantity]


def _loss_figures(section: Section, solution: "LineSolution", mode: str) -> dict[str, tuple[float, float]]:
    """Impedance, crowding and shares of a mode by the names of `case_files.LOSS_COLUMNS`, with their estimates.

    The upper layer of a stripline is `q_upper`, the one under the trace `q_substrate`, all together `q_all`.
    """
    from stackup_lib.field_solver.perturbation import perturb  # noqa: PLC0415 - impedances do not need it

    known = MODES.get(mode)
    if known is None:
        raise GeometryError(f'unknown mode "{mode}"', did_you_mean(mode, MODES))
    found = perturb(section, known, LOSS_TOLERANCE)
    crowding, shares = found.crowding, found.shares
    returned = crowding.total_per_mm - crowding.strip_per_mm
    figures = {
        "R_signal": crowding.strip_per_mm,
        "R_return": returned,
        "R_total": crowding.total_per_mm,
        "q_all": math.fsum(shares.layers),
        "q_substrate": shares.layers[0],
    }
    if len(shares.layers) > 1:
        figures["q_upper"] = shares.layers[1]
    if section.mask is not None:
        figures["q_mask"] = shares.mask
    impedance = value_of_quantity(solution, {"single": "Z0", "odd": "Zodd", "even": "Zeven"}[known])
    # the estimate is relative to the total crowding, and absolute for shares, which are parts of 1
    scale = {name: crowding.total_per_mm / value if name.startswith("R_") else 1.0 for name, value in figures.items()}
    out = {name: (value, found.error_estimate * scale[name]) for name, value in figures.items()}
    return out | {"Z": (impedance, solution.error_estimate)}


def _judged(case: "ReferenceCase", reference: float, solved: _Solved, limit_pct: float) -> CaseOutcome:
    value, estimate = solved.value(case.quantity)
    whole = 1.0 if case.quantity.startswith("q_") else reference  # a share is a part of 1, however small
    difference_pct = (value - reference) / whole * 100
    estimate_pct = estimate * 100
    far = abs(difference_pct)
    uncertainty = case.uncertainty_pct
    verdict: Verdict = "in limit"
    if uncertainty is not None and far <= uncertainty + estimate_pct:
        verdict = "within"
    elif far > limit_pct + (uncertainty or 0.0):
        verdict = "explained" if case.explained else "off"
    return _outcome(
        case,
        verdict,
        case.explained if verdict == "explained" else "",
        value=value,
        difference_pct=difference_pct,
        estimate_pct=estimate_pct,
        time_ms=solved.time_ms,
    )


def _outcome(case: "ReferenceCase", verdict: Verdict, reason: str, **found: float) -> CaseOutcome:
    return CaseOutcome(
        id=case.id,
        row=case.row,
        geometry=case.geometry,
        quantity=case.quantity,
        mode=case.mode,
        reference=case.reference,
        uncertainty_pct=case.uncertainty_pct,
        verdict=verdict,
        reason=reason,
        **found,
    )
