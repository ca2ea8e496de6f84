"""How much of the noise on a pair each neighbour brings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.copper.crosstalk_weights import mutual, near_end, pair_mutual, power_sum
from stackup_lib.transmission_lines.pair_crosstalk import pair_coupling
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment


def images(apart_mm: float, height_mm: float, other_mm: float, count: int = 4000) -> float:
    """The sum over the images of a wire between two planes, one by one: the reference for the closed form."""
    between = height_mm + other_mm
    terms = (
        math.log((apart_mm**2 + (2 * k * between + 2 * height_mm) ** 2) / (apart_mm**2 + (2 * k * between) ** 2))
        for k in range(-count, count + 1)
    )
    return 0.5 * sum(terms)


@pytest.mark.parametrize("apart_mm", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("heights_mm", [(0.2, 0.2), (0.1, 0.3)])
def test_between_two_planes_it_is_the_sum_over_all_images(apart_mm: float, heights_mm: tuple[float, float]) -> None:
    """What 8000 images leave out is less than 1e-4."""
    assert mutual(np.array(apart_mm), *heights_mm) == pytest.approx(images(apart_mm, *heights_mm), abs=1e-4)


def test_a_plane_far_away_is_no_plane() -> None:
    """20 mm above, and none."""
    assert mutual(np.array(0.3), 0.1, 20.0) == pytest.approx(mutual(np.array(0.3), 0.1), rel=1e-3)


def test_pairs_far_apart_couple_by_nothing_and_do_not_overflow() -> None:
    """A hundred times as far as the planes are from one another."""
    assert 0 <= abs(pair_mutual(0.3, np.array(1e5), 0.1, 0.1)) < 1e-12


@pytest.mark.parametrize(("sheets", "most"), [("stripline", 0.1), ("microstrip", 0.2)])
def test_the_ratio_of_two_distances_is_the_solvers(sheets: str, most: float) -> None:
    """0.2 and 0.3 mm from pair to pair, 0.12/0.13 mm traces, 0.14 mm over the plane in a Dk of 4."""
    above = (DielectricSheet(name="upper", kind="prepreg", thickness_mm=0.2, dk=4.0),) if sheets == "stripline" else ()
    below = (DielectricSheet(name="lower", kind="core", thickness_mm=0.14, dk=4.0),)
    plane = "In3.Cu" if above else None
    site = TraceEnvironment(
        layer="In2.Cu", reference_below="In1.Cu", reference_above=plane, below=below, above=above, copper_mm=0.015
    )
    near, far = (pair_coupling(site, 0.12, (0.13, 0.13), gap) for gap in (0.2, 0.3))
    heights = (0.14, 0.2) if above else (0.14,)

    solved = (far.inductive + far.capacitive) / (near.inductive + near.capacitive)
    near_wires, far_wires = pair_mutual(0.25, np.array([0.32, 0.42]), *heights)

    assert far_wires / near_wires == pytest.approx(solved, rel=most)


def test_a_quarter_of_a_wavelength_is_all_that_a_run_can_do() -> None:
    """6.7 ps/mm: a quarter of a period of 8 GHz is 31.25 ps, 4.66 mm; at a third of that the sine of 30 degrees."""
    assert even(4.7) == pytest.approx(1.0)
    assert even(50.0) == pytest.approx(1.0)
    assert even(31.25 / 6.7 / 3) == pytest.approx(0.5)


def even(length_mm: float) -> float:
    return near_end(np.array([1.0]), np.array([length_mm]), 8.0)


def test_of_a_run_that_widens_each_stretch_counts_by_itself() -> None:
    """A third of the quarter wave at full coupling, the rest at a tenth: 0.5 + 0.1 (1 - 0.5), in whatever order."""
    third = 31.25 / 6.7 / 3
    for order in ([0, 1], [1, 0]):
        couplings, lengths = np.array([1.0, 0.1])[order], np.array([third, 20.0])[order]
        assert near_end(couplings, lengths, 8.0) == pytest.approx(0.55)


def test_noises_that_know_nothing_of_one_another_add_up_by_power() -> None:
    """3 and 4 are 5; one alone is itself."""
    assert power_sum([3.0, 4.0]) == pytest.approx(5.0)
    assert power_sum([0.7]) == pytest.approx(0.7)


def test_two_pairs_over_a_plane_couple_as_their_four_wires_do() -> None:
    """Each wire with its image against each: flux of one pair's opposite currents through the loop of the other."""
    height, pitch, between = 0.2, 0.3, 0.5

    def flux(apart: float) -> float:
        return math.log(math.hypot(apart, 2 * height) / apart)

    first, second = {-pitch: -1, 0.0: 1}, {between: 1, between + pitch: -1}
    linked = sum(one * other * flux(b - a) for a, one in first.items() for b, other in second.items())

    assert float(pair_mutual(pitch, np.array([between]), height)[0]) == pytest.approx(linked)
