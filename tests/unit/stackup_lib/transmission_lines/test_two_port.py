"""Chains of lines, barrels and stubs: against formulas that the code does not use."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.transmission_lines.loss import Face, Filling, line_from_impedance, loss_per_length
from stackup_lib.transmission_lines.materials.laminate_models import laminate_model
from stackup_lib.transmission_lines.two_port import (
    barrel_chain,
    in_a_row,
    line_chain,
    open_stub_chain,
    pair_of_modes,
    s_of_chain,
    series_chain,
    step_impedance_ohm,
)
from tests.support.physics.lossy_line import GHZ, lossy


def test_a_mismatched_line_reflects_as_two_steps_do() -> None:
    """S11 = G (1 - e)/(1 - G^2 e), S21 = (1 - G^2) sqrt(e)/(1 - G^2 e), e = exp(-2 gamma l): multiple reflections."""
    line, length_mm, port = lossy(), 80.0, 50.0
    s = s_of_chain(line_chain(line, length_mm), port)[1:]
    z, gamma = line.impedance_ohm[1:], line.propagation_per_m[1:]
    step, once = (z - port) / (z + port), np.exp(-gamma * length_mm / 1000)
    total = 1 - step**2 * once**2
    assert s[:, 0, 0] == pytest.approx(step * (1 - once**2) / total, abs=1e-12)
    assert s[:, 1, 0] == pytest.approx((1 - step**2) * once / total, abs=1e-12)
    assert s[:, 0, 1] == pytest.approx(s[:, 1, 0], abs=1e-12)


def test_dc_is_the_resistance_alone() -> None:
    """S21 = 2 Z/(2 Z + R) of a resistor R between ports of Z."""
    line = lossy()
    ohm = float(line.resistance_ohm_per_m[0]) * 0.2
    assert ohm > 0.1
    assert s_of_chain(line_chain(line, 200.0), 50.0)[0, 1, 0] == pytest.approx(100 / (100 + ohm), rel=1e-12)


def test_an_open_stub_of_a_quarter_wave_shorts_the_path() -> None:
    """Nothing passes at c/(4 l sqrt(Dk)); at twice that frequency the stub is open and all does."""
    ghz = 16.0
    length_mm = LIGHT_MM_GHZ / (4 * ghz * math.sqrt(4.0))
    at = np.array([ghz, 2 * ghz])
    s = s_of_chain(open_stub_chain(at, length_mm, 60.0, 4.0, 1e-9), 50.0)
    assert abs(s[0, 1, 0]) < 1e-6
    assert abs(s[1, 1, 0]) == pytest.approx(1.0, abs=1e-6)


def test_a_half_wave_barrel_is_not_seen() -> None:
    """Whatever its impedance; a quarter wave of it transforms to Z^2/Z0."""
    length_mm = LIGHT_MM_GHZ / (2 * 20.0 * math.sqrt(4.0))
    s = s_of_chain(barrel_chain(np.array([10.0, 20.0]), length_mm, 30.0, 4.0, 0.0), 50.0)
    seen = 30.0**2 / 50.0
    assert s[0, 0, 0] == pytest.approx((seen - 50) / (seen + 50), abs=1e-9)
    assert abs(s[1, 0, 0]) < 1e-9


def test_any_chain_is_passive_and_reciprocal() -> None:
    """Two hundred random chains: no singular value of S beyond 1, S21 = S12."""
    draw = np.random.default_rng(3)
    for _ in range(200):
        parts = []
        for _ in range(int(draw.integers(1, 6))):
            length = float(draw.uniform(0.01, 60))
            ohm, dk, df = float(draw.uniform(20, 120)), float(draw.uniform(2.5, 9)), float(draw.uniform(0, 0.03))
            made = (line_chain(lossy(ohm), length), barrel_chain(GHZ, length / 20, ohm, dk, df))
            parts += [made[int(draw.integers(2))], open_stub_chain(GHZ, length / 30, ohm, dk, df)][
                : int(draw.integers(1, 3))
            ]
        s = s_of_chain(in_a_row(parts, len(GHZ)), 50.0)
        assert np.linalg.svd(s, compute_uv=False).max() <= 1 + 1e-9
        assert s[:, 0, 1] == pytest.approx(s[:, 1, 0], abs=1e-9)


def test_modes_come_back_from_the_four_port() -> None:
    """M S M^-1 with M of Bockelman and Eisenstadt is block diagonal: odd and even."""
    odd = s_of_chain(line_chain(lossy(40), 50.0), 50.0)
    even = s_of_chain(line_chain(lossy(55), 50.0), 50.0)
    four = pair_of_modes(odd, even)
    r = math.sqrt(0.5)
    mixed = np.array([[r, 0, -r, 0], [0, r, 0, -r], [r, 0, r, 0], [0, r, 0, r]])
    found = mixed @ four @ mixed.T
    assert found[:, :2, :2] == pytest.approx(odd, abs=1e-12)
    assert found[:, 2:, 2:] == pytest.approx(even, abs=1e-12)
    assert np.abs(found[:, :2, 2:]).max() < 1e-12


def test_a_step_sees_each_line_in_turn() -> None:
    """60 ohm, then 45: plateaus within 1 %, at the times of their lengths."""
    parts = [barrel_chain(GHZ, 60.0, 60.0, 4.0, 0.0), barrel_chain(GHZ, 60.0, 45.0, 4.0, 0.0)]
    reflection = s_of_chain(in_a_row(parts, len(GHZ)), 50.0)[:, 0, 0]
    time_ps, ohm = step_impedance_ohm(GHZ, reflection, 50.0)
    there_and_back_ps = 2 * 60.0 * 2 / LIGHT_MM_GHZ * 1000
    first = (time_ps > 0.2 * there_and_back_ps) & (time_ps < 0.8 * there_and_back_ps)
    second = (time_ps > 1.2 * there_and_back_ps) & (time_ps < 1.8 * there_and_back_ps)
    assert ohm[first] == pytest.approx(60.0, rel=0.01)
    assert ohm[second] == pytest.approx(45.0, rel=0.01)


def test_a_coupling_capacitor_is_too_slow_for_a_step() -> None:
    """220 nF behind a line reflect all of DC and next to nothing at 50 MHz: the trace is that of the line alone."""
    line = barrel_chain(GHZ, 60.0, 60.0, 4.0, 0.0)
    alone = s_of_chain(line, 50.0)[:, 0, 0]
    ohm = np.concatenate([[1e15], 1 / (2j * math.pi * GHZ[1:] * 1e9 * 220e-9)])
    blocked = s_of_chain(in_a_row([line, series_chain(ohm)], len(GHZ)), 50.0)[:, 0, 0]
    assert abs(blocked[0]) > 0.999
    _, seen = step_impedance_ohm(GHZ, alone, 50.0)
    _, behind = step_impedance_ohm(GHZ, blocked, 50.0)
    assert behind == pytest.approx(seen, abs=0.05)


def test_nothing_arrives_before_light_in_the_laminate_can() -> None:
    """The impulse through 100 mm of a causal line: less than a millionth of its energy before 95 % of the flight."""
    ghz = np.linspace(0, 200, 4001)
    model = laminate_model((), 3.6, 10.0, 0.01, 10.0)
    line = line_from_impedance(50.0, 3.6, (Filling(1.0, 3.6, model),), (Face(12.0, 0.018),))
    s21 = s_of_chain(line_chain(loss_per_length(line, ghz), 100.0), 50.0)[:, 1, 0]
    window = 0.5 * (1 + np.cos(np.pi * np.arange(len(ghz)) / (len(ghz) - 1)))
    impulse = np.fft.irfft(s21 * window)
    time_ps = 1000 / (len(impulse) * (ghz[1] - ghz[0])) * np.arange(len(impulse))
    fastest_dk = float(model.permittivity(np.array([200.0])).real[0])
    flight_ps = 1000 * 100.0 * math.sqrt(fastest_dk) / LIGHT_MM_GHZ
    early = float(np.sum(impulse[time_ps < 0.95 * flight_ps] ** 2))
    assert early < 1e-6 * float(np.sum(impulse**2))
