"""The spread of an impedance in fabrication meets another solver, closed forms, and thousands of solved boards."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.process import typical_processes
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.field_solver.solver import LADDER, solve, solve_once
from stackup_lib.transmission_lines.finish import MASK_DK
from stackup_lib.transmission_lines.normal_quadratic import NormalQuadratic
from stackup_lib.transmission_lines.process import LengthTolerance, Process, ProcessError, Tolerance
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from stackup_lib.transmission_lines.tolerance import (
    COARSE_SLOPES,
    ImpedanceSpread,
    respond,
    sensitivities,
    spread,
    spread_or_why,
)
from stackup_lib.transmission_lines.variation import VariedLine
from tests.support.physics.tolerance_cases import CASES, NAMES, _budget, reference_process, site_of


def _spread_of(case: dict[str, Any], process: Process) -> ImpedanceSpread:
    p = case["parameters_mm"]
    return spread(site_of(case), p["base"], p.get("gap"), process, p.get("coplanar_gap"))


def _inner(*, row_above: str = "b", dk: float = 3.6, label: str = "") -> TraceEnvironment:
    return TraceEnvironment(
        layer="In1.Cu",
        reference_below="In2.Cu",
        reference_above="F.Cu",
        below=(DielectricSheet(name="a", kind="core", thickness_mm=0.13, dk=dk),),
        above=(DielectricSheet(name=row_above, kind="core", thickness_mm=0.13, dk=dk, label=label),),
        copper_mm=0.0152,
        taper_mm=0.015,
    )


# --- another solver's sensitivities ---


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c["id"]))
def test_every_sensitivity_meets_the_other_solver_to_its_last_digit(case: dict[str, Any]) -> None:
    """Each derivative agrees to one unit and a half of the fourth decimal, which is the last one printed."""
    p = case["parameters_mm"]
    found = sensitivities(site_of(case), p["base"], p.get("gap"), p.get("coplanar_gap"), process=reference_process())
    expected = {NAMES[name]: value for name, value in case["sensitivities"].items()}
    assert sorted(found) == sorted(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1.5e-4), name


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c["id"]))
def test_every_budget_meets_the_other_solver(case: dict[str, Any]) -> None:
    """Impedance, worst case and root sum of squares are the printed ones where derivatives take small steps."""
    p, process = case["parameters_mm"], reference_process()
    line = VariedLine(site_of(case), p["base"], p.get("gap"), p.get("coplanar_gap"), process)
    slopes = sensitivities(line.site, line.width_mm, line.gap_mm, line.coplanar_gap_mm, process=process)
    parts = [100 * abs(slopes[v.name]) * v.sigma * v.sigmas for v in line.variables]
    assert sum(parts) == pytest.approx(case["worst_case_pct"], abs=0.02)
    assert math.hypot(*parts) == pytest.approx(case["rss_pct"], abs=0.01)


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c["id"]))
def test_the_budget_of_a_spread_differs_little_from_that_of_derivatives(case: dict[str, Any]) -> None:
    """Chords over the real size of the process move worst case and root sum of squares by less than a hundredth."""
    found = _spread_of(case, reference_process())
    assert found.nominal_ohm == pytest.approx(case["impedance_ohm"], rel=1e-4)
    assert found.linear_worst_case_pct == pytest.approx(case["worst_case_pct"], rel=6e-3)
    assert found.rss_pct == pytest.approx(case["rss_pct"], rel=6e-3)
    assert found.solves <= 21


# --- laws of nature ---


def test_all_lengths_together_change_nothing() -> None:
    """Impedance does not depend on scale: the sensitivities to all lengths of a single line add up to nothing."""
    found = sensitivities(_inner(), 0.1, process=Process(taper_follows_copper=False))
    assert sum(s for name, s in found.items() if not name.startswith("dk")) == pytest.approx(0, abs=2e-4)
    assert sum(s for name, s in found.items() if name.startswith("dk")) == pytest.approx(-0.5, abs=1e-4)


def test_dk_alone_in_one_dielectric_has_a_closed_yield() -> None:
    """Z goes as Dk^-1/2: the yield is what the normal distribution of Dk says, and the interval follows from it."""
    process = Process(core_dk=Tolerance(relative=0.12, sigmas=2))
    found = spread(_inner(row_above="a"), 0.1, 0.15, process, within_pct=(5.0,), target_ohm=None)
    dk = NormalDist(1.0, 0.06)
    expected = dk.cdf(0.95**-2) - dk.cdf(1.05**-2)
    one = found.inside(5.0)
    assert one.share == pytest.approx(expected, abs=one.error)
    assert one.error < 0.008
    assert abs(one.linear_share - expected) > abs(one.share - expected)
    low, high = (found.nominal_ohm * dk.inv_cdf(q) ** -0.5 for q in (1 - 0.00135, 0.00135))
    assert found.interval_ohm.low == pytest.approx(low, rel=2e-3)
    assert found.interval_ohm.high == pytest.approx(high, rel=2e-3)


def test_rows_err_alone_and_plies_of_a_row_together() -> None:
    """Two halves of one row add their sensitivities; two rows add them by squares."""
    process = Process(core_dk=Tolerance(relative=0.03, sigmas=3))
    together = spread(_inner(row_above="a"), 0.1, None, process)
    apart = spread(_inner(row_above="b"), 0.1, None, process)
    assert together.sigma_pct == pytest.approx(0.5, rel=2e-3)
    both = [apart.sensitivities[name] for name in ("dk a", "dk b")]
    assert sum(both) == pytest.approx(-0.5, abs=2e-3)
    assert apart.sigma_pct == pytest.approx(math.hypot(*both), rel=2e-3)


# --- what moves together ---


def _line(site: TraceEnvironment, process: Process, coplanar_gap_mm: float | None = None) -> VariedLine:
    gap = None if coplanar_gap_mm else 0.15
    return VariedLine(site, 0.1, gap, coplanar_gap_mm, process)


def test_etching_keeps_the_pitch_and_takes_from_both_traces() -> None:
    """Ten percent of width more leaves as much less gap, and the centres where they were."""
    strips = _line(_inner(), Process()).section({"width": 0.1}).strips
    assert [s.base_width_mm for s in strips] == pytest.approx([0.11, 0.11])
    assert [s.top_width_mm for s in strips] == pytest.approx([0.095, 0.095])
    assert [s.centre_mm for s in strips] == pytest.approx([-0.125, 0.125])


def test_coplanar_ground_is_etched_like_the_trace_unless_told_otherwise() -> None:
    """Two edges face each gap; the reference moves one of them."""
    etched = _line(_inner(), Process(), 0.2).section({"width": 0.1})
    still = _line(_inner(), Process(etches_coplanar_ground=False), 0.2).section({"width": 0.1})
    assert etched.coplanar_gap_mm == pytest.approx(0.19)
    assert still.coplanar_gap_mm == pytest.approx(0.195)


def test_taper_follows_the_copper_at_one_etch_factor() -> None:
    """Copper a fifth thicker has a fifth more taper; with the taper stated, it stays."""
    follows = _line(_inner(), Process()).section({"copper": 0.2}).strips[0]
    stays = _line(_inner(), Process(taper_follows_copper=False)).section({"copper": 0.2}).strips[0]
    assert follows.thickness_mm == pytest.approx(1.2 * 0.0152)
    assert follows.base_width_mm - follows.top_width_mm == pytest.approx(0.018)
    assert stays.base_width_mm - stays.top_width_mm == pytest.approx(0.015)


def test_errors_of_plies_add_up_within_a_row() -> None:
    """Two plies of +-0.01 mm make a row of +-0.02 mm; one thick ply whose share is larger counts with that."""
    plies = tuple(DielectricSheet(name="a", kind="prepreg", thickness_mm=t, dk=3.6, label=str(t)) for t in (0.08, 0.05))
    site = _inner().model_copy(update={"below": plies})
    process = Process(prepreg_thickness=LengthTolerance(relative=0.15, absolute_mm=0.01, sigmas=2))
    line = _line(site, process)
    row = next(v for v in line.variables if v.name == "thickness a")
    assert row.sigma * row.sigmas == pytest.approx((0.012 + 0.01) / 0.13)
    layers = line.section({"thickness a": row.sigma * row.sigmas}).layers
    assert [layer.thickness_mm for layer in layers[:2]] == pytest.approx([0.092, 0.06])


def test_copper_of_another_layer_on_the_way_keeps_its_thickness() -> None:
    """What fills its gaps shares the Dk of its row, not the errors of a ply."""
    sheet = DielectricSheet(name="b", kind="prepreg", thickness_mm=0.1, dk=3.6)
    gaps = sheet.model_copy(update={"thickness_mm": 0.03, "gap_layer": "In3.Cu"})
    site = _inner().model_copy(update={"above": (sheet, gaps)})
    line = _line(site, Process(prepreg_thickness=LengthTolerance(absolute_mm=0.01), prepreg_dk=Tolerance(relative=0.1)))
    row = next(v for v in line.variables if v.name == "thickness b")
    assert (row.nominal, row.sigma * row.sigmas) == pytest.approx((0.1, 0.1))
    layers = line.section({"thickness b": 0.1, "dk b": 0.05}).layers[1:]
    assert [layer.thickness_mm for layer in layers] == pytest.approx([0.11 + site.copper_mm, 0.03])
    assert [layer.er for layer in layers] == pytest.approx([3.78, 3.78])


def test_thinner_prepreg_has_less_resin_and_a_higher_dk_where_that_is_stated() -> None:
    """The errors of thickness and Dk then pull the impedance the same way, and the spread grows."""
    site = _inner()
    site = site.model_copy(update={"above": (site.above[0].model_copy(update={"kind": "prepreg"}),)})
    thickness = LengthTolerance(relative=0.1)
    alone = spread(site, 0.1, None, Process(prepreg_thickness=thickness))
    linked = Process(prepreg_thickness=thickness, prepreg_dk_per_thickness=-0.3)
    assert _line(site, linked).section({"thickness b": 0.1}).layers[1].er == pytest.approx(3.6 * 1.1**-0.3)
    cores = linked.model_copy(update={"core_thickness": thickness})  # a core is cured: its Dk stays
    assert _line(site, cores).section({"thickness a": 0.1}).layers[0].er == 3.6
    expected = alone.sensitivities["thickness b"] - 0.3 * alone.sensitivities["dk b"]
    assert spread(site, 0.1, None, linked).sensitivities["thickness b"] == pytest.approx(expected, abs=2e-3)


# --- yield ---


def test_a_quadratic_without_curvature_is_normal() -> None:
    """Its distribution is the normal one, to twelve digits."""
    form = NormalQuadratic(0.1, np.array([0.03, 0.04]), np.zeros((2, 2)))
    for y in (-0.1, 0.0, 0.08, 0.1, 0.25):
        assert form.below(y) == pytest.approx(NormalDist(0.1, 0.05).cdf(y), abs=1e-12)
    assert form.quantile(0.975) == pytest.approx(0.1 + 1.959964 * 0.05, abs=5e-5)
    assert form.below(2.0) == 1
    assert form.below(-2.0) == 0


def test_the_distribution_of_a_curved_quadratic_is_that_of_a_million_draws() -> None:
    """Mixed curvature, positive and negative: the inversion meets a seeded draw within four of its errors."""
    hessian = np.array([[0.01, 0.004, 0.0], [0.004, -0.006, 0.001], [0.0, 0.001, 0.002]])
    form = NormalQuadratic(0.02, np.array([0.03, 0.02, 0.01]), hessian)
    drawn = form.at(np.random.default_rng(1).standard_normal((1_000_000, 3)))
    assert form.mean == pytest.approx(drawn.mean(), abs=2e-4)
    assert form.sigma == pytest.approx(drawn.std(), rel=3e-3)
    for y in (-0.08, -0.03, 0.02, 0.07, 0.12):
        share = float((drawn < y).mean())
        assert form.below(y) == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 1e6))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coated microstrip 50 (3313 0.1 mm)", "stripline pair 100 (0.13/0.13)"])
def test_the_yield_is_that_of_hundreds_of_solved_boards(name: str) -> None:
    """Board for board the surface agrees with the solver; in no band do the yields differ by more than stated."""
    case = next(c for c in CASES if c["id"] == name)
    p, boards = case["parameters_mm"], 400
    line = VariedLine(site_of(case), p["base"], p.get("gap"), None, _budget())
    response = respond(line)
    drawn = np.random.default_rng(20).standard_normal((boards, len(response.surface.gradient)))
    sections = [line.section({}), *(line.section(line.shares([float(u) for u in board])) for board in drawn)]
    solved = np.log([solve_once(section, LADDER[1]).impedance_ohm for section in sections])
    truth, surface = solved[1:] - solved[0], response.surface.at(drawn)
    assert np.sqrt(np.mean((truth - surface) ** 2)) < 2 * response.residual < 2e-3
    stated = spread(line.site, line.width_mm, line.gap_mm, line.process)
    for one in stated.yields:
        low, high = math.log1p(-one.within_pct / 100), math.log1p(one.within_pct / 100)
        brute, fitted = (float(((y > low) & (y < high)).mean()) for y in (truth, surface))
        assert abs(brute - fitted) <= one.error + 1 / boards
        assert abs(brute - one.share) <= one.error + 4 * math.sqrt(one.share * (1 - one.share) / boards)
    linear = drawn @ response.surface.gradient
    assert np.std(truth - surface) < np.std(truth - linear) / 2


def test_two_strong_errors_at_once_are_not_the_sum_of_each() -> None:
    """Thicker laminate and a narrower trace together: the surface meets the solver, which own curvatures miss."""
    case = next(c for c in CASES if c["id"] == "stripline pair 100 (0.13/0.13)")
    p = case["parameters_mm"]
    line = VariedLine(site_of(case), p["base"], p["gap"], None, _budget())
    surface = respond(line).surface
    own = NormalQuadratic(0.0, surface.gradient, np.diag(np.diag(surface.hessian)))
    strongest = np.argsort(-np.abs(surface.gradient))[:2]
    meshed = line.with_every_interface()

    def log_ohm(u: Any) -> float:
        section = meshed.section(line.shares([float(x) for x in u]))
        return math.log(solve_once(section, LADDER[2]).impedance_ohm)

    at_rest = log_ohm(np.zeros(len(surface.gradient)))
    for sign in (1, -1):
        u = np.zeros(len(surface.gradient))
        u[strongest] = 2 * np.sign(surface.gradient[strongest]) * np.array([1, sign])
        true = log_ohm(u) - at_rest
        assert float(surface.at(u)) == pytest.approx(true, abs=1e-4)
        assert abs(float(own.at(u)) - true) > 4e-4


@pytest.mark.parametrize("tolerance", [1e-4, 5e-3])
def test_the_error_of_a_yield_holds_surface_solver_and_coarse_mesh(tolerance: float) -> None:
    """Each band wider and narrower by all three together; none of them may be left out."""
    process = _budget()
    line = VariedLine(_inner(), 0.1, None, None, process)
    response = respond(line)
    solver_error = solve(line.section({}), tolerance).error_estimate
    stated = spread(_inner(), 0.1, None, process, tolerance=tolerance).inside(5.0)
    slack = response.residual + solver_error + COARSE_SLOPES * 0.05
    low, high = math.log1p(-0.05), math.log1p(0.05)
    between = response.surface.between
    share = between(low, high)
    off = max(between(low - slack, high + slack) - share, share - between(low + slack, high - slack))
    assert stated.error == pytest.approx(off, rel=1e-6)
    assert min(response.residual, solver_error, COARSE_SLOPES * 0.05) > 0.01 * slack


def test_a_line_beside_its_target_has_less_yield() -> None:
    """Bands lie around the target, not around the line; five percent off, half of the production is outside +-5 %."""
    process = _budget()
    centred = spread(_inner(), 0.1, None, process)
    adjacent = spread(_inner(), 0.1, None, process, target_ohm=centred.nominal_ohm / 1.05)
    assert adjacent.target_ohm == pytest.approx(centred.nominal_ohm / 1.05)
    assert adjacent.inside(5.0).share == pytest.approx(0.5, abs=0.02)
    assert centred.inside(5.0).share > 0.8
    shares = [one.share for one in centred.yields]
    assert shares == sorted(shares)


def test_a_process_without_errors_yields_everything() -> None:
    """No tolerance, no spread; sensitivities are known all the same."""
    found = spread(_inner(), 0.1, 0.15, Process())
    assert [one.share for one in found.yields] == [1, 1, 1]
    assert (found.linear_worst_case_pct, found.rss_pct, found.sigma_pct) == (0, 0, 0)
    assert found.interval_ohm.low == found.interval_ohm.high == found.nominal_ohm
    assert found.sensitivities["width"] < -0.3
    assert spread(_inner(), 0.1, 0.15, Process(), target_ohm=found.nominal_ohm * 1.2).inside(10.0).share == 0


def test_the_same_question_has_the_same_answer() -> None:
    """Nothing is drawn at random."""
    assert spread(_inner(), 0.1, None, _budget()) == spread(_inner(), 0.1, None, _budget())


# --- what cannot be ---


def test_impossible_tolerances_are_refused() -> None:
    """Negative, endless, all of the thing itself, or limits of no standard deviation."""
    with pytest.raises(ProcessError, match="relative tolerance"):
        Tolerance(relative=-0.1)
    with pytest.raises(ProcessError, match="relative tolerance"):
        LengthTolerance(relative=1.0)
    with pytest.raises(ProcessError, match=r"-0\.01 mm"):
        LengthTolerance(absolute_mm=-0.01)
    with pytest.raises(ProcessError, match="nan mm"):
        LengthTolerance(absolute_mm=math.nan)
    with pytest.raises(ProcessError, match="standard deviations"):
        Tolerance(relative=0.1, sigmas=0)


def test_impossible_lines_and_targets_are_refused() -> None:
    """No width, a gap of less than nothing, a target of 0 ohm, a band of nothing."""
    with pytest.raises(GeometryError, match="width"):
        spread(_inner(), 0.0, None, _budget())
    with pytest.raises(GeometryError, match="gap"):
        spread(_inner(), 0.1, -0.1, _budget())
    with pytest.raises(GeometryError, match="target"):
        spread(_inner(), 0.1, None, _budget(), target_ohm=0)
    with pytest.raises(GeometryError, match="band"):
        spread(_inner(), 0.1, None, _budget(), within_pct=(0.0,))


def test_a_process_that_etches_the_line_away_says_so() -> None:
    """+-0.02 mm of one standard deviation leaves nothing of a trace of 0.03 mm, nor of the top of one of 0.04 mm."""
    process = Process(width=LengthTolerance(absolute_mm=0.02, sigmas=1))
    with pytest.raises(ProcessError, match="width strays by 67 %"):
        spread(_inner(), 0.03, None, process)
    with pytest.raises(ProcessError, match=r"width by -86.6 %.*cannot exist"):
        spread(_inner(), 0.04, None, process)


def test_a_line_without_a_spread_is_told_with_the_reason() -> None:
    """Where the limits leave no line there is no spread; what cannot exist itself is still refused."""
    process = Process(width=LengthTolerance(absolute_mm=0.02, sigmas=1))

    found, why = spread_or_why(_inner(), 0.04, None, process)
    assert found is None
    assert "the line cannot exist" in why
    assert spread_or_why(_inner(), 0.1, None, _budget()) == (spread(_inner(), 0.1, None, _budget()), "")
    with pytest.raises(GeometryError, match="width"):
        spread_or_why(_inner(), 0.0, None, process)


# --- typical processes ---


@pytest.mark.parametrize("width_mm,limit_mm", [(0.1, 0.02), (0.2, 0.04), (0.254, 0.0508), (0.8, 0.0508), (2.9, 0.0508)])
def test_wide_traces_have_the_width_tolerance_that_makers_call_their_default(width_mm: float, limit_mm: float) -> None:
    """A fifth of the width up to 10 mil, and 2 mil beyond: no maker etches 0.8 mm to 0.16 mm."""
    standard = typical_processes()[Tier.STANDARD].process
    assert standard.width.limit_mm(width_mm) == pytest.approx(limit_mm)


def test_wide_pairs_with_usual_gaps_have_a_spread() -> None:
    """0.8/0.15 and 1.0/0.2 on 1.45 mm: at +-20 % of the width their gaps would close at three limits."""
    core = DielectricSheet(name="1", kind="core", thickness_mm=1.45, dk=4.3)
    site = TraceEnvironment(layer="F.Cu", reference_below="B.Cu", below=(core,), copper_mm=0.035)
    standard = typical_processes()[Tier.STANDARD].process
    uncapped = standard.model_copy(update={"width": LengthTolerance(relative=0.2)})

    for width_mm, gap_mm in ((0.8, 0.15), (1.0, 0.2)):
        assert spread(site, width_mm, gap_mm, standard).sigma_pct < 7
        with pytest.raises(ProcessError, match="cannot exist"):
            spread(site, width_mm, gap_mm, uncapped)


@pytest.mark.parametrize(
    "core_mm,standard_mm,advanced_mm",
    [(0.05, 0.018, 0.013), (0.1, 0.018, 0.013), (0.15, 0.018, 0.015), (0.254, 0.0254, 0.0254), (1.0, 0.1, 0.1)],
)
def test_thin_cores_have_the_tolerance_that_laminate_makers_print(
    core_mm: float, standard_mm: float, advanced_mm: float
) -> None:
    """In inches: 0.0040 +-0.0007 twice (IPC-4101 level B, RO4350B), 0.0100 +-0.001 (RO4350B), 0.005 +-0.0005 (RO3003).

    0.018 mm at 0.05 mm as well: levels go by steps of thickness.
    """
    found = typical_processes()

    assert found[Tier.STANDARD].process.core_thickness.limit_mm(core_mm) == pytest.approx(standard_mm)
    assert found[Tier.ADVANCED].process.core_thickness.limit_mm(core_mm) == pytest.approx(advanced_mm)
    assert found[Tier.STANDARD].process.core_thickness.limit_mm(0.1016) == pytest.approx(0.0007 * 25.4, abs=5e-4)
    assert "IPC-4101" in found[Tier.STANDARD].sources["core_thickness"].text


def test_typical_processes_name_a_source_for_every_tolerance() -> None:
    """HIC prints +-10 % of dielectric thickness and +-20 % of etched width; what is only trade knowledge says so."""
    found = typical_processes()
    assert sorted(found) == [Tier.ADVANCED, Tier.STANDARD]
    standard = found[Tier.STANDARD]
    assert standard.process.width.limit_mm(0.1) == pytest.approx(0.02)
    assert standard.process.core_thickness.limit_mm(0.2) == pytest.approx(0.02)
    assert standard.process.prepreg_thickness.limit_mm(0.08) == pytest.approx(0.0102)
    assert standard.sources["width"].text.startswith("HIC")
    assert standard.sources["copper"].grade.value == "engineering"
    assert Tier.BEST not in found
    for one in found.values():
        assert set(one.sources) == one.process.model_fields_set - {"name"}
        assert one.process.width.sigmas == 3
        mask = MASK_DK * one.process.mask_dk.relative
        assert MASK_DK - mask <= 3.3
        assert MASK_DK + mask >= 3.9
        assert "PSR-4000 BN" in one.sources["mask_dk"].text


def test_a_tighter_process_yields_more() -> None:
    """The advanced process makes more boards within 10 % than the standard one."""
    standard, advanced = (typical_processes()[tier].process for tier in (Tier.STANDARD, Tier.ADVANCED))
    shares = [spread(_inner(), 0.1, 0.15, process).inside(5.0).share for process in (standard, advanced)]
    assert shares[0] < shares[1]
