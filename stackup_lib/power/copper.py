"""Resistance of copper at DC in closed forms: sheets, barrels, contacts, corners and necks.

Shapes are given in squares: times the sheet resistance they are ohms. The conductivity is that of annealed copper
(IEC 60028, see `conductor_models` of transmission lines); electroplated copper may be a few per cent worse.
"""

from __future__ import annotations

import math

from stackup_lib.transmission_lines.materials.conductor_models import copper_conductivity_s_per_m

CORNER_SQUARES = 1 - 2 * math.log(2) / math.pi
"""A right-angled corner between two strips of one width: 0.559 squares instead of 1.

P. M. Hall, "Resistance calculations for thin film patterns", Thin Solid Films 1 (1968) 277-295; exact.
"""

LATTICE_CONSTANT = 1.3105
"""Square lattice of round contacts: H. Hasimoto, J. Fluid Mech. 5 (1959) 317-328."""

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


def ring_squares(inner_radius_mm: float, outer_radius_mm: float) -> float:
    """Return ln(b/a)/(2 pi): spreading from a round contact to a concentric circle; exact."""
    return math.log(outer_radius_mm / inner_radius_mm) / (2 * math.pi)


def two_contacts_squares(distance_mm: float, radius_mm: float) -> float:
    """Return arccosh(D/2a)/pi: two round contacts on a sheet without end, D between their centres; exact."""
    return math.acosh(distance_mm / (2 * radius_mm)) / math.pi


def lattice_squares(pitch_mm: float, radius_mm: float) -> float:
    """Return (ln(p/a) - 1.3105 + pi a2/p2)/(2 pi): each cell of a square lattice of contacts, fed evenly over its area.

    Drop between the sheet's mean and the contact, per ampere (Hasimoto, see `LATTICE_CONSTANT`, to the second order in
    a/p); within 1 % for p > 5 a.
    """
    share = math.pi * (radius_mm / pitch_mm) ** 2
    return (math.log(pitch_mm / radius_mm) - LATTICE_CONSTANT + share) / (2 * math.pi)


def step_squares(narrow_mm: float, wide_mm: float) -> float:
    """Return what a strip's step to another width adds to the squares of both strips, the narrow one in the middle.

    ln[(1 - a2)/(4a) ((1 + a)/(1 - a))^((a + 1/a)/2)]/pi with a = narrow/wide; twice that for a step along one edge.
    N. Marcuvitz, Waveguide Handbook (1951), section 5.26, static limit; exact for strips longer than they are wide.
    """
    a = narrow_mm / wide_mm
    if a >= 1:
        return 0.0
    power = (a + 1 / a) / 2 * math.log((1 + a) / (1 - a))
    return (math.log((1 - a * a) / (4 * a)) + power) / math.pi


def slit_squares(gap_mm: float, wide_mm: float) -> float:
    """Return 2 ln(1/sin(pi g/2w))/pi: what a thin cut across a strip adds that leaves a gap in its middle.

    N. Marcuvitz, Waveguide Handbook (1951), section 5.1 (capacitive window), static limit; exact.
    """
    return 2 * math.log(1 / math.sin(math.pi * gap_mm / (2 * wide_mm))) / math.pi


def neck_squares(length_mm: float, width_mm: float, wide_mm: float) -> float:
    """Return what a neck in the middle of a strip adds to the squares of the strip on its two sides.

    L/w and a step at each end; exact for necks longer than wide, too large by at most 0.042 squares for shorter ones,
    where the steps see each other: at length 0 the exact value is that of `slit_squares`.
    """
    return length_mm / width_mm + 2 * step_squares(width_mm, wide_mm)


def octagon_radius_mm(contact_radius_mm: float) -> float:
    """Return the radius of the corners of the regular octagon that spreads current as a round contact does.

    Octagon and circle have the same logarithmic capacity, hence the same far field.
    """
    side_mm = contact_radius_mm / _OCTAGON_CAPACITY
    return side_mm / (2 * math.sin(math.pi / 8))
