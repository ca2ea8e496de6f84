"""The field solver agrees with exact solutions, with laws of nature, and knows how far it is off."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from stackup_lib.field_solver import shapes
from stackup_lib.field_solver.interactions import View, effect
from stackup_lib.field_solver.kernels import normal_field_moments, potential_moments
from stackup_lib.field_solver.sections import GeometryError, Layer, Mask, Section, Strip
from stackup_lib.field_solver.solution import LineSolution
from stackup_lib.field_solver.solver import LADDER, TOLERANCE, impedance_once, solve, solve_once
from stackup_lib.validation.cases import QUANTITIES, section_of_case

CASES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[4] / "fixtures/reference/exact_cases.toml").read_text(encoding="utf-8")
)["case"]
EXACT = [c for c in CASES if not c["id"].endswith("-HJ")]
FORMULA = [c for c in CASES if c["id"].endswith("-HJ")]


@cache
def _solved(case_id: str, geometry: str) -> LineSolution:
    case = next(c for c in CASES if c["id"] == case_id and c["geometry"] == geometry)
    return solve(section_of_case(geometry, case["parameters_mm"]))


def _errors(case: dict[str, Any]) -> dict[str, float]:
    """Relative error of each of a case's values."""
    solution = _solved(case["id"], case["geometry"])
    return {q: abs(getattr(solution, QUANTITIES[q]) / value - 1) for q, value in case["values"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("case", EXACT, ids=lambda c: f"{c['id']}-{c['geometry']}")
def test_every_exact_case_is_met_within_the_estimate_and_the_tolerance(case: dict[str, Any]) -> None:
    """At the default tolerance the true error is below 0.01 % and below the solver's own estimate."""
    solution = _solved(case["id"], case["geometry"])
    assert solution.error_estimate <= TOLERANCE
    for quantity, error in _errors(case).items():
        uncertainty = case["uncertainty_pct"][quantity] / 100
        assert error <= solution.error_estimate + uncertainty, quantity
        assert error <= 1e-4, quantity


def test_the_median_error_over_all_exact_cases_is_below_five_millionths() -> None:
    """Accuracy does not hang on a few good cases."""
    errors = [e for case in EXACT for e in _errors(case).values()]
    assert len(errors) == 189
    assert median(errors) < 5e-6


@pytest.mark.parametrize("case", FORMULA, ids=lambda c: str(c["id"]))
def test_thin_microstrip_meets_hammerstad_and_jensen_within_their_bound(case: dict[str, Any]) -> None:
    """A formula made by others, good to 0.15 %."""
    for quantity, error in _errors(case).items():
        assert error <= case["uncertainty_pct"][quantity] / 100, quantity


@pytest.mark.parametrize("case_id", ["SLTZ-1", "MST-2", "DS2-2", "CMS-1"])
def test_errors_shrink_from_rung_to_rung(case_id: str) -> None:
    """Refinement converges to the reference, not to something near it."""
    case = next(c for c in EXACT if c["id"] == case_id)
    section = section_of_case(case["geometry"], case["parameters_mm"])
    quantity, value = next(iter(case["values"].items()))
    coarse, fine = (abs(getattr(solve_once(section, LADDER[k]), QUANTITIES[quantity]) / value - 1) for k in (0, 4))
    assert fine < 3e-6
    assert fine < coarse / 10


def _published_like(**change: Any) -> Section:
    given: dict[str, Any] = {"width_mm": 0.3, "height_mm": 0.2, "thickness_mm": 0.035, "er": 4.0}
    return shapes.microstrip(**(given | change))


def test_solutions_scale_with_the_drawing() -> None:
    """Impedance depends on ratios of lengths only."""
    small = solve(_published_like())
    large = solve(_published_like(width_mm=3.0, height_mm=2.0, thickness_mm=0.35))
    assert large.z0_ohm == pytest.approx(small.z0_ohm, rel=1e-9)


def test_a_wide_strip_between_planes_is_a_plate_capacitor() -> None:
    """Widening by dw adds er dw (1/h1 + 1/h2) to C/eps0."""

    def capacitance(width: float) -> float:
        section = shapes.stripline(
            width_mm=width, thickness_mm=0.02, layers_below=[(0.1, 4.0)], layers_above=[(0.22, 4.0)]
        )
        return float(solve(section, 1e-5).relative_capacitance[0, 0])

    assert capacitance(5.0) - capacitance(4.0) == pytest.approx(4.0 * (1 / 0.1 + 1 / 0.2), rel=1e-4)


def test_one_dielectric_throughout_gives_its_own_permittivity() -> None:
    """eps_eff = er, and L C = mu eps as matrices, for a pair of unequal traces."""
    strips = (
        Strip(base_width_mm=0.1, top_width_mm=0.09, thickness_mm=0.02, bottom_mm=0.1, centre_mm=-0.1),
        Strip(base_width_mm=0.15, top_width_mm=0.14, thickness_mm=0.02, bottom_mm=0.1, centre_mm=0.12),
    )
    section = Section(layers=(Layer(thickness_mm=0.3, er=3.7),), strips=strips, plane_above=True)
    solution = solve(section)
    product = solution.inductance_h_per_m @ solution.capacitance_f_per_m * 299792458.0**2
    np.testing.assert_allclose(product, 3.7 * np.eye(2), atol=1e-9)
    assert solution.eps_eff_odd == pytest.approx(3.7, rel=1e-9)


def _pair(gap_mm: float, *, centre_mm: float = 0.0, mask: bool = False) -> Section:
    strips = tuple(
        Strip(
            base_width_mm=0.2,
            top_width_mm=0.18,
            thickness_mm=0.035,
            bottom_mm=0.15,
            centre_mm=centre_mm + side * (0.2 + gap_mm) / 2,
        )
        for side in (-1, 1)
    )
    coat = Mask(er=3.8, on_laminate_mm=0.03, on_trace_mm=0.015) if mask else None
    return Section(layers=(Layer(thickness_mm=0.15, er=4.1),), strips=strips, mask=coat)


@pytest.mark.parametrize("mask", [False, True])
def test_the_halved_solution_is_that_of_the_whole(mask: bool) -> None:
    """A pair shifted off x = 0 is solved whole and gives the even and odd modes of the halved one."""
    half, whole = (solve(_pair(0.15, centre_mm=x, mask=mask)) for x in (0.0, 1e-3))
    assert whole.unknowns > 1.5 * half.unknowns
    for name in ("z_odd_ohm", "z_even_ohm", "eps_eff_odd", "eps_eff_even"):
        assert getattr(whole, name) == pytest.approx(getattr(half, name), rel=5e-5), name


def test_far_apart_traces_are_single_lines() -> None:
    """Coupling falls to nothing, and odd and even impedance meet the single line's."""
    near, far = solve(_pair(0.2)), solve(_pair(10.0))
    single = solve(shapes.microstrip(width_mm=0.2, top_width_mm=0.18, height_mm=0.15, thickness_mm=0.035, er=4.1))
    assert near.coupling > 0.1
    assert abs(far.coupling) < 2e-4
    assert far.z_odd_ohm == pytest.approx(single.z0_ohm, rel=3e-4)


def test_turning_a_stripline_upside_down_changes_nothing() -> None:
    """The plane below is an image, the plane above a meshed conductor: both must come to the same."""
    layers = [(0.1, 4.4), (0.2, 3.6)]
    strip = Strip(base_width_mm=0.12, top_width_mm=0.1, thickness_mm=0.02, bottom_mm=0.1)
    flipped = Strip(base_width_mm=0.12, top_width_mm=0.1, thickness_mm=0.02, bottom_mm=0.18, base="upper")
    one, two = (
        solve(Section(layers=tuple(Layer(thickness_mm=h, er=er) for h, er in order), strips=(s,), plane_above=True))
        for order, s in ((layers, strip), (layers[::-1], flipped))
    )
    assert two.z0_ohm == pytest.approx(one.z0_ohm, rel=2e-5)
    assert two.shares.plane_above == pytest.approx(one.shares.plane_below, rel=1e-4)


def test_copper_close_to_a_plane_is_solved_alike_from_both_sides() -> None:
    """10 um under a plane that is meshed, or over one that is an exact image: the same within the estimates."""
    near, far = Layer(thickness_mm=0.0405638, er=4.177), Layer(thickness_mm=0.5719648, er=4.265)
    hanging = Strip(
        base_width_mm=0.1098296, top_width_mm=0.0844296, thickness_mm=0.03048, bottom_mm=near.thickness_mm - 0.03048
    ).model_copy(update={"base": "upper"})
    lying = hanging.model_copy(update={"bottom_mm": far.thickness_mm, "base": "lower"})
    image, meshed = (
        solve(Section(layers=layers, strips=(strip,), plane_above=True), 1e-5)
        for layers, strip in (((near, far), hanging), ((far, near), lying))
    )
    assert meshed.z0_ohm == pytest.approx(image.z0_ohm, rel=2e-6)
    assert image.z0_ohm == pytest.approx(13.7980220765, rel=0.002)  # Polar engine


def test_splitting_a_layer_in_five_changes_nothing() -> None:
    """Five dielectrics of which four are equal are two."""

    def section(*above: tuple[float, float]) -> Section:
        return shapes.stripline(width_mm=0.15, thickness_mm=0.018, layers_below=[(0.1, 4.2)], layers_above=above)

    plain = solve(section((0.22, 3.5)))
    split = solve(section((0.07, 3.5), (0.05, 3.5), (0.04, 3.5000001), (0.06, 3.5)))
    assert split.z0_ohm == pytest.approx(plain.z0_ohm, rel=3e-5)


def test_the_return_current_prefers_the_nearer_plane() -> None:
    """Centred strips share evenly; the far plane of an offset one gets little; a microstrip has one plane."""

    def shares(below: float, above: float) -> tuple[float, float]:
        section = shapes.stripline(
            width_mm=0.15, thickness_mm=0.02, layers_below=[(below, 4)], layers_above=[(above + 0.02, 4)]
        )
        solution = solve(section)
        return solution.shares.plane_below, solution.shares.plane_above

    assert shares(0.2, 0.2) == pytest.approx((0.5, 0.5), abs=1e-4)
    below, above = shares(0.1, 0.4)
    assert below > 0.75
    assert below + above == pytest.approx(1, abs=1e-9)
    assert solve(_published_like()).shares.plane_below == pytest.approx(1)


def test_the_odd_mode_returns_partly_in_the_other_trace() -> None:
    """A narrow gap takes more; far apart it is what a line current at (a, h) sends across x = 0: (2/pi) atan(h/a)."""
    tight, loose = (solve(_pair(gap)).odd_shares for gap in (0.05, 0.6))
    assert tight is not None
    assert loose is not None
    assert loose.other_trace == pytest.approx(2 / np.pi * np.arctan((0.15 + 0.0175) / 0.4), rel=0.03)
    assert tight.other_trace > 1.5 * loose.other_trace
    assert tight.plane_below + tight.other_trace == pytest.approx(1)


def test_mask_lowers_impedance_and_embedding_lowers_it_further() -> None:
    """Each added dielectric raises C and leaves L alone."""
    bare = solve(_pair(0.15))
    coated = solve(_pair(0.15, mask=True))
    assert coated.z_diff_ohm < bare.z_diff_ohm
    np.testing.assert_allclose(coated.inductance_h_per_m, bare.inductance_h_per_m, rtol=5e-5)


@pytest.mark.parametrize(
    ("section", "z_ohm", "rel"),
    [
        # Polar engine through a fab's calculator, h2 includes the copper
        (
            shapes.stripline(
                width_mm=0.3892296,
                top_width_mm=0.3765296,
                thickness_mm=0.03048,
                layers_below=[(0.8239684, 4.011)],
                layers_above=[(0.516189, 4.542)],
            ),
            57.1154253071,
            0.002,
        ),
        # Sierra Circuits solver: base and top width, mask 30.48/15.24 um, outline not published
        (
            shapes.microstrip(
                width_mm=0.150876,
                top_width_mm=0.133096,
                height_mm=0.099314,
                thickness_mm=0.04064,
                er=4.1,
                mask=Mask(er=3.8, on_laminate_mm=0.03048, on_trace_mm=0.01524),
            ),
            50.97,
            0.002,
        ),
    ],
    ids=["polar-offset-stripline", "sierra-coated-microstrip"],
)
def test_published_solver_results_are_met(section: Section, z_ohm: float, rel: float) -> None:
    """Other field solvers state the same impedance within their own scatter."""
    assert solve(section).z0_ohm == pytest.approx(z_ohm, rel=rel)


def test_a_tighter_tolerance_is_kept() -> None:
    """The ladder climbs until the estimate is met."""
    section = _published_like()
    loose, tight = solve(section, 1e-3), solve(section, 1e-5)
    assert tight.error_estimate <= 1e-5 < loose.error_estimate <= 1e-3
    assert tight.unknowns > loose.unknowns
    assert abs(loose.z0_ohm / tight.z0_ohm - 1) <= loose.error_estimate


def test_quantities_of_the_wrong_kind_of_line_are_refused() -> None:
    """A pair has no z0, a single line no z_diff."""
    with pytest.raises(GeometryError, match="z0_ohm asked of a pair"):
        _ = solve(_pair(0.2), 1e-2).z0_ohm
    with pytest.raises(GeometryError, match="z_diff_ohm asked of a single line"):
        _ = solve(_published_like(), 1e-2).z_diff_ohm


@pytest.mark.parametrize(("order", "bound"), [(3, 5e-7), (4, 5e-7), (6, 1e-10), (8, 1e-10)])
@pytest.mark.parametrize("away", [1.3, 2.99, 3.01, 5.0, 11.9, 12.1, 40.0])
@pytest.mark.parametrize("of_field", [False, True])
def test_series_and_closed_forms_agree_at_every_distance(
    *, order: int, bound: float, away: float, of_field: bool
) -> None:
    """Potential and field of an element are the same by the short series, the long one and Legendre functions."""
    centre, half = np.array([0.2 - 0.1j]), np.array([0.3 + 0.1j])
    direction = np.exp(1j * np.linspace(0.1, 6.1, 40))
    normals = np.exp(1j * np.arange(40.0)) if of_field else None
    views = [View(centre + half * away * direction, normals, -2.0)]
    found = effect(views, centre=centre, half=half, order=order)
    zeta = away * direction
    # computed for twelve functions at once, the far ones recur backward, which loses no digits
    if normals is None:
        exact = potential_moments(zeta, half, 12)[:order]
    else:
        exact = normal_field_moments(zeta, half, normals, 12)[:order]
    apart = np.abs(found[:, 0] / -2 - exact.T).max(axis=0)
    rounding = 3e-12  # of the forward recurrence near its border
    assert np.all(apart <= bound * np.abs(exact).max(axis=1) + rounding)


@pytest.mark.parametrize("of_field", [False, True])
def test_views_add_up_and_a_target_on_an_element_feels_no_normal_field_of_it(*, of_field: bool) -> None:
    """Two views at once are the sum of each alone, near and far; the field of a target's own element is left out."""
    centre, half = np.array([0.2 - 0.1j, 1.0 + 2.0j, 40.0 + 0.0j]), np.array([0.3 + 0.1j, 0.2j, 0.5 + 0j])
    targets = np.array([0.3 - 0.07j, 1.0 + 2.1j, 2.5 + 2.0j, 7.0 - 9.0j])
    normals = np.exp(1j * np.arange(4.0)) if of_field else None
    mirrored = View(targets.conj(), None if normals is None else normals.conj(), -1.0)
    one, other, both = (
        effect(views, centre=centre, half=half, order=3)
        for views in ([View(targets, normals)], [mirrored], [View(targets, normals), mirrored])
    )
    assert both == pytest.approx(one + other, rel=1e-12, abs=1e-12)
    own = np.array([0, 1, 2, 2])
    without = effect([View(targets, normals, own=own), mirrored], centre=centre, half=half, order=3)
    expected = both.copy()
    for k in (0, 1):  # the two that lie on their elements
        expected[k, own[k]] = other[k, own[k]]
    assert without[:2] == pytest.approx(expected[:2], rel=1e-12, abs=1e-12)


def _stripline(*centres_mm: float, widths_mm: tuple[float, float] = (0.15, 0.15), above: bool = True) -> Section:
    """Traces side by side in two dielectrics."""
    strips = tuple(
        Strip(base_width_mm=width, top_width_mm=width - 0.01, thickness_mm=0.015, bottom_mm=0.12, centre_mm=centre)
        for centre, width in zip(centres_mm, widths_mm, strict=False)
    )
    layers = (Layer(thickness_mm=0.12, er=3.1), Layer(thickness_mm=0.115, er=3.7))
    return Section(layers=layers, strips=strips, plane_above=above)


@pytest.mark.parametrize(
    "section",
    [
        _stripline(-0.13, 0.13),
        _stripline(-0.13, 0.13, above=False),
        _stripline(-0.13, 0.13, widths_mm=(0.15, 0.2)),
        _stripline(0.0),
        _stripline(0.3),
    ],
    ids=["pair", "pair under air", "unequal traces", "single", "single, off the middle"],
)
def test_the_impedance_alone_is_that_of_the_whole_solution(section: Section) -> None:
    """The odd mode alone gives the differential impedance; sections without one are solved whole."""
    for resolution in LADDER[:3]:
        expected = solve_once(section, resolution).impedance_ohm
        assert impedance_once(section, resolution) == pytest.approx(expected, rel=1e-12)


def test_modes_of_equal_traces_are_those_of_any_two() -> None:
    """The closed form of equal traces agrees with that of two traces, here of a pair that differs in the 13th digit."""
    equal = solve_once(_stripline(-0.13, 0.13), LADDER[1])
    unequal = LineSolution(
        equal.relative_capacitance * np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]]),
        equal.relative_air_capacitance,
        equal.shares,
        equal.odd_shares,
        equal.unknowns,
    )
    assert equal.values() == pytest.approx(unequal.values(), rel=1e-9)


def test_views_add_up_and_no_targets_have_no_effect() -> None:
    """Pairs that are near in two views count in both."""
    rng = np.random.default_rng(1)
    half = np.exp(2j * np.pi * rng.random(6)) * 0.5
    centre = rng.normal(size=6) + 1j * rng.normal(size=6)
    points = rng.normal(size=40) * 4 + 1j * rng.normal(size=40) * 4
    normals = np.exp(2j * np.pi * rng.random(40))
    for turned in (None, normals):
        views = [View(points, turned), View(points.conj(), turned, -1.0), View(-points, turned)]
        apart = [effect([view], centre=centre, half=half, order=3) for view in views]
        together = effect(views, centre=centre, half=half, order=3)
        assert np.abs(together - sum(apart)).max() < 1e-13
        nothing = [View(points[:0], None if turned is None else turned[:0])]
        assert effect(nothing, centre=centre, half=half, order=3).shape == (0, 6, 3)
