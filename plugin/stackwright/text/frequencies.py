"""Frequencies as people write them."""

from __future__ import annotations

from drc_rules.report.numbers import figure


def frequency(hz: float) -> str:
    """Return `1 kHz`, `3.16 MHz`, `1 GHz`."""
    for unit, scale in (("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3)):
        if hz >= scale * 0.9995:
            return f"{figure(hz / scale)} {unit}"
    return f"{figure(hz)} Hz"
