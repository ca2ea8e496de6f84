"""A measured line with steps of impedance: the trace over time, from the sections' cross sections."""

from __future__ import annotations

from tests.support.physics.measured_tdr import CASE, stepped_ohm


def stepped_off() -> list[float]:
    """By which shares ours is off what was measured."""
    return [
        ours / was - 1
        for port, seen in stepped_ohm().items()
        for ours, was in zip(seen, CASE["ohm"][port], strict=True)
    ]


def test_a_measured_stepped_line_is_met_within_five_per_cent() -> None:
    """Wide and narrow section, seen directly and through the other one: 24.7 to 83.8 ohm."""
    assert max(map(abs, stepped_off())) < 0.05
