"""The operating margin in its parts, against closed forms and counting."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from drc_rules.requirements.interfaces import interface
from stackup_lib.channels.amplitudes import reach
from stackup_lib.channels.com import margin, operating_margin
from stackup_lib.channels.equaliser import ctle, feedback_taps, receiver_filter, with_taps
from stackup_lib.channels.package import cascade, die_to_die, package_s, turned
from stackup_lib.channels.pulse import symbol_grid_ghz
from stackup_lib.channels.reference import ReferenceChannel, Steps
from stackup_lib.transmission_lines.two_port import barrel_chain, in_a_row, s_of_chain

FOUND = interface("eth25g").reference_channel
assert FOUND is not None
KR4: ReferenceChannel = FOUND
GHZ = symbol_grid_ghz(KR4.symbol_gbd, 3 * KR4.symbol_gbd, KR4.step_ghz)
Q = NormalDist()


def test_noise_alone_reaches_its_quantile() -> None:
    for ratio in (1e-3, 1e-5, 1e-12):
        assert reach(np.zeros(3), 0.002, 2, ratio) == pytest.approx(-0.002 * Q.inv_cdf(ratio), rel=3e-4)


@pytest.mark.parametrize(("levels", "samples"), [(2, [0.01]), (2, [0.01, 0.004, -0.007]), (4, [0.01, -0.004])])
def test_interference_reaches_as_far_as_counting_says(levels: int, samples: list[float]) -> None:
    """The share of all patterns that exceeds what was found is the error ratio."""
    sigma, ratio = 0.001, 1e-5
    found = reach(np.array(samples), sigma, levels, ratio)
    patterns = product(np.linspace(-1, 1, levels), repeat=len(samples))
    sums = [sum(level * one for level, one in zip(pattern, samples, strict=True)) for pattern in patterns]
    exceeds = sum(1 - Q.cdf((found - one) / sigma) for one in sums) / len(sums)
    assert math.log10(exceeds) == pytest.approx(math.log10(ratio), abs=0.005)


def test_filters_are_what_their_numbers_say() -> None:
    """The receiver has lost 3 dB at its bandwidth; the CTLE has its gain at DC, its zero and poles are where stated."""
    equaliser = KR4.equaliser
    at = np.array([0.0, equaliser.receiver_ghz])
    assert 20 * np.log10(np.abs(receiver_filter(at, equaliser.receiver_ghz))) == pytest.approx([0, -3.01], abs=0.01)
    assert 20 * np.log10(np.abs(ctle(at, equaliser, -7.0)[0])) == pytest.approx(-7.0)
    flat = ctle(GHZ, equaliser, 0.0)  # zero and first pole are one: a pole is left
    assert flat == pytest.approx(1 / (1 + 1j * GHZ / equaliser.poles_ghz[1]))


def test_taps_shift_by_symbols_and_feedback_is_clamped() -> None:
    value = np.zeros((6, 2))
    value[2] = [1.0, 0.5]
    found = with_taps(value, -0.1, -0.2)
    assert found[:, 0] == pytest.approx([0, -0.1, 0.7, -0.2, 0, 0])
    assert feedback_taps(np.array([0.1, 0.9, -0.9]), 0.5, 1.0) == pytest.approx([0.2, 1.0, -1.0])
    assert Steps(least=-0.06, step=0.02).values() == pytest.approx((-0.06, -0.04, -0.02, 0.0))


def test_two_ports_in_a_row_are_their_chains() -> None:
    ghz = np.linspace(0, 50, 101)
    one, other = barrel_chain(ghz, 20, 42, 3.6, 0.02), barrel_chain(ghz, 7, 61, 4.0, 0.01)
    both = s_of_chain(in_a_row((one, other), len(ghz)), 50.0)
    assert cascade(s_of_chain(one, 50.0), s_of_chain(other, 50.0)) == pytest.approx(both, abs=1e-12)
    assert turned(both)[:, 0, 0] == pytest.approx(both[:, 1, 1])


def test_a_package_is_its_capacitances_its_line_and_its_loss() -> None:
    """At low frequency both capacitances and the line's own; at Nyquist the delay and loss of equation 93A-9."""
    package = KR4.package
    bare = package.model_copy(update={"device_pf": 0.0, "pad_pf": 0.0, "ohm": 100.0})
    at = 12.890625
    s21 = package_s(np.array([at]), bare, 30.0, 50.0)[0, 1, 0]
    per_mm = 1.734e-3 * math.sqrt(at) + 1.455e-4 * at
    assert -math.log(abs(s21)) == pytest.approx(30 * per_mm, rel=1e-6)
    low = 0.01
    lossless = package.model_copy(update={"loss_per_mm_root_ghz": 0.0, "loss_per_mm_ghz": 0.0})
    s11 = package_s(np.array([low]), lossless, 12.0, 50.0)[0, 0, 0]
    line_pf = 12 * 6.141e-3 / (78.2 / 2) * 1e3
    henry_as_pf = 12 * 6.141e-3 * (78.2 / 2) / 50**2 * 1e3
    shunt = 2e-3 * math.pi * low * (0.25 + 0.18 + line_pf - henry_as_pf)
    assert s11.imag == pytest.approx(-shunt * 50 / 2, rel=1e-3)


def test_the_voltage_at_the_die_is_that_of_a_divider() -> None:
    """At DC, lossless: both terminations of 55 ohm halve it; of what a matched one leaves, all of it."""
    through = np.tile(np.array([[0, 1], [1, 0]], dtype=complex), (3, 1, 1))
    found = die_to_die(np.array([0.0, 0.001, 0.002]), through, KR4.package, 12.0, 50.0)
    assert abs(found[0]) == pytest.approx(1.0, abs=1e-4)


def channel(mm: float, df: float = 0.012) -> np.ndarray:
    return s_of_chain(barrel_chain(GHZ, mm, 50, 3.6, df), 50.0)


def test_the_margin_falls_with_noise_and_not_with_polarity() -> None:
    """Twice the noise costs; a crossed pair costs nothing; the worse package counts."""
    quiet = margin(GHZ, channel(400), KR4, 12.0, 50.0)
    noisy = KR4.model_copy(update={"noise_v2_per_ghz": 4 * KR4.noise_v2_per_ghz})
    assert margin(GHZ, channel(400), noisy, 12.0, 50.0).com_db < quiet.com_db - 0.1
    crossed = channel(400)
    crossed[:, 0, 1] *= -1
    crossed[:, 1, 0] *= -1
    assert margin(GHZ, crossed, KR4, 12.0, 50.0).com_db == pytest.approx(quiet.com_db, abs=1e-6)
    worst = operating_margin(GHZ, channel(400), KR4, 50.0)
    assert worst.com_db == min(margin(GHZ, channel(400), KR4, mm, 50.0).com_db for mm in KR4.package.lengths_mm)
    assert worst.com_db == pytest.approx(20 * math.log10(worst.signal_v / worst.noise_v))


def test_the_eye_behind_the_equaliser_is_what_its_samples_leave() -> None:
    """At the cursor: the signal less all interference, of a channel that closes the eye without equalisers."""
    found = margin(GHZ, channel(800), KR4, 30.0, 50.0)
    left = (found.sampled.cursor - np.abs(found.sampled.interference).sum()) / KR4.amplitude_v
    assert left - 1e-9 <= found.eye.height < left + 0.05
    assert found.eye.width_ui > 0.4
    assert np.abs(found.sampled.feedback).max() <= KR4.equaliser.most_feedback
    assert len(found.sampled.feedback) == KR4.equaliser.feedback_taps
