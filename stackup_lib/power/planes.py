"""A rail's target impedance, and what a pair of planes gives it: capacitance and inductance in closed forms."""

from __future__ import annotations

import math

from stackup_lib.core.interval import Interval
from stackup_lib.power.copper import ring_squares, two_contacts_squares

MU0_PH_PER_MM = 400 * math.pi
"""Permeability of vacuum, 1.2566e-6 H/m."""

EPS0_PF_PER_MM = 8.8541878128e-3
"""Permittivity of vacuum (CODATA 2018)."""


def target_impedance_ohm(voltage_v: float, ripple: float, step_a: float) -> float:
    """Return V r/dI: the impedance at which a step of current just uses up the allowed ripple.

    Args:
        voltage_v: of the rail.
        ripple: allowed share of the voltage, e.g. 0.03.
        step_a: largest step of the current.

    L. D. Smith, R. E. Anderson, D. W. Forehand, T. J. Pelc, T. Roy, "Power distribution system design methodology and
    capacitor selection for modern CMOS technology", IEEE Trans. Adv. Packag. 22 (1999) 284-291.
    """
    return voltage_v * ripple / step_a


def plane_capacitance_pf(area_mm2: float, perimeter_mm: float, gap_mm: float, dk: float) -> Interval:
    """Return the capacitance of a plane over another, from parallel plates alone to plates with their fringes.

    The high end takes the other plane for endless and the dielectric as going on beyond the edge, for a disc of the
    same area over perimeter, radius a = 2A/P: 2 eps [pi a2/(2h) + a (ln(8 pi a/h) - 1)] and P/(2 pi a) of its fringe
    (G. Kirchhoff, Monatsber. Akad. Wiss. Berlin (1877) 144-162, by images in the plane; 1.2 % over the fringe of a long
    strip at a/h = 100). For planes much wider than the gap; holes lower both ends.
    """
    plates = EPS0_PF_PER_MM * dk * area_mm2 / gap_mm
    radius = 2 * area_mm2 / perimeter_mm
    fringe = perimeter_mm / math.pi * max(math.log(8 * math.pi * radius / gap_mm) - 1, 0.0)
    return Interval(low=plates, nominal=plates, high=plates + EPS0_PF_PER_MM * dk * fringe)


def sheet_inductance_ph(gap_mm: float) -> float:
    """Return mu0 h per square of a pair of planes, in pH: the current is spread evenly, and below it lies its return.

    S. Ramo, J. R. Whinnery, T. Van Duzer, "Fields and Waves in Communication Electronics" (parallel-plane line). The
    copper's own inductance is left out: with gaps of a few skin depths it adds.
    """
    return MU0_PH_PER_MM * gap_mm


def spreading_inductance_ph(gap_mm: float, via_radius_mm: float, outer_radius_mm: float) -> float:
    """Return mu0 h ln(b/a)/(2 pi): current from a via of one plane to a circle around it, returned by the other."""
    return sheet_inductance_ph(gap_mm) * ring_squares(via_radius_mm, outer_radius_mm)


def loop_inductance_ph(gap_mm: float, via_radius_mm: float, distance_mm: float) -> float:
    """Return mu0 h arccosh(D/2a)/pi: between planes far larger than D, from one via to another."""
    return sheet_inductance_ph(gap_mm) * two_contacts_squares(distance_mm, via_radius_mm)
