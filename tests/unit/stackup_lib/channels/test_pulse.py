"""Pulse responses and eyes against closed forms: an ideal line, an RC low-pass, an echo, a capacitor in the way."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.channels.eye import openings, worst_eye
from stackup_lib.channels.pulse import PulseResponse, edge_ui, pulse_response, smooth_edges, symbol_grid_ghz

Real = NDArray[np.float64]
GBD = 25.78125


def grid(reach: float = 3.0) -> Real:
    return symbol_grid_ghz(GBD, reach * GBD, 0.025)


def test_the_grid_divides_the_symbol_rate() -> None:
    """From DC past the last frequency, no step larger than asked; at least 64 steps for a slow symbol."""
    ghz = grid()
    steps = GBD / ghz[1]
    assert steps == pytest.approx(round(steps), abs=1e-9)
    assert (ghz[0], ghz[-1] >= 3 * GBD, ghz[1] <= 0.025) == (0, True, True)
    assert GBD / 1000 / symbol_grid_ghz(GBD / 1000, 1.0, 0.025)[1] == pytest.approx(64)
    with pytest.raises(ValueError, match="whole fraction"):
        pulse_response(np.linspace(0, 50, 1001), np.ones(1001, dtype=complex), GBD)


@pytest.mark.parametrize("delay_ui", [0.0, 1.0, 17.25])
def test_an_ideal_line_delays_the_pulse(delay_ui: float) -> None:
    """As high, as wide, later; what is said of its edges is so."""
    ghz = grid()
    transfer = smooth_edges(ghz) * np.exp(-2j * np.pi * ghz / GBD * delay_ui)
    pulse = pulse_response(ghz, transfer, GBD)
    eye = worst_eye(pulse)
    assert eye.height == pytest.approx(1.0, abs=1e-3)
    assert eye.width_ui == pytest.approx(1.0, abs=1e-3)
    assert openings(pulse, 2)[round((delay_ui + 0.5) * 32)] == pytest.approx(1.0, abs=0.01)  # ripple of the band limit
    assert pulse.samples.sum() / pulse.samples_per_ui == pytest.approx(1.0)  # its area
    assert pulse.early < 0.01
    shifted = np.roll(pulse.samples, round((1 - delay_ui) * 32))[:48]
    ten, ninety = np.interp([0.1, 0.9], shifted, np.arange(48) / 32)
    assert ninety - ten == pytest.approx(edge_ui(ghz, GBD), abs=0.01)


@pytest.mark.parametrize("rc_ui", [0.3, 0.7])
def test_a_low_pass_leaves_what_its_exponentials_leave(rc_ui: float) -> None:
    """At its end the symbol is 1 - a, a = exp(-T/RC), and others take a; open from RC ln 2 to T + RC ln 2(1 - a)."""
    ghz = symbol_grid_ghz(GBD, 120 * GBD, 0.2)
    transfer = smooth_edges(ghz) / (1 + 2j * np.pi * ghz / GBD * rc_ui)
    with pytest.raises(ValueError, match="32 samples"):
        pulse_response(ghz, transfer, GBD)
    pulse = pulse_response(ghz, transfer, GBD, 256)
    a = math.exp(-1 / rc_ui)
    time = np.arange(pulse.samples.size) / 256
    exact = np.where(time < 1, 1 - np.exp(-time / rc_ui), (1 - a) * np.exp(-(time - 1) / rc_ui))
    assert pulse.samples == pytest.approx(exact, abs=0.01)
    eye = worst_eye(pulse)
    assert eye.height == pytest.approx(1 - 2 * a, abs=0.01)
    assert eye.width_ui == pytest.approx(1 + rc_ui * math.log(1 - a), abs=0.01)


def test_an_echo_takes_its_size_from_every_level() -> None:
    """Of two levels once, of four three times; an inverted line has the same eye."""
    ghz = grid()
    turn = np.exp(-2j * np.pi * ghz / GBD)
    transfer = smooth_edges(ghz) * (turn**2 - 0.1 * turn**7)
    assert worst_eye(pulse_response(ghz, transfer, GBD)).height == pytest.approx(0.9, abs=1e-3)
    assert worst_eye(pulse_response(ghz, transfer, GBD), 4).height == pytest.approx(0.7, abs=3e-3)
    assert worst_eye(pulse_response(ghz, -transfer, GBD), 4).height == pytest.approx(0.7, abs=3e-3)
    closed = worst_eye(pulse_response(ghz, smooth_edges(ghz) * (turn - 0.4 * turn**7), GBD), 4)
    assert closed.height < 0
    assert closed.width_ui == 0


def test_a_capacitor_leaves_the_pulse_as_it_is() -> None:
    """It blocks DC alone of what the window shows: without its value there, the eye is that without the capacitor."""
    ghz = grid()
    line = smooth_edges(ghz) * np.exp(-2j * np.pi * ghz / GBD * 20 - 0.1 * np.sqrt(ghz))
    blocked = line.copy()
    blocked[0] = 0
    plain, behind = (worst_eye(pulse_response(ghz, one, GBD)) for one in (line, blocked))
    assert behind.height == pytest.approx(plain.height, abs=0.02)
    assert behind.width_ui == pytest.approx(plain.width_ui, abs=0.02)


def test_what_arrives_before_it_was_sent_is_seen() -> None:
    """A line of negative delay, and one whose echo takes longer than the window; nothing has not settled either."""
    ghz = grid()
    assert pulse_response(ghz, np.zeros(len(ghz), dtype=complex), GBD).early == 1.0
    for delay_ui in (-8.0, GBD / ghz[1] - 40):
        transfer = smooth_edges(ghz) * (1 + 0.1 * np.exp(-2j * np.pi * ghz / GBD * delay_ui))
        assert pulse_response(ghz, transfer, GBD).early == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("levels", [2, 4])
def test_no_pattern_is_worse_than_the_worst(levels: int) -> None:
    """All patterns of five symbols through a channel of that length: the smallest distance of neighbouring levels."""
    value = np.random.default_rng(7).normal(size=(5, 4)) * 0.03 + np.array([0.05, 0.9, 0.2, -0.1, 0.02])[:, None]
    pulse = PulseResponse(symbol_gbd=GBD, value=value / levels)
    sent = np.array(list(product(np.linspace(-1, 1, levels), repeat=5)))
    found = []
    for cursor, phase in product(range(5), range(4)):
        seen, level = sent @ pulse.value[:, phase], sent[:, cursor]
        steps = np.linspace(-1, 1, levels)
        gaps = [seen[level == up].min() - seen[level == low].max() for low, up in pairwise(steps)]
        found.append(min(gaps) * (levels - 1) / 2)
    assert worst_eye(pulse, levels).height == pytest.approx(max(found), abs=1e-12)
