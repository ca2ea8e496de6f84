"""Chains of four ports and files of parts: against formulas that the code does not use, passivity and causality."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.power.over_frequency.part_impedance import ceramic_ohm
from stackup_lib.transmission_lines.four_port import (
    chain_of_legs,
    chain_of_modes,
    chain_of_s,
    mixed_modes,
    nothing,
    s_of_pair_chain,
)
from stackup_lib.transmission_lines.touchstone_file import read_network
from stackup_lib.transmission_lines.two_port import (
    barrel_chain,
    fitted_loss_db,
    line_chain,
    open_stub_chain,
    pair_of_modes,
    s_of_chain,
    series_chain,
)
from tests.support.physics.lossy_line import GHZ, lossy
from tests.support.small_boards.paired import series_s, write_s

Complex = NDArray[np.complex128]


def test_a_symmetric_pair_is_that_of_its_modes() -> None:
    """By chains of four ports and by S-parameters of the modes."""
    odd, even = barrel_chain(GHZ, 20, 45, 3.5, 0.01), barrel_chain(GHZ, 20, 60, 3.7, 0.01)
    by_modes = pair_of_modes(s_of_chain(odd, 50.0), s_of_chain(even, 50.0))
    assert s_of_pair_chain(chain_of_modes(odd, even), 50.0) == pytest.approx(by_modes, abs=1e-12)


def test_skew_converts_as_the_sine_of_half_its_phase() -> None:
    """Two matched lossless lines: S of common from differential is (e1 - e2)/2, whose size is sin(pi f dt)."""
    dk, more_mm = 4.0, 3.0
    long, short = barrel_chain(GHZ, 30 + more_mm, 50, dk, 1e-12), barrel_chain(GHZ, 30, 50, dk, 1e-12)
    s = mixed_modes(s_of_pair_chain(chain_of_legs(long, short), 50.0))
    delay_ns = more_mm * math.sqrt(dk) / LIGHT_MM_GHZ
    assert np.abs(s[:, 3, 0]) == pytest.approx(np.abs(np.sin(math.pi * GHZ * delay_ns)), abs=1e-9)
    assert np.abs(s[:, 1, 0]) == pytest.approx(np.abs(np.cos(math.pi * GHZ * delay_ns)), abs=1e-9)


def test_a_chain_comes_back_from_its_s_parameters() -> None:
    """Of two ports and, in the order near P, near N, far P, far N, of four."""
    two = line_chain(lossy(), 12.0)
    assert chain_of_s(s_of_chain(two, 42.0), 42.0) == pytest.approx(two, abs=1e-9)
    four = chain_of_legs(line_chain(lossy(), 5.0), two)
    s = s_of_pair_chain(four, 50.0)[:, [0, 2, 1, 3]][:, :, [0, 2, 1, 3]]
    assert chain_of_s(s, 50.0) == pytest.approx(four, abs=1e-9)
    with pytest.raises(ValueError, match="nothing passes"):
        chain_of_s(np.zeros((3, 2, 2), dtype=np.complex128), 50.0)


def test_a_smooth_loss_deviates_from_nothing() -> None:
    """The fit finds a curve of its own kind, and leaves a ripple on it."""
    ghz = np.linspace(0.05, 16, 500)
    smooth = 1.2 * np.sqrt(ghz) + 0.4 * ghz + 0.01 * ghz**2
    assert fitted_loss_db(ghz, smooth) == pytest.approx(smooth, abs=1e-9)
    ripple = 0.3 * np.sin(2 * math.pi * ghz / 0.7)
    assert np.max(np.abs(smooth + ripple - fitted_loss_db(ghz, smooth + ripple))) == pytest.approx(0.3, abs=0.05)


FAR = np.linspace(0, 200, 4001)
"""GHz, far enough for a window to end softly."""


def elements() -> dict[str, Complex]:
    """S-parameters of every kind of element between ports of 50 ohm."""
    capacitor = ceramic_ohm(FAR, 220e-9, "0402")
    assert capacitor is not None
    barrel = barrel_chain(FAR, 2.0, 40, 4.0, 0.01)
    detour = chain_of_legs(line_chain(lossy(ghz=FAR), 3.0), nothing(len(FAR)))
    return {
        "line": s_of_chain(line_chain(lossy(ghz=FAR), 60.0), 50.0),
        "via": s_of_chain(barrel, 50.0),
        "stub": s_of_chain(open_stub_chain(FAR, 1.0, 40, 4.0, 0.01), 50.0),
        "capacitor": s_of_chain(series_chain(capacitor), 50.0),
        "detour of one trace": s_of_pair_chain(detour, 50.0),
    }


@pytest.mark.parametrize("kind", elements())
def test_every_kind_of_element_is_passive_and_reciprocal(kind: str) -> None:
    s = elements()[kind]
    assert np.linalg.svd(s, compute_uv=False).max() <= 1 + 1e-9
    assert s == pytest.approx(s.transpose(0, 2, 1), abs=1e-10)


def early_share(s: Complex, light_ps: float) -> float:
    """Of the energy of the response to a smooth pulse, the share that comes before light could.

    Weighed by a Gaussian that ends at 1e-6 of its height, the pulse has a sigma of 4.2 ps, its energy one of
    3 ps; what comes 18 ps earlier counts, where 1e-9 of it is left.
    """
    weight = np.exp(-0.5 * (FAR / (FAR[-1] / 5.25)) ** 2)
    response = np.fft.irfft(s * weight, 2 * (len(FAR) - 1))
    step_ps = 1000 / (len(response) * (FAR[1] - FAR[0]))
    time_ps = step_ps * np.arange(len(response))
    time_ps = np.where(time_ps > time_ps[-1] * 0.75, time_ps - time_ps[-1] - step_ps, time_ps)
    return float(np.sum(response[time_ps < light_ps - 18] ** 2) / np.sum(response**2))


@pytest.mark.parametrize("kind", elements())
def test_no_element_answers_before_it_is_asked(kind: str) -> None:
    """What comes earlier than at the speed of light is below a millionth of the energy."""
    s = elements()[kind].copy()
    if kind == "capacitor":  # what it blocks at DC is one sample of a spectrum that begins at 50 MHz
        s[0] = s[1].real
    light_ps = {"line": 60 / LIGHT_MM_GHZ * 1000, "via": 2 / LIGHT_MM_GHZ * 1000}.get(kind, 0.0)
    assert early_share(s[:, 1, 0], light_ps) < 1e-6
    assert early_share(s[:, 0, 0], 0.0) < 1e-6


def test_a_line_that_answers_too_early_is_seen() -> None:
    """The same loss without the delay and phase that belong to it."""
    s = elements()["line"][:, 1, 0]
    assert early_share(np.abs(s).astype(np.complex128), 60 / LIGHT_MM_GHZ * 1000) > 0.1


@pytest.mark.parametrize(
    ("options", "form"), [("# MHz S MA R 75", "MA"), ("# hz S DB R 75", "DB"), ("# GHz S RI R 75", "RI")]
)
def test_formats_of_files_say_the_same(tmp_path: Path, options: str, form: str) -> None:
    """Size and angle, dB and angle, real and imaginary; the noise part of a file is left out."""
    ghz, s = np.array([0.5, 1.0, 2.0]), series_s(np.array([10 + 5j, 10 + 10j, 10 + 20j]), 75.0)
    scale = {"MHz": 1e3, "hz": 1e9, "GHz": 1.0}[options.split()[1]]
    size = np.abs(s) if form == "MA" else 20 * np.log10(np.abs(s))
    shown = s if form == "RI" else size + 1j * np.degrees(np.angle(s))
    path = write_s(tmp_path / "part.s2p", ghz * scale, shown, options)
    path.write_text(path.read_text() + "0.5 1 0.2 30 0.1\n", encoding="ascii")
    found = read_network(path, (2,))
    assert found.reference_ohm == 75.0
    assert found.frequency_ghz == pytest.approx(ghz)
    assert found.s == pytest.approx(s, abs=1e-9)


def test_between_and_below_the_frequencies_of_a_file(tmp_path: Path) -> None:
    """Straight between them; at DC the real part of the first one, its mean with its mirror at negative frequency."""
    ghz, s = np.array([1.0, 2.0]), series_s(np.array([10 + 5j, 10 + 10j]))
    found = read_network(write_s(tmp_path / "part.s2p", ghz, s), (2,)).at(np.array([0.0, 1.0, 1.5]))
    assert found[0] == pytest.approx(s[0].real)
    assert found[1] == pytest.approx(s[0])
    assert found[2] == pytest.approx((s[0] + s[1]) / 2)


def test_the_two_ways_through_four_ports(tmp_path: Path) -> None:
    """Ports 1-2 and 3-4, or 1-3 and 2-4; a file that passes nothing says so."""
    for pairs in (((0, 1), (2, 3)), ((0, 2), (1, 3))):
        s = np.zeros((2, 4, 4), dtype=np.complex128)
        for a, b in pairs:
            s[:, a, b] = s[:, b, a] = 0.9
        assert read_network(write_s(tmp_path / "plug.s4p", np.array([1.0, 2.0]), s), (4,)).through() == pairs
    shut = write_s(tmp_path / "plug.s4p", np.array([1.0, 2.0]), np.zeros((2, 4, 4), dtype=np.complex128))
    with pytest.raises(StackwrightError, match="port 1 passes no more"):
        read_network(shut, (4,)).through()
