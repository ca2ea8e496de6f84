"""Capacitance and inductance of vias against other solutions of the same fields."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.constants import speed_of_light
from scipy.integrate import quad
from scipy.special import k0, k1, y0

from stackup_lib.transmission_lines.two_port import s_of_chain
from stackup_lib.transmission_lines.via_chain import LaminateLoss, open_end_chain, passage_chain
from stackup_lib.vias.stub_resonance import ViaShape
from stackup_lib.vias.via_circuit import (
    ModelledVia,
    added_delay_ps,
    inductance_nh,
    log_of_radial_line,
    log_of_two_returns,
)
from stackup_lib.vias.via_field import EPSILON_0, ViaBody, ViaStack, via_capacitance
from tests.support.physics.closed_forms import plane_stack_capacitance

FOUR = ViaStack(((0.0, 0.035), (0.155, 0.19), (1.39, 1.425), (1.545, 1.58)), (4.18, 4.18, 4.18), (1, 2))
THROUGH = ViaBody(barrel_mm=0.2, pad_mm=0.4, antipad_mm=0.7, ends_mm=(0.0, 1.58), padded=(0, 1, 2, 3))
GHZ = np.linspace(0.0, 40.0, 81)


def every(pitch_mm: float, planes: int) -> ViaStack:
    """Planes of 20 um at a pitch."""
    faces = tuple((round(k * pitch_mm, 6), round(k * pitch_mm + 0.02, 6)) for k in range(planes))
    return ViaStack(faces, (3.0,) * (planes - 1), tuple(range(planes)))


@pytest.mark.parametrize("pitch_mm", [0.1, 0.2, 0.4])
@pytest.mark.parametrize(
    ("barrel_mm", "antipad_mm", "pad_mm"),
    [(0.3, 0.82, None), (0.3, 0.82, 0.44), (0.3, 0.9, 0.5), (0.36, 1.0, 0.6), (0.24, 0.7, 0.44)],
)
def test_between_equal_planes_it_is_that_of_half_a_period(
    barrel_mm: float, antipad_mm: float, pad_mm: float | None, pitch_mm: float
) -> None:
    """Another grid, another solver: one period between planes, within 3 % for both grids; edges on the other grid."""
    stack = every(pitch_mm, 7)
    padded = range(7) if pad_mm else ()
    body = ViaBody(barrel_mm, pad_mm or barrel_mm, antipad_mm, (0.0, stack.faces_mm[-1][1]), tuple(padded))
    found = via_capacitance(stack, body)
    period = found.at_layers_pf[3] + found.in_plies_pf[3]
    shape = ViaShape(barrel_mm=barrel_mm, antipad_mm=antipad_mm, pad_mm=pad_mm)
    theirs = 2 * math.pi * EPSILON_0 * 3.0 * plane_stack_capacitance(shape, pitch_mm) * pitch_mm
    assert period == pytest.approx(theirs, rel=0.03)


def test_through_a_thick_plane_it_is_a_coax() -> None:
    """2 pi eps / ln(D/d) per length, from the middle of a plane 2 mm thick."""
    stacks = [
        ViaStack(((0.0, 0.02), (0.12, 0.12 + thick), (0.22 + thick, 0.24 + thick)), (4.0, 4.0), (1,))
        for thick in (1, 2)
    ]
    found = [
        via_capacitance(stack, ViaBody(0.3, 0.3, 0.9, (0.0, stack.faces_mm[-1][1]), ())).total_pf for stack in stacks
    ]
    assert found[1] - found[0] == pytest.approx(2 * math.pi * EPSILON_0 * 4.0 / math.log(3.0), rel=0.01)


def test_a_barrel_from_plane_to_plane_has_the_inductance_of_its_return_vias() -> None:
    """mu/2pi times 1.5 ln(g/a) - ln(2)/2 per height: the flux up to a return via, 3 % for its width."""
    radius, away = 0.1, 1.0
    flux, _ = quad(lambda x: 1 / x + 0.5 / (away - x) - 0.5 / (away + x), radius, away - radius)
    assert log_of_two_returns(2 * radius, away) == pytest.approx(flux, rel=0.03)
    via = ModelledVia(FOUR, THROUGH, log_of_two_returns(0.2, away))
    rim = math.log(0.7 / 0.2)
    expected = 0.2 * (1.2 * via.return_log + 2 * (0.0175 + 0.12 + 0.035) * rim)
    assert sum(inductance_nh(via, (0, 3))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("barrel_mm", "dk", "frequency_ghz"), [(0.25, 4.0, 1.0), (0.2, 3.3, 2.5), (0.5, 4.4, 0.5)])
def test_without_a_return_via_it_is_the_field_of_a_radial_line(
    barrel_mm: float, dk: float, frequency_ghz: float
) -> None:
    """-pi/2 Y0(kr), with Y0 by SciPy."""
    wave_number = 2 * math.pi * frequency_ghz * 1e9 * math.sqrt(dk) / speed_of_light / 1e3
    field = -math.pi / 2 * float(y0(wave_number * barrel_mm / 2))
    assert log_of_radial_line(barrel_mm, dk, frequency_ghz) == pytest.approx(field, rel=1e-3)


def test_a_barrel_that_leaves_between_planes_has_its_share_and_higher_modes() -> None:
    """Half of the height counts with a quarter of the return path; modes by SciPy's Bessel functions."""
    stack = ViaStack(((0.0, 0.04), (0.14, 0.18), (0.38, 0.42), (0.62, 0.66)), (4.0, 4.0, 4.0), (1, 3))
    via = ModelledVia(stack, ViaBody(0.2, 0.4, 0.7, (0.0, 0.42), (0, 1, 2)), 3.0)
    height = 0.62 - 0.18
    x = [n * math.pi * 0.1 / height for n in range(1, 41)]
    modes = sum(2 * (math.sin(n * math.pi / 2) / (n * math.pi)) ** 2 * k0(v) / (v * k1(v)) for n, v in enumerate(x, 1))
    expected = 0.2 * (height * (3.0 / 4 + modes) + (0.02 + 0.1 + 0.04) * math.log(3.5))
    assert sum(inductance_nh(via, (0, 2))) == pytest.approx(expected, rel=1e-4)


def test_the_chain_is_passive_and_delays_as_the_formula_says() -> None:
    """At 0.5 GHz the phase of S21, less that of nothing, is the delay of the two-port."""
    via, lossless = ModelledVia(FOUR, THROUGH, 3.1), LaminateLoss(0.0, 1.0)
    s = s_of_chain(passage_chain(np.array([0.5]), via, (0, 3), lossless, 50.0), 50.0)
    assert -np.angle(s[0, 1, 0]) / (2 * math.pi * 0.5e-3) == pytest.approx(added_delay_ps(via, (0, 3), 50.0), rel=0.005)
    lossy = LaminateLoss(0.02, 10.0)
    for chain in (passage_chain(GHZ, via, (0, 3), lossy, 50.0), open_end_chain(GHZ, via, (1, 3), lossy)):
        assert np.linalg.norm(s_of_chain(chain, 50.0), ord=2, axis=(1, 2)).max() <= 1 + 1e-9


def test_a_stub_is_its_capacitance_at_low_frequency() -> None:
    """What the field gives past the layer that it begins at."""
    via, found = ModelledVia(FOUR, THROUGH, 3.1), via_capacitance(FOUR, THROUGH)
    chain = open_end_chain(np.array([0.1]), via, (1, 3), LaminateLoss(0.0, 1.0))
    past = sum(found.at_layers_pf[2:]) + sum(found.in_plies_pf[1:])
    assert chain[0, 1, 0].imag == pytest.approx(2 * math.pi * 0.1e9 * past * 1e-12, rel=1e-3)
