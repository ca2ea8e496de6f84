"""Causal permittivity: wideband Debye and the fit through several points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from stackup_lib.transmission_lines.materials.dielectric_models import (
    DielectricDataError,
    DielectricSample,
    PermittivityModel,
    debye_band,
    fit_causal,
    wideband_debye,
)
from stackup_lib.transmission_lines.materials.nonnegative import nonnegative_least_squares
from tests.support.physics.closed_forms import ConstantDielectric
from tests.support.physics.kramers_kronig import kramers_kronig_gap

CORNERS = {"lower_corner_ghz": 1e-6, "upper_corner_ghz": 1000.0}


def tan_delta(model: PermittivityModel, frequency_ghz: float) -> float:
    eps = complex(model.permittivity(frequency_ghz))
    return -eps.imag / eps.real


@pytest.mark.parametrize("dk,df,ghz", [(4.5, 0.02, 1.0), (3.4, 0.004, 10.0), (3.0, 0.0013, 40.0)])
@pytest.mark.parametrize("upper_ghz", [159.15494, 1000.0])
def test_goes_through_its_point(dk: float, df: float, ghz: float, upper_ghz: float) -> None:
    """The model returns the Dk and Df that it was made from, whatever its corners."""
    model = wideband_debye(dk, df, ghz, lower_corner_ghz=1e-6, upper_corner_ghz=upper_ghz)
    assert complex(model.permittivity(ghz)).real == pytest.approx(dk, rel=1e-12)
    assert tan_delta(model, ghz) == pytest.approx(df, rel=1e-12)


def test_published_slope() -> None:
    """Dk falls by (2/pi) Df ln 10 = 2.9 % per decade at Df 0.02 (Djordjevic et al. 2001, measured on FR-4)."""
    model = wideband_debye(4.5, 0.02, 1.0, **CORNERS)
    fall = 1 - complex(model.permittivity(10.0)).real / 4.5
    assert fall == pytest.approx(0.0293, abs=0.0003)


def test_sum_of_debye_poles_is_the_closed_form() -> None:
    """Many discrete Debye poles, spread evenly over ln f, give the logarithm of the closed form."""
    poles = np.exp(np.linspace(math.log(1e-6), math.log(1000), 20001))
    middle = np.sqrt(poles[1:] * poles[:-1])
    step = math.log(1e9) / 20000
    f = np.array([1e-4, 0.1, 1.0, 28.0, 300.0])
    poles_sum = (step / (1 + 1j * f[:, None] / middle)).sum(axis=1)
    assert debye_band(f, 1e-6, 1000) == pytest.approx(poles_sum, rel=1e-7)


def test_upper_corner_decides_the_loss_at_67_ghz() -> None:
    """Ansys' exports of an FR-4 stripline (Er 4.1, Df 0.02 at 1 GHz) lose less at 67 GHz than a corner of 1 THz says.

    Of 5.2237 dB/inch total 0.5512 is smooth copper (computed); the rest must be pi f Df sqrt(Dk)/c.
    """
    measured = (5.2237 - 0.5512) / 8.685890 / 25.4e-3
    predicted = {}
    for upper in (159.15494, 1000.0):
        model = wideband_debye(4.1, 0.02, 1.0, lower_corner_ghz=1e-6, upper_corner_ghz=upper)
        eps = complex(model.permittivity(67.0))
        predicted[upper] = math.pi * 67e9 * math.sqrt(eps.real) * (-eps.imag / eps.real) / 299792458
    assert predicted[159.15494] == pytest.approx(measured, rel=0.04)
    assert predicted[1000.0] > 1.25 * measured


@pytest.mark.parametrize("at_ghz", [1e-4, 0.1, 1.0, 10.0, 56.0, 500.0])
def test_wideband_debye_obeys_kramers_kronig(at_ghz: float) -> None:
    """The real part follows from the imaginary part at every frequency."""
    model = wideband_debye(4.2, 0.02, 1.0, **CORNERS)
    assert kramers_kronig_gap(model, at_ghz, model.eps_inf) < 1e-6


def test_constant_df_breaks_kramers_kronig() -> None:
    """The check above can fail: a constant Dk with a constant Df is not causal."""
    assert kramers_kronig_gap(ConstantDielectric(4.2, 0.02), 1.0, 4.0) > 0.01


def test_one_point_gives_the_wideband_debye_model() -> None:
    """The fit through one point is the closed form, over nine decades."""
    closed = wideband_debye(3.6, 0.009, 10.0, **CORNERS)
    fit = fit_causal([DielectricSample(10.0, 3.6, 0.009)], **CORNERS)
    f = np.geomspace(1e-5, 300, 25)
    assert fit.permittivity(f) == pytest.approx(closed.permittivity(f), rel=1e-6)
    assert fit.dk_residual < 1e-6


def points_of(model: PermittivityModel, frequencies: NDArray[np.float64]) -> list[DielectricSample]:
    return [
        DielectricSample(float(f), float(e.real), float(-e.imag / e.real))
        for f, e in zip(frequencies, model.permittivity(frequencies), strict=True)
    ]


def test_recovers_a_material_with_rising_df() -> None:
    """Five points of a causal material with rising loss give back its permittivity between and near the points."""

    class TwoBands:
        def permittivity(self, frequency_ghz: object) -> NDArray[np.complex128]:
            f = np.asarray(frequency_ghz, dtype=float)
            return 3.0 + 0.006 * debye_band(f, 1e-6, 1000) + 0.008 * debye_band(f, 8.0, 1000)

    truth = TwoBands()
    fit = fit_causal(points_of(truth, np.array([1.0, 3.0, 10.0, 20.0, 40.0])), **CORNERS)
    f = np.geomspace(1, 40, 30)
    assert fit.dk_residual < 2e-4
    assert np.abs(fit.permittivity(f).real / truth.permittivity(f).real - 1).max() < 5e-4
    assert np.abs(fit.permittivity(f).imag / truth.permittivity(f).imag - 1).max() < 0.05
    assert kramers_kronig_gap(fit, 10.0, fit.eps_inf) < 1e-6
    assert min(fit.densities) >= 0


def test_points_may_lack_dk_or_df() -> None:
    """Dk at one frequency and Df at another are enough."""
    fit = fit_causal([DielectricSample(1.0, dk=3.7), DielectricSample(10.0, df=0.01)], **CORNERS)
    assert complex(fit.permittivity(1.0)).real == pytest.approx(3.7, rel=1e-6)
    assert tan_delta(fit, 10.0) == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize(
    "samples,says",
    [
        ([DielectricSample(1, 3.5, 0.002), DielectricSample(10, 3.9, 0.002)], "Dk"),
        ([DielectricSample(1, 4.2, 0.001), DielectricSample(10, 3.6, 0.001)], "Dk"),
        ([DielectricSample(1, 3.5, 0.03), DielectricSample(1.2, 3.5, 0.002)], "Df"),
    ],
    ids=["Dk rises with frequency", "Dk falls without loss", "Df jumps"],
)
def test_contradicting_points_are_an_error(samples: list[DielectricSample], says: str) -> None:
    """Points that no causal material has are refused in one line with the point, the nearest value and what to do."""
    with pytest.raises(DielectricDataError) as caught:
        fit_causal(samples, **CORNERS)
    message = str(caught.value)
    assert f"nearest causal material has {says}" in message
    assert "data sheet" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "dk,df,ghz",
    [
        (0.9, 0.01, 1.0),
        (math.nan, 0.01, 1.0),
        (4.0, -0.01, 1.0),
        (4.0, 0.01, 0.0),
        (4.0, 0.01, 2000.0),
        (1.2, 0.5, 1.0),
    ],
)
def test_nonsense_is_an_error(dk: float, df: float, ghz: float) -> None:
    """Values outside physics are refused, as is a loss that drives the permittivity below that of vacuum."""
    with pytest.raises(DielectricDataError):
        wideband_debye(dk, df, ghz, **CORNERS)


def test_no_loss_is_a_constant() -> None:
    """Df 0 gives the same Dk at all frequencies."""
    model = wideband_debye(4.0, 0.0, 1.0, **CORNERS)
    assert model.permittivity([0.0, 1.0, 100.0]) == pytest.approx([4.0, 4.0, 4.0])


@pytest.mark.parametrize("seed", range(40))
def test_least_squares_without_negative_unknowns_are_those_of_scipy(seed: int) -> None:
    """Of any shape, with more unknowns than rows too: the same least error, and nothing below zero."""
    rng = np.random.default_rng(seed)
    rows, unknowns = rng.integers(1, 60, 2).tolist()
    matrix, target = rng.normal(size=(rows, unknowns)), rng.normal(size=rows)
    matrix = np.abs(matrix) if seed % 3 == 0 else matrix

    found = nonnegative_least_squares(matrix, target)

    _, least = nnls(matrix, target)
    assert found.min() >= 0
    assert np.linalg.norm(matrix @ found - target) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_a_guess_changes_no_least_squares_without_negative_unknowns(seed: int) -> None:
    """Neither the least squares without a bound, nor numbers at random, nor a guess without a positive one."""
    rng = np.random.default_rng(seed)
    matrix, target = rng.normal(size=(40, 20)), rng.normal(size=40)
    plain = np.asarray(np.linalg.lstsq(matrix, target, rcond=None)[0], dtype=np.float64)
    expected = nonnegative_least_squares(matrix, target)

    for guess in (plain, rng.normal(size=20), np.ones(20), -np.ones(20)):
        assert nonnegative_least_squares(matrix, target, guess) == pytest.approx(expected, abs=1e-12)


def test_least_squares_without_negative_unknowns_by_hand() -> None:
    """x + y = 1 and x - y = 3 meet at (2, -1); with y at 0 the best x is their mean, 2, and misses each by 1."""
    found = nonnegative_least_squares(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([1.0, 3.0]))

    assert found == pytest.approx([2.0, 0.0])
