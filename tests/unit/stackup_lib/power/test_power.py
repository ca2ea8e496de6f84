"""Closed forms of power: sheets, barrels, contacts, necks, target impedance, plane capacitance and inductance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.power.copper import (
    CORNER_SQUARES,
    barrel_resistance_ohm,
    lattice_squares,
    neck_squares,
    octagon_radius_mm,
    ring_squares,
    sheet_resistance_ohm,
    slit_squares,
    step_squares,
    two_contacts_squares,
)
from stackup_lib.power.planes import (
    loop_inductance_ph,
    plane_capacitance_pf,
    sheet_inductance_ph,
    spreading_inductance_ph,
    target_impedance_ohm,
)


@pytest.mark.parametrize(("thickness_mm", "milliohm"), [(0.035, 0.4926), (0.0175, 0.9852), (0.07, 0.2463)])
def test_copper_of_one_ounce_has_half_a_milliohm_per_square(thickness_mm: float, milliohm: float) -> None:
    """1/58 ohm mm2/m (IEC 60028) over the thickness, by hand."""
    assert sheet_resistance_ohm(thickness_mm) * 1e3 == pytest.approx(milliohm, rel=1e-3)


def test_copper_at_100_degrees_resists_by_31_per_cent_more() -> None:
    """80 K times 0.00393 per K."""
    assert sheet_resistance_ohm(0.035, 100) / sheet_resistance_ohm(0.035) == pytest.approx(1.3144)


def test_a_barrel_is_a_tube_of_copper() -> None:
    """0.3 mm hole, 25 um plating, 1.6 mm long: 1.6/58000/(pi 0.025 0.325) = 1.081 milliohm."""
    assert barrel_resistance_ohm(0.3, 0.025, 1.6) * 1e3 == pytest.approx(1.081, rel=1e-3)


def test_a_barrel_with_thin_walls_is_a_rolled_sheet() -> None:
    """Plating of 0.1 um on 1 mm: length over circumference squares of that sheet."""
    squares = 2.0 / (math.pi * 1.0)
    assert barrel_resistance_ohm(1.0, 1e-4, 2.0) == pytest.approx(squares * sheet_resistance_ohm(1e-4), rel=2e-4)


def test_a_full_barrel_is_a_wire() -> None:
    """Plating as thick as the radius on no hole."""
    assert barrel_resistance_ohm(0.0, 0.2, 1.0) == pytest.approx(1.0 / 58_000 / (math.pi * 0.2**2))


def test_a_corner_counts_0559_squares() -> None:
    """The figure that every handbook of film resistors gives."""
    assert pytest.approx(0.559, abs=5e-4) == CORNER_SQUARES


def test_a_ring_of_e_to_the_two_pi_is_one_square() -> None:
    """ln(b/a) = 2 pi."""
    assert ring_squares(1.0, math.exp(2 * math.pi)) == pytest.approx(1.0)


def test_two_far_contacts_are_two_rings() -> None:
    """Far apart, arccosh(D/2a) tends to ln(D/a): two contacts, each spreading to a circle of radius D."""
    assert two_contacts_squares(1000.0, 1.0) == pytest.approx(2 * ring_squares(1.0, 1000.0), rel=1e-6)
    assert two_contacts_squares(2.0, 1.0) == 0.0


def test_a_lattice_cell_is_a_ring_of_its_area_to_half_a_per_cent() -> None:
    """A disc of the cell's area, fed evenly: (ln(R/a) - 3/4 + a2/R2)/(2 pi) against its mean (by hand)."""
    pitch, radius = 1.0, 0.02
    outer = pitch / math.sqrt(math.pi)
    share = (radius / outer) ** 2
    disc = (math.log(outer / radius) - 0.75 + share) / (2 * math.pi)

    assert lattice_squares(pitch, radius) == pytest.approx(disc, rel=5e-3)


def test_a_step_to_the_same_width_is_none_and_a_narrow_one_is_a_half_ring() -> None:
    """For a narrow strip on a wide one, Marcuvitz's form tends to ln(e w/(4 n))/pi."""
    assert step_squares(1.0, 1.0) == 0.0
    assert step_squares(1e-3, 1.0) == pytest.approx(math.log(math.e / 4e-3) / math.pi, rel=1e-5)


def test_a_neck_without_length_is_never_better_than_a_slit() -> None:
    """The steps see each other across a short neck; counting them apart overstates by up to 2 (1 + ln(pi/8))/pi."""
    over = [neck_squares(0.0, share, 1.0) - slit_squares(share, 1.0) for share in np.linspace(0.01, 0.99, 50).tolist()]

    assert min(over) > 0
    assert max(over) == pytest.approx(2 * (1 + math.log(math.pi / 8)) / math.pi, rel=0.01)


def test_the_octagon_of_a_contact_lies_around_its_circle() -> None:
    """Same capacity: corners outside the circle, sides inside, area between those of the two polygons."""
    corner = octagon_radius_mm(1.0)

    assert corner * math.cos(math.pi / 8) < 1.0 < corner
    assert 2 * math.sqrt(2) * corner**2 == pytest.approx(math.pi, rel=0.02)


def test_target_impedance_of_a_core_rail() -> None:
    """0.8 V, 3 % ripple, a step of 200 A: 0.12 milliohm."""
    assert target_impedance_ohm(0.8, 0.03, 200.0) == pytest.approx(0.12e-3)


def test_parallel_plates_are_the_low_end_of_a_plane_s_capacitance() -> None:
    """100 x 100 mm, 0.1 mm of Dk 4: 3.54 nF, and no more than 1 % of fringes."""
    found = plane_capacitance_pf(1e4, 400.0, 0.1, 4.0)

    assert found.nominal == found.low == pytest.approx(3541.7, rel=1e-4)
    assert 1.0 < found.high / found.low < 1.015


def test_the_fringe_of_a_disc_is_kirchhoff_s() -> None:
    """Radius 10 mm, 0.5 mm over a plane, in air: 2 eps0 [pi a2/2h + a (ln(8 pi a/h) - 1)] = 5.563 + 0.925 pF."""
    found = plane_capacitance_pf(math.pi * 100, 2 * math.pi * 10, 0.5, 1.0)

    assert found.low == pytest.approx(5.563, rel=1e-3)
    assert found.high - found.low == pytest.approx(0.925, rel=1e-3)


def test_the_fringe_bound_covers_a_long_strip() -> None:
    """Strip of width w over a plane: eps (1 + ln(pi w/h))/pi along each edge (Palmer 1937, by images)."""
    width, gap, length = 20.0, 0.2, 1e5
    found = plane_capacitance_pf(width * length, 2 * (width + length), gap, 1.0)
    edges = 2 * length * 8.8541878e-3 / math.pi * (1 + math.log(math.pi * width / gap))

    assert edges <= found.high - found.low <= 1.02 * edges


def test_a_square_of_planes_100_um_apart_has_126_ph() -> None:
    """mu0 times 0.1 mm."""
    assert sheet_inductance_ph(0.1) == pytest.approx(125.66, rel=1e-4)


def test_spreading_from_a_via_and_between_two() -> None:
    """0.25 mm via, 5 mm away, 0.1 mm of dielectric: mu0 h ln(40)/2 pi = 73.8 pH; to another via about twice that."""
    one = spreading_inductance_ph(0.1, 0.125, 5.0)

    assert one == pytest.approx(73.78, rel=1e-3)
    assert loop_inductance_ph(0.1, 0.125, 5.0) == pytest.approx(2 * one, rel=1e-3)
