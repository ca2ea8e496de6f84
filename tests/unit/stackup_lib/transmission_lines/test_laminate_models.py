"""A laminate's printed values become one causal permittivity with the stackup's Dk and the Df in question."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.materials import catalogue
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError, DielectricSample
from stackup_lib.transmission_lines.materials.laminate_models import Scaled, laminate_model, samples_of, through_point
from tests.support.each import each
from tests.support.physics.kramers_kronig import kramers_kronig_gap

STEP = 1.01
"""Adjacent frequencies of a sweep lie 1 % apart."""

DF_GOOD_TO = 0.04
"""What a printed Df is good to, with half a step of its last digit: sheets of one laminate differ by more."""


def df_of(eps: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.asarray(-eps.imag / eps.real)


def test_the_points_of_a_named_construction_are_taken_at_every_printed_frequency() -> None:
    """Megtron 6 is tabulated from 1 to 56 GHz; each sample is what the catalogue says there."""
    match = catalogue().find("Megtron 6 2116")

    samples = samples_of(match)

    assert [s.frequency_ghz for s in samples][:3] == [1.0, 2.0, 4.0]
    assert [s.frequency_ghz for s in samples if s.printed][-1] == 56.0
    assert all(s.dk == match.dk_at(s.frequency_ghz).value for s in samples if s.printed)
    assert all(s.df == match.df_at(s.frequency_ghz).value for s in samples)


def test_above_its_last_frequency_the_curve_follows_the_trend_that_is_read_there() -> None:
    """Megtron 4: 0.005 at 1 GHz and 0.007 at 10, so 0.007 + 0.002 log10(f / 10); without the trend it would stay."""
    match = catalogue().find("Megtron 4")
    samples = samples_of(match)
    printed = tuple(s for s in samples if s.printed)
    assert [(s.frequency_ghz, s.df) for s in printed] == [(1.0, 0.005), (10.0, 0.007)]

    for ghz in (12.89, 16.0, 20.0):
        df = 0.007 + 0.002 * np.log10(ghz / 10)
        curve, held = (laminate_model(some, 3.8, 1.0, df, ghz) for some in (samples, printed))
        assert df_of(np.atleast_1d(curve.permittivity(ghz)))[0] == pytest.approx(df, rel=0.01)
        assert df_of(np.atleast_1d(held.permittivity(ghz)))[0] == pytest.approx(0.007, rel=0.02)


def test_a_sheet_without_a_trend_gets_no_sample_beyond_it() -> None:
    """370HR has 0.025 at 5 and 10 GHz, IT-968 one frequency."""
    for text in ("370HR", "IT-968"):
        assert all(s.printed for s in samples_of(catalogue().find(text)))


def test_an_unknown_material_has_no_points() -> None:
    """Nothing is made up."""
    assert samples_of(catalogue().find("Unobtainium")) == ()


def test_the_model_keeps_the_stackups_dk_and_meets_the_sheets_df_over_frequency() -> None:
    """Dk 3.40 at 1 GHz as the stackup says; Df of the sheet to its digits: 0.004 at 8 GHz is printed to one."""
    match = catalogue().find("Megtron 6")
    df = match.df_at(16.0).need()

    model = laminate_model(samples_of(match), 3.40, 1.0, df, 16.0)

    assert isinstance(model, Scaled)
    assert model.permittivity(1.0).real == pytest.approx(3.40)
    for frequency_ghz, printed, digits in ((8.0, 0.004, 5e-4), (13.0, 0.0046, 1e-4), (24.0, 0.0052, 2e-4)):
        assert match.df_at(frequency_ghz).need() == printed
        assert df_of(np.atleast_1d(model.permittivity(frequency_ghz)))[0] == pytest.approx(printed, abs=digits)


def test_points_that_disagree_with_the_df_in_question_give_way_to_it() -> None:
    """A declared Df of 0.008 with a sheet that says 0.004: the model has 0.008 at that frequency."""
    samples = (DielectricSample(1.0, 3.6, 0.003), DielectricSample(10.0, 3.55, 0.004))

    model = laminate_model(samples, 3.6, 1.0, 0.008, 10.0)

    assert df_of(np.atleast_1d(model.permittivity(10.0)))[0] == pytest.approx(0.008, rel=1e-9)
    assert model.permittivity(1.0).real == pytest.approx(3.6)


def test_without_points_it_is_the_wideband_debye_model_through_the_one() -> None:
    """The same curve, scaled to the Dk at the frequency where that holds."""
    model, single = laminate_model((), 4.2, 1.0, 0.02, 5.0), through_point(4.2, 0.02, 5.0)
    f = np.array([0.1, 1.0, 5.0, 20.0])

    assert df_of(model.permittivity(f)) == pytest.approx(df_of(single.permittivity(f)), rel=1e-12)
    assert float(model.permittivity(1.0).real) == pytest.approx(4.2)


def test_points_that_no_causal_material_has_do_not_decide() -> None:
    """A Df that falls to a fifteenth within a fifth of an octave cannot be fitted; the point in question stands."""
    samples = (DielectricSample(1.0, 3.5, 0.03), DielectricSample(1.2, 3.5, 0.002))

    model = laminate_model(samples, 3.5, 1.0, 0.002, 1.2)

    assert df_of(np.atleast_1d(model.permittivity(1.2)))[0] == pytest.approx(0.002, rel=1e-9)
    assert df_of(np.atleast_1d(model.permittivity(1.0)))[0] == pytest.approx(0.002, rel=0.01)


def test_an_impossible_figure_is_refused_with_its_place() -> None:
    """A Df of 2 is a typing error."""
    with pytest.raises(DielectricDataError, match="Df 2 at 10 GHz"):
        laminate_model((), 3.5, 1.0, 2.0, 10.0)


@cache
def every_material() -> list[str]:
    """Every laminate of the catalogue, and one text for each construction of it whose values differ."""
    texts: dict[tuple[DielectricSample, ...], str] = {}
    for laminate in catalogue().laminates:
        styles = dict.fromkeys((c.style, c.resin_content_pct) for c in laminate.constructions if c.style)
        resins = [f"{laminate.family} {style} RC{rc:g}%" for style, rc in styles if rc]
        for text in (laminate.family, *(f"{laminate.family} {style}" for style, _ in styles), *resins):
            samples = samples_of(catalogue().find(text))
            if samples:
                texts.setdefault(samples, text)
    return list(texts.values())


@cache
def sweep(text: str) -> tuple[NDArray[np.float64], NDArray[np.complex128], NDArray[np.float64]]:
    """Frequencies at which a Df is known, what the loss of a line there is computed with, and the required Df."""
    match = catalogue().find(text)
    samples = samples_of(match)
    asked = [(f, match.df_at(f).value) for f in STEP ** np.arange(-235, 475)]
    known = [(f, df) for f, df in asked if df is not None]
    eps = [complex(np.asarray(laminate_model(samples, 3.6, 1.0, df, f).permittivity(f))) for f, df in known]
    return np.array([f for f, _ in known]), np.array(eps), np.array([df for _, df in known])


@pytest.mark.slow
@each(text=every_material)
def test_loss_over_frequency_has_no_step_for_any_laminate(text: str) -> None:
    """Between frequencies 1 % apart neither Df nor Dk leaves the trend of its neighbours by 0.1 %."""
    f, eps, _ = sweep(text)

    together = np.isclose(f[2:] / f[:-2], STEP**2)
    for values in (df_of(eps), eps.real):
        bend = np.abs(np.diff(np.log(values), 2))[together]
        assert bend.max(initial=0.0) < 1e-3


@pytest.mark.slow
@each(text=every_material)
def test_one_causal_curve_answers_at_every_frequency_and_keeps_the_printed_points(text: str) -> None:
    """It meets each printed Df within its accuracy, and what is read between and beyond them within 18 %.

    So much it takes where a sheet goes from 0.003 to 0.004 within a third of an octave, as Megtron 6's does.
    """
    match = catalogue().find(text)
    samples = samples_of(match)
    f, eps, asked = sweep(text)
    printed = [(s.frequency_ghz, s.df) for s in samples if s.df is not None and s.printed]

    assert df_of(eps) == pytest.approx(asked, rel=0.18)
    if len(printed) > 1:
        models = {laminate_model(samples, 3.6, 1.0, float(df), float(ghz)) for ghz, df in zip(f, asked, strict=True)}
        assert len(models) == 1
        curve = models.pop()
        for ghz, df in printed:
            digits = len(f"{df:.12f}".rstrip("0")) - 2
            good_to = DF_GOOD_TO * df + 0.5 * 10.0 ** -max(digits, 3)
            assert df_of(np.atleast_1d(curve.permittivity(ghz)))[0] == pytest.approx(df, abs=good_to)
        assert kramers_kronig_gap(curve, 5.0, float(curve.permittivity(1e9).real), step=0.02) < 1e-5
