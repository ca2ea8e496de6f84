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
    """A value read off a series: how it was got is in `how`, empty for a value that the sheet prints itself."""

    value: float
    confidence: Confidence
    source: str
    how: str = ""


def read_at(
    samples: Sequence[Sample], frequency_ghz: float, shapes: Sequence[Sequence[Sample]] = (), span: float = SPAN
) -> DielectricReading | None:
    """Read a series at a frequency.

    Between two samples the value is interpolated linearly in log f. Beyond the ends the nearest sample is carried on
    with the frequency dependence of one of `shapes` (other series of the same laminate), as far as that reaches; from
    there the nearest value is used, within a factor of `span`; else samples without a frequency, with low confidence.
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
        reading = _carried(end, frequency_ghz, shapes, span) or _nearest(end, frequency_ghz, span)
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
    end: Sample, frequency_ghz: float, shapes: Sequence[Sequence[Sample]], span: float
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
        how = f"{end.value:g} at {_ghz(end):g} GHz, carried on to {reached:g} GHz as another construction goes"
        best = gap, DielectricReading(end.value * there.value / here.value, confidence, end.source.text, how)
    return best[1] if best else None


def _factor(a_ghz: float, b_ghz: float) -> float:
    return max(a_ghz / b_ghz, b_ghz / a_ghz)


def _nearest(end: Sample, frequency_ghz: float, span: float) -> DielectricReading | None:
    if _factor(_ghz(end), frequency_ghz) > span:
        return None
    how = f"the nearest figure, at {_ghz(end):g} GHz"
    return DielectricReading(end.value, lowered(end.source.grade.confidence), end.source.text, how)


def _unstated(samples: Sequence[Sample], frequency_ghz: float) -> DielectricReading | None:
    if not samples or not UNSTATED_GHZ[0] <= frequency_ghz <= UNSTATED_GHZ[1]:
        return None
    how = "no frequency is stated with it"
    return DielectricReading(samples[0].value, Confidence.LOW, samples[0].source.text, how)
