"""The inverse of the field solver: width, or width and gap, for a target impedance. Lengths in mm, at the base.

Impedance falls steadily as a trace widens at fixed gap or pitch, and rises steadily with the gap at fixed width. At a
fixed ratio of gap to width it falls too, but for the narrowest pairs, whose walls face each other across a gap that is
small compared with the copper: there it has a peak, and what is wider than that is taken. So one number is sought,
between limits, by the secant rule in ln Z against ln of a closed form (nearly a straight line), first on the
solver's coarsest rung: three solutions or so. One a little finer comes next, since the coarsest rung is off by a few
hundredths of a percent; what is left is found at the required accuracy.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import SMALLEST_MM, GeometryError
from stackup_lib.field_solver.solution import LineSolution
from stackup_lib.field_solver.solver import LADDER, TOLERANCE, impedance_once, solve
from stackup_lib.transmission_lines.remedy import Remedy, remedy_for
from stackup_lib.transmission_lines.site import TraceEnvironment
from stackup_lib.transmission_lines.starting import rough_line
from stackup_lib.transmission_lines.width_request import GapPerWidth, KeepGap, KeepPitch, PairRule, Target, WidthLimits

COARSE_MATCH = 2e-4
"""A coarse search ends here: closer than the coarsest rung itself is right."""

COARSE_ERROR = 2e-3
"""Steps of ln Z below this say nothing of its slope: its mesh changes by steps."""

BETWEEN = 1e-3
"""Tolerance of the step between, which mostly ends on the second rung; and of what decides at a limit."""

MOST_SOLVES = 25
"""Bisection alone would be done by then."""

MOST_FINE = 8
"""Fine solutions; one or two do."""

PEAK_WIDTH = 0.03
"""Relative; impedance is flat where it peaks."""


@record
class Solved:
    """A line that meets its target.

    Attributes:
        gap_mm: None for a single line.
        coplanar_gap_mm: to the ground next to the line, None without.
        impedance_ohm: of `solution`, at these sizes.
        solves: coarse and fine solutions that the search took.
        slope: of ln Z against that of the closed form; a search that starts from this one takes it over.
    """

    target: Target
    width_mm: float
    gap_mm: float | None
    coplanar_gap_mm: float | None
    solution: LineSolution
    impedance_ohm: float
    solves: tuple[int, int]
    slope: float


class Unreachable(StackwrightError):  # noqa: N818 - named after what it says
    """No width or gap within the limits meets the target.

    Attributes:
        nearest_ohm: the impedance at the limit that comes closest.
        width_mm, gap_mm: sizes at that limit.
    """

    def __init__(
        self,
        site: TraceEnvironment,
        target: Target,
        request: str,
        nearest: tuple[float, float | None, float],
        find_remedy: Callable[[], Remedy],
    ) -> None:
        width, gap, ohm = nearest
        super().__init__(site.layer, f"{target} needs {request}; there it is {ohm:.4g} ohm", "")
        self.target, self.find_remedy = target, find_remedy
        self.width_mm, self.gap_mm, self.nearest_ohm = width, gap, ohm

    @cached_property
    def remedy(self) -> Remedy:
        """What would reach the target there, found when it is read: that takes more than the search did."""
        return self.find_remedy()

    @property
    def next_step(self) -> str:
        """The remedy as text."""
        return str(self.remedy)


class _EndlessError(GeometryError):
    def __init__(self, search: "_Search") -> None:
        what = f"no {search.unknown} found for {search.target} on {search.site.layer} in {MOST_SOLVES} solutions"
        super().__init__(what, "narrow the limits")


@record
class _Trial:
    """A solved x: its ln Z by the closed form and by the solver."""

    x: float
    rough: float
    log_ohm: float


@record
class _Search:
    """One unknown x in mm between limits, and what width and gap it stands for."""

    site: TraceEnvironment
    target: Target
    sizes: Callable[[float], tuple[float, float | None]]
    unknown: Literal["width", "gap"]
    low: float
    high: float
    coplanar_gap_mm: float | None
    widest_gap_mm: float

    @cached_property
    def rough_ohm(self) -> Callable[[float, float | None], float]:
        """Return the closed form: (width, gap) -> Z."""
        return rough_line(self.site)

    @property
    def goal(self) -> float:
        """Return ln Z of the target."""
        return math.log(self.target.ohm)

    def rough(self, x: float) -> float:
        """Return ln Z by the closed form."""
        return math.log(self.rough_ohm(*self.sizes(x)))

    def solution(self, x: float, tolerance: float) -> LineSolution:
        """Solve at x."""
        return solve(self.site.section(*self.sizes(x), self.coplanar_gap_mm), tolerance)

    def coarse_ohm(self, x: float) -> float:
        """Return the impedance at x on the coarsest rung."""
        return impedance_once(self.site.section(*self.sizes(x), self.coplanar_gap_mm), LADDER[0])

    def has_to_grow(self, miss: float) -> bool:
        """Tell whether x has to grow where ln Z exceeds the goal by `miss`."""
        return (miss > 0) == (self.unknown == "width")

    def corrected(self, x: float, miss: float, slope: float) -> float:
        """Return x after a step of the secant rule, where ln Z exceeds the goal by `miss`."""
        return self.where_rough_is(self.rough(x) - miss / slope, self.low, self.high)

    def where_rough_is(self, rough: float, low: float, high: float) -> float:
        """Return x between two values at which the closed form has this ln Z, or the nearer of the two."""
        for end, inward in ((low, True), (high, False)):
            if self.has_to_grow(self.rough(end) - rough) != inward:
                return end
        for _ in range(45):
            middle = math.sqrt(low * high)
            if self.has_to_grow(self.rough(middle) - rough):
                low = middle
            else:
                high = middle
        return math.sqrt(low * high)


def solve_width(
    site: TraceEnvironment,
    target: Target,
    *,
    gap_mm: float | None = None,
    coplanar_gap_mm: float | None = None,
    limits: WidthLimits,
    tolerance: float = TOLERANCE,
    start: Solved | None = None,
) -> Solved:
    """Return the width that meets a target on a layer, at a fixed gap where the target is differential.

    Args:
        site: where the line runs.
        target: Z0, or Zdiff of a pair.
        gap_mm: of the pair; its own limits do not apply.
        coplanar_gap_mm: to ground next to the line on the same layer.
        limits: of the width.
        tolerance: relative; of the solver, and of how closely the target is met; no closer than the solution's own
            error estimate.
        start: what the same search found at a wider tolerance; it goes on from there.

    Raises:
        Unreachable: no width within the limits meets the target.
        GeometryError: the line cannot exist.
    """
    if (gap_mm is None) != (target.kind == "single"):
        raise GeometryError(f"{target} {'without' if gap_mm is None else 'with'} a gap", "pairs have a gap, lines none")
    return _find(_width_search(site, target, limits, lambda w: (w, gap_mm), coplanar_gap_mm), tolerance, start)


def solve_pair(
    site: TraceEnvironment,
    target: Target,
    limits: WidthLimits,
    *,
    how: PairRule,
    coplanar_gap_mm: float | None = None,
    tolerance: float = TOLERANCE,
    start: Solved | None = None,
) -> Solved:
    """Return width and gap of a pair that meet a differential target, by one of the rules; else as `solve_width`.

    Raises:
        Unreachable: nothing within the limits of width and gap meets the target.
        GeometryError: the pair cannot exist, or the target is single-ended.
    """
    if target.kind != "differential":
        raise GeometryError(f"{target} asked of a pair", "give a differential target")
    if isinstance(how, KeepGap):
        _inside("gap", how.gap_mm, limits.min_gap_mm, limits.max_gap_mm)
        search = _width_search(site, target, limits, lambda w: (w, how.gap_mm), coplanar_gap_mm)
    elif isinstance(how, KeepPitch):
        least, most = how.pitch_mm - limits.max_gap_mm, how.pitch_mm - limits.min_gap_mm
        within = _narrowed(limits, least, most, f"a pitch of {how.pitch_mm:g} mm")
        search = _width_search(site, target, within, lambda w: (w, how.pitch_mm - w), coplanar_gap_mm)
    elif isinstance(how, GapPerWidth):
        if not (math.isfinite(how.ratio) and how.ratio > 0):
            raise GeometryError(f"a gap of {how.ratio:g} widths", "give a positive ratio")
        least, most = limits.min_gap_mm / how.ratio, limits.max_gap_mm / how.ratio
        within = _narrowed(limits, least, most, f"a gap of {how.ratio:g} widths")
        search = _width_search(site, target, within, lambda w: (w, how.ratio * w), coplanar_gap_mm)
        return _find_beyond_peak(search, tolerance, start)
    else:
        _inside("width", how.width_mm, limits.min_width_mm, limits.max_width_mm)
        low, high = limits.min_gap_mm, limits.max_gap_mm
        search = _Search(site, target, lambda gap: (how.width_mm, gap), "gap", low, high, coplanar_gap_mm, high)
    return _find(search, tolerance, start)


def _inside(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise GeometryError(f"a {what} of {value:g} mm outside {low:g} to {high:g} mm", f"give a {what} within limits")


def _narrowed(limits: WidthLimits, least: float, most: float, because: str) -> WidthLimits:
    """Return the limits with the widths that also keep the gap within its own."""
    low, high = max(limits.min_width_mm, least), min(limits.max_width_mm, most)
    if low > high:
        raise GeometryError(f"{because} leaves no width within the limits", "widen the limits of width or gap")
    return limits.model_copy(update={"min_width_mm": low, "max_width_mm": high})


def _width_search(
    site: TraceEnvironment,
    target: Target,
    limits: WidthLimits,
    sizes: Callable[[float], tuple[float, float | None]],
    coplanar_gap_mm: float | None,
) -> _Search:
    """Seek a width; the least one leaves something of the trapezoid's top."""
    low = max(limits.min_width_mm, site.taper_mm + SMALLEST_MM)
    if low > limits.max_width_mm:
        what = f"{limits.max_width_mm:g} mm of trace, of which etching takes {site.taper_mm:g} mm at the top"
        raise GeometryError(what, "allow wider traces or thinner copper")
    return _Search(site, target, sizes, "width", low, limits.max_width_mm, coplanar_gap_mm, limits.max_gap_mm)


def _find(search: _Search, tolerance: float, start: Solved | None = None) -> Solved:
    """Seek on the coarsest rung and a little finer, unless that is known; then finish at the required accuracy."""
    for end in (search.low, search.high):
        search.site.section(*search.sizes(end), search.coplanar_gap_mm)  # refuses what cannot exist
    if start is None:
        x, slope, coarse = _seek(search, max(COARSE_MATCH, tolerance / 3))
    else:
        known = start.gap_mm if search.unknown == "gap" and start.gap_mm else start.width_mm
        miss = math.log(start.impedance_ohm) - search.goal
        x, slope, coarse = search.corrected(known, miss, start.slope), start.slope, 0
    tolerances = [BETWEEN] * (start is None and tolerance < BETWEEN) + [tolerance] * MOST_FINE
    for fine, at in enumerate(tolerances, 1):
        solution = search.solution(x, at)
        ohm = solution.impedance_ohm
        miss = math.log(ohm) - search.goal
        if at == tolerance and abs(miss) <= max(tolerance, TOLERANCE, solution.error_estimate):
            width, gap = search.sizes(x)
            return Solved(search.target, width, gap, search.coplanar_gap_mm, solution, ohm, (coarse, fine), slope)
        before, x = x, search.corrected(x, miss, slope)
        if x == before and at == tolerance:
            raise _unreachable(search, x, ohm)
    raise _EndlessError(search)


def _seek(search: _Search, match: float) -> tuple[float, float, int]:
    """Return x that meets ln Z within `match` on the coarsest rung, the slope there, and the number of solutions."""
    low, high = search.low, search.high
    x, slope = search.where_rough_is(search.goal, low, high), 1.0
    last: _Trial | None = None
    for solves in range(1, MOST_SOLVES):
        at = _Trial(x, search.rough(x), math.log(search.coarse_ohm(x)))
        if last is not None and abs(at.rough - last.rough) > COARSE_ERROR:
            slope = min(max((at.log_ohm - last.log_ohm) / (at.rough - last.rough), 0.2), 5.0)
        miss = at.log_ohm - search.goal
        if abs(miss) <= match:
            return x, slope, solves
        grows = search.has_to_grow(miss)
        if x == (search.high if grows else search.low):
            ohm = search.solution(x, BETWEEN).impedance_ohm
            if abs(math.log(ohm) - search.goal) > BETWEEN and (ohm > search.target.ohm) == (miss > 0):
                raise _unreachable(search, x, ohm)
            return x, slope, solves  # the finer solution decides
        low, high = (x, high) if grows else (low, x)
        if high < low * (1 + COARSE_MATCH):
            return x, slope, solves  # the coarse impedance steps over the target
        x = search.where_rough_is(at.rough - miss / slope, low, high)
        if x in (low, high) and x not in (search.low, search.high):
            x = math.sqrt(low * high)
        last = at
    raise _EndlessError(search)


def _unreachable(search: _Search, x: float, ohm: float) -> Unreachable:
    """Say what is missing at the limit x, and seek a dielectric that would fix it."""
    wants_more = ohm < search.target.ohm
    if search.unknown == "width":
        gap = search.sizes(x)[1]
        at_gap = f" at a gap of {gap:.4g} mm" if gap is not None else ""
        request = f"a trace {'narrower' if wants_more else 'wider'} than {x:.4g} mm{at_gap}"
    else:
        request = f"a gap {'wider' if wants_more else 'narrower'} than {x:.4g} mm"
    return _short_of(search, request, x, ohm)


def _short_of(search: _Search, request: str, x: float, ohm: float) -> Unreachable:
    width, gap = search.sizes(x)
    widest = search.widest_gap_mm if search.unknown == "width" else None
    sizes = width, gap, search.coplanar_gap_mm
    find_remedy = partial(remedy_for, search.site, search.target.ohm, sizes, widest)
    return Unreachable(search.site, search.target, request, (width, gap, ohm), find_remedy)


def _find_beyond_peak(search: _Search, tolerance: float, start: Solved | None) -> Solved:
    """Find a width where the impedance may fall again toward the narrowest pairs: beyond its peak."""
    try:
        return _find(search, tolerance, start)
    except (Unreachable, _EndlessError) as short:
        if isinstance(short, Unreachable) and short.nearest_ohm > search.target.ohm:
            raise
        peak = _peak(search)
        if peak <= search.low * (1 + PEAK_WIDTH):
            raise
    ohm = search.solution(peak, BETWEEN).impedance_ohm
    if ohm < search.target.ohm:
        raise _short_of(search, f"another ratio of gap to width: this one peaks at a width of {peak:.3g} mm", peak, ohm)
    return _find(replace(search, low=peak), tolerance)


def _peak(search: _Search) -> float:
    """Return the width of the highest impedance, on the coarsest rung."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - heavy, and only this function needs it

    found = minimize_scalar(
        lambda log_x: -search.coarse_ohm(math.exp(log_x)),
        bounds=(math.log(search.low), math.log(search.high)),
        method="bounded",
        options={"xatol": PEAK_WIDTH},
    )
    return math.exp(float(found.x))
