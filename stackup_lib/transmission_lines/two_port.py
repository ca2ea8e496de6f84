"""Two-ports over frequency: lines, barrels and open stubs in a row, and their S-parameters.

Every element is a chain (ABCD) matrix per frequency, array (frequencies, 2, 2): V1 = A V2 + B I2, I1 = C V2 + D I2, the
current I2 flowing out. Elements in a row multiply (Pozar, Microwave Engineering, 4th ed., section 4.4 and table 4.1).
Frequencies in GHz, 0 allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.light import LIGHT_M_PER_S
from stackup_lib.transmission_lines.loss import LineLoss
from stackup_lib.transmission_lines.materials.laminate_models import through_point

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]


LOWEST_GHZ = 1e-6
"""The permittivity at DC is that at 1 kHz."""


def line_chain(line: LineLoss, length_mm: float) -> Complex:
    """Return the chain of a line from its R, L, G and C at each frequency, without the low-loss approximation."""
    omega = 2e9 * math.pi * line.frequency_ghz
    series = line.resistance_ohm_per_m + 1j * omega * line.inductance_h_per_m
    shunt = line.conductance_s_per_m + 1j * omega * line.capacitance_f_per_m
    return _chain(series, shunt, length_mm)


def barrel_chain(  # noqa: PLR0917 - a line by its values
    frequency_ghz: Real, length_mm: float, ohm: float, dk: float, loss_tangent: float, at_ghz: float = 10.0
) -> Complex:
    """Return the chain of a via's barrel: a line of that impedance and effective permittivity, its copper lossless.

    Impedance, Dk and loss tangent hold at `at_ghz`; over frequency the permittivity is causal.
    """
    return _chain(*_per_metre(frequency_ghz, ohm, dk, loss_tangent, at_ghz), length_mm)


def open_stub_chain(  # noqa: PLR0917 - as above
    frequency_ghz: Real, length_mm: float, ohm: float, dk: float, loss_tangent: float, at_ghz: float = 10.0
) -> Complex:
    """Return the chain of an open line that hangs across the path: a shunt admittance tanh(gamma l)/Z."""
    whole = _chain(*_per_metre(frequency_ghz, ohm, dk, loss_tangent, at_ghz), length_mm)
    return shunt_chain(whole[:, 1, 0] / whole[:, 0, 0])


def shunt_chain(admittance_s: Complex) -> Complex:
    """Return the chain of an admittance across the path."""
    chain = np.zeros((len(admittance_s), 2, 2), dtype=np.complex128)
    chain[:, 0, 0] = chain[:, 1, 1] = 1
    chain[:, 1, 0] = admittance_s
    return chain


def series_chain(impedance_ohm: Complex) -> Complex:
    """Return the chain of an impedance in the path."""
    chain = np.zeros((len(impedance_ohm), 2, 2), dtype=np.complex128)
    chain[:, 0, 0] = chain[:, 1, 1] = 1
    chain[:, 0, 1] = impedance_ohm
    return chain


def in_a_row(chains: Iterable[Complex], frequencies: int) -> Complex:
    """Return the chain of elements one after the other; of none, that of nothing."""
    found: Complex = np.broadcast_to(np.eye(2, dtype=np.complex128), (frequencies, 2, 2))
    for chain in chains:
        found = found @ chain
    return found


def reversed_chain(chain: Complex) -> Complex:
    """Return a reciprocal two-port seen from its other end: A and D change places."""
    turned = chain.copy()
    turned[:, 0, 0], turned[:, 1, 1] = chain[:, 1, 1], chain[:, 0, 0]
    return turned


def s_of_chain(chain: Complex, reference_ohm: float) -> Complex:
    """Return S-parameters (frequencies, 2, 2) between two ports of the same real impedance."""
    a, b, c, d = chain[:, 0, 0], chain[:, 0, 1] / reference_ohm, chain[:, 1, 0] * reference_ohm, chain[:, 1, 1]
    total = a + b + c + d
    s = np.empty_like(chain)
    s[:, 0, 0] = (a + b - c - d) / total
    s[:, 0, 1] = 2 * (a * d - b * c) / total
    s[:, 1, 0] = 2 / total
    s[:, 1, 1] = (-a + b - c + d) / total
    return s


def pair_of_modes(odd: Complex, even: Complex) -> Complex:
    """Return the four-port of a symmetric pair from its modes: ports P near, P far, N near, N far.

    Args:
        odd: S-parameters (frequencies, 2, 2) of one trace in the odd mode.
        even: the same in the even mode, with ports of the same impedance.

    Returns:
        Array (frequencies, 4, 4). Between the traces (S_even - S_odd)/2, along them (S_even + S_odd)/2 (Bockelman and
        Eisenstadt, IEEE Trans. MTT 43 (1995) 1530). A symmetric pair converts no mode into the other.
    """
    along, across = (even + odd) / 2, (even - odd) / 2
    return np.concatenate(
        [np.concatenate([along, across], axis=2), np.concatenate([across, along], axis=2)],
        axis=1,
    )


def relative_permittivity(frequency_ghz: Real, dk: float, loss_tangent: float, at_ghz: float) -> Complex:
    """Return the causal permittivity of a laminate over its real part at `at_ghz`, at each frequency."""
    if loss_tangent <= 0:
        return np.ones(len(frequency_ghz), dtype=np.complex128)
    return through_point(dk, loss_tangent, at_ghz).permittivity(np.maximum(frequency_ghz, LOWEST_GHZ)) / dk


def short_line_chain(series_ohm: Complex, shunt_s: Complex) -> Complex:
    """Return the chain of a uniform line from its whole series impedance and shunt admittance."""
    return _chain(series_ohm, shunt_s, 1000.0)


def _per_metre(
    frequency_ghz: Real, ohm: float, dk: float, loss_tangent: float, at_ghz: float
) -> tuple[Complex, Complex]:
    """Series impedance and shunt admittance per metre of a line without copper loss."""
    omega, slowness = 2e9 * math.pi * frequency_ghz, math.sqrt(dk) / LIGHT_M_PER_S
    relative = relative_permittivity(frequency_ghz, dk, loss_tangent, at_ghz)
    series: Complex = np.asarray(1j * omega * slowness * ohm, dtype=np.complex128)
    shunt: Complex = np.asarray(1j * omega * slowness / ohm * relative, dtype=np.complex128)
    return series, shunt


def _chain(series: Complex, shunt: Complex, length_mm: float) -> Complex:
    """Chain of a line; written with sinh(x)/x, so that it holds at DC, where neither Z nor gamma does."""
    metres = length_mm / 1000
    x = np.sqrt(series * shunt) * metres
    small = np.abs(x) < 1e-6  # there sinh(x)/x is 1 to a part in 1e12
    ratio = np.where(small, 1.0, np.sinh(x) / np.where(small, 1.0, x))
    chain = np.empty((len(x), 2, 2), dtype=np.complex128)
    chain[:, 0, 0] = chain[:, 1, 1] = np.cosh(x)
    chain[:, 0, 1] = series * metres * ratio
    chain[:, 1, 0] = shunt * metres * ratio
    return chain


BLOCKS = 0.99
"""A reflection above this lets nothing pass."""


def step_impedance_ohm(frequency_ghz: Real, reflection: Complex, reference_ohm: float) -> tuple[Real, Real]:
    """Return time in ps and the impedance that a step sees on its way, as a time-domain reflectometer shows it.

    The reflection is weighed by a half Hann window, so that the step rises in about one period of the last frequency,
    and transformed to the step response rho(t); the impedance is Z0 (1 + rho)/(1 - rho). Losses on the way raise it.
    What a coupling capacitor blocks is too slow for such a trace: where all is reflected at DC and not at the next
    frequency, the value at DC is continued from the next two, by a parabola.

    Args:
        frequency_ghz: evenly spaced from 0.
        reflection: S11 at these frequencies.
        reference_ohm: of the port.
    """
    count = len(frequency_ghz)
    window = 0.5 * (1 + np.cos(np.pi * np.arange(count) / (count - 1)))
    points = 2 * (count - 1)
    seen = reflection.copy()
    if abs(seen[0]) > BLOCKS and abs(seen[1]) < BLOCKS:
        seen[0] = (4 * seen[1].real - seen[2].real) / 3
    impulse = np.fft.irfft(seen * window, points)
    early = points // 8  # the first half of what reflects at the port itself wraps to the end
    rho = np.cumsum(np.concatenate([impulse[-early:], impulse[: points // 2]]))[early:]
    step_ps = 1000 / (points * (frequency_ghz[1] - frequency_ghz[0]))
    return step_ps * np.arange(len(rho)), np.asarray(reference_ohm * (1 + rho) / (1 - rho))


def fitted_loss_db(frequency_ghz: Real, loss_db: Real) -> Real:
    """Return the smooth loss a1 sqrt(f) + a2 f + a4 f^2 that fits best; the rest is the insertion loss deviation.

    Least squares without weights (A. Healey, Proposed text for fitted insertion loss, IEEE P802.3ba, 15 July 2009,
    equations 1 to 4).
    """
    terms = np.stack([np.sqrt(frequency_ghz), frequency_ghz, frequency_ghz**2], axis=1)
    found, *_ = np.linalg.lstsq(terms, loss_db, rcond=None)
    return np.asarray(terms @ found)
