"""Via stubs: resonance, loading, impedance and loss, held to closed forms, limits and independent solutions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import y0

from stackup_lib.core.interval import Interval
from stackup_lib.vias.stub_resonance import (
    ViaError,
    ViaShape,
    coaxial_ohm,
    loaded_dk,
    loading,
    resonance_ghz,
    stub_loss_db,
    stub_loss_interval_db,
    stub_resonance_ghz,
    via_ohm,
)
from tests.support.physics.closed_forms import plane_stack_capacitance, twin_rod_ohm

DK = Interval(low=3.3, nominal=3.4, high=3.5)
USUAL = ViaShape(barrel_mm=0.3, antipad_mm=0.81, pad_mm=0.45, end_pad_mm=0.45)


def exactly(value: float) -> Interval:
    return Interval(low=value, nominal=value, high=value)


@pytest.mark.parametrize(("length_mm", "dk", "expected_ghz"), [(1.4, 4.3, 25.8), (0.8, 4.2, 45.7)])
def test_published_quarter_waves(length_mm: float, dk: float, expected_ghz: float) -> None:
    """Two stubs that a web calculator gets wrong by a factor of 5 to 9; worked out by hand from c/(4 L sqrt Dk)."""
    assert resonance_ghz(length_mm, dk) == pytest.approx(expected_ghz, abs=0.05)


def test_a_stub_resonates_at_odd_multiples_only() -> None:
    """1, 3, 5 times the quarter wave."""
    first = resonance_ghz(1.0, 4.0)

    assert [resonance_ghz(1.0, 4.0, n) / first for n in range(3)] == pytest.approx([1, 3, 5])


def test_a_barrel_in_a_solid_wall_is_a_coax() -> None:
    """50 ohm air coax: D/d = 2.3025 (7 mm over 3.04 mm, IEEE 287)."""
    assert coaxial_ohm(3.04, 7.0, 1.0) == pytest.approx(50.0, abs=0.05)


def test_twin_rods_far_apart_approach_the_logarithm() -> None:
    """arccosh(s/d) tends to ln(2s/d); 300 ohm twin lead in air has s/d near 6.1."""
    assert twin_rod_ohm(1.0, 6.134, 1.0) == pytest.approx(300.0, abs=0.5)
    assert twin_rod_ohm(0.3, 300.0, 4.0) == pytest.approx(59.958 * math.log(2000.0), rel=1e-4)


def test_nothing_loads_a_bare_barrel_in_a_wide_hole() -> None:
    """No pads and an antipad beyond the reach of the return current: Dk_eff is the laminate's."""
    bare = ViaShape(barrel_mm=0.3, antipad_mm=50.0)

    assert loading(bare, 1.0) == exactly(1.0)
    assert loaded_dk(bare, DK, 1.0) == DK
    assert stub_resonance_ghz(bare, DK, exactly(1.0)).nominal == pytest.approx(resonance_ghz(1.0, 3.4))


def test_pads_and_partners_slow_a_stub() -> None:
    """Each term raises the permittivity, none lowers it below the laminate's."""
    bare = loading(ViaShape(barrel_mm=0.3, antipad_mm=0.81), 1.5)
    padded = loading(ViaShape(barrel_mm=0.3, antipad_mm=0.81, pad_mm=0.45), 1.5)
    near = loading(ViaShape(barrel_mm=0.3, antipad_mm=0.81, partner_mm=0.85), 1.5)
    far = loading(ViaShape(barrel_mm=0.3, antipad_mm=0.81, partner_mm=1.0), 1.5)

    assert bare.nominal < padded.nominal
    assert 1.0 <= bare.nominal < near.nominal < far.nominal
    assert padded.low == 1.0


def test_a_usual_stub_is_loaded_by_a_third_to_double() -> None:
    """Where the trade expects the Dk_eff of a through via with pads, 1.3 to 2 times the laminate's."""
    assert 1.3 < loading(USUAL, 0.78).nominal < 2.0


def test_inductance_of_a_pair_is_half_a_twin_rod_line() -> None:
    """The ratio to the coax of the antipad, term by term."""
    pair = ViaShape(barrel_mm=0.3, antipad_mm=0.81, partner_mm=1.0)

    coax = coaxial_ohm(0.3, 0.81, 1.0)
    assert pair.inductance_ratio(1.5).nominal == pytest.approx(twin_rod_ohm(0.3, 1.0, 1.0) / 2 / coax)


def test_a_partner_further_away_than_the_return_current_does_nothing() -> None:
    """At the high resonance of a short stub the fields end before they reach it."""
    lone, pair = (ViaShape(barrel_mm=0.3, antipad_mm=0.81, partner_mm=p) for p in (None, 1.0))

    assert lone.inductance_ratio(0.8).high == pair.inductance_ratio(0.8).high > 1.0
    assert pair.inductance_ratio(0.2) == exactly(1.0)


def test_the_return_radius_is_that_of_the_radial_line() -> None:
    """-Y0(x) pi/2 tends to ln(2/x) - 0.5772, so the inductance of a thin barrel is mu/2pi ln(1.1229/(k r))."""
    wave_number, barrel_mm, antipad_mm = 0.05, 0.02, 0.04
    shape = ViaShape(barrel_mm=barrel_mm, antipad_mm=antipad_mm)

    exact = -math.pi / 2 * y0(wave_number * barrel_mm / 2)
    ratio = shape.inductance_ratio(math.pi / 2 / wave_number).high
    assert ratio * shape.wall == pytest.approx(exact, rel=1e-5)


def test_the_pad_at_the_end_lengthens_a_stub() -> None:
    """By half of its overhang: 0.0375 mm of 0.075 mm; worst case by all of it."""
    length = USUAL.stub_length_mm(Interval(low=0.9, nominal=1.0, high=1.1))

    assert (length.low, length.nominal, length.high) == pytest.approx((0.9, 1.0375, 1.175))
    assert USUAL.model_copy(update={"end_pad_mm": None}).stub_length_mm(exactly(1.0)) == exactly(1.0)


def test_a_stub_without_length_costs_nothing() -> None:
    """The limit of a perfect backdrill."""
    drilled = USUAL.model_copy(update={"end_pad_mm": None})
    resonance = stub_resonance_ghz(drilled, DK, exactly(0.0))

    assert resonance.nominal == math.inf
    assert stub_loss_interval_db(16, resonance, 42.5, exactly(35.0)) == exactly(0.0)


def chained(frequency_ghz: float, length_mm: float, dk: float, line_ohm: float, stub_ohm: float) -> float:
    """Insertion loss in dB from ABCD matrices: line, shunt stub cut into 400 slices of L and C, line."""
    omega = 2 * math.pi * frequency_ghz
    slices, delay = 400, length_mm * math.sqrt(dk) / 299.792458
    series, shunt = 1j * omega * delay * stub_ohm / slices, 1j * omega * delay / stub_ohm / slices
    slice_ = np.array([[1 + series * shunt / 2, series * (1 + series * shunt / 4)], [shunt, 1 + series * shunt / 2]])
    stub = np.linalg.matrix_power(slice_, slices)
    admittance = stub[1, 0] / stub[0, 0]
    a, b, c, d = np.array([[1, 0], [admittance, 1]]).ravel()
    return float(-20 * np.log10(abs(2 / (a + b / line_ohm + c * line_ohm + d))))


@pytest.mark.parametrize("frequency_ghz", [1.0, 8.0, 16.0, 24.0, 60.0])
@pytest.mark.parametrize("stub_ohm", [25.0, 50.0])
def test_stub_loss_agrees_with_a_chain_of_matrices(frequency_ghz: float, stub_ohm: float) -> None:
    """An independent ladder of lumped slices, below and beyond resonance (25.8 GHz)."""
    closed = stub_loss_db(frequency_ghz, resonance_ghz(1.4, 4.3), 42.5, stub_ohm)

    assert closed == pytest.approx(chained(frequency_ghz, 1.4, 4.3, 42.5, stub_ohm), rel=1e-3)


def test_stub_loss_of_a_matched_stub_at_half_its_resonance() -> None:
    """tan(45 deg) = 1: |1 + j/2|^2 = 1.25, 0.969 dB."""
    assert stub_loss_db(10, 20, 50, 50) == pytest.approx(0.9691, abs=1e-4)
    assert stub_loss_db(20, 20, 50, 50) == math.inf


def test_the_loss_interval_holds_all_corners() -> None:
    """Low resonance and low impedance are the worst; a worst case at or past resonance has no bound."""
    resonance = Interval(low=30.0, nominal=40.0, high=60.0)
    ohm = Interval(low=30.0, nominal=36.0, high=42.0)
    at_16 = stub_loss_interval_db(16, resonance, 42.5, ohm)

    corners = [stub_loss_db(16, f, 42.5, z) for f in (30.0, 60.0) for z in (30.0, 42.0)]
    assert at_16.low == min(corners)
    assert at_16.high == max(corners)
    assert stub_loss_interval_db(32, resonance, 42.5, ohm).high == math.inf
    assert stub_loss_interval_db(32, resonance, 42.5, ohm).nominal < math.inf
    assert stub_loss_interval_db(50, resonance, 42.5, ohm).nominal == math.inf


def test_resonance_interval_orders_its_corners() -> None:
    """Low is the longest stub under the heaviest loading, high the shortest in bare laminate."""
    found = stub_resonance_ghz(USUAL, DK, Interval(low=0.9, nominal=1.0, high=1.1))

    assert found.high == pytest.approx(resonance_ghz(0.9, 3.3))
    assert found.low == pytest.approx(resonance_ghz(1.175, 3.5 * loading(USUAL, 1.175).high))
    assert found.low < found.nominal < found.high


@pytest.mark.parametrize("pitch_mm", [0.1, 0.2, 0.4])
@pytest.mark.parametrize(
    ("barrel_mm", "antipad_mm", "pad_mm"),
    [(0.3, 0.81, None), (0.3, 0.81, 0.45), (0.3, 0.9, 0.5), (0.36, 1.0, 0.6), (0.24, 0.7, 0.44)],
)
def test_the_capacitance_of_a_plane_stack_lies_in_the_interval(
    barrel_mm: float, antipad_mm: float, pad_mm: float | None, pitch_mm: float
) -> None:
    """A field solution of barrel, pads and planes; 3 % for its grid."""
    shape = ViaShape(barrel_mm=barrel_mm, antipad_mm=antipad_mm, pad_mm=pad_mm)

    ratio = plane_stack_capacitance(shape, pitch_mm) * shape.wall
    stated = shape.capacitance_ratio
    assert stated.low - 0.03 <= ratio <= stated.high + 0.03
    if pitch_mm == 0.2:
        assert ratio == pytest.approx(stated.nominal, rel=0.1)


def test_via_impedance_of_a_bare_barrel_is_near_its_coax() -> None:
    """A short lone barrel without pads: sqrt(L/C) of the coax, +-15 %."""
    ohm = via_ohm(ViaShape(barrel_mm=0.3, antipad_mm=0.81), 3.4, 0.1)

    assert ohm.nominal == pytest.approx(coaxial_ohm(0.3, 0.81, 3.4))
    assert ohm.low / ohm.nominal == pytest.approx(0.85)
    assert ohm.high / ohm.nominal == pytest.approx(1.15)


def test_a_via_pair_lies_between_twin_rods_and_twice_the_coax() -> None:
    """Planes add capacitance to twin rods; the far return adds inductance to the coax."""
    shape = ViaShape(barrel_mm=0.3, antipad_mm=0.81, partner_mm=1.0)
    pair = 2 * via_ohm(shape, 3.4, 1.0).nominal

    assert 2 * coaxial_ohm(0.3, 0.81, 3.4) < pair < twin_rod_ohm(0.3, 1.0, 3.4)


@pytest.mark.parametrize(
    "shape",
    [
        {"barrel_mm": 0.3, "antipad_mm": 0.3},
        {"barrel_mm": 0.3, "antipad_mm": 0.45, "pad_mm": 0.45},
        {"barrel_mm": 0.3, "antipad_mm": 0.8, "partner_mm": 0.3},
    ],
)
def test_vias_that_cannot_exist_are_refused(shape: dict[str, float]) -> None:
    """Antipads inside pads, and barrels that overlap."""
    with pytest.raises(ViaError):
        ViaShape(**shape)


# Published stubs: what others measured, held against the interval for holes of the kind that they had.

MIL = 0.0254


@pytest.mark.parametrize(
    ("barrel_mil", "antipad_mil", "pitch_mil", "pad_mil"),
    [(28, 53, 59, None), (24, 48, 55, None), (22, 50, 59, 36)],
    ids=["press-fit", "small", "pads on every layer"],
)
def test_the_null_of_a_measured_backplane_lies_in_the_interval(
    barrel_mil: float, antipad_mil: float, pitch_mil: float, pad_mil: float | None
) -> None:
    """Simonovich, Via Stubs Demystified (2012): 270 mil of stub, null measured near 4.4 GHz, so Dk_eff is 6.2.

    He gives neither hole nor laminate: usual backplane holes and FR4 of Dk 3.6 to 4.2 stand in. The bare laminate
    would put the null at 5.5 GHz, a quarter too high: a stub is loaded.
    """
    measured_ghz, length_mm = 4.4, 270 * MIL
    pad_mm = None if pad_mil is None else pad_mil * MIL
    shape = ViaShape(
        barrel_mm=barrel_mil * MIL, antipad_mm=antipad_mil * MIL, partner_mm=pitch_mil * MIL, pad_mm=pad_mm
    )
    dk = Interval(low=3.6, nominal=3.9, high=4.2)

    found = stub_resonance_ghz(shape, dk, exactly(length_mm))
    assert found.low <= measured_ghz <= found.high
    assert found.nominal <= measured_ghz < resonance_ghz(length_mm, dk.nominal)
    dk_eff = (299.792458 / (4 * length_mm * measured_ghz)) ** 2
    assert dk_eff == pytest.approx(6.2, abs=0.05)
    assert 1.45 < dk_eff / dk.high < dk_eff / dk.low < 1.75


def test_a_partner_nearer_than_the_antipad_does_not_draw_the_return_inside_it() -> None:
    """Barrels that nearly touch: the return current stays on the antipad's rim, so the inductance is a coax's."""
    close = ViaShape(barrel_mm=0.3, antipad_mm=0.81, partner_mm=0.4)

    assert math.acosh(0.4 / 0.3) < close.wall
    assert close.inductance_ratio(1.5) == exactly(1.0)


def test_pads_no_wider_than_the_barrel_do_not_lower_its_capacitance() -> None:
    """A pad that the drill takes away is none."""
    ratio = ViaShape(barrel_mm=0.3, antipad_mm=0.81, pad_mm=0.2).capacitance_ratio

    assert (ratio.nominal, ratio.high) == (1.0, 1.0)


def test_the_most_that_pads_may_add_is_not_far_above_a_field_solution() -> None:
    """Planes every 0.1 mm: the upper end holds the field solution and exceeds it by less than 10 %."""
    field = plane_stack_capacitance(USUAL, 0.1) * USUAL.wall

    assert 0.97 * field < USUAL.capacitance_ratio.high < 1.1 * field


def test_the_heaviest_loading_has_all_capacitance_and_all_inductance() -> None:
    """Dk_eff is c^2 L C: each end is the product of both ratios, and the impedance the root of their quotient."""
    capacitance, inductance = USUAL.capacitance_ratio, USUAL.inductance_ratio(1.5)
    found = loading(USUAL, 1.5)

    assert inductance.high > 1.2
    assert found.high == pytest.approx(capacitance.high * inductance.high)
    assert found.nominal == pytest.approx(capacitance.nominal * inductance.nominal)
    ohm = via_ohm(USUAL, 3.4, 1.5).nominal
    assert ohm == pytest.approx(coaxial_ohm(0.3, 0.81, 3.4) * math.sqrt(inductance.nominal / capacitance.nominal))
    assert capacitance.nominal > 1.1


def test_past_the_nominal_resonance_the_best_case_is_still_a_number() -> None:
    """At 50 GHz a stub that resonates somewhere from 30 to 60 GHz may yet be short of it."""
    resonance = Interval(low=30.0, nominal=40.0, high=60.0)
    found = stub_loss_interval_db(50, resonance, 42.5, Interval(low=30.0, nominal=36.0, high=42.0))

    assert found.low == stub_loss_db(50, 60.0, 42.5, 42.0) < math.inf
    assert found.nominal == found.high == math.inf
