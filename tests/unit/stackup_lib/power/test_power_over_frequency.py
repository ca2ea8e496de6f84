"""Power over frequency: planes, mounting and network against closed forms and against points of other programs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from stackup_lib.power.over_frequency.circuit import GROUND, PlaneNodes, SeriesBranch, count_to_target, peaks, solve
from stackup_lib.power.over_frequency.mounting import (
    sheet_inductance_h,
    spreading_inductance_h,
    trace_inductance_h,
    via_pair_inductance_h,
)
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort, plane_impedance_ohm, same_area
from tests.support.power_frequency import P4, cavities_off, ladders_off


def test_planes_meet_the_points_of_another_program() -> None:
    """Four boards, 28 frequencies, self and transfer: 0.5 % of |Z|, and 1.3 % next to a null."""
    off = cavities_off()
    assert len(off) == 56
    assert np.median(off) < 2e-4
    assert max(off) < 0.02, "the reference moves by 1.9 % with its terms near the null of PDN-CAV-1 at 100 MHz"


def test_planes_are_a_capacitor_far_below_their_first_mode() -> None:
    pair = PlanePair(100, 80, 0.1, 4.0, 0.0, copper_mm=0.035)
    ports = [PlanePort(50, 40, 0.5), PlanePort(5, 5, 0.5)]
    ohm = plane_impedance_ohm(pair, ports, np.array([1e5]))
    assert pair.capacitance_f == pytest.approx(8.8541878e-12 * 4 * 0.008 / 1e-4)
    assert np.abs(ohm[0]) == pytest.approx(1 / (2 * math.pi * 1e5 * pair.capacitance_f), rel=1e-4)


@pytest.mark.parametrize("mode", [(1, 0), (0, 1), (1, 1), (2, 0)])
def test_resonances_of_the_rectangle_are_where_the_closed_form_says(mode: tuple[int, int]) -> None:
    """c/(2 sqrt(er)) sqrt((m/a)^2 + (n/b)^2), at a corner, where every mode has its crest.

    Other modes are an inductance in series, which moves the maximum of |Z| but not that of its real part.
    """
    pair = PlanePair(120, 70, 0.5, 4.0, 0.002)
    by_hand = 299792458 / 2 / 2 * math.hypot(mode[0] / 0.12, mode[1] / 0.07)
    assert pair.resonance_hz(*mode) == pytest.approx(by_hand, rel=1e-9)
    around = np.linspace(0.97, 1.03, 241) * by_hand
    ohm = plane_impedance_ohm(pair, [PlanePort(0.5, 0.5, 1)], around)[:, 0, 0].real
    assert around[int(np.argmax(ohm))] == pytest.approx(by_hand, rel=0.01)


def test_current_along_a_strip_of_planes_meets_mu0_h_l_over_w() -> None:
    """A short at one end of a long strip, ports of its whole width: the transmission line below its first mode."""
    pair = PlanePair(100, 4, 0.2, 4.0, 0.0)
    frequency = np.array([1e6])
    ohm = plane_impedance_ohm(pair, [PlanePort(2, 2, 4), PlanePort(98, 2, 4)], frequency)[0]
    loop = ohm[0, 0] - ohm[0, 1] * ohm[1, 0] / ohm[1, 1]
    # each port spreads over 4 mm: from centre to centre 96 mm, and a third of each port's half
    expected = sheet_inductance_h(0.2, 96 - 4 / 3, 4)
    skin = 2 * math.sqrt(math.pi * 1e6 * 4e-7 * math.pi / 5.8e7) * 96 / 4
    assert loop.imag / (2 * math.pi * 1e6) - skin / (2 * math.pi * 1e6) == pytest.approx(expected, rel=0.02)


def test_current_between_two_ports_spreads_as_a_ring() -> None:
    """Two ports far from the edges, mu0 h/pi ln(s/r); a square spreads as a circle of 0.59 of its side."""
    pair = PlanePair(400, 400, 0.1, 4.0, 0.0)
    frequency = np.array([1e6])
    z = plane_impedance_ohm(pair, [PlanePort(195, 200, 1), PlanePort(205, 200, 1)], frequency)[0]
    both = z[0, 0] + z[1, 1] - 2 * z[0, 1]
    by_hand = 2 * spreading_inductance_h(0.1, 0.59 / 1.14, 10)
    assert (both.imag - both.real) / (2 * math.pi * 1e6) == pytest.approx(by_hand, rel=0.1)


def test_what_is_no_plane_pair_or_port_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        PlanePair(100, 0, 0.1, 4, 0)
    with pytest.raises(ValueError, match="Df"):
        PlanePair(100, 10, 0.1, 4, 1.5)
    pair = PlanePair(100, 10, 0.1, 4, 0)
    with pytest.raises(ValueError, match="not inside"):
        plane_impedance_ohm(pair, [PlanePort(50, 11, 1)], np.array([1e6]))
    with pytest.raises(ValueError, match="above 0 Hz"):
        plane_impedance_ohm(pair, [PlanePort(50, 5, 1)], np.array([0.0]))


def test_an_outline_keeps_its_area() -> None:
    sides = same_area(5000, 100, 80)
    assert sides[0] * sides[1] == pytest.approx(5000)
    assert sides[0] / sides[1] == pytest.approx(1.25)


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
    pair = PlanePair(30, 30, 0.1, 4.0, 0.02)
    frequencies = np.geomspace(1e6, 1e9, 1201)
    planes = PlaneNodes(("a",), plane_impedance_ohm(pair, [PlanePort(15, 15, 2)], frequencies))
    capacitor = SeriesBranch("C1", "a", GROUND, 0.02, 1e-9, 100e-9)
    assert capacitor.resonance_hz == pytest.approx(15.915e6, rel=1e-3)
    (peak,) = peaks(solve([capacitor], "a", frequencies, planes))
    assert (peak.capacitive, peak.inductive) == ("planes", "C1")
    both_f = 1 / (1 / 100e-9 + 1 / pair.capacitance_f)
    assert peak.frequency_hz == pytest.approx(1 / (2 * math.pi * math.sqrt(1e-9 * both_f)), rel=0.05)


def test_the_count_to_a_target_is_the_smallest_that_a_new_network_confirms() -> None:
    frequencies = np.geomspace(1e5, 1e8, 801)
    solved = solve(P4, "load", frequencies)
    (peak,) = peaks(solved)
    part = SeriesBranch("more", "load", GROUND, 5e-3, 2.5e-9, 100e-6)
    target = 0.6 * peak.impedance_ohm
    count = count_to_target(solved, part, target, 1e6)
    assert count is not None
    assert count > 1

    def worst(number: int) -> float:
        again = solve((*P4, replace(part, count=number)), "load", frequencies).impedance_ohm
        return float(np.max(np.abs(again[frequencies <= 1e6])))

    start = float(np.max(np.abs(solved.impedance_ohm[frequencies <= 1e6])))
    assert worst(count) <= target
    assert all(worst(number) > target for number in range(1, count))
    assert count_to_target(solved, part, start * 1.001, 1e6) == 0
    assert count_to_target(solved, part, 1e-6, 1e8) is None
    with pytest.raises(ValueError, match="positive"):
        count_to_target(solved, part, 0.0, 1e6)


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
