"""The impedance of a two-terminal part from its S-parameters, and what a capacitor has as a series part of a link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.power.over_frequency.capacitors import ceramic_branch, typical_capacitor

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

OPEN_OHM = 1e9
"""Stands for a capacitor at DC."""


def series_part_ohm(s: Complex, reference_ohm: float) -> Complex:
    """Return Z of a part in series between two ports: 2 Z0 (1 - S21)/S21; less what it has to ground."""
    through = np.where(np.abs(s[:, 1, 0]) < 1e-9, 1e-9, s[:, 1, 0])
    return np.asarray(2 * reference_ohm * (1 - through) / through, dtype=np.complex128)


def shunt_part_ohm(s: Complex, reference_ohm: float) -> Complex:
    """Return Z of a part from the line between two ports to ground: Z0/2 S21/(1 - S21)."""
    missing = 1 - s[:, 1, 0]
    missing = np.where(np.abs(missing) < 1e-9, 1e-9, missing)
    return np.asarray(reference_ohm / 2 * s[:, 1, 0] / missing, dtype=np.complex128)


def ceramic_ohm(frequency_ghz: Real, capacitance_f: float, size: str) -> Complex | None:
    """Return Z of a ceramic capacitor without mounting, of typical ESR and ESL; None for a size without data."""
    typical = typical_capacitor(size, capacitance_f)
    if typical is None:
        return None
    of = typical.esr_ohm.nominal, typical.esl_h.nominal, typical.skin_ohm.nominal
    branch = ceramic_branch("capacitor", "node", capacitance_f, of, mounting_h=0.0)
    is_dc = frequency_ghz == 0
    ohm = branch.impedance_ohm(np.where(is_dc, 1.0, frequency_ghz * 1e9))
    return np.asarray(np.where(is_dc, OPEN_OHM, ohm), dtype=np.complex128)
