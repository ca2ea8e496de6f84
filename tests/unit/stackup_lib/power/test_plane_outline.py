"""Planes of any outline against sums over modes of another program, closed forms, and what must hold of any network."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackup_lib.power.over_frequency.plane_cells import EMPTY, sheet_cells
from stackup_lib.power.over_frequency.plane_outline import outline_modes
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort
from stackup_lib.power.over_frequency.rail_planes import LEAST_MM2, LEAST_POINTS
from tests.support.physics.closed_forms import sheet_inductance_h, spreading_inductance_h
from tests.support.physics.plane_cells import cells_of, rectangle_ohm
from tests.support.physics.power_frequency import cavities_off

LIGHT_M_PER_S = 299792458


def test_planes_meet_the_points_of_another_program() -> None:
    """Four boards, 28 frequencies, self and transfer: 0.02 % of |Z|, and 2 % next to a null."""
    off = cavities_off()
    assert len(off) == 56
    assert np.median(off) < 2e-4
    assert max(off) < 0.02, "the reference moves by 1.9 % with its terms near the null of PDN-CAV-1 at 100 MHz"


def test_planes_are_a_capacitor_far_below_their_first_mode() -> None:
    pair = PlanePair(8000, 0.1, 4.0, 0.0, copper_mm=0.035)
    ohm = rectangle_ohm(pair, (100, 80), [PlanePort(50, 40, 0.5), PlanePort(5, 5, 0.5)], np.array([1e5]))
    assert pair.capacitance_f == pytest.approx(8.8541878e-12 * 4 * 0.008 / 1e-4)
    assert np.abs(ohm[0]) == pytest.approx(1 / (2 * math.pi * 1e5 * pair.capacitance_f), rel=1e-4)


@pytest.mark.parametrize("mode", [(1, 0), (0, 1), (1, 1), (2, 0)])
def test_resonances_of_a_rectangle_are_where_the_closed_form_says(mode: tuple[int, int]) -> None:
    """c/(2 sqrt(er)) sqrt((m/a)^2 + (n/b)^2), at a corner, where every mode has its crest.

    Other modes are an inductance in series, which moves the maximum of |Z| but not that of its real part.
    """
    by_hand = LIGHT_M_PER_S / 2 / 2 * math.hypot(mode[0] / 0.12, mode[1] / 0.07)
    around = np.linspace(0.97, 1.03, 241) * by_hand
    pair = PlanePair(8400, 0.5, 4.0, 0.002)
    ohm = rectangle_ohm(pair, (120, 70), [PlanePort(0.5, 0.5, 1)], around)[:, 0, 0].real
    assert around[int(np.argmax(ohm))] == pytest.approx(by_hand, rel=0.01)


def test_current_along_a_strip_of_planes_meets_mu0_h_l_over_w() -> None:
    """Ports of the whole width of a long strip: the transmission line below its first mode."""
    frequency = np.array([1e6])
    ports = [PlanePort(2, 2, 4), PlanePort(98, 2, 4)]
    ohm = rectangle_ohm(PlanePair(400, 0.2, 4.0, 0.0), (100, 4), ports, frequency)[0]
    loop = ohm[0, 0] - ohm[0, 1] * ohm[1, 0] / ohm[1, 1]
    # each port spreads over 4 mm: from centre to centre 96 mm, and a third of each port's half
    expected = sheet_inductance_h(0.2, 96 - 4 / 3, 4)
    skin = 2 * math.sqrt(math.pi * 1e6 * 4e-7 * math.pi / 5.8e7) * 96 / 4
    assert loop.imag / (2 * math.pi * 1e6) - skin / (2 * math.pi * 1e6) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("points", [3_000, 12_000, 48_000])
def test_current_between_two_ports_spreads_as_a_ring(points: int) -> None:
    """Two ports far from the edges, mu0 h/pi ln(s/r), in cells larger and smaller than they are.

    r is the geometric mean distance within the square; the edges, 200 mm away, add less than 1 %.
    """
    frequency = np.array([1e6])
    modes = outline_modes(cells_of([(0, 0, 400, 400)], points), [PlanePort(195, 200, 1), PlanePort(205, 200, 1)])
    z = modes.impedance_ohm(PlanePair(160_000, 0.1, 4.0, 0.0), frequency)[0]
    both = z[0, 0] + z[1, 1] - 2 * z[0, 1]
    by_hand = 2 * spreading_inductance_h(0.1, 0.447, 10)
    assert (both.imag - both.real) / (2 * math.pi * 1e6) == pytest.approx(by_hand, rel=0.01)


def test_a_strip_around_a_corner_is_as_long_as_its_squares() -> None:
    """An L of two legs of 50 x 4 mm: 23 straight squares and a corner of 0.5590 square (the conformal map's)."""
    frequency = np.array([1e6])
    ports = [PlanePort(48, 2, 4), PlanePort(2, 48, 4)]
    modes = outline_modes(cells_of([(0, 0, 50, 4), (0, 4, 4, 50)], 40_000), ports)
    ohm = modes.impedance_ohm(PlanePair(384, 0.2, 4.0, 0.0), frequency)[0]
    loop = ohm[0, 0] - ohm[0, 1] * ohm[1, 0] / ohm[1, 1]
    skin = math.sqrt(math.pi * 1e6 * 4e-7 * math.pi / 5.8e7)
    squares = (2 * (44 - 2 / 3)) / 4 + 0.5590
    expected = squares * (4e-7 * math.pi * 0.2e-3 + 2 * skin / (2 * math.pi * 1e6))
    assert loop.imag / (2 * math.pi * 1e6) == pytest.approx(expected, rel=0.01)


def test_any_outline_is_passive_and_reciprocal() -> None:
    """No current takes power out, at any frequency; with ports closer than a cell, at an edge and in a hole."""
    boxes = [(0, 0, 60, 10), (0, 10, 20, 30), (24, 10, 60, 30)]
    places = [(5, 25), (5.2, 25), (5.4, 25.1), (30, 20), (60, 30), (22, 12), (50, 5)]
    ports = [PlanePort(*place, size) for place, size in zip(places, (0.3, 0.3, 1, 8, 1, 1, 0.2), strict=True)]
    pair = PlanePair(1600, 0.1, 4.2, 0.02, 0.035)
    z = outline_modes(cells_of(boxes, 2_000), ports).impedance_ohm(pair, np.geomspace(1e3, 2e9, 300))
    assert z == pytest.approx(z.transpose(0, 2, 1), rel=1e-12)
    power = np.linalg.eigvalsh(z.real)
    assert power.min() > -1e-9 * power.max()


def test_many_ports_on_few_cells_stay_a_network() -> None:
    """Torn planes, ports on one another, in holes and outside: finite, passive, and with an inverse, down to 1 kHz."""
    random = np.random.default_rng(5)
    solved = 0
    for _ in range(300):
        rows, columns = random.integers(2, 14, 2)
        copper = (random.random((rows, columns)) < random.choice([0.3, 0.6, 1.0])).astype(float)
        step = float(random.choice([0.5, 0.8, 1.5, 2.5, 5]))
        if copper.sum() < LEAST_POINTS or copper.sum() * step**2 < LEAST_MM2:
            continue
        cells = sheet_cells(0, 0, step, copper, copper)
        cells = cells.only(int(np.argmax(np.bincount(cells.pieces[cells.pieces >= 0]))))
        if np.count_nonzero(cells.sheet) < LEAST_POINTS:
            continue
        solved += 1
        places = random.uniform(-0.2, 1.2, (random.integers(1, 23), 2)) * np.array([columns, rows]) * step
        sizes = random.choice([0.3, 1.0, 8.0], len(places)).tolist()
        ports = [PlanePort(x, y, size) for (x, y), size in zip(places.tolist(), sizes, strict=True)]
        modes = outline_modes(cells, ports)
        z = modes.impedance_ohm(PlanePair(100, 0.1, 4.2, 0.02, 0.035), np.geomspace(1e3, 1e9, 30))
        power = np.linalg.eigvalsh(z.real)
        assert np.all(power[:, 0] > -1e-12 * power[:, -1])
        assert np.isfinite(np.linalg.inv(z)).all()
    assert solved > 100


def test_islands_that_nothing_joins_are_refused() -> None:
    """Two islands have no impedance between them; a port's piece is that which most of its square is on."""
    cells = cells_of([(0, 0, 20, 30), (30, 0, 50, 30)], 3_000)
    ports = [PlanePort(5, 5, 1), PlanePort(45, 5, 1)]
    with pytest.raises(ValueError, match="one piece"):
        outline_modes(cells, ports)
    here, there = (cells.piece_at(port) for port in ports)
    assert here != there
    assert cells.piece_at(PlanePort(21, 15, 1)) == here
    assert cells.piece_at(PlanePort(25, 15, 14)) in {here, there}
    assert cells.piece_at(PlanePort(25, 15, 1)) == EMPTY
    assert outline_modes(cells.only(here), ports[:1]).poles.min() == pytest.approx(0, abs=1e-9)


def test_the_antipad_around_a_port_is_no_hole_for_its_field() -> None:
    """A port in a round hole of 0.8 mm radius has nearly the impedance of one in the full plane; a slot stays open."""
    cells = cells_of([(0, 0, 60, 40)], 20_000)
    away = np.hypot(*(cells.at_mm(np.arange(cells.sheet.size)) - np.array([20.0, 15.0])).T).reshape(cells.sheet.shape)
    copper = np.where(away > 0.8, cells.sheet, 0.0)
    slotted = copper.copy()
    slotted[0, :90, 90:92] = 0.0
    pair, hz = PlanePair(2400, 0.1, 4.2, 0.02, 0.035), np.array([3e8])
    ports = [PlanePort(20, 15, 0.5), PlanePort(50, 15, 0.5)]
    full, holed, cut = (
        outline_modes(sheet_cells(0, 0, cells.step_mm, one, one), ports).impedance_ohm(pair, hz)[0]
        for one in (cells.sheet, copper, slotted)
    )
    assert holed == pytest.approx(full, rel=1e-6)
    assert abs(cut[0, 1] / full[0, 1] - 1) > 0.1


def test_what_is_no_plane_pair_or_port_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        PlanePair(0, 0.1, 4, 0)
    with pytest.raises(ValueError, match="Df"):
        PlanePair(1000, 0.1, 4, 1.5)
    with pytest.raises(ValueError, match="copper, and ports"):
        outline_modes(cells_of([(0, 0, 10, 10)], 100), [])
    with pytest.raises(ValueError, match="copper, and ports"):
        outline_modes(sheet_cells(0, 0, 1, np.zeros((3, 3)), np.zeros((3, 3))), [PlanePort(1, 1, 1)])
