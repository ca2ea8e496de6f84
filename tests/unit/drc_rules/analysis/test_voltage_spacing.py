"""IPC-2221B table 6-1 and the formula of IPC-9592 as the rule reads them."""

from __future__ import annotations

import pytest

from drc_rules.analysis.power.voltage_spacing import (
    BARE,
    INNER,
    LEADS,
    MASKED,
    conversion_spacing_mm,
    spacing_mm,
)

POINTS = [
    (30.0, BARE, 0.0),
    (31.0, BARE, 0.6),
    (48.0, INNER, 0.1),
    (48.0, MASKED, 0.13),
    (50.0, LEADS, 0.4),
    (54.0, LEADS, 0.5),
    (380.0, MASKED, 0.8),
    (400.0, BARE, 2.5),
    (600.0, INNER, 0.25 + 100 * 0.0025),
    (600.0, BARE, 2.5 + 100 * 0.005),
]


@pytest.mark.parametrize(("volts", "kind", "least_mm"), POINTS)
def test_the_distance_is_that_of_the_table(volts: float, kind: str, least_mm: float) -> None:
    """Rows by their upper end, and above 500 V a share per volt: read off the calculator of KiCad 8."""
    assert spacing_mm(volts, kind) == pytest.approx(least_mm)


@pytest.mark.parametrize(("volts", "least_mm"), [(54.0, 0.0), (99.9, 0.0), (100.0, 1.1), (400.0, 2.6), (1000.0, 5.6)])
def test_converters_want_more(volts: float, least_mm: float) -> None:
    """400, 800 and 1000 V as a note of TI (SLUP421) tabulates IPC-9592B, 100 V by the formula."""
    assert conversion_spacing_mm(volts) == pytest.approx(least_mm)
