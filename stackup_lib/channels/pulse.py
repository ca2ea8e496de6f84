"""The pulse response of a channel: what arrives of one rectangular symbol of height 1.

Frequencies in GHz, times in symbols (unit intervals, UI). The response is periodic over `symbols` UI, so it must have
settled by then.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import entity

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

SAMPLES_PER_UI = 32
"""M of IEEE 802.3, Annex 93A."""

BLOCKED = 0.01
"""A transmission at DC below this is that of a series capacitor."""

MOST_EARLY = 0.01
"""Of the peak, before anything can have arrived: beyond, the channel is not causal or has not settled."""


@entity
class PulseResponse:
    """What arrives of one symbol.

    Attributes:
        symbol_gbd: symbols per nanosecond.
        value: (symbols, samples per UI), from the beginning of the symbol at the near end.
    """

    symbol_gbd: float
    value: Real

    @property
    def samples(self) -> Real:
        """All samples in a row."""
        return self.value.reshape(-1)

    @property
    def samples_per_ui(self) -> int:
        """Their number."""
        return int(self.value.shape[1])

    @property
    def time_ps(self) -> Real:
        """Time of each sample."""
        return np.arange(self.value.size, dtype=np.float64) * (1000 / self.symbol_gbd / self.samples_per_ui)

    @property
    def early(self) -> float:
        """The largest value in the last eighth of the window, of the peak: time before zero wraps to there.

        The last UI is left out: half of the edge that a limited band makes of a step stands there. Of nothing, 1.
        """
        size = np.abs(self.value)
        return float(size[-len(size) // 8 : -1].max() / size.max()) if size.any() else 1.0


def symbol_grid_ghz(symbol_gbd: float, last_ghz: float, step_ghz: float) -> Real:
    """Return frequencies from DC to `last_ghz` or just beyond, evenly spaced by a whole fraction of the symbol rate.

    Args:
        symbol_gbd: the symbol rate.
        last_ghz: how far they go.
        step_ghz: their largest distance; at least 64 fit below the symbol rate. How many do has no prime factor above
            5: transforming 2579 symbols takes ten times as long as 2592.
    """
    from scipy.fft import next_fast_len  # noqa: PLC0415 - heavy, and only eyes and margins need it

    symbols = int(next_fast_len(max(64, math.ceil(symbol_gbd / step_ghz)), real=True))
    count = math.ceil(last_ghz * symbols / symbol_gbd - 1e-9) + 1
    return np.arange(count, dtype=np.float64) * (symbol_gbd / symbols)


def smooth_edges(frequency_ghz: Real) -> Real:
    """Return half a Hann window over the frequencies: edges without ringing, `edge_ui` long."""
    return np.asarray(0.5 * (1 + np.cos(np.pi * frequency_ghz / frequency_ghz[-1])))


def edge_ui(frequency_ghz: Real, symbol_gbd: float) -> float:
    """Return how long a step takes from 10 to 90 % behind `smooth_edges`, in UI: 0.973 of the last frequency's period.

    The number is that of the window's own step response, computed once.
    """
    return 0.973 * symbol_gbd / float(frequency_ghz[-1])


def pulse_response(
    frequency_ghz: Real, transfer: Complex, symbol_gbd: float, samples_per_ui: int = SAMPLES_PER_UI
) -> PulseResponse:
    """Return the pulse response of a voltage transfer function; beyond its last frequency nothing passes.

    The spectrum of the symbol, from 0 to 1 UI, times the transfer function, transformed back. What a series capacitor
    blocks is slower than the window: its value at DC is continued from the next two frequencies by a parabola.

    Args:
        frequency_ghz: of `symbol_grid_ghz`.
        transfer: voltage at the far end over that at the near end, without or with equalisers.
        symbol_gbd: the symbol rate.
        samples_per_ui: of the response.

    Raises:
        ValueError: the frequencies are no whole fractions of the symbol rate, or too high for so few samples.
    """
    symbols = symbol_gbd / float(frequency_ghz[1])
    if frequency_ghz[0] != 0 or abs(symbols - round(symbols)) > 1e-6:
        raise ValueError("the frequencies are not evenly spaced by a whole fraction of the symbol rate")
    if frequency_ghz[-1] > symbol_gbd * samples_per_ui / 2:
        raise ValueError(f"{samples_per_ui} samples per symbol do not hold {frequency_ghz[-1]:.4g} GHz")
    ui = frequency_ghz / symbol_gbd
    spectrum = through_capacitors(transfer) * np.sinc(ui) * np.exp(-1j * np.pi * ui)
    samples = np.fft.irfft(spectrum, round(symbols) * samples_per_ui) * samples_per_ui
    return PulseResponse(symbol_gbd=symbol_gbd, value=samples.reshape(-1, samples_per_ui))


def through_capacitors(transfer: Complex) -> Complex:
    """Return a transfer function whose value at DC, where a capacitor blocks it, is continued from the next two."""
    found = transfer.copy()
    if abs(found[0]) < BLOCKED < abs(found[1]):
        found[0] = (4 * found[1].real - found[2].real) / 3
    return found
