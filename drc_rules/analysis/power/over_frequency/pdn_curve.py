"""The curve of a network with its range, its peaks with their causes, and what would bring it below a target."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drc_rules.analysis.power.over_frequency.pdn_network import CORNERS, Corner, RailNetwork
from drc_rules.analysis.power.over_frequency.remedies import NO_REMEDY, remedy_of, spent_words
from drc_rules.report.numbers import figure
from drc_rules.report.pdn_rows import PdnExcess, PdnPeak, PdnTarget
from stackup_lib.core.arrays import distinct
from stackup_lib.core.interval import Interval
from stackup_lib.power.over_frequency.circuit import SolvedNetwork, peaks
from stackup_lib.transmission_lines.materials.conductor_models import Real

LOWEST_HZ, HIGHEST_HZ = 1e3, 1e9
PER_DECADE = 30
FINER = 5
"""Frequencies between two of the first pass around each peak."""

MODEL_RANGE = 0.8, 1.25
"""What the model itself leaves open: planes without fringes, capacitors gathered, vias uncoupled. Judgement of an
engineer: no published board has full geometry and a measured curve."""

AROUND = 1.6
"""A peak moves by less than this factor in frequency between the corners."""

PROMINENT = 1.1
"""A maximum that rises by less than this factor above the lower of its sides is no peak worth naming."""


@dataclass(frozen=True)
class Curve:
    """|Z| in ohm over frequency: nominal, and at all corners together, as corners by frequencies."""

    network: RailNetwork
    nominal: SolvedNetwork
    corners: Real

    @property
    def hz(self) -> Real:
        """The frequencies, ascending."""
        return self.nominal.frequencies_hz

    @property
    def ohm(self) -> Real:
        """The nominal |Z|."""
        return np.abs(self.nominal.impedance_ohm)

    def range_ohm(self) -> tuple[Real, Real]:
        """Return the lowest and highest |Z| at each frequency."""
        return MODEL_RANGE[0] * self.corners.min(axis=0), MODEL_RANGE[1] * self.corners.max(axis=0)

    def worst_ohm(self, from_hz: float, to_hz: float) -> Interval:
        """Return the largest |Z| between two frequencies: nominal, and in the best and worst corner."""
        here = (self.hz >= from_hz) & (self.hz <= to_hz)
        at_ends = np.stack([self._at(one, (from_hz, to_hz)) for one in self.corners])
        most = np.maximum(self.corners[:, here].max(axis=1, initial=0.0), at_ends.max(axis=1))
        nominal = float(most[0])
        low, high = MODEL_RANGE[0] * float(most.min()), MODEL_RANGE[1] * float(most.max())
        return Interval(low=min(low, nominal), nominal=nominal, high=max(high, nominal))

    def _at(self, ohm: Real, hz: tuple[float, float]) -> Real:
        """Return |Z| at frequencies between those of the curve."""
        return np.exp(np.interp(np.log(hz), np.log(self.hz), np.log(ohm)))


def curve_of(network: RailNetwork) -> Curve:
    """Return the curve from 1 kHz to 1 GHz, with more frequencies around peaks."""
    hz = np.geomspace(LOWEST_HZ, HIGHEST_HZ, round(PER_DECADE * math.log10(HIGHEST_HZ / LOWEST_HZ)) + 1)
    (coarse,) = network.solved(hz, [Corner()])
    first = np.abs(coarse.impedance_ohm)
    top = np.flatnonzero((first[1:-1] > first[:-2]) & (first[1:-1] >= first[2:])) + 1
    more = [np.geomspace(hz[k - 1], hz[k + 1], 2 * FINER + 1) for k in top.tolist()]
    hz = distinct(np.concatenate([hz, *more]))
    corners = [np.abs(one.impedance_ohm) for one in network.solved(hz, CORNERS)]
    (nominal,) = network.solved(hz, [Corner()])
    return Curve(network, nominal, np.stack([np.abs(nominal.impedance_ohm), *corners]))


def merged(solution: SolvedNetwork) -> SolvedNetwork:
    """Return the solution with the branches of one name as one: a group of capacitors stands at several places."""
    names = tuple(dict.fromkeys(solution.names))
    columns = [
        solution.reactive_var[:, [k for k, one in enumerate(solution.names) if one == name]].sum(axis=1)
        for name in names
    ]
    return SolvedNetwork(solution.frequencies_hz, solution.impedance_ohm, names, np.stack(columns, axis=1))


def peaks_of(curve: Curve, target: PdnTarget | None) -> Iterator[PdnPeak]:
    """Yield the maxima with what exchanges energy there."""
    for peak in peaks(merged(curve.nominal)):
        if not _is_prominent(curve, peak.frequency_hz):
            continue
        found = curve.worst_ohm(peak.frequency_hz / AROUND, peak.frequency_hz * AROUND)
        size = Interval(
            low=min(found.low, peak.impedance_ohm),
            nominal=peak.impedance_ohm,
            high=max(found.high, peak.impedance_ohm),
        )
        ends = [one for one in (peak.inductive, peak.capacitive) if one]
        share = _mounting_share(curve.network, peak.inductive)
        in_range = target is not None and target.from_hz <= peak.frequency_hz <= target.up_to_hz
        yield PdnPeak(
            hz=peak.frequency_hz,
            mohm=size.times(1e3),
            cause=_cause(ends, share),
            share_of_mounting=share,
            is_above=target is not None and in_range and peak.impedance_ohm * 1e3 > target.mohm,
        )


def _is_prominent(curve: Curve, hz: float) -> bool:
    """Tell whether |Z| falls enough on both sides of a maximum before it rises above it again."""
    at = int(np.searchsorted(curve.hz, hz))
    top = curve.ohm[at]
    for side in (curve.ohm[at::-1], curve.ohm[at:]):
        higher = np.flatnonzero(side > top)
        if top < PROMINENT * side[: int(higher[0]) if len(higher) else None].min():
            return False
    return True


def _cause(ends: list[str], share: float | None) -> str:
    if ends == ["planes"] or set(ends) == {"planes"}:
        return "the planes resonate as a cavity"
    if len(set(ends)) < 2:
        return ends[0] if ends else ""
    mounting = "" if share is None else f" ({100 * share:.0f} % of it mounting)"
    return f"inductance of {ends[0]}{mounting} against capacitance of {ends[1]}"


def _mounting_share(network: RailNetwork, group: str | None) -> float | None:
    """Return which share of the inductance of a group of capacitors is mounting."""
    own = [one for one in network.capacitors if one.group == group]
    if not own:
        return None
    mounting = sum(one.mounting_h.nominal for one in own)
    return mounting / (mounting + sum(one.data.esl_h.nominal for one in own))


def excesses(curve: Curve, target: PdnTarget) -> Iterator[PdnExcess]:
    """Yield each range below the end of the target's in which the nominal curve exceeds it, with what would help."""
    inside = np.flatnonzero((curve.hz >= target.from_hz) & (curve.hz <= target.up_to_hz))
    hz, size = curve.hz[inside], curve.ohm[inside]
    above = size * 1e3 > target.mohm
    edges = np.flatnonzero(np.diff(np.concatenate([[0], above.astype(int), [0]])))
    for start, end in edges.reshape(-1, 2).tolist():
        note = _resistance(curve, int(inside[start]), target) or spent_words(curve.network, float(hz[end - 1]), target)
        found = None if note else remedy_of(curve.network, hz, size, slice(start, end), target)
        if found is None and not note and curve.network.capacitors:
            note = NO_REMEDY
        first, last = int(inside[start]), int(inside[end - 1])
        yield PdnExcess(
            from_hz=max(_crossing_hz(curve, first - 1, target), target.from_hz) if first else float(hz[start]),
            to_hz=min(_crossing_hz(curve, last, target), target.up_to_hz),
            worst_mohm=float(size[start:end].max()) * 1e3,
            remedy=found[1] if found else "",
            count=found[0] if found else 0,
            note=note,
        )


def _crossing_hz(curve: Curve, before: int, target: PdnTarget) -> float:
    """Return where |Z| crosses the target between one frequency and the next; the next where it does not."""
    if before + 1 >= len(curve.hz):
        return float(curve.hz[before])
    log_hz, log_ohm = np.log(curve.hz[before : before + 2]), np.log(curve.ohm[before : before + 2] * 1e3 / target.mohm)
    if log_ohm[0] * log_ohm[1] >= 0:
        return float(curve.hz[before + 1])
    share = log_ohm[0] / (log_ohm[0] - log_ohm[1])
    return float(np.exp(log_hz[0] + share * (log_hz[1] - log_hz[0])))


def _resistance(curve: Curve, start: int, target: PdnTarget) -> str:
    """Return that regulator and copper exceed the target by their resistance, which no capacitor lowers; else ""."""
    resistance_mohm = float(curve.nominal.impedance_ohm[start].real) * 1e3
    if curve.hz[start] > LOWEST_HZ * 1.01 or resistance_mohm <= target.mohm:
        return ""
    own = curve.network.supply.resistance_ohm
    if own.nominal * 1e3 <= target.mohm:
        return f"regulator and copper have {figure(resistance_mohm)} mOhm of resistance, which no capacitor lowers"
    range_ = "" if own.low == own.high else f" ({figure(own.low * 1e3)} to {figure(own.high * 1e3)})"
    return f"the regulator alone has {figure(own.nominal * 1e3)}{range_} mOhm"
