"""A laminate's printed figures become one causal permittivity with the stackup's Dk and the Df in question."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.lines.dielectric_models import DielectricDataError, DielectricSample
from stackup_lib.lines.laminate_models import Scaled, laminate_model, samples_of, through_point
from stackup_lib.materials import catalogue


def df_of(eps: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.asarray(-eps.imag / eps.real)


def test_the_points_of_a_named_construction_are_taken_at_every_printed_frequency() -> None:
    """Megtron 6 is tabulated from 1 to 56 GHz; each sample is what the catalogue says there."""
    match = catalogue().find("Megtron 6 2116")

    samples = samples_of(match)

    assert [s.frequency_ghz for s in samples][:3] == [1.0, 2.0, 4.0]
    assert samples[-1].frequency_ghz == 56.0
    assert all(s.dk == match.dk_at(s.frequency_ghz).value for s in samples)
    assert all(s.df == match.df_at(s.frequency_ghz).value for s in samples)


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
    """A declared Df of 0.008 beside a sheet that says 0.004: the model has 0.008 at that frequency."""
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
    """Dk rising with frequency cannot be fitted; the point in question still stands."""
    samples = (DielectricSample(1.0, 3.0, 0.004), DielectricSample(10.0, 4.0, 0.004))

    model = laminate_model(samples, 3.5, 1.0, 0.004, 10.0)

    assert df_of(np.atleast_1d(model.permittivity(10.0)))[0] == pytest.approx(0.004, rel=1e-9)


def test_an_impossible_figure_is_refused_with_its_place() -> None:
    """A Df of 2 is a typing error."""
    with pytest.raises(DielectricDataError, match="Df 2 at 10 GHz"):
        laminate_model((), 3.5, 1.0, 2.0, 10.0)
