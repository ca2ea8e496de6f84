"""Up to what frequency a quasi-static (TEM) answer holds, and why it ends there.

Lengths in mm, frequencies in GHz. A stripline between planes is TEM up to its first higher mode; a microstrip is not,
and its field moves into the substrate long before: there dispersion decides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stackup_lib.core.light import LIGHT_MM_GHZ

CUTOFF_SHARE = 0.5
"""A quasi-static answer is given up to this share of the first cut-off."""

DISPERSION = 0.012
"""A microstrip is called quasi-static until its effective permittivity has risen by this share over the static one.
The Astra MT77 microstrip (w 0.284, h 0.127) of Schafsteller et al. 2023, whose measured loss follows a quasi-static
model at 40 GHz and leaves it by 56 GHz, has measurably risen by as much near 48 GHz, from its lowest value; by the
formula below, used here, it has at 35 GHz. On thick substrates it is cautious."""


class ValidityLimit(NamedTuple):
    """The highest frequency in GHz for which a quasi-static answer is given, and what ends it."""

    frequency_ghz: float
    reason: str


def stripline_cutoff_ghz(width_mm: float, planes_apart_mm: float, dk: float) -> float:
    """Return the cut-off of the first higher mode of a stripline: c/(2 sqrt(er) (w + pi b/4)).

    Half a wave across the strip, widened by pi b/8 of fringing field to either side. That allowance is the one of
    handbooks, not derived here and without a stated error: only half of the result is relied on. For pairs w spans both
    traces. Planes that are not stitched carry the parallel-plate mode from 0 Hz.
    """
    return LIGHT_MM_GHZ / (2 * math.sqrt(dk) * (width_mm + math.pi * planes_apart_mm / 4))


def microstrip_transverse_cutoff_ghz(width_mm: float, height_mm: float, dk: float) -> float:
    """Return the frequency of transverse resonance under a microstrip: c/(sqrt(er) (2 w + 0.8 h)).

    Half a wave across the strip, widened by 0.2 h of fringing field to either side. That allowance is the one of
    handbooks, without a stated error: only half of the result is relied on.
    """
    return LIGHT_MM_GHZ / (math.sqrt(dk) * (2 * width_mm + 0.8 * height_mm))


def microstrip_surface_wave_ghz(height_mm: float, dk: float) -> float:
    """Return where a microstrip runs level with the TM0 surface wave: c atan(er)/(sqrt 2 pi h sqrt(er - 1)).

    Derived here: a grounded slab guides TM0 at permittivity n where tan(k h sqrt(er - n)) = er sqrt((n - 1)/(er - n)),
    k = 2 pi f/c. A narrow line has n = (er + 1)/2, both roots are then equal, and k h sqrt((er - 1)/2) = atan(er).
    Infinite in air.
    """
    if dk <= 1:
        return math.inf
    return LIGHT_MM_GHZ * math.atan(dk) / (math.sqrt(2) * math.pi * height_mm * math.sqrt(dk - 1))


def microstrip_eps_eff(frequency_ghz: float, width_mm: float, height_mm: float, dk: float, eps_eff: float) -> float:
    """Return the effective permittivity of a microstrip with modal dispersion, from its static value.

    M. Kirschning, R. H. Jansen, "Accurate model for effective dielectric constant of microstrip with validity up to
    millimetre-wave frequencies", Electron. Lett. 18 (1982) 272-273. Within 0.6 % for 0.1 <= w/h <= 100, er <= 20,
    h < 0.13 wavelengths; uncoated, t = 0.
    """
    u, fn = width_mm / height_mm, frequency_ghz * height_mm
    p1 = 0.27488 + (0.6315 + 0.525 / (1 + 0.0157 * fn) ** 20) * u - 0.065683 * math.exp(-8.7513 * u)
    p2 = 0.33622 * (1 - math.exp(-0.03442 * dk))
    p3 = 0.0363 * math.exp(-4.6 * u) * (1 - math.exp(-((fn / 38.7) ** 4.97)))
    p4 = 1 + 2.751 * (1 - math.exp(-((dk / 15.916) ** 8)))
    p: float = p1 * p2 * ((0.1844 + p3 * p4) * fn) ** 1.5763
    return dk - (dk - eps_eff) / (1 + p)


def stripline_limit(width_mm: float, planes_apart_mm: float, dk: float) -> ValidityLimit:
    """Return up to where a stripline between stitched planes is TEM: half the cut-off of its first higher mode."""
    cutoff = stripline_cutoff_ghz(width_mm, planes_apart_mm, dk)
    return ValidityLimit(CUTOFF_SHARE * cutoff, f"half the cut-off of the first higher mode, {cutoff:.0f} GHz")


def microstrip_limit(width_mm: float, height_mm: float, dk: float, eps_eff: float) -> ValidityLimit:
    """Return up to where a microstrip is quasi-static.

    The lowest of: half the transverse resonance, half the surface-wave frequency (radiation and coupling grow toward
    it), and where the effective permittivity has risen by `DISPERSION`.
    """
    across = microstrip_transverse_cutoff_ghz(width_mm, height_mm, dk)
    surface = microstrip_surface_wave_ghz(height_mm, dk)
    limits = [
        ValidityLimit(CUTOFF_SHARE * across, f"half the transverse resonance, {across:.0f} GHz"),
        ValidityLimit(CUTOFF_SHARE * surface, f"half the onset of the surface wave, {surface:.0f} GHz"),
    ]
    if dk > eps_eff * (1 + DISPERSION):
        reason = f"its effective permittivity has risen by {DISPERSION:.1%} (dispersion)"
        limits.append(ValidityLimit(_dispersed_ghz(width_mm, height_mm, dk, eps_eff), reason))
    return min(limits)


def _dispersed_ghz(width_mm: float, height_mm: float, dk: float, eps_eff: float) -> float:
    low, high = 0.0, 1e5 / height_mm
    for _ in range(60):
        middle = (low + high) / 2
        risen = microstrip_eps_eff(middle, width_mm, height_mm, dk, eps_eff) > eps_eff * (1 + DISPERSION)
        low, high = (low, middle) if risen else (middle, high)
    return low
