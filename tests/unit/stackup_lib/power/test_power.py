"""Closed forms of power: sheets, barrels, contacts, steps."""

from __future__ import annotations

import math

import pytest

from stackup_lib.power.copper import barrel_resistance_ohm, octagon_radius_mm, sheet_resistance_ohm
from tests.support.physics.closed_forms import lattice_squares, ring_squares, step_squares, two_contacts_squares


@pytest.mark.parametrize(("thickness_mm", "milliohm"), [(0.035, 0.4926), (0.0175, 0.9852), (0.07, 0.2463)])
def test_copper_of_one_ounce_has_half_a_milliohm_per_square(thickness_mm: float, milliohm: float) -> None:
    """1/58 ohm mm2/m (IEC 60028) over the thickness, by hand."""
    assert sheet_resistance_ohm(thickness_mm) * 1e3 == pytest.approx(milliohm, rel=1e-3)


def test_copper_at_100_degrees_resists_by_31_per_cent_more() -> None:
    """80 K times 0.00393 per K."""
    assert sheet_resistance_ohm(0.035, 100) / sheet_resistance_ohm(0.035) == pytest.approx(1.3144)


def test_a_barrel_at_100_degrees_resists_by_31_per_cent_more() -> None:
    """As the sheets that it joins."""
    assert barrel_resistance_ohm(0.3, 0.025, 1.6, 100) / barrel_resistance_ohm(0.3, 0.025, 1.6) == pytest.approx(1.3144)


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


def test_the_octagon_of_a_contact_lies_around_its_circle() -> None:
    """Same capacity: corners outside the circle, sides inside, area between those of the two polygons."""
    corner = octagon_radius_mm(1.0)

    assert corner * math.cos(math.pi / 8) < 1.0 < corner
    assert 2 * math.sqrt(2) * corner**2 == pytest.approx(math.pi, rel=0.02)
