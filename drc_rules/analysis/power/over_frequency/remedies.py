"""What would bring the impedance of a rail below its target: more of its capacitors, or better planes and vias."""

from __future__ import annotations

import math

import numpy as np

from drc_rules.analysis.power.over_frequency.decoupling import RailCapacitor
from drc_rules.analysis.power.over_frequency.pdn_network import CapacitorPlace, Corner, RailNetwork
from drc_rules.analysis.power.over_frequency.rail_named import PLANES_SHARE
from drc_rules.report.numbers import figure
from drc_rules.report.pdn_rows import PdnTarget
from stackup_lib.power.over_frequency.circuit import PlaneNodes, impedances_ohm
from stackup_lib.transmission_lines.materials.conductor_models import Complex, Real

MOST_MORE = 100
"""More capacitors than this are no advice."""

NEAR_RESONANCE = 3.0
"""A capacitor helps from its resonance divided by this to as much above: there its |X| is below 2.7 sqrt(L/C). Farther
off it is an inductance as that of any smaller part of its size, or is next to open."""

SAME = 1.001
"""Above the target already elsewhere, |Z| may rise by this factor: that band has a remedy of its own."""

REMEDY_SHARE = 0.9
"""Of the target that a remedy leaves at most: real parts stand elsewhere than those of the calculation."""

NO_REMEDY = "no capacitor of the rail that resonates near brings it below: take other values, or mount them closer"

INCH_MM = 25.4


def spent_words(network: RailNetwork, hz: float, target: PdnTarget) -> str:
    """Return that planes and vias use up most of the target at a frequency, and what to do; else ""."""
    alone_mohm = 2e3 * math.pi * hz * network.spreading_h()
    if alone_mohm <= PLANES_SHARE * target.mohm:
        return ""
    cure = "shorten the vias of the load, or bring the pair of planes closer together"
    return f"planes and vias alone have {figure(alone_mohm)} mOhm at {figure(hz / 1e6)} MHz: {cure}"


def remedy_of(network: RailNetwork, hz: Real, size: Real, band: slice, target: PdnTarget) -> tuple[int, str] | None:
    """Return how many more capacitors of which group bring a band below the target with the least area of bodies.

    They stand at the place of the group that is nearest to the load, mounted as the best of the group. They lift |Z|
    nowhere above the target: a peak that only moves on is no less.

    Args:
        network: of the rail.
        hz: all frequencies that are judged.
        size: |Z| in ohm there.
        band: the part of them that exceeds the target.
        target: to reach.
    """
    planes = network.planes(hz, Corner())
    wanted_ohm = REMEDY_SHARE * target.mohm * 1e-3
    most = np.maximum(size * SAME, wanted_ohm)
    most[band] = wanted_ohm
    low, high = float(hz[band][0]) / NEAR_RESONANCE, float(hz[band][-1]) * NEAR_RESONANCE
    options = []
    for group in dict.fromkeys(one.group for one in network.capacitors):
        own = min((one for one in network.capacitors if one.group == group), key=lambda c: c.mounting_h.nominal)
        if not low <= _resonance_hz(own) <= high:
            continue
        place = next(one for one in network.places if any(part.group == group for part in one.capacitors))
        count = _count(network, own, place, hz, planes, most)
        if count is not None:
            options.append((count * _body_mm2(own.size), count, group))
    return min(options)[1:] if options else None


def _count(  # noqa: PLR0917 - a part, its place, and what is allowed
    network: RailNetwork, own: RailCapacitor, place: CapacitorPlace, hz: Real, planes: PlaneNodes, most_ohm: Real
) -> int | None:
    """Return the least number of one more capacitor at a place that keeps |Z| within what is allowed."""
    of = own.data.esr_ohm.nominal, own.data.esl_h.nominal, own.data.skin_ohm.nominal
    farad = own.data.capacitance_f.nominal
    one = own.data.branch(own.group, place.node, farad, of, mounting_h=own.mounting_h.nominal).impedance_ohm(hz)
    z = impedances_ohm(network.branches(Corner()), (network.seen_at, place.node), hz, planes)
    return next((n for n in range(1, MOST_MORE + 1) if (_with(z, one / n) <= most_ohm).all()), None)


def _with(z: Complex, more: Complex) -> Real:
    """Return |Z| at the first of two nodes with an impedance at the second."""
    return np.asarray(np.abs(z[:, 0, 0] - z[:, 0, 1] * z[:, 1, 0] / (z[:, 1, 1] + more)), dtype=np.float64)


def _resonance_hz(one: RailCapacitor) -> float:
    inductance = one.data.esl_h.nominal + one.mounting_h.nominal
    return 1 / (2 * math.pi * math.sqrt(inductance * one.data.capacitance_f.nominal))


def _body_mm2(size: str) -> float:
    """Return the area of a body by its EIA size, 0402 is 0.04 by 0.02 inch; that of 1210 where none is stated."""
    if not size.isdigit():
        size = "1210"
    if size == "01005":
        return 0.016 * 0.008 * INCH_MM**2
    return int(size[:-2]) * int(size[-2:]) * 1e-4 * INCH_MM**2
