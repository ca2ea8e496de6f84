"""Crosstalk at a receiver, as IEEE 802.3, Annex 93A, counts it: each aggressor through its own channel and package.

A far-end aggressor sends through the taps of the victim's transmitter, a near-end one without any. When its symbols
come is not known: of the phases within a symbol the one with most power counts (93A-33).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stackup_lib.channels.equaliser import receiver_filter, with_taps
from stackup_lib.channels.package import die_to_die
from stackup_lib.channels.pulse import PulseResponse, pulse_response
from stackup_lib.channels.reference import ReferenceChannel
from stackup_lib.core.record import entity

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]


@entity
class Aggressor:
    """A channel from another transmitter to the victim's receiver.

    Attributes:
        channel: (frequencies, 2, 2) between differential ports: the aggressor's transmitter, the victim's receiver.
        is_near: its transmitter is at the end of the victim's receiver.
    """

    channel: Complex
    is_near: bool


@entity
class Disturbance:
    """The pulse response of an aggressor behind the receiver's filters, in volts."""

    pulse: PulseResponse
    is_near: bool

    def samples(self, pre: float, post: float) -> Real:
        """Return a sample a symbol, of the phase with most power, behind the taps of the transmitter."""
        value = self.pulse.value if self.is_near else with_taps(self.pulse.value, pre, post)
        return value[:, int(np.argmax((value**2).sum(axis=0)))]


@entity
class Powers:
    """Sums of squares over all symbols, by phase: products of samples none, one and two symbols apart."""

    apart: tuple[Real, Real, Real]
    is_near: bool

    def most(self, pre: float, post: float) -> float:
        """Return the sum of squares of the phase with most power behind the transmitter's taps, V^2."""
        same, next_, over = self.apart
        if self.is_near:
            return float(same.max())
        cursor = 1 - abs(pre) - abs(post)
        own, between = pre**2 + cursor**2 + post**2, cursor * (pre + post)
        return float((own * same + 2 * between * next_ + 2 * pre * post * over).max())


def powers_of(one: Disturbance) -> Powers:
    """Return what `Disturbance.samples` has of power, for all taps at once."""
    value = one.pulse.value
    same, next_, over = ((value * np.roll(value, -k, axis=0)).sum(axis=0) for k in range(3))
    return Powers(apart=(same, next_, over), is_near=one.is_near)


def transfers(
    frequency_ghz: Real,
    aggressors: Sequence[Aggressor],
    reference: ReferenceChannel,
    package_mm: float,
    reference_ohm: float,
) -> tuple[Complex, ...]:
    """Return the voltage at the victim's die of each aggressor, in volts of a symbol sent."""
    found = []
    for one in aggressors:
        near_mm = reference.package.near_mm if one.is_near else None
        volts = reference.near_amplitude_v if one.is_near else reference.far_amplitude_v
        voltage = die_to_die(frequency_ghz, one.channel, reference.package, package_mm, reference_ohm, near_mm)
        found.append(volts * voltage)
    return tuple(found)


def disturbances(
    frequency_ghz: Real,
    voltages: Sequence[Complex],
    aggressors: Sequence[Aggressor],
    filters: Complex,
    symbol_gbd: float,
) -> tuple[Disturbance, ...]:
    """Return what is left of each aggressor behind the receiver's filters."""
    return tuple(
        Disturbance(pulse=pulse_response(frequency_ghz, voltage * filters, symbol_gbd), is_near=one.is_near)
        for voltage, one in zip(voltages, aggressors, strict=True)
    )


def symbol_noise_v2(frequency_ghz: Real, crosstalk: Complex, reference: ReferenceChannel, *, is_near: bool) -> float:
    """Return the power that an aggressor's symbols leave at the receiver's input filter, without packages: V^2.

    Their spectrum, a squared sinc, times the crosstalk, as in the integrated crosstalk noise of IEEE 802.3. It tells
    which of two ways to count an aggressor is the worse one.
    """
    volts = reference.near_amplitude_v if is_near else reference.far_amplitude_v
    passed = crosstalk * receiver_filter(frequency_ghz, reference.equaliser.receiver_ghz)
    weight = np.sinc(frequency_ghz / reference.symbol_gbd) ** 2
    return float(volts**2 * (weight * np.abs(passed) ** 2).sum() * frequency_ghz[1] / reference.symbol_gbd)
