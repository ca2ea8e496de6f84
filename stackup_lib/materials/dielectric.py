"""One quantity (Dk or Df) over frequency: interpolation, and the little that may be said beyond the measured range."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stackup_lib.core.facts import Confidence, least
from stackup_lib.core.record import record
from stackup_lib.materials.sources import MaterialSource, lowered

SPAN = 2.0
"""Beyond its measured range a Df holds for at most this factor in frequency."""

SPAN_DK = 10.0
"""The same for Dk, which moves by a few per cent per decade at most."""

TREND_BASE = 2.0
"""The trend at the end of a sheet's range is taken over at least this factor in frequency: over less, the rounding of
Df to its last digit decides."""

RISE_PER_OCTAVE = 0.20
"""How much a Df may rise above its last frequency where its sheet states no trend. Of 21 laminates whose sheets give
values an octave apart above 5 GHz, 19 rise by no more on average, half of them by less than 10 %."""

UNSTATED_GHZ = (0.5, 20.0)
"""Frequencies at which a value without a frequency may be used: such values are measured between 1 and 10 GHz."""


@record
class Sample:
    """One value at one frequency; `frequency_ghz` is None when the sheet does not state it."""

    frequency_ghz: float | None
    value: float
    source: MaterialSource


@record
class DielectricReading:
    """A value read off a series: how it was got is in `how`, empty for a value that the sheet prints itself.

    `low_share` and `high_share` of the value are the ends of what it may be beyond the last frequency; else 1.
    """

    value: float
    confidence: Confidence
    source: str
    how: str = ""
    low_share: float = 1.0
    high_share: float = 1.0


@record
class _Rise:
    """What becomes of a Df above its last frequency, as shares of its last value."""

    nominal: float
    high: float
    from_ghz: float | None = None

    def of(self, end: Sample, confidence: Confidence, how: str, value: float | None = None) -> DielectricReading:
        """Return the reading of a value that rises so; it does not fall, so that the value itself is the low end."""
        shares = 1 / self.nominal, self.high / self.nominal
        value = (end.value if value is None else value) * self.nominal
        return DielectricReading(value, confidence, end.source.text, how, *shares)


def read_at(
    samples: Sequence[Sample],
    frequency_ghz: float,
    shapes: Sequence[Sequence[Sample]] = (),
    span: float = SPAN,
    *,
    rises: bool = False,
) -> DielectricReading | None:
    """Read a series at a frequency.

    Between two samples the value is interpolated linearly in log f. Beyond the ends the nearest sample is carried on
    with the frequency dependence of one of `shapes` (other series of the same laminate), as far as that reaches; from
    there the nearest value is used, within a factor of `span`; else samples without a frequency, with low confidence.
    Of a quantity that `rises` with frequency, a Df, the last value is carried on along its trend instead: `_rise`.
    Returns None when nothing may be said.
    """
    if frequency_ghz <= 0:
        return None
    stated = sorted((s for s in samples if s.frequency_ghz is not None), key=_ghz)
    if stated:
        low, high = _ghz(stated[0]), _ghz(stated[-1])
        if low <= frequency_ghz <= high:
            return _between(stated, frequency_ghz)
        end = stated[0] if frequency_ghz < low else stated[-1]
        is_rising = rises and frequency_ghz > high
        reading = _carried(end, frequency_ghz, shapes, span, is_rising=is_rising)
        if reading is None and _factor(_ghz(end), frequency_ghz) <= span:
            reading = _risen(stated, frequency_ghz, shapes) if is_rising else _nearest(end)
        if reading:
            return reading
    return _unstated([s for s in samples if s.frequency_ghz is None], frequency_ghz)


def _ghz(sample: Sample) -> float:
    return sample.frequency_ghz or 0.0


def _between(stated: Sequence[Sample], frequency_ghz: float) -> DielectricReading:
    for sample in stated:
        if math.isclose(_ghz(sample), frequency_ghz, rel_tol=1e-6):
            return DielectricReading(sample.value, sample.source.grade.confidence, sample.source.text)
    upper = next(i for i, s in enumerate(stated) if _ghz(s) > frequency_ghz)
    a, b = stated[upper - 1], stated[upper]
    share = math.log(frequency_ghz / _ghz(a)) / math.log(_ghz(b) / _ghz(a))
    text = a.source.text if a.source == b.source else f"{a.source.text}; {b.source.text}"
    confidence = least(a.source.grade.confidence, b.source.grade.confidence)
    how = f"interpolated between {_ghz(a):g} and {_ghz(b):g} GHz"
    return DielectricReading(a.value + share * (b.value - a.value), confidence, text, how)


def _carried(
    end: Sample, frequency_ghz: float, shapes: Sequence[Sequence[Sample]], span: float, *, is_rising: bool
) -> DielectricReading | None:
    best: tuple[float, DielectricReading] | None = None
    for shape in shapes:
        stated = sorted((s for s in shape if s.frequency_ghz is not None), key=_ghz)
        if not stated or not _ghz(stated[0]) <= _ghz(end) <= _ghz(stated[-1]):
            continue
        reached = min(max(frequency_ghz, _ghz(stated[0])), _ghz(stated[-1]))
        gap = _factor(reached, frequency_ghz)
        if reached == _ghz(end) or gap > span or (best and gap >= best[0]):
            continue
        here, there = _between(stated, _ghz(end)), _between(stated, reached)
        confidence = least(end.source.grade.confidence, here.confidence, there.confidence)
        if gap > 1 or _factor(_ghz(end), frequency_ghz) > SPAN:
            confidence = lowered(confidence)
        rise = _rise(stated, frequency_ghz) if is_rising and gap > 1 else _Rise(1.0, 1.0)
        to_ghz = reached if rise.from_ghz is None else frequency_ghz
        how = f"{end.value:g} at {_ghz(end):g} GHz, carried on to {to_ghz:g} GHz as another construction goes"
        best = gap, rise.of(end, confidence, how, end.value * there.value / here.value)
    return best[1] if best else None


def _factor(a_ghz: float, b_ghz: float) -> float:
    return max(a_ghz / b_ghz, b_ghz / a_ghz)


def _nearest(end: Sample) -> DielectricReading:
    how = f"the nearest figure, at {_ghz(end):g} GHz"
    return DielectricReading(end.value, lowered(end.source.grade.confidence), end.source.text, how)


def _risen(stated: Sequence[Sample], frequency_ghz: float, shapes: Sequence[Sequence[Sample]]) -> DielectricReading:
    """Carry the last Df on along the trend of its own series, else of one that ends at the same frequency."""
    end = stated[-1]
    rise = _rise(stated, frequency_ghz)
    if rise.from_ghz is None:
        others = (sorted((s for s in shape if s.frequency_ghz is not None), key=_ghz) for shape in shapes)
        ending = (other for other in others if other and math.isclose(_ghz(other[-1]), _ghz(end)))
        rises = (_rise(other, frequency_ghz) for other in ending)
        rise = next((one for one in rises if one.from_ghz is not None), rise)
    how = f"the nearest figure, at {_ghz(end):g} GHz"
    if rise.nominal > 1:
        how = f"{end.value:g} at {_ghz(end):g} GHz, carried on as it rises from {rise.from_ghz:g} GHz"
    return rise.of(end, lowered(end.source.grade.confidence), how)


def _rise(stated: Sequence[Sample], frequency_ghz: float) -> _Rise:
    """Return what becomes of a Df above its last frequency.

    Df of laminates rises about evenly in log f. Nominal is the line through the last sample, over an octave at least:
    with the last values left out of those sheets that state more, it is 1 % low on average, the last value held 5 %;
    of those that go to 60 GHz, 4 % and 9 %. A value known to be too low would pass what fails. It never falls: where a
    sheet's Df does, two methods or rounding differ. The range reaches from the last value to a rise twice as steep,
    for toward 60 GHz the rise itself grows. A sheet with one frequency says nothing of a trend: its value holds, and
    may rise by `RISE_PER_OCTAVE`.
    """
    end = stated[-1]
    octaves = math.log2(frequency_ghz / _ghz(end))
    base = next((s for s in reversed(stated) if _ghz(s) * TREND_BASE <= _ghz(end) * (1 + 1e-9)), None)
    if base is None or end.value <= 0:
        return _Rise(1.0, 1 + RISE_PER_OCTAVE * octaves)
    per_octave = max(end.value - base.value, 0.0) / math.log2(_ghz(end) / _ghz(base)) / end.value
    return _Rise(1 + per_octave * octaves, 1 + 2 * per_octave * octaves, _ghz(base))


def _unstated(samples: Sequence[Sample], frequency_ghz: float) -> DielectricReading | None:
    if not samples or not UNSTATED_GHZ[0] <= frequency_ghz <= UNSTATED_GHZ[1]:
        return None
    how = "no frequency is stated with it"
    return DielectricReading(samples[0].value, Confidence.LOW, samples[0].source.text, how)
