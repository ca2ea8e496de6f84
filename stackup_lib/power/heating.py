"""How much copper warms by its own current: what conduction along the copper allows, and the usual chart for tracks."""

from __future__ import annotations

import math

from stackup_lib.transmission_lines.materials.conductor_models import COPPER_PER_K, COPPER_S_PER_M

THERMAL_W_PER_MK = 390.0
"""Thermal conductivity of copper at about 350 K, rounded down (Y. S. Touloukian, Thermophysical Properties 1, 1970)."""

STILL_AIR_W_PER_M2K = 10.0
"""Heat that still air takes from one side of a board, with radiation: engineering practice."""

MIL2_PER_MM2 = 1 / 0.0254**2


def conduction_rise_c(volts: float, copper_c: float = 20.0) -> float:
    """Return V2/(8 k rho): how much hotter than both ends copper can be at most that takes this voltage between them.

    Whatever the shape: the same copper that carries the current carries its heat away. Exact where nothing cools the
    surface, which makes it the upper bound. F. Kohlrausch, Ann. Phys. 306 (1900) 132; R. Holm, Electric Contacts.

    Args:
        volts: between the ends, e.g. of a neck between two planes or of a barrel.
        copper_c: temperature of the ends.
    """
    return volts**2 / (8 * THERMAL_W_PER_MK * copper_ohm_m(copper_c))


def cooling_length_mm(thickness_mm: float) -> float:
    """Return sqrt(k t / h): over this length still air takes the heat that wide copper carries away."""
    return 1000 * math.sqrt(THERMAL_W_PER_MK * thickness_mm / 1000 / STILL_AIR_W_PER_M2K)


def spreading_v(current_a: float, width_mm: float, thickness_mm: float, copper_c: float = 20.0) -> float:
    """Return the voltage that is lost in wide copper where a strip ends in its edge, up to where it is cool.

    I R / pi ln(4 L / w) with the sheet resistance R: a half plane around a strip of even potential (W. R. Smythe,
    Static and Dynamic Electricity, 1950), up to the cooling length L.
    """
    sheet_ohm = copper_ohm_m(copper_c) / (thickness_mm / 1000)
    reach = max(4 * cooling_length_mm(thickness_mm) / width_mm, 1.0)
    return current_a * sheet_ohm / math.pi * math.log(reach)


def own_heat_c(rise_c: float, copper_c: float = 20.0) -> float:
    """Return a bound by conduction with the resistance that the heat itself adds, r/(1 - a r); infinite past 1/a.

    The current is what is given, so voltage and heat grow with the resistance. It is taken everywhere as at the hottest
    place, which bounds it: the exact rise is (sec(sqrt(2 a r)) - 1)/a.

    Args:
        rise_c: the bound with the resistance at the temperature of the ends.
        copper_c: that temperature.
    """
    share = per_k(copper_c) * rise_c
    return rise_c / (1 - share) if share < 1 else float("inf")


def per_k(copper_c: float) -> float:
    """Return the temperature coefficient of copper's resistance, related to a temperature in degrees Celsius."""
    return COPPER_PER_K / (1 + COPPER_PER_K * (copper_c - 20))


def copper_ohm_m(copper_c: float) -> float:
    """Return the resistivity of copper at a temperature in degrees Celsius, in ohm metres."""
    return (1 + COPPER_PER_K * (copper_c - 20)) / COPPER_S_PER_M


def chart_rise_c(current_a: float, width_mm: float, thickness_mm: float, *, outer: bool) -> float:
    """Return the rise that the chart of IPC-2221 gives for a long track: I = k dT^0.44 A^0.725, A in square mils.

    k is 0.048 outside and 0.024 inside; drawn for tracks alone on a bare board, hence cautious next to planes. Stated
    for 10 to 100 degrees, up to 35 A and 10 mm; the formula is the usual fit, e.g. that of KiCad's calculator.
    """
    constant = 0.048 if outer else 0.024
    area = width_mm * thickness_mm * MIL2_PER_MM2
    return float((current_a / (constant * area**0.725)) ** (1 / 0.44))
