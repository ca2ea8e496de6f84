"""Where a quasi-static answer ends."""

from __future__ import annotations

import math

import pytest

from stackup_lib.field_solver.validity import (
    microstrip_eps_eff,
    microstrip_limit,
    microstrip_surface_wave_ghz,
    microstrip_transverse_cutoff_ghz,
    stripline_cutoff_ghz,
    stripline_limit,
)
from stackup_lib.transmission_lines.materials.dielectric_models import wideband_debye


def test_dispersion_of_a_measured_microstrip() -> None:
    """The eps_eff of a 3.0 x 1.55 mm line on FR-4 was measured to rise from 3.32 to 3.53 between 2 and 10 GHz.

    Its Dk (4.421, Df 0.0167 at 1 GHz) falls over that range; 82 % of the capacitance is in the substrate.
    """
    fr4 = wideband_debye(4.421, 0.0167, 1.0, lower_corner_ghz=1e-6, upper_corner_ghz=1000)
    eps = []
    for ghz in (2.0, 10.0):
        dk = float(fr4.permittivity(ghz).real)
        eps.append(microstrip_eps_eff(ghz, 3.0, 1.55, dk, 3.32 * (dk / 4.421) ** 0.82))
    assert eps == pytest.approx([3.32, 3.53], rel=0.008)
    assert eps[1] / eps[0] == pytest.approx(3.53 / 3.32, rel=0.006)


@pytest.mark.parametrize("height,rise", [(0.1, 0.008), (0.2, 0.019), (0.5, 0.045)])
def test_dispersion_at_20_ghz(height: float, rise: float) -> None:
    """50 ohm microstrip rises by about 0.8, 1.9 and 4.5 % at 20 GHz (another program, sections alike)."""
    got = microstrip_eps_eff(20.0, 1.9 * height, height, 4.4, 3.3) / 3.3 - 1
    assert got == pytest.approx(rise, rel=0.2)


def test_dispersion_ends() -> None:
    """At rest eps_eff is static; far above all field is in the substrate."""
    assert microstrip_eps_eff(0.0, 0.2, 0.1, 4.2, 3.2) == pytest.approx(3.2)
    assert microstrip_eps_eff(1e5, 0.2, 0.1, 4.2, 3.2) == pytest.approx(4.2, rel=0.01)


def test_cutoffs() -> None:
    """Numbers by hand: b 0.4, w 0.15, er 4 stripline 161.5 GHz; microstrip 0.15 wide on 0.1 mm."""
    assert stripline_cutoff_ghz(0.15, 0.4, 4.0) == pytest.approx(299.792458 / (4 * 0.464159), rel=1e-5)
    assert microstrip_transverse_cutoff_ghz(0.15, 0.1, 4.2) == pytest.approx(384.96, rel=1e-4)
    assert microstrip_surface_wave_ghz(0.1, 4.2) == pytest.approx(504.35, rel=1e-4)


@pytest.mark.parametrize(("height_mm", "dk"), [(0.1, 4.2), (0.5, 2.9), (1.0, 9.8)])
def test_the_slab_guides_tm0_as_fast_as_a_narrow_line_at_the_limit(height_mm: float, dk: float) -> None:
    """The dispersion relation of a grounded slab, solved by bisection, gives the permittivity (er + 1)/2 there."""
    k = 2 * math.pi * microstrip_surface_wave_ghz(height_mm, dk) / 299.792458
    low, high = 1.0, dk
    for _ in range(80):
        n = (low + high) / 2
        inside, outside = k * math.sqrt(dk - n), k * math.sqrt(n - 1)  # wave numbers across the slab and in the air
        # of the fundamental mode the angle lies below pi/2 for every n above its own
        guided = inside * height_mm < math.pi / 2 and inside * math.tan(inside * height_mm) < dk * outside
        low, high = (low, n) if guided else (n, high)
    assert low == pytest.approx((dk + 1) / 2, rel=1e-9)


def test_thin_board_lines_hold_to_28_ghz() -> None:
    """Lines on thin dielectrics are inside at 28 GHz; a microstrip on 1.55 mm is outside from a few GHz."""
    assert stripline_limit(0.15, 0.4, 4.0).frequency_ghz > 60
    assert microstrip_limit(0.19, 0.1, 4.2, 3.2).frequency_ghz > 28
    assert 40 < microstrip_limit(0.284, 0.127, 2.91, 2.4).frequency_ghz < 56
    thick = microstrip_limit(3.0, 1.55, 4.42, 3.32)
    assert 1 < thick.frequency_ghz < 10
    assert "dispersion" in thick.reason


def test_the_first_reason_wins() -> None:
    """In air nothing disperses and there is no surface wave: the transverse resonance ends it."""
    air = microstrip_limit(3.0, 1.5, 1.0, 1.0)
    assert "transverse" in air.reason
    assert air.frequency_ghz == pytest.approx(0.5 * microstrip_transverse_cutoff_ghz(3.0, 1.5, 1.0))
