"""Delay per length from drawing and data sheet to picoseconds, against boards that were measured."""

from __future__ import annotations

import pytest

from tests.support.physics.measured_delay import FITTED_DK, MAKERS_DK, Delay, delays


def of(dk_from: str, *, in_range: bool) -> list[Delay]:
    """Return the delays predicted from one Dk, within the range that we state, or beyond."""
    return [one for one in delays() if one.dk_from == dk_from and one.in_range == in_range]


def test_the_makers_dk_predicts_the_delay_within_two_percent() -> None:
    """Nothing is fitted. The two lines of one laminate differ by up to 1.5 % themselves: nickel slows one of them."""
    found = of(MAKERS_DK, in_range=True)
    assert len(found) == 14
    assert max(abs(one.off_pct) for one in found) < 2.0
    assert max(abs(one.off_pct) for one in found if one.line == "ASTRA-Copper") < 1.0


def test_the_change_of_the_delay_over_frequency_is_that_of_the_laminate() -> None:
    """With the Dk that was fitted to these lines the level is given, and what is left is the curve."""
    found = of(FITTED_DK, in_range=True)
    assert len(found) == 19
    assert max(abs(one.off_pct) for one in found) < 1.2


@pytest.mark.parametrize("dk_from", [MAKERS_DK, FITTED_DK])
def test_beyond_the_range_that_we_state_a_quasi_static_delay_is_too_short(dk_from: str) -> None:
    """Microstrip disperses: the field moves into the laminate. That is why the range ends where it does."""
    last = [one for one in of(dk_from, in_range=False) if one.frequency_ghz == 110.0]
    assert len(last) == 2
    assert all(-4.0 < one.off_pct < -1.5 for one in last)
