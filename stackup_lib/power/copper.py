"""Resistance of copper at DC in closed forms: sheets, barrels and round contacts.

The conductivity is that of annealed copper (IEC 60028, see `conductor_models` of transmission lines); electroplated
copper may be a few per cent worse.
"""

from __future__ import annotations

import math

from stackup_lib.transmission_lines.materials.conductor_models import copper_conductivity_s_per_m

_OCTAGON_CAPACITY = math.gamma(1 / 8) / (2 ** (5 / 4) * math.sqrt(math.pi) * math.gamma(5 / 8))
"""Logarithmic capacity of a regular octagon of side 1 (G. Polya, G. Szego, Isoperimetric Inequalities, 1951)."""


def sheet_resistance_ohm(thickness_mm: float, temperature_c: float = 20.0) -> float:
    """Return 1/(sigma t) in ohm per square, for the finished thickness; below about 5 um copper is worse."""
    return 1e3 / (copper_conductivity_s_per_m(temperature_c) * thickness_mm)


def barrel_resistance_ohm(hole_mm: float, plating_mm: float, length_mm: float, temperature_c: float = 20.0) -> float:
    """Return the resistance of a plated barrel, L/(sigma pi p (d + p)); fill and caps do not count.

    Args:
        hole_mm: finished diameter d, inside the plating; 0 for a hole full of copper of radius p.
        plating_mm: thickness p of the plating.
        length_mm: along the barrel.
        temperature_c: of the copper.
    """
    area_mm2 = math.pi * plating_mm * (hole_mm + plating_mm)
    return 1e3 * length_mm / (copper_conductivity_s_per_m(temperature_c) * area_mm2)


def octagon_radius_mm(contact_radius_mm: float) -> float:
    """Return the radius of the corners of the regular octagon that spreads current as a round contact does.

    Octagon and circle have the same logarithmic capacity, hence the same far field.
    """
    side_mm = contact_radius_mm / _OCTAGON_CAPACITY
    return side_mm / (2 * math.sin(math.pi / 8))
