"""Packages at both ends of a channel, and the voltage that passes from die to die.

IEEE 802.3, Annex 93A.1.2: a package is a capacitance at the die, a line and a capacitance at the board. Equations 93A-4
to 93A-18. Frequencies in GHz, S-parameters of arrays (frequencies, 2, 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.channels.reference import ReferencePackage
from stackup_lib.transmission_lines.two_port import in_a_row, s_of_chain, shunt_chain

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

LOWEST_GHZ = 1e-6
"""Below, the line counts as at this frequency: its loss has a logarithm of frequency."""


def package_s(frequency_ghz: Real, package: ReferencePackage, length_mm: float, reference_ohm: float) -> Complex:
    """Return a package from the die to the board, of a pair the half of one trace.

    Args:
        frequency_ghz: 0 allowed.
        package: the package.
        length_mm: of its line.
        reference_ohm: of both ports, half of the differential one.
    """
    per_pf: Complex = np.asarray(2e-3j * np.pi * frequency_ghz, dtype=np.complex128)
    device, pad = (shunt_chain(per_pf * pf) for pf in (package.device_pf, package.pad_pf))
    line = _line_chain(frequency_ghz, package, length_mm)
    return s_of_chain(in_a_row((device, line, pad), len(frequency_ghz)), reference_ohm)


def _line_chain(frequency_ghz: Real, package: ReferencePackage, length_mm: float) -> Complex:
    """Chain of the line: gamma = gamma_0 + a_1 (1 + j) sqrt(f) + [a_2 (1 - 2j/pi ln f) + 2 pi j tau] f, 93A-9 to 11."""
    ghz = np.maximum(frequency_ghz, LOWEST_GHZ)
    by_root = package.loss_per_mm_root_ghz * (1 + 1j) * np.sqrt(ghz)
    by_ghz = package.loss_per_mm_ghz * (1 - 2j / np.pi * np.log(ghz)) + 2j * np.pi * package.ns_per_mm
    x = (package.loss_per_mm + by_root + by_ghz * ghz) * length_mm
    ohm = package.ohm / 2
    rows = [[np.cosh(x), ohm * np.sinh(x)], [np.sinh(x) / ohm, np.cosh(x)]]
    return np.asarray(np.moveaxis(np.array(rows), 2, 0), dtype=np.complex128)


def turned(s: Complex) -> Complex:
    """Return a two-port with its ports exchanged."""
    return s[:, ::-1, ::-1]


def cascade(first: Complex, second: Complex) -> Complex:
    """Return two two-ports in a row, also where nothing passes."""
    loop = 1 / (1 - first[:, 1, 1] * second[:, 0, 0])
    found = np.empty_like(first)
    found[:, 0, 0] = first[:, 0, 0] + first[:, 0, 1] * second[:, 0, 0] * first[:, 1, 0] * loop
    found[:, 0, 1] = first[:, 0, 1] * second[:, 0, 1] * loop
    found[:, 1, 0] = first[:, 1, 0] * second[:, 1, 0] * loop
    found[:, 1, 1] = second[:, 1, 1] + second[:, 1, 0] * first[:, 1, 1] * second[:, 0, 1] * loop
    return found


def die_to_die(  # noqa: PLR0917 - a channel and both packages
    frequency_ghz: Real,
    channel: Complex,
    package: ReferencePackage,
    length_mm: float,
    reference_ohm: float,
    near_mm: float | None = None,
) -> Complex:
    """Return the voltage at the receiver's die, of that which the transmitter has without any channel (93A-18).

    Args:
        frequency_ghz: of the channel.
        channel: its S-parameters between differential ports, each trace with `reference_ohm`.
        package: at both ends, with terminations of its own.
        length_mm: of the packages' lines.
        reference_ohm: of one trace.
        near_mm: of the transmitter's package, where that differs.
    """
    far = package_s(frequency_ghz, package, length_mm, reference_ohm)
    near = far if near_mm is None else package_s(frequency_ghz, package, near_mm, reference_ohm)
    s = cascade(cascade(near, channel), turned(far))
    end = (package.termination_ohm - reference_ohm) / (package.termination_ohm + reference_ohm)
    both = s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] * s[:, 1, 0]
    inside = 1 - (s[:, 0, 0] + s[:, 1, 1]) * end + both * end**2
    return np.asarray(s[:, 1, 0] * (1 - end**2) / inside, dtype=np.complex128)
