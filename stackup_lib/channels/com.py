"""Channel operating margin of IEEE 802.3, Annex 93A: signal over interference and noise behind the best equaliser.

For every setting of transmitter taps and CTLE the sampling time and its merit, signal over mean squares (93A.1.6); of
the best one the amplitude that interference, crosstalk and noise reach with the error ratio of the detector (93A.1.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from stackup_lib.channels.amplitudes import reach
from stackup_lib.channels.crosstalk import Aggressor, Disturbance, disturbances, powers_of, transfers
from stackup_lib.channels.equaliser import (
    Neighbours,
    ctle,
    feedback_taps,
    neighbours,
    receiver_filter,
    weighted,
    with_taps,
)
from stackup_lib.channels.eye import Eye, worst_eye
from stackup_lib.channels.package import die_to_die
from stackup_lib.channels.pulse import PulseResponse, pulse_response
from stackup_lib.channels.reference import ReferenceChannel
from stackup_lib.core.record import entity

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

AROUND = 8
"""Symbols on either side of the peak among which the sampling time is found."""


@entity
class Sampled:
    """A pulse response behind one setting, in volts, sampled once a symbol.

    Attributes:
        cursor: the signal (h(0)).
        interference: of all other symbols, behind the decision feedback (h_ISI).
        slope_v_per_ui: at each symbol (h_J).
        feedback: taps of the decision feedback, of the cursor.
        at: index of the cursor among all samples.
    """

    cursor: float
    interference: Real
    slope_v_per_ui: Real
    feedback: Real
    at: int


@entity
class Margin:
    """The operating margin of a channel for one length of package.

    Attributes:
        com_db: 20 log10 of signal over interference and noise.
        signal_v, noise_v: both amplitudes.
        merit_db: signal over the mean squares of interference and noise, by which the setting was chosen.
        package_mm: length of the packages' lines.
        gain_db, pre, post: the setting.
        sampled: the pulse response that it leaves.
        eye: behind all equalisers, for the worst pattern, without crosstalk, noise and jitter.
        taken_db: by how much it would be higher without each aggressor, at the same setting.
    """

    com_db: float
    signal_v: float
    noise_v: float
    merit_db: float
    package_mm: float
    gain_db: float
    pre: float
    post: float
    sampled: Sampled
    eye: Eye
    taken_db: tuple[float, ...] = ()


@entity
class _Filtered:
    """What is behind the receiver's filters at one gain of the CTLE: signal in volts, noise in V^2, crosstalk."""

    gain_db: float
    pulse: PulseResponse
    noise: float
    crosstalk: tuple[Disturbance, ...]


def operating_margin(
    frequency_ghz: Real,
    channel: Complex,
    reference: ReferenceChannel,
    reference_ohm: float,
    aggressors: Sequence[Aggressor] = (),
) -> Margin:
    """Return the margin of a channel for the length of package that leaves least.

    Args:
        frequency_ghz: of `symbol_grid_ghz`, to three times the symbol rate or more.
        channel: (frequencies, 2, 2) between differential ports, each trace with `reference_ohm`.
        reference: what the standard refers it to.
        reference_ohm: of one trace.
        aggressors: other transmitters whose crosstalk arrives, their channels over the same frequencies.
    """
    lengths = reference.package.lengths_mm
    cases = (margin(frequency_ghz, channel, reference, mm, reference_ohm, aggressors) for mm in lengths)
    return min(cases, key=lambda one: one.com_db)


def margin(  # noqa: PLR0917 - a channel, what it is referred to, and what disturbs it
    frequency_ghz: Real,
    channel: Complex,
    reference: ReferenceChannel,
    package_mm: float,
    reference_ohm: float,
    aggressors: Sequence[Aggressor] = (),
) -> Margin:
    """Return the margin for one length of package; arguments as of `operating_margin`."""
    transfer = die_to_die(frequency_ghz, channel, reference.package, package_mm, reference_ohm)
    transfer = transfer * np.sign(transfer[1].real)  # a pair may be crossed on its way
    voltages = transfers(frequency_ghz, aggressors, reference, package_mm, reference_ohm)
    tries = [
        found
        for behind in _filtered(frequency_ghz, transfer, reference, aggressors, voltages)
        for found in _tries(behind, reference)
    ]
    merit, pre, post, sampled, behind = max(tries, key=lambda one: one[0])
    signal = reference.level_mismatch * sampled.cursor / (reference.levels - 1)
    others = np.concatenate([sampled.interference, reference.dual_dirac_ui * sampled.slope_v_per_ui])
    random = _symbol_power(reference.levels) * (sampled.slope_v_per_ui**2).sum() * reference.random_jitter_ui**2
    sigma = float(np.sqrt(behind.noise + _transmitter_noise(sampled, reference) + random))
    samples = [one.samples(pre, post) for one in behind.crosstalk]
    reached, *without = (
        reach(np.concatenate([others, *some]), sigma, reference.levels, reference.error_ratio)
        for some in (samples, *(samples[:k] + samples[k + 1 :] for k in range(len(samples))))
    )
    return Margin(
        com_db=float(20 * np.log10(signal / reached)),
        signal_v=signal,
        noise_v=reached,
        merit_db=merit,
        package_mm=package_mm,
        gain_db=behind.gain_db,
        pre=pre,
        post=post,
        sampled=sampled,
        eye=_eye(behind.pulse, pre, post, sampled, reference),
        taken_db=tuple(float(20 * np.log10(reached / less)) for less in without),
    )


def _filtered(
    frequency_ghz: Real,
    transfer: Complex,
    reference: ReferenceChannel,
    aggressors: Sequence[Aggressor],
    voltages: Sequence[Complex],
) -> Iterator[_Filtered]:
    """Yield what is behind each gain of the CTLE, among it the receiver's noise (93A-35)."""
    receiver = receiver_filter(frequency_ghz, reference.equaliser.receiver_ghz)
    for gain in reference.equaliser.gain_db.values():
        filters = receiver * ctle(frequency_ghz, reference.equaliser, gain)
        pulse = pulse_response(frequency_ghz, reference.amplitude_v * transfer * filters, reference.symbol_gbd)
        power = float((np.abs(filters[1:]) ** 2).sum() * frequency_ghz[1])
        crosstalk = disturbances(frequency_ghz, voltages, aggressors, filters, reference.symbol_gbd)
        noise = reference.noise_v2_per_ghz * power
        yield _Filtered(gain_db=gain, pulse=pulse, noise=noise, crosstalk=crosstalk)


def _tries(behind: _Filtered, reference: ReferenceChannel) -> Iterator[tuple[float, float, float, Sampled, _Filtered]]:
    """Yield merit, both taps and what they leave, of every setting at one gain of the CTLE."""
    powers = [powers_of(one) for one in behind.crosstalk]
    symbol = _symbol_power(reference.levels)
    for pre, post, sampled in _settings(behind.pulse, reference):
        noise = behind.noise + symbol * sum(one.most(pre, post) for one in powers)
        yield _merit(sampled, noise, reference), pre, post, sampled, behind


def _settings(pulse: PulseResponse, reference: ReferenceChannel) -> Iterator[tuple[float, float, Sampled]]:
    """Yield each pair of taps of the transmitter that leaves enough cursor, and what it leaves."""
    equaliser = reference.equaliser
    row = int(np.argmax(pulse.samples)) // pulse.samples_per_ui
    response = _Centred(np.roll(pulse.value, AROUND - row, axis=0))
    for pre in equaliser.pre.values():
        for post in equaliser.post.values():
            if 1 - abs(pre) - abs(post) < equaliser.least_cursor - 1e-9:
                continue
            yield pre, post, _sampled(response, (pre, post), reference, (row - AROUND) * pulse.samples_per_ui)


class _Centred:
    """A pulse response whose peak is in row `AROUND`: what all settings of the transmitter's taps add up of it."""

    def __init__(self, value: Real) -> None:
        self.value, self.per_ui = value, value.shape[1]
        self.near = neighbours(value[: 2 * AROUND + 1])
        self._edges: dict[int, Neighbours] = {}

    def edges(self, phase: int) -> Neighbours:
        """Return the samples one before a phase, in it and one behind it, of all symbols, for the taps."""
        if phase not in self._edges:
            edges = np.stack([_column(self.value, phase + k) for k in (-1, 0, 1)], axis=1)
            early, here, late = (np.ascontiguousarray(one.T) for one in neighbours(edges))
            self._edges[phase] = early, here, late
        return self._edges[phase]


def _sampled(response: _Centred, taps: tuple[float, float], reference: ReferenceChannel, first: int) -> Sampled:
    """Return what one setting leaves of a pulse response; its samples count from `first`."""
    per_ui = response.per_ui
    near = weighted(response.near, *taps).reshape(-1)
    at = _cursor(near, per_ui, reference.equaliser.most_feedback)
    row, phase = divmod(at, per_ui)
    before, here, after = weighted(response.edges(phase), *taps)
    cursor = float(here[row])
    behind = slice(row + 1, row + 1 + reference.equaliser.feedback_taps)
    feedback = feedback_taps(here[behind], cursor, reference.equaliser.most_feedback)
    interference = here.copy()
    interference[row] = 0
    interference[behind] -= feedback * cursor
    slope = (after - before) * per_ui / 2
    return Sampled(cursor=cursor, interference=interference, slope_v_per_ui=slope, feedback=feedback, at=first + at)


def _column(value: Real, phase: int) -> Real:
    """Return the samples of one phase; of a phase beyond a symbol those of the next or the last one."""
    rows, phase = divmod(phase, value.shape[1])
    return np.roll(value[:, phase], -rows)


def _cursor(near: Real, per_ui: int, most: float) -> int:
    """Return the sampling time nearest before the peak at which what precedes the cursor equals what follows (93A-25).

    What follows is what the first tap of the decision feedback leaves. Where no time fulfils it, that which misses it
    least.
    """
    peak = int(np.argmax(near[per_ui:-per_ui])) + per_ui
    times = np.arange(peak - per_ui, peak + 1)
    times = times[(times >= per_ui) & (near[times] > 0)]
    cursor, behind = near[times], near[times + per_ui]
    off = near[times - per_ui] - (behind - np.clip(behind / cursor, -most, most) * cursor)
    crossings = np.flatnonzero(np.sign(off[:-1]) != np.sign(off[1:]))
    if not len(crossings):
        return int(times[np.argmin(np.abs(off))])
    last = int(crossings[-1])
    return int(times[last + int(abs(off[last + 1]) < abs(off[last]))])


def _symbol_power(levels: int) -> float:
    """Return the mean square of symbols between -1 and 1 (93A-29)."""
    return (levels**2 - 1) / (3 * (levels - 1) ** 2)


def _transmitter_noise(sampled: Sampled, reference: ReferenceChannel) -> float:
    """Noise of the transmitter at the cursor, V^2 (93A-30)."""
    return float(sampled.cursor**2 * 10 ** (-reference.transmitter_snr_db / 10))


def _merit(sampled: Sampled, noise: float, reference: ReferenceChannel) -> float:
    """Return the merit of a setting in dB: signal over the mean squares of interference and noise (93A-36)."""
    power = _symbol_power(reference.levels)
    jitter = (reference.dual_dirac_ui**2 + reference.random_jitter_ui**2) * (sampled.slope_v_per_ui**2).sum()
    against = power * ((sampled.interference**2).sum() + jitter) + _transmitter_noise(sampled, reference) + noise
    signal = reference.level_mismatch * sampled.cursor / (reference.levels - 1)
    return float(10 * np.log10(signal**2 / against))


def _eye(pulse: PulseResponse, pre: float, post: float, sampled: Sampled, reference: ReferenceChannel) -> Eye:
    """Return the eye behind the decision feedback, which holds from half a symbol before the cursor to half behind."""
    value = with_taps(pulse.value, pre, post) / reference.amplitude_v
    middle = pulse.samples_per_ui // 2
    moved = np.roll(value.reshape(-1), middle - sampled.at).reshape(value.shape)
    taps = len(sampled.feedback)
    moved[1 : taps + 1] -= (sampled.feedback * sampled.cursor / reference.amplitude_v)[:, None]
    return worst_eye(PulseResponse(symbol_gbd=pulse.symbol_gbd, value=moved), reference.levels)
