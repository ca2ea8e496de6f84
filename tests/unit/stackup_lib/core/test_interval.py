"""A value with its uncertainty against a limit: inside passes, wholly outside fails, between is neither."""

from __future__ import annotations

import pytest

from stackup_lib.core.interval import Interval, Standing


@pytest.mark.parametrize(
    ("low", "nominal", "high", "standing"),
    [
        (29.0, 30.0, 44.0, Standing.WITHIN),  # the worst case is past the limit, the nominal is not
        (31.0, 31.0, 31.0, Standing.WITHIN),  # the limit itself is allowed
        (30.0, 32.0, 35.0, Standing.UNSURE),
        (31.0, 32.0, 35.0, Standing.UNSURE),  # the best case just meets it
        (31.5, 32.0, 35.0, Standing.BEYOND),
    ],
)
def test_a_maximum(low: float, nominal: float, high: float, standing: Standing) -> None:
    assert Interval(low=low, nominal=nominal, high=high).against(maximum=31.0) is standing


@pytest.mark.parametrize(
    ("low", "nominal", "high", "standing"),
    [
        (76.0, 80.75, 83.0, Standing.WITHIN),
        (79.0, 80.0, 81.0, Standing.UNSURE),
        (76.0, 78.0, 80.0, Standing.BEYOND),
        (88.0, 90.0, 91.0, Standing.UNSURE),
        (90.0, 91.0, 92.0, Standing.BEYOND),
    ],
)
def test_a_band(low: float, nominal: float, high: float, standing: Standing) -> None:
    assert Interval(low=low, nominal=nominal, high=high).against(minimum=80.75, maximum=89.25) is standing
