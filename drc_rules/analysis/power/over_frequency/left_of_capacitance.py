"""How much of its nominal capacitance a ceramic part has on a rail: small signal, tolerance, DC bias."""

from __future__ import annotations

import numpy as np

from stackup_lib.core.interval import Interval
from stackup_lib.nets.capacitor_text import CapacitorText
from stackup_lib.power.over_frequency.capacitors import capacitor_data, left_at_bias

USUAL_RATED_V = (4.0, 6.3, 10.0, 16.0, 25.0, 35.0, 50.0, 100.0)
"""Ratings in use. Where none is stated, it is the next one above the voltage, or a higher one."""

SMALL_F = 10e-9
"""Up to this value DC bias may be ignored, with twice the rated voltage (ufcapacitors.com/5354.html)."""

TOLERANCE = 0.2
"""Of a part without a stated one: code M, the loosest in use for X5R and X7R."""

KINDS = ("X5R", "X6S", "X7R")

UNKNOWN_BIAS = Interval(low=0.2, nominal=0.6, high=1.0)
"""Share of the capacitance at 0 V where what the voltage takes is not known."""


def left_of(stated: CapacitorText, volts: float | None) -> tuple[Interval, str]:
    """Return the share of the nominal capacitance, and how it was found.

    Measured parts of high capacitance have 49 to 91 % of their nominal value at 0 V and a small signal.
    """
    if stated.dielectric == "C0G":
        return _around(1.0, 0.05), "C0G"
    if (stated.capacitance_f or 0.0) < SMALL_F:
        return _around(1.0, TOLERANCE), "small: no DC bias"
    shares = [part.uf / part.nominal_uf for part in capacitor_data().measured]
    at_zero = Interval(low=min(shares), nominal=float(np.median(shares)), high=1 + TOLERANCE)
    bias, words = bias_of(stated, volts)
    return (
        Interval(low=at_zero.low * bias.low, nominal=at_zero.nominal * bias.nominal, high=at_zero.high * bias.high),
        words,
    )


def bias_of(stated: CapacitorText, volts: float | None) -> tuple[Interval, str]:
    """Return the share of the capacitance at 0 V that the rail's voltage leaves, and how it was found."""
    if stated.dielectric == "C0G" or (stated.capacitance_f or 0.0) < SMALL_F:
        return Interval.exact(1.0), "C0G" if stated.dielectric == "C0G" else "small: no DC bias"
    if stated.dielectric is not None and stated.dielectric not in KINDS:
        return Interval(low=0.1, nominal=0.5, high=1.0), f"DC bias of {stated.dielectric} not known"
    kind = stated.dielectric or KINDS[0]
    if volts is None:
        return UNKNOWN_BIAS, "rail voltage not known"
    rated = stated.rated_v
    if rated is not None and volts <= rated:
        found = left_at_bias(kind, volts, rated)
        words = f"{volts:g} V of {rated:g} V"
    elif rated is not None:
        return UNKNOWN_BIAS, f"{volts:g} V is above its {rated:g} V"
    else:
        lowest = next((one for one in USUAL_RATED_V if one >= volts), volts)
        found = left_at_bias(kind, volts, lowest)
        found = found and Interval(low=found.low, nominal=(found.low + 1) / 2, high=1.0)
        words = f"{volts:g} V, rating not stated"
    if found is None:
        return UNKNOWN_BIAS, "DC bias not known"
    return found, words if stated.dielectric else f"{words}, assumed to be X5R"


def _around(middle: float, slack: float) -> Interval:
    return Interval(low=middle - slack, nominal=middle, high=middle + slack)
