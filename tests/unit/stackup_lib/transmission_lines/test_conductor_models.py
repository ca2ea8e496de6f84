"""Skin effect, finite thickness, layers, metals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.transmission_lines.materials.conductor_models import (
    COPPER,
    MU0,
    NICKEL_HIGH,
    NICKEL_LOW,
    Coat,
    Metal,
    NickelGold,
    copper_conductivity_s_per_m,
    layered_impedance_ohm,
    skin_depth_mm,
    slab_impedance_ohm,
    surface_resistance_ohm,
    wave_impedance_ohm,
)
from tests.support.physics.closed_forms import enig_multiplier


@pytest.mark.parametrize("ghz,um", [(1.0, 2.09), (10.0, 0.661), (100.0, 0.209), (5e-8, 9346)])
def test_skin_depth_of_copper(ghz: float, um: float) -> None:
    """Text-book skin depths of copper: 2.09 um at 1 GHz, 9.35 mm at 50 Hz."""
    assert float(skin_depth_mm(ghz)) * 1e3 == pytest.approx(um, rel=2e-3)


def test_surface_resistance_of_copper() -> None:
    """Rs of copper is 2.61e-7 sqrt(f) ohm per square (Ramo, Whinnery, Van Duzer, table of skin effect)."""
    assert float(surface_resistance_ohm(10.0)) == pytest.approx(2.61e-7 * math.sqrt(10e9), rel=1e-3)


def test_permeability_raises_rs_and_lowers_depth() -> None:
    """A metal of permeability 100 and a quarter of the conductivity: depth a fifth, resistance twenty times."""
    iron = Metal(COPPER.conductivity_s_per_m / 4, 100.0)
    assert float(skin_depth_mm(1.0, iron) / skin_depth_mm(1.0)) == pytest.approx(0.2)
    assert float(surface_resistance_ohm(1.0, iron) / surface_resistance_ohm(1.0)) == pytest.approx(20.0)


@pytest.mark.parametrize("celsius,share", [(20, 1.0), (0, 1.0853), (100, 0.7608)])
def test_copper_over_temperature(celsius: float, share: float) -> None:
    """Copper loses 24 % of its conductivity at 100 degrees (resistance ratio 1.314 to 20 degrees in wire tables)."""
    assert copper_conductivity_s_per_m(celsius) / 5.8e7 == pytest.approx(share, abs=2e-4)


def test_slab_at_rest_is_its_ohmic_sheet() -> None:
    """At 0 Hz a 35 um sheet has 0.493 milliohm per square: the usual half a milliohm of 1 oz copper."""
    z = complex(slab_impedance_ohm(0.0, 0.035))
    assert z.real == pytest.approx(0.4926e-3, rel=1e-4)
    assert z.imag == 0


def test_slab_agrees_with_the_diffusion_equation() -> None:
    """Finite differences of H'' = j omega mu sigma H, with no field at the far side, give E/H at the face."""
    depth, ghz, n = 0.005e-3, 0.5, 4000
    sigma = COPPER.conductivity_s_per_m
    k2 = 1j * 2 * math.pi * ghz * 1e9 * MU0 * sigma
    x = np.linspace(0, depth, n + 1)
    h = x[1]
    lower = np.ones(n - 1, dtype=complex)
    diagonal = np.full(n - 1, -2 - k2 * h * h)
    field = np.zeros(n + 1, dtype=complex)
    field[0] = 1
    rhs = np.zeros(n - 1, dtype=complex)
    rhs[0] = -1
    for i in range(1, n - 1):  # Thomas algorithm
        factor = lower[i - 1] / diagonal[i - 1]
        diagonal[i] -= factor
        rhs[i] -= factor * rhs[i - 1]
    field[n - 1] = rhs[-1] / diagonal[-1]
    for i in range(n - 2, 0, -1):
        field[i] = (rhs[i - 1] - field[i + 1]) / diagonal[i - 1]
    slope = (-3 * field[0] + 4 * field[1] - field[2]) / (2 * h)
    expected = -slope / sigma
    assert complex(slab_impedance_ohm(ghz, depth * 1e3)) == pytest.approx(complex(expected), rel=1e-4)


def test_thick_slab_is_the_skin_limit() -> None:
    """Six skin depths deep the slab is (1+j) Rs to 2 parts in a hundred thousand; infinitely deep exactly."""
    depth = 6 * float(skin_depth_mm(1.0))
    assert complex(slab_impedance_ohm(1.0, depth)) == pytest.approx(complex(wave_impedance_ohm(1.0)), rel=2e-5)
    assert complex(slab_impedance_ohm(1.0, math.inf)) == complex(wave_impedance_ohm(1.0))
    assert np.isfinite(slab_impedance_ohm(1e4, 1.0))


def test_layer_of_the_same_metal_changes_nothing() -> None:
    """Copper on copper is copper: the recursion gives the deeper slab, also at rest."""
    f = np.array([0.0, 1e-3, 0.1, 10.0])
    coated = layered_impedance_ohm(f, [Coat(COPPER, 0.004), Coat(COPPER, 0.003)], slab_impedance_ohm(f, 0.008))
    assert coated == pytest.approx(slab_impedance_ohm(f, 0.015), rel=1e-12)


def test_thick_nickel_hides_the_copper() -> None:
    """Where nickel is many skin depths thick, copper below no longer matters."""
    nickel = Metal(1.4e6, 50.0)
    z = complex(layered_impedance_ohm(50.0, [Coat(nickel, 0.01)], wave_impedance_ohm(50.0)))
    assert z == pytest.approx(complex(wave_impedance_ohm(50.0, nickel)), rel=1e-6)


def test_thin_coat_is_a_small_reactance() -> None:
    """A coat far thinner than its skin depth adds j omega (mu_c - mu_b sigma_c/sigma_b) d to first order."""
    nickel, ghz, d = Metal(1.4e6, 5.0), 0.01, 1e-5
    added = complex(layered_impedance_ohm(ghz, [Coat(nickel, d)], wave_impedance_ohm(ghz)) - wave_impedance_ohm(ghz))
    omega = 2 * math.pi * ghz * 1e9
    expected = 1j * omega * MU0 * d * 1e-3 * (5.0 - nickel.conductivity_s_per_m / COPPER.conductivity_s_per_m)
    assert added == pytest.approx(expected, rel=0.02)


def test_enig_multiplies_the_loss_of_bare_faces() -> None:
    """Between 10 and 40 GHz ENIG multiplies the resistance of the faces it covers two to eight times, less the higher.

    The published Astra MT77 microstrip (Schafsteller et al. 2023) loses 2.07, 2.12, 1.87 and 1.88 times as much with
    ENIG as bare at 10, 14, 28 and 40 GHz in all: the gold takes over part of the current as its depth shrinks.
    """
    f = np.array([10.0, 14.0, 28.0, 40.0])
    low, nominal, high = (
        enig_multiplier(f, NickelGold(nickel=nickel)).real for nickel in (NICKEL_LOW, NickelGold().nickel, NICKEL_HIGH)
    )
    assert (low > 2).all()
    assert (nominal > low).all()
    assert (high > nominal).all()
    assert (high < 8).all()
    assert (np.diff(nominal) < 0).all()


def test_gold_alone_is_harmless() -> None:
    """Without nickel the thin gold changes the resistance by less than 4 %."""
    bare = enig_multiplier(np.array([1.0, 10.0, 40.0]), NickelGold(nickel_um=0.0))
    assert bare.real == pytest.approx(np.ones(3), abs=0.04)
