"""The speed of light in the units that boards are reckoned in."""

from __future__ import annotations

LIGHT_M_PER_S = 299792458.0
LIGHT_MM_GHZ = LIGHT_M_PER_S / 1e6
"""Millimetres per nanosecond: wavelength in mm times frequency in GHz."""

LIGHT_MM_PER_PS = LIGHT_M_PER_S / 1e9
