"""IPC-2221B table 6-1 as the rule reads it."""

from __future__ import annotations

import pytest

from drc_rules.analysis.power.voltage_spacing import BARE, INNER, LEADS, MASKED, spacing_mm

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
