"""How warm copper gets, and what a drop may be with the copper that a fab delivers."""

from __future__ import annotations

import numpy as np
import pytest

from stackup_lib.core.interval import Interval
from stackup_lib.power.heating import (
    THERMAL_W_PER_MK,
    chart_rise_c,
    conduction_rise_c,
    cooling_length_mm,
    own_heat_c,
    spreading_v,
)
from stackup_lib.power.rail_drop.spread import COPPER_C, PLATING_UM, Ratio, drop_ratio, finished_range_mm
from stackup_lib.transmission_lines.materials.conductor_models import COPPER_S_PER_M


@pytest.mark.parametrize(("current_a", "width_mm", "outer"), [(1.0, 0.300387, True), (1.0, 0.781433, False)])
def test_the_chart_gives_the_widths_of_the_usual_calculators(current_a: float, width_mm: float, outer: bool) -> None:
    """1 A and 10 degrees in 35 um: 0.300 mm outside and 0.781 mm inside, as KiCad's calculator says."""
    assert chart_rise_c(current_a, width_mm, 0.035, outer=outer) == pytest.approx(10.0, rel=1e-3)


def test_the_chart_rises_with_the_current_and_falls_with_the_cross_section() -> None:
    """The exponents of the formula: 1/0.44 of the current, 0.725/0.44 of the area."""
    one = chart_rise_c(1.0, 0.5, 0.035, outer=True)

    assert chart_rise_c(2.0, 0.5, 0.035, outer=True) / one == pytest.approx(2 ** (1 / 0.44))
    assert one / chart_rise_c(1.0, 1.0, 0.035, outer=True) == pytest.approx(2 ** (0.725 / 0.44))
    assert one / chart_rise_c(1.0, 0.5, 0.07, outer=True) == pytest.approx(2 ** (0.725 / 0.44))


def test_a_neck_between_cool_ends_warms_by_its_voltage_alone() -> None:
    """A strip of 3 mm by differences: heat of the current against conduction to both ends, at two widths."""
    for narrow in (1.0, 0.3):
        width_mm = np.where(np.abs(np.linspace(-1.5, 1.5, 601)) < 0.5, narrow, 1.0)
        step_m, thick_m, current_a = 3e-3 / 601, 35e-6, 6.0
        section = width_mm * 1e-3 * thick_m
        ohm = step_m / (COPPER_S_PER_M * section)
        half = step_m / 2 / (THERMAL_W_PER_MK * section)
        links = 1 / (half[:-1] + half[1:])
        matrix = np.diag(np.r_[1 / half[0], links] + np.r_[links, 1 / half[-1]])
        matrix -= np.diag(links, 1) + np.diag(links, -1)
        rise = np.linalg.solve(matrix, current_a**2 * ohm)

        assert rise.max() == pytest.approx(conduction_rise_c(current_a * ohm.sum()), rel=1e-3)


def test_hot_copper_bounds_the_rise_lower() -> None:
    """V2/(8 k rho): with 25.5 % more resistance at 85 degrees the same voltage drives so much less heat."""
    assert conduction_rise_c(0.02) == pytest.approx(0.02**2 / (8 * 390 * 1 / 5.8e7))
    assert conduction_rise_c(0.02, 85) == pytest.approx(conduction_rise_c(0.02) / (1 + 65 * 0.00393))


@pytest.mark.parametrize(("current_a", "pads_at_one_end"), [(4.0, False), (8.0, False), (2.0, True), (4.0, True)])
def test_the_bound_holds_where_heat_adds_resistance(current_a: float, pads_at_one_end: bool) -> None:
    """A strip of 10 mm, 0.5 mm and 35 um at constant current by differences, each piece as resistive as it is warm."""
    count, section = 400, 0.5e-3 * 35e-6
    step_m, ends_c = 10e-3 / count, 85.0
    cold_ohm = step_m * (1 + 0.00393 * (ends_c - 20)) / (COPPER_S_PER_M * section)
    link = THERMAL_W_PER_MK * section / step_m
    matrix = np.diag(np.full(count, 2 * link)) - np.diag(np.full(count - 1, link), 1)
    matrix -= np.diag(np.full(count - 1, link), -1)
    matrix[0, 0] = 3 * link
    matrix[-1, -1] = link if pads_at_one_end else 3 * link
    rise = np.zeros(count)
    for _ in range(60):
        hotter = 1 + 0.00393 * rise / (1 + 0.00393 * (ends_c - 20))
        rise = np.linalg.solve(matrix, current_a**2 * cold_ohm * hotter)

    plain = conduction_rise_c(current_a * cold_ohm * count, ends_c) * (4 if pads_at_one_end else 1)
    per_k = 0.00393 / (1 + 0.00393 * (ends_c - 20))
    assert rise.max() == pytest.approx((1 / np.cos(np.sqrt(2 * per_k * plain)) - 1) / per_k, rel=0.01)
    assert plain < rise.max() <= own_heat_c(plain, ends_c)


def test_no_bound_is_left_where_heat_runs_away() -> None:
    """1/a is 254 K at 20 degrees: from there on each degree adds more heat than it carries off."""
    assert own_heat_c(254.4) > 1e4
    assert own_heat_c(255.0) == float("inf")


@pytest.mark.parametrize(
    ("stated_mm", "outer", "thin_mm", "thick_mm"),
    [
        (0.035, False, 0.0249, 0.035),
        (0.030, False, 0.0249, 0.0343),
        (0.0175, False, 0.0114, 0.0175),
        (0.018, False, 0.0114, 0.018),
        (0.070, False, 0.0557, 0.070),
        (0.050, False, 0.045, 0.055),
        (0.024, False, 0.024, 0.0343),
        (0.035, True, 0.0315, 0.065),
    ],
)
def test_delivered_copper_is_thinner_inside_and_thicker_outside(
    stated_mm: float, outer: bool, thin_mm: float, thick_mm: float
) -> None:
    """IPC-6012's least inner copper of 1/2, 1 and 2 oz: 11.4, 24.9, 55.7 um; 10 % between classes; plating outside."""
    assert finished_range_mm(stated_mm, outer=outer) == pytest.approx((thin_mm, thick_mm))


def test_the_range_holds_what_layers_side_by_side_and_in_a_row_would_do() -> None:
    """Two sheets and a barrel as resistors: every mix of thin and thick copper lies within the bounds."""
    thickness = {0: (0.0315, 0.035, 0.065), 1: (0.0114, 0.018, 0.018)}
    plating = (18.0, 20.0, 30.0)
    warm = (20.0, 20.0, 85.0)

    def loss(top: float, inner: float, barrel: float, hot: float = 1.0) -> tuple[float, float, float]:
        """1 A through a barrel, then through two sheets side by side: lost in each."""
        one, two = 0.035 / top, 2 * 0.018 / inner
        share = two / (one + two)
        return hot * share**2 * one, hot * (1 - share) ** 2 * two, hot * 0.5 * 20.0 / barrel

    first, second, hole = loss(0.035, 0.018, 20.0)
    ratio = drop_ratio({0: first, 1: second}, hole, thickness, plating, warm)
    hot = 1 + 65 * 0.00393
    seen = [
        sum(loss(top, inner, barrel, factor)) / (first + second + hole)
        for top in thickness[0]
        for inner in thickness[1]
        for barrel in plating
        for factor in (1.0, hot)
    ]

    assert ratio.low <= min(seen)
    assert max(seen) <= ratio.high
    assert ratio.low == pytest.approx(min(seen), rel=0.05)
    assert ratio.high == pytest.approx(max(seen), rel=0.05)


def test_one_layer_scales_as_its_thickness() -> None:
    """Nothing to share out: the bounds are exact, and the middle stays where it is."""
    ratio = drop_ratio({3: 2.0}, 0.0, {3: (0.0249, 0.035, 0.035)}, (20.0, 20.0, 20.0), (20.0, 20.0, 20.0))

    assert (ratio.low, ratio.high) == pytest.approx((1.0, 0.035 / 0.0249))
    widened = ratio.of(Interval(low=1.0, nominal=2.0, high=3.0))
    assert (widened.low, widened.nominal, widened.high) == pytest.approx((1.0, 2.0, 3 * 0.035 / 0.0249))


def test_a_part_that_lowers_a_drop_widens_it_at_its_other_end() -> None:
    """3 V in one layer and -1 V in another, which a current elsewhere causes: by hand."""
    thickness = {0: (0.03, 0.04, 0.06), 1: (0.02, 0.04, 0.05)}
    ratio = drop_ratio({0: 3.0, 1: -1.0}, 0.0, thickness, (20.0, 20.0, 20.0), (20.0, 20.0, 20.0))

    assert ratio.high == pytest.approx((3 * 4 / 3 - 1 * 4 / 5) / 2)
    assert ratio.low == pytest.approx(2 / (3 * 6 / 4 - 1 * 2 / 4))


def test_a_rail_without_loss_is_as_sure_as_it_was() -> None:
    """No current, nothing to widen."""
    assert drop_ratio({}, 0.0, {}, (18.0, 20.0, 30.0), (20.0, 20.0, 85.0)) == Ratio(low=1.0, high=1.0)


def test_what_is_assumed_lies_within_its_own_range() -> None:
    """IPC's 20 and 25 um of plating and a fab's 18 um are all within; copper is cold by default."""
    assert PLATING_UM.low <= 18.0
    assert PLATING_UM.high >= 25.0
    assert COPPER_C.low == COPPER_C.nominal == 20.0


def test_spreading_in_wide_copper_is_that_of_a_half_plane() -> None:
    """20 A from 0.3 mm into 35 um: 0.4926 mOhm a square, ln(4 x 36.95 / 0.3) / pi = 1.974 squares, 19.4 mV."""
    assert cooling_length_mm(0.035) == pytest.approx(36.95, rel=1e-3)
    assert spreading_v(20, 0.3, 0.035) == pytest.approx(0.01944, rel=1e-2)
    assert spreading_v(20, 1000, 0.035) == 0
