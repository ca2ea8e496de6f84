"""Typical ESR, ESL and DC bias of ceramic capacitors, with their range and source, from `capacitors.toml`."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import tomli

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.power.over_frequency.circuit import GROUND, SKIN_HZ, SeriesBranch

_ESR_FACTOR = 1.7
"""How far the ESR of a part may be from that of its neighbours in size: each measured part against the others."""

_REACH = 3.0
"""A value this many times above the largest part measured, or below the smallest, is outside of what they say."""


DISSIPATION = 0.02
"""Loss tangent of the dielectric: 0.01 to 0.04 in the fits of the measured parts."""

_ESL_HZ = 316e6
"""The middle of the range of the ESL."""


class CapacitorSource(Frozen):
    """Where a row comes from, and how it was obtained."""

    text: str
    grade: Literal["measured", "third-party", "engineering"]


class MeasuredPart(Frozen):
    """One part as its maker measured it; the capacitance is at 10 kHz and a small signal."""

    part: str
    size: str
    dielectric: str
    nominal_uf: float
    rated_v: float
    uf: float
    esr_mohm: float
    esl_ph: tuple[float, float]
    skin_mohm: float
    source: str


class SizeBand(Frozen):
    """The range of parts of a size, where no part near the value was measured."""

    size: str
    esr_mohm: tuple[float, float]
    esl_ph: tuple[float, float]
    skin_mohm: tuple[float, float]
    source: str


class BiasPoint(Frozen):
    """The share of the capacitance that is left at a share of the rated voltage."""

    dielectrics: tuple[str, ...]
    of_rated: float
    left: tuple[float, float]
    source: str


class CapacitorData(Frozen):
    """The data file."""

    source: dict[str, CapacitorSource]
    measured: tuple[MeasuredPart, ...]
    band: tuple[SizeBand, ...]
    bias: tuple[BiasPoint, ...]


class TypicalCapacitor(Frozen):
    """What a part is without mounting, each with its range, and the source of all.

    Attributes:
        esr_ohm: at the series resonance.
        esl_h: between 100 MHz and 1 GHz.
        skin_ohm: real part at 100 MHz of what grows with the square root of frequency.
    """

    esr_ohm: Interval
    esl_h: Interval
    skin_ohm: Interval
    source: CapacitorSource


@cache
def capacitor_data() -> CapacitorData:
    """Return the data file, checked."""
    text = Path(__file__).with_name("capacitors.toml").read_text(encoding="utf-8")
    return CapacitorData.model_validate(tomli.loads(text))


def typical_capacitor(size: str, nominal_f: float, data: CapacitorData | None = None) -> TypicalCapacitor | None:
    """Return the typical ESR and ESL of a ceramic part, None for a size that the data does not have.

    Between measured parts of the size the ESR is interpolated on logarithmic scales; away from them the band of the
    size holds. Raises `ValueError` where the capacitance is not positive.

    Args:
        size: EIA code in hundredths of an inch, `0402`.
        nominal_f: the nominal capacitance.
        data: another data file than the built-in one.
    """
    if not (math.isfinite(nominal_f) and nominal_f > 0):
        raise ValueError("a capacitance is positive")
    known = data or capacitor_data()
    parts = sorted((part for part in known.measured if part.size == size), key=lambda part: part.nominal_uf)
    uf = nominal_f * 1e6
    if parts and parts[0].nominal_uf / _REACH <= uf <= parts[-1].nominal_uf * _REACH:
        logs = np.log([part.nominal_uf for part in parts])
        esr = math.exp(float(np.interp(math.log(uf), logs, np.log([part.esr_mohm for part in parts])))) * 1e-3
        low, high = min(part.esl_ph[0] for part in parts), max(part.esl_ph[1] for part in parts)
        middle = float(np.median([sum(part.esl_ph) / 2 for part in parts]))
        return TypicalCapacitor(
            esr_ohm=Interval(low=esr / _ESR_FACTOR, nominal=esr, high=esr * _ESR_FACTOR),
            esl_h=Interval(low=low, nominal=middle, high=high).times(1e-12),
            skin_ohm=_among([part.skin_mohm for part in parts]).times(1e-3),
            source=known.source[parts[0].source],
        )
    band = next((row for row in known.band if row.size == size), None)
    if band is None:
        return None
    return TypicalCapacitor(
        esr_ohm=Interval.geometric(*band.esr_mohm).times(1e-3),
        esl_h=Interval.geometric(*band.esl_ph).times(1e-12),
        skin_ohm=Interval.geometric(*band.skin_mohm).times(1e-3),
        source=known.source[band.source],
    )


def left_at_bias(dielectric: str, volts: float, rated_v: float) -> Interval | None:
    """Return the share of the capacitance that a DC voltage leaves, None for a dielectric that the data does not have.

    Between two rows of the data nothing is interpolated: the range goes from the low end of the next higher voltage to
    the high end of the next lower one. Raises `ValueError` for a voltage above the rated one.
    """
    if not (rated_v > 0 and 0 <= volts <= rated_v):
        raise ValueError(f"{volts:g} V is not between 0 V and the rated {rated_v:g} V")
    rows = sorted((row for row in capacitor_data().bias if dielectric in row.dielectrics), key=lambda row: row.of_rated)
    if not rows:
        return None
    share = volts / rated_v
    above = next(row for row in rows if share <= row.of_rated * (1 + 1e-9))
    below = [row for row in rows if row.of_rated < above.of_rated]
    low, high = above.left[0], below[-1].left[1] if below else 1.0
    return Interval(low=low, nominal=(low + high) / 2, high=high)


def ceramic_branch(
    name: str,
    node: str,
    capacitance_f: float,
    of: tuple[float, float, float],
    *,
    mounting_h: float,
    count: int = 1,
) -> SeriesBranch:
    """Return a ceramic capacitor to ground whose R and L change with frequency as they do in measured parts.

    The current moves to the nearest electrodes as frequency rises: R and wL have a part each that grows with its square
    root. ESR and ESL are split so that the part has them at its series resonance and between 100 MHz and 1 GHz.

    Args:
        name: of the branch.
        node: at which it is connected.
        capacitance_f: what is left of it at the voltage.
        of: ESR in ohm, ESL in henry and skin part in ohm, as in `TypicalCapacitor`.
        mounting_h: inductance of pads, traces and vias.
        count: equal parts in parallel.
    """
    esr_ohm, esl_h, skin_ohm = of
    part_hz = 1 / (2 * math.pi * math.sqrt(esl_h * capacitance_f))
    in_skin = skin_ohm * math.sqrt(part_hz / SKIN_HZ)
    in_dielectric = DISSIPATION / (2 * math.pi * part_hz * capacitance_f)
    return SeriesBranch(
        name,
        node,
        GROUND,
        resistance_ohm=max(0.0, esr_ohm - in_skin - in_dielectric),
        inductance_h=max(0.0, esl_h - skin_ohm / (2 * math.pi * math.sqrt(SKIN_HZ * _ESL_HZ))) + mounting_h,
        capacitance_f=capacitance_f,
        count=count,
        skin_ohm=skin_ohm,
        dissipation=DISSIPATION,
    )


def _among(values: Sequence[float]) -> Interval:
    return Interval(low=min(values), nominal=float(np.median(values)), high=max(values))
