"""Terms of formulas about lines that no other test feels: each by hand, where it alone decides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.field_solver.validity import microstrip_eps_eff
from stackup_lib.materials import find_foil
from stackup_lib.transmission_lines.materials.conductor_models import (
    COPPER,
    slab_impedance_ohm,
    strip_impedance_ohm,
    surface_resistance_ohm,
)
from stackup_lib.transmission_lines.materials.foil_roughness import FoilFace, face_roughness

MU0 = 4e-7 * math.pi


def test_a_slab_far_below_its_skin_effect_has_a_third_of_its_depth_as_inductance() -> None:
    """H falls linearly over a depth d that carries even current: the stored energy is that of mu0 d/3 per square."""
    depth_mm, ghz = 0.035, 1e-12

    found = complex(slab_impedance_ohm(ghz, depth_mm))

    assert found.imag == pytest.approx(2 * math.pi * ghz * 1e9 * MU0 * depth_mm * 1e-3 / 3, rel=1e-3, abs=0)
    assert found.real == pytest.approx(1 / (COPPER.conductivity_s_per_m * depth_mm * 1e-3))


def test_a_strip_is_a_skin_at_high_frequency_and_a_sheet_at_none() -> None:
    """At 100 GHz the skin depth is 0.2 um: 35 um are infinitely deep; at 0 Hz nothing but 1/(sigma d) is left."""
    thick, rest = complex(strip_impedance_ohm(100.0, 0.035)), complex(strip_impedance_ohm(0.0, 0.035))

    assert thick.real == pytest.approx(float(surface_resistance_ohm(100.0)), rel=1e-3)
    assert thick.imag == pytest.approx(float(surface_resistance_ohm(100.0)), rel=1e-3)
    assert rest == pytest.approx(1 / (COPPER.conductivity_s_per_m * 35e-6))


def test_a_round_wire_has_its_internal_inductance_at_rest() -> None:
    """mu0/(8 pi) per length: around a wire of radius a the depth area/perimeter is a/2, over a perimeter of 2 pi a."""
    radius_mm, ghz = 0.1, 1e-7
    perimeter_m = 2 * math.pi * radius_mm * 1e-3

    found = complex(strip_impedance_ohm(ghz, radius_mm / 2)) / perimeter_m

    assert found.imag / (2 * math.pi * ghz * 1e9) == pytest.approx(MU0 / (8 * math.pi), rel=1e-3)


@pytest.mark.parametrize(
    "ghz,width_mm,height_mm,dk,p",
    [
        (0.1, 0.1, 0.1, 4.0, 3.0285e-6),  # f h = 0.01 GHz mm: P1 = 1.42972, P2 = 0.043246
        (60.0, 0.5, 1.0, 10.0, 2.63822),  # f h = 60 GHz mm: P1 = 0.58980, P2 = 0.097913, P3 P4 = 0.0038790
    ],
)
def test_dispersion_of_a_microstrip_by_hand(ghz: float, width_mm: float, height_mm: float, dk: float, p: float) -> None:
    """Kirschning and Jansen's P, worked out with paper and logarithms at both ends of its range."""
    static = 0.65 * dk

    found = microstrip_eps_eff(ghz, width_mm, height_mm, dk, static)

    assert (found - static) / (dk - found) == pytest.approx(p, rel=1e-3)


def test_impedances_come_in_the_shape_of_the_frequencies() -> None:
    """One per frequency, each as if it had been requested alone."""
    ghz = np.array([0.0, 1.0, 10.0])

    found = strip_impedance_ohm(ghz, 0.01)

    assert found == pytest.approx([complex(strip_impedance_ohm(f, 0.01)) for f in ghz])


def test_a_foil_with_a_typical_figure_has_it_as_its_nominal_roughness() -> None:
    """Rz up to 2.5 um, 2.0 typical: not the middle of the range."""
    rz = face_roughness(find_foil("HVLP (VLP2)"), FoilFace.BONDED, "In2.Cu").need()

    assert (rz.nominal_um, rz.high_um) == (2.0, 2.5)
