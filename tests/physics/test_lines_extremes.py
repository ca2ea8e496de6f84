"""Drawings at the edge of what can be made are solved with an honest error estimate, or refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackup_lib.field_solver import shapes
from stackup_lib.field_solver.mesh import Resolution
from stackup_lib.field_solver.sections import GeometryError, Layer, Mask, Section, Strip
from stackup_lib.field_solver.solver import TOLERANCE, solve, solve_once

FINEST = Resolution(12, 8, 0.9)
"""Finer than any rung of the solver."""


def mask(on_laminate_mm: float, on_trace_mm: float) -> Mask:
    return Mask(er=3.5, on_laminate_mm=on_laminate_mm, on_trace_mm=on_trace_mm)


EXTREMES = {
    "a pair 1 um apart on the surface": shapes.microstrip(
        width_mm=0.15, gap_mm=0.001, height_mm=0.1, thickness_mm=0.035, er=4.0
    ),
    "a pair 1 um apart between planes": shapes.stripline(
        width_mm=0.15, gap_mm=0.001, thickness_mm=0.015, layers_below=[(0.1, 4.0)], layers_above=[(0.12, 3.6)]
    ),
    "coplanar ground 1 um away": shapes.coplanar(
        width_mm=0.3, ground_gap_mm=0.001, thickness_mm=0.035, layers_below=[(0.2, 4.4)]
    ),
    "1 um over the plane": shapes.stripline(
        width_mm=0.2, thickness_mm=0.035, layers_below=[(0.001, 4.0)], layers_above=[(0.235, 4.0)]
    ),
    "500 times as wide as high": shapes.microstrip(width_mm=50.0, height_mm=0.1, thickness_mm=0.035, er=4.0),
    "1 um wide": shapes.microstrip(width_mm=0.001, height_mm=1.5, thickness_mm=0.035, er=4.0),
    "nearly a triangle": shapes.microstrip(width_mm=0.1, top_width_mm=0.001, height_mm=0.1, thickness_mm=0.035, er=4.0),
    "mask of 1 um": shapes.microstrip(width_mm=0.2, height_mm=0.1, thickness_mm=0.035, er=4.0, mask=mask(0.001, 0.001)),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_drawing_is_solved_and_its_estimate_covers_a_far_finer_solution(name: str) -> None:
    """Within the tolerance, and what ten times the effort changes is less than what was promised."""
    usual, finer = solve(EXTREMES[name]), solve_once(EXTREMES[name], FINEST)

    assert usual.error_estimate <= TOLERANCE
    assert finer.unknowns > usual.unknowns
    assert usual.difference(finer) <= usual.error_estimate


def touching(*, above: bool) -> Section:
    """A strip 2 um from the plane above, which is meshed, or below, which is an image."""
    near, far = Layer(thickness_mm=0.002, er=4.0), Layer(thickness_mm=0.235, er=4.0)
    strip = Strip(base_width_mm=0.2, top_width_mm=0.2, thickness_mm=0.035, bottom_mm=0.2 if above else 0.002)
    return Section(layers=(far, near) if above else (near, far), strips=(strip,), plane_above=True)


def test_a_strip_two_micrometres_from_either_plane_is_one_line_within_the_estimates() -> None:
    """The meshed plane is the harder one: where the tolerance is missed, the estimate says so."""
    image, meshed = solve(touching(above=False)), solve(touching(above=True))

    assert abs(meshed.z0_ohm / image.z0_ohm - 1) <= meshed.error_estimate + image.error_estimate


def test_a_strip_500_times_as_wide_as_high_gains_what_a_plate_capacitor_does() -> None:
    """Widening by dw adds er dw/h to C/eps0."""

    def capacitance(width_mm: float) -> float:
        section = shapes.microstrip(width_mm=width_mm, height_mm=0.1, thickness_mm=0.035, er=4.0)
        return float(solve(section, 1e-6).relative_capacitance[0, 0])

    assert capacitance(51.0) - capacitance(50.0) == pytest.approx(4.0 * 1.0 / 0.1, rel=2e-3)


def test_walls_a_micrometre_apart_are_a_plate_capacitor() -> None:
    """Thicker walls by dt add 2 dt/s to the odd mode's C0, the plane of symmetry lying at half the gap."""

    def capacitance(thickness_mm: float) -> float:
        section = shapes.microstrip(width_mm=0.15, gap_mm=0.001, height_mm=0.1, thickness_mm=thickness_mm, er=1.0)
        c = solve(section, 1e-6).relative_air_capacitance
        return float(c[0, 0] - c[0, 1])

    assert capacitance(0.05) - capacitance(0.04) == pytest.approx(2 * 0.01 / 0.001, rel=2e-2)


def test_a_mask_growing_thin_approaches_bare_copper_from_below() -> None:
    """Each thinner coat lowers the impedance less, in proportion to its thickness at last."""
    bare = solve(shapes.microstrip(width_mm=0.2, height_mm=0.1, thickness_mm=0.035, er=4.0), 1e-6).z0_ohm

    def lowered(coat_mm: float) -> float:
        section = shapes.microstrip(
            width_mm=0.2, height_mm=0.1, thickness_mm=0.035, er=4.0, mask=mask(coat_mm, coat_mm)
        )
        return bare - solve(section, 1e-6).z0_ohm

    assert lowered(0.004) > lowered(0.002) > lowered(0.001) > 0
    assert lowered(0.001) < 0.75 * lowered(0.002)


def log_uniform(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(math.exp)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    width_mm=log_uniform(1e-3, 20.0),
    height_mm=log_uniform(1e-3, 2.0),
    thickness_mm=log_uniform(5e-3, 0.2),
    lean=st.floats(0.0, 5.0),
    er=st.floats(1.0, 12.0),
)
def test_any_microstrip_is_solved_honestly_or_refused(
    width_mm: float, height_mm: float, thickness_mm: float, lean: float, er: float
) -> None:
    """Over four decades of width, three of height: the estimate covers the change of a finer solution."""
    try:
        section = shapes.microstrip(
            width_mm=width_mm,
            height_mm=height_mm,
            thickness_mm=thickness_mm,
            top_width_mm=max(1e-3, width_mm - 2 * lean * thickness_mm),
            er=er,
        )
        usual, finer = solve(section, 1e-3), solve(section, 1e-6)
    except GeometryError as refused:
        assert refused.next_step
        return
    assert 1.0 - 1e-3 <= usual.eps_eff <= er + 1e-3
    assert usual.difference(finer) <= usual.error_estimate + finer.error_estimate


@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    width_mm=log_uniform(0.02, 2.0),
    gap_mm=log_uniform(1e-3, 2.0),
    below_mm=log_uniform(1e-3, 1.0),
    above_mm=log_uniform(1e-3, 1.0),
    thickness_mm=log_uniform(1e-3, 0.1),
)
def test_any_stripline_pair_is_solved_honestly_or_refused(
    width_mm: float, gap_mm: float, below_mm: float, above_mm: float, thickness_mm: float
) -> None:
    """Nearly touching each other or either plane: the estimate covers the change of a finer solution."""
    try:
        section = shapes.stripline(
            width_mm=width_mm,
            gap_mm=gap_mm,
            thickness_mm=thickness_mm,
            layers_below=[(below_mm, 4.0)],
            layers_above=[(above_mm + thickness_mm, 3.5)],
        )
        usual, finer = solve(section, 1e-3), solve(section, 1e-5)
    except GeometryError as refused:
        assert refused.next_step
        return
    assert usual.difference(finer) <= usual.error_estimate + finer.error_estimate
    assert usual.z_odd_ohm <= usual.z_even_ohm * (1 + usual.error_estimate)


def test_a_thin_wedge_is_no_trace() -> None:
    """Corners of 4 degrees, on which the estimate was once too small, are refused with the reason."""
    with pytest.raises(GeometryError, match="lean 13"):
        shapes.microstrip(width_mm=0.0498, height_mm=1.0, thickness_mm=0.00117, top_width_mm=0.0187, er=2.0)
