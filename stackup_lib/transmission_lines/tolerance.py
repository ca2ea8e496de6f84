"""How far the impedance of a line strays in fabrication: sensitivities, worst case, interval and yield.

Method: ln Z is fitted by a quadratic surface in the independent variables of the process, each in its own standard
deviations: two solutions per variable at +-sqrt(3) standard deviations (the Gauss-Hermite points, which serve the bulk
of the production and not only its middle), one per pair of the three strongest variables for what they do together. The
distribution of that quadratic is then computed exactly; nothing is drawn at random. Two more solutions, three standard
deviations out along the steepest way, tell how far the surface is off, and with it how far the yield may be.

All solutions but the nominal one are on the solver's coarsest rung: its error hardly changes over a few percent of
geometry, and only changes count. Process spread says nothing of what is not known of the nominal line.
"""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import GeometryError, Section
from stackup_lib.field_solver.solver import LADDER, TOLERANCE, impedance_once, solve
from stackup_lib.transmission_lines.normal_quadratic import NormalQuadratic, Real
from stackup_lib.transmission_lines.process import Process, ProcessError
from stackup_lib.transmission_lines.site import TraceEnvironment
from stackup_lib.transmission_lines.variation import VariedLine

NODE = math.sqrt(3.0)
"""Standard deviations at which the surface is fitted."""

CHECK_AT = 3.0
"""Standard deviations at which the surface is checked."""

COARSE_SLOPES = 5e-3
"""Relative error that the coarsest rung leaves in the spread: the largest on a hundred lines drawn at random."""

UNMOVED_STEP = 0.01
"""Relative step for sensitivities to what the process does not move."""

JOINT = 3
"""Variables whose joint effects are fitted: width and the nearer dielectric lead nearly everywhere."""

WITHIN_PCT = (5.0, 7.0, 10.0)
"""Bands around the target for which yields are given: those that fabs offer."""

CENTRAL = 0.9973
"""Share of the production that is in the interval of a spread: three standard deviations, were it normal."""


class Effect(Frozen):
    """What one variable does to the impedance.

    Attributes:
        name: `width`, `taper`, `copper`, `thickness <row>`, `dk <row>`, `mask thickness`, `mask dk`.
        nominal: in mm, or without unit for permittivity; 1 for the mask's thicknesses, which move by one factor.
        limit_pct: the process's limit, in percent of the nominal value.
        sigmas: standard deviations that the limit is.
        sensitivity: d ln Z / d ln X, chord over +-sqrt(3) standard deviations (+-1 % where the process moves nothing).
    """

    name: str
    nominal: float
    limit_pct: float
    sigmas: float
    sensitivity: float

    @property
    def at_limit_pct(self) -> float:
        """Change of impedance at the limit, to first order, in percent."""
        return abs(self.sensitivity) * self.limit_pct


class Yield(Frozen):
    """Share of the production inside a band around the target.

    Attributes:
        within_pct: half the band, in percent of the target.
        share: 0 to 1.
        error: of the method: by how much the share may be off, for the stated process.
        linear_share: the same from first-order sensitivities alone, for comparison.
    """

    within_pct: float
    share: float
    error: float
    linear_share: float


class ImpedanceSpread(Frozen):
    """What fabrication does to the impedance of one line.

    Attributes:
        nominal_ohm: Z0, or Zdiff of a pair.
        solver_error_ohm: the solver's own estimate.
        target_ohm: centre of the bands of `yields`.
        effects: by variable.
        linear_worst_case_pct: all variables at their limits, each the worse way, to first order.
        rss_pct: root sum of squares of the same.
        sigma_pct: standard deviation, of the quadratic surface.
        interval_ohm: of 99.73 % of the production.
        yields: inside +-5, 7 and 10 % of the target.
        surface_error_pct: by how much the fitted surface misses the solver three standard deviations out.
        solves: solutions that it took.
    """

    nominal_ohm: float
    solver_error_ohm: float
    target_ohm: float
    effects: tuple[Effect, ...]
    linear_worst_case_pct: float
    rss_pct: float
    sigma_pct: float
    interval_ohm: Interval
    yields: tuple[Yield, ...]
    surface_error_pct: float
    solves: int

    @property
    def sensitivities(self) -> dict[str, float]:
        """Return d ln Z / d ln X by variable."""
        return {effect.name: effect.sensitivity for effect in self.effects}

    def inside(self, within_pct: float) -> Yield:
        """Return the yield inside one of the bands; raises `KeyError` for a band that was not requested."""
        return {one.within_pct: one for one in self.yields}[within_pct]


@record
class Response:
    """How a line answers to its process.

    Attributes:
        surface: ln(Z / nominal) over the variables that the process moves, in standard deviations, in their order.
        sensitivities: d ln Z / d ln X of every variable, as chords.
        residual: largest miss of the surface where it was checked, in ln Z.
        solves: coarse solutions.
    """

    surface: NormalQuadratic
    sensitivities: Mapping[str, float]
    residual: float
    solves: int


def spread(
    site: TraceEnvironment,
    width_mm: float,
    gap_mm: float | None,
    process: Process,
    coplanar_gap_mm: float | None = None,
    *,
    target_ohm: float | None = None,
    within_pct: tuple[float, ...] = WITHIN_PCT,
    tolerance: float = TOLERANCE,
) -> ImpedanceSpread:
    """Return how the impedance of a line strays in a fabrication process.

    Args:
        site: where the line runs, nominal.
        width_mm: base width of the trace.
        gap_mm: of a pair, None for a single line.
        process: its tolerances.
        coplanar_gap_mm: to ground next to the line on the same layer.
        target_ohm: centre of the bands; the nominal impedance by default.
        within_pct: bands.
        tolerance: of the nominal solution, relative.

    Raises:
        GeometryError: the line cannot exist, or the target is no impedance.
        ProcessError: the process takes the line beyond what can exist.
    """
    line = VariedLine(site, width_mm, gap_mm, coplanar_gap_mm, process)
    _need_sane(target_ohm, within_pct)
    solution = solve(line.section({}), tolerance)
    nominal = solution.impedance_ohm
    fit = respond(line)
    effects = _effects(line, fit)
    target = nominal if target_ohm is None else target_ohm
    slack = fit.residual + solution.error_estimate
    low, high = (nominal * math.exp(fit.surface.quantile(q)) for q in ((1 - CENTRAL) / 2, (1 + CENTRAL) / 2))
    return ImpedanceSpread(
        nominal_ohm=nominal,
        solver_error_ohm=nominal * solution.error_estimate,
        target_ohm=target,
        effects=effects,
        linear_worst_case_pct=sum(e.at_limit_pct for e in effects),
        rss_pct=math.hypot(*(e.at_limit_pct for e in effects)),
        sigma_pct=100 * fit.surface.sigma,
        interval_ohm=Interval(low=min(low, nominal), nominal=nominal, high=max(high, nominal)),
        yields=tuple(_yield(fit.surface, math.log(target / nominal), pct, slack) for pct in within_pct),
        surface_error_pct=100 * fit.residual,
        solves=fit.solves + 1,
    )


def spread_or_why(
    site: TraceEnvironment,
    width_mm: float,
    gap_mm: float | None,
    process: Process,
    coplanar_gap_mm: float | None = None,
    *,
    target_ohm: float | None = None,
    within_pct: tuple[float, ...] = WITHIN_PCT,
    tolerance: float = TOLERANCE,
) -> tuple[ImpedanceSpread | None, str]:
    """Return the same as `spread`, or None and why where the process takes the line beyond what can exist.

    Raises:
        GeometryError: the line itself cannot exist, or the target is no impedance.
    """
    of = (site, width_mm, gap_mm, process, coplanar_gap_mm)
    try:
        return spread(*of, target_ohm=target_ohm, within_pct=within_pct, tolerance=tolerance), ""
    except ProcessError as error:
        return None, error.what


def _need_sane(target_ohm: float | None, within_pct: tuple[float, ...]) -> None:
    if target_ohm is not None and not 0 < target_ohm < math.inf:
        raise GeometryError(f"a target of {target_ohm:g} ohm", "give a positive impedance in ohm")
    if not all(0 < pct < 100 for pct in within_pct):
        raise GeometryError("a band of 0 % or less, or of 100 % or more", "give percents such as 5, 7, 10")


def _effects(line: VariedLine, fit: Response) -> tuple[Effect, ...]:
    return tuple(
        Effect(
            name=v.name,
            nominal=v.nominal,
            limit_pct=100 * v.sigma * v.sigmas,
            sigmas=v.sigmas,
            sensitivity=fit.sensitivities[v.name],
        )
        for v in line.variables
    )


def sensitivities(
    site: TraceEnvironment,
    width_mm: float,
    gap_mm: float | None = None,
    coplanar_gap_mm: float | None = None,
    *,
    process: Process | None = None,
    step: float = UNMOVED_STEP,
) -> dict[str, float]:
    """Return d ln Z / d ln X of every variable by central differences over +-`step`, two solutions for each.

    Width changes at the pitch of a pair. Of the process counts what moves along with what, not how far: by default
    the taper with the copper, and the edge of coplanar ground with that of the trace.
    """
    line = VariedLine(site, width_mm, gap_mm, coplanar_gap_mm, process or Process()).with_every_interface()
    found = {}
    for v in line.variables:
        up, down = (_log_ohm(line.section({v.name: share})) for share in (step, -step))
        found[v.name] = (up - down) / math.log((1 + step) / (1 - step))
    return found


def _log_ohm(section: Section) -> float:
    """Return ln Z on the third rung: good to the fourth digit of a derivative."""
    return math.log(impedance_once(section, LADDER[2]))


class _Evaluations:
    """Coarse ln(Z / nominal) of a varied line, counted."""

    def __init__(self, line: VariedLine) -> None:
        self.line, self.count, self.nominal = line.with_every_interface(), 0, 0.0
        self.nominal = self.at({})

    def at(self, shares: Mapping[str, float]) -> float:
        """Solve with variables off by these shares of themselves."""
        self.count += 1
        try:
            section = self.line.section(shares)
        except GeometryError as error:
            off = ", ".join(f"{name} by {100 * share:+.3g} %" for name, share in shares.items())
            what = f"off by a few standard deviations ({off}) the line cannot exist: {error.what}"
            raise ProcessError(what, "tighten the process or change the line") from error
        return math.log(impedance_once(section, LADDER[0])) - self.nominal


def respond(line: VariedLine) -> Response:
    """Return how a line answers to its process: the surface fitted, and checked; raises `ProcessError`."""
    solve_at = _Evaluations(line)
    chords: dict[str, float] = {}
    moved = [v for v in line.variables if v.sigma > 0]
    gradient, hessian = np.zeros(len(moved)), np.zeros((len(moved), len(moved)))
    for v in line.variables:
        step = NODE * v.sigma or UNMOVED_STEP
        if step >= 1:
            what = f"{v.name} strays by {100 * v.sigma:.0f} % of itself (one standard deviation)"
            raise ProcessError(what, "tighten the process, or state its limits as more standard deviations")
        up, down = solve_at.at({v.name: step}), solve_at.at({v.name: -step})
        chords[v.name] = (up - down) / math.log((1 + step) / (1 - step))
        if v.sigma > 0:
            k = moved.index(v)
            gradient[k] = (up - down) / (2 * NODE)
            hessian[k, k] = (up + down) / NODE**2
    strongest = np.argsort(-np.abs(gradient), kind="stable")[:JOINT]
    own = NormalQuadratic(0.0, gradient, hessian.copy())
    for i, j in combinations(strongest, 2):
        u = np.zeros(len(moved))
        u[[i, j]] = NODE * np.sign(gradient[[i, j]])
        joint = _at_sigmas(solve_at, line, u) - float(own.at(u))
        hessian[i, j] = hessian[j, i] = joint / (u[i] * u[j]) if u[i] * u[j] else 0.0
    surface = NormalQuadratic(0.0, gradient, hessian)
    residual = 0.0
    length = float(np.linalg.norm(gradient))
    if length > 0:
        for sign in (CHECK_AT, -CHECK_AT):
            u = sign * gradient / length
            residual = max(residual, abs(_at_sigmas(solve_at, line, u) - float(surface.at(u))))
    return Response(surface, chords, residual, solve_at.count)


def _at_sigmas(solve_at: _Evaluations, line: VariedLine, u: Real) -> float:
    """Solve with the variables that the process moves off by u standard deviations."""
    return solve_at.at(line.shares([float(x) for x in u]))


def _yield(surface: NormalQuadratic, target: float, pct: float, slack: float) -> Yield:
    """Return the yield of a band around ln(target / nominal), and how far an error of `slack` in ln Z moves it."""
    slack += COARSE_SLOPES * pct / 100
    low, high = target + math.log1p(-pct / 100), target + math.log1p(pct / 100)
    share = surface.between(low, high)
    wider, narrower = surface.between(low - slack, high + slack), surface.between(low + slack, high - slack)
    error = max(wider - share, share - narrower)
    return Yield(within_pct=pct, share=share, error=error, linear_share=surface.linear.between(low, high))
