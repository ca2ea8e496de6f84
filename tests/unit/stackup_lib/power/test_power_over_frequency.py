"""Power over frequency: planes, mounting and network against closed forms and against points of other programs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.power.over_frequency.circuit import GROUND, PlaneNodes, SeriesBranch, peaks, solve
from stackup_lib.power.over_frequency.mounting import trace_inductance_h, via_pair_inductance_h
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort
from tests.support.physics.closed_forms import sheet_inductance_h
from tests.support.physics.plane_cells import rectangle_ohm
from tests.support.physics.power_frequency import P4, ladders_off


def test_vias_of_a_capacitor_by_hand() -> None:
    """1 mm deep, 1 mm apart, 0.3 mm wide: 0.4 nH/mm times arccosh(3.333) = 1.8738."""
    assert via_pair_inductance_h(1, 1, 0.3) == pytest.approx(0.4e-9 * 1.8738, rel=1e-4)
    with pytest.raises(ValueError, match="no pair"):
        via_pair_inductance_h(1, 0.3, 0.3)


def test_a_wide_trace_is_a_sheet() -> None:
    assert trace_inductance_h(0.1, 2, 100) == pytest.approx(sheet_inductance_h(0.1, 2, 100), rel=2e-3)
    with pytest.raises(ValueError, match="height"):
        trace_inductance_h(0.1, 2, 0)


def test_published_networks_meet_their_points() -> None:
    """Element values as published; the points were worked out apart and have five digits."""
    off = ladders_off()
    assert len(off) >= 16
    assert max(off) < 2e-4


def test_a_peak_names_what_makes_it() -> None:
    """30 ceramic capacitors against the inductance of 10 polymer ones: 1/(2 pi sqrt(L C)) with both inductances."""
    solution = solve(P4, "load", np.geomspace(1e4, 1e8, 2001))
    (peak,) = peaks(solution)
    by_hand = 1 / (2 * math.pi * math.sqrt((6.4e-9 / 10 + 1.15e-9 / 30) / (1 / 300e-6 + 1 / 5600e-6)))
    assert (peak.capacitive, peak.inductive) == ("MLCC", "OS-CON")
    assert peak.frequency_hz == pytest.approx(by_hand, rel=0.2)


def test_planes_and_a_capacitor_make_the_peak_of_both() -> None:
    """A capacitor's 1 nH against the capacitance of planes, at the same point."""
    pair = PlanePair(900, 0.1, 4.0, 0.02)
    frequencies = np.geomspace(1e6, 1e9, 1201)
    planes = PlaneNodes(("a",), rectangle_ohm(pair, (30, 30), [PlanePort(15, 15, 2)], frequencies))
    capacitor = SeriesBranch("C1", "a", GROUND, 0.02, 1e-9, 100e-9)
    (peak,) = peaks(solve([capacitor], "a", frequencies, planes))
    assert (peak.capacitive, peak.inductive) == ("planes", "C1")
    both_f = 1 / (1 / 100e-9 + 1 / pair.capacitance_f)
    assert peak.frequency_hz == pytest.approx(1 / (2 * math.pi * math.sqrt(1e-9 * both_f)), rel=0.05)


def test_networks_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing is connected"):
        solve([SeriesBranch("C1", "a", GROUND, 0.01)], "b", np.array([1e6]))
    with pytest.raises(ValueError, match="no way to ground"):
        solve([SeriesBranch("R1", "a", "b", 1.0)], "a", np.array([1e6]))
    with pytest.raises(ValueError, match="no impedance"):
        SeriesBranch("C1", "a", GROUND)
    with pytest.raises(ValueError, match="positive"):
        SeriesBranch("C1", "a", GROUND, capacitance_f=0)
    with pytest.raises(ValueError, match="same node"):
        SeriesBranch("C1", "a", "a", 1.0)
    with pytest.raises(ValueError, match="not negative"):
        SeriesBranch("C1", "a", GROUND, -1.0)
