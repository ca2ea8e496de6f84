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


TABLE = {
    INNER: (0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.25),
    BARE: (0.6, 0.6, 0.6, 1.25, 1.25, 1.25, 2.5),
    MASKED: (0.13, 0.13, 0.4, 0.4, 0.4, 0.4, 0.8),
    LEADS: (0.4, 0.5, 0.8, 0.8, 0.8, 0.8, 1.5),
}
UPPER_V = (50, 100, 150, 170, 250, 300, 500)
MORE = {INNER: 0.0025, BARE: 0.005, MASKED: 0.00305, LEADS: 0.00305}


@pytest.mark.parametrize("kind", TABLE)
def test_every_row_of_the_table_is_there(kind: str) -> None:
    """Each row holds up to its voltage and no longer; above 500 V each class adds its own share per volt."""
    rows = [spacing_mm(volts, kind) for volts in UPPER_V]
    after = [spacing_mm(volts + 0.5, kind) for volts in UPPER_V[:-1]]

    assert rows == pytest.approx(TABLE[kind])
    assert after == pytest.approx(TABLE[kind][1:])
    assert spacing_mm(700, kind) == pytest.approx(TABLE[kind][-1] + 200 * MORE[kind])


@pytest.mark.parametrize(("volts", "least_mm"), [(54.0, 0.0), (99.9, 0.0), (100.0, 1.1), (400.0, 2.6), (1000.0, 5.6)])
def test_converters_want_more(volts: float, least_mm: float) -> None:
    """400, 800 and 1000 V as a note of TI (SLUP421) tabulates IPC-9592B, 100 V by the formula."""
    assert conversion_spacing_mm(volts) == pytest.approx(least_mm)
