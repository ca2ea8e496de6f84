"""Crosstalk between ways: against closed forms and the exact modes of two lines that couple all along."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from stackup_lib.channels.ways import FAR, NEAR, Place, SignalWay, WayStep, crosstalk
from stackup_lib.transmission_lines.four_port import chain_of_modes, s_of_pair_chain
from stackup_lib.transmission_lines.loss import LineLoss
from stackup_lib.transmission_lines.two_port import line_chain, open_stub_chain

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

GHZ = np.linspace(0, 40, 401)
TAU_NS_PER_MM = 6e-3


def line(ohm: float, tau_ns_per_mm: float = TAU_NS_PER_MM, ohm_per_m: float = 0.0) -> LineLoss:
    """A line without dispersion."""
    one = np.ones_like(GHZ)
    slow = tau_ns_per_mm * 1e-6
    return LineLoss(GHZ, ohm_per_m * one, ohm * slow * one, 0 * one, slow / ohm * one, 0 * one, 0 * one, 0 * one)


def way(*parts: tuple[LineLoss, float]) -> SignalWay:
    steps = tuple(WayStep(line_chain(one, mm), one, mm, (mm, mm)) for one, mm in parts)
    return SignalWay(frequency_ghz=GHZ, steps=steps, reference_ohm=50.0)


def place(mm: float, inductive: float, capacitive: float, **other: float | bool) -> Place:
    fields: dict[str, object] = {
        "step": 0, "at_mm": mm / 2, "other_step": 0, "other_at_mm": mm / 2, "mm": mm, "is_opposite": False,
        "inductive": inductive, "capacitive": capacitive,
    }  # fmt: skip
    return Place(**{**fields, **other})  # type: ignore[arg-type]


def test_matched_lines_have_the_crosstalk_of_the_textbook() -> None:
    """Near end (kL + kC)/2 sin(omega T), far end omega T (kC - kL)/2, later by the delay of the whole line."""
    one = way((line(50), 60.0))
    found = crosstalk(one, one, [place(60.0, 0.03, 0.01)])
    turn = 2 * np.pi * GHZ * TAU_NS_PER_MM * 60
    assert found[:, NEAR, NEAR] == pytest.approx(1j * 0.02 * np.sin(turn) * np.exp(-1j * turn), abs=1e-9)
    assert found[:, FAR, FAR] == pytest.approx(found[:, NEAR, NEAR], abs=1e-9)
    assert found[:, FAR, NEAR] == pytest.approx(-0.01j * turn * np.exp(-1j * turn), abs=1e-9)
    assert found[:, NEAR, FAR] == pytest.approx(found[:, FAR, NEAR], abs=1e-9)


def test_a_run_in_pieces_is_the_run() -> None:
    """Also where the pieces are half a wavelength long and the line is not matched."""
    one, other = way((line(42), 60.0)), way((line(55), 60.0))
    whole = crosstalk(one, other, [place(60.0, 0.03, 0.02)])
    pieces = [place(3.0, 0.03, 0.02, at_mm=3 * k + 1.5, other_at_mm=3 * k + 1.5) for k in range(20)]
    assert crosstalk(one, other, pieces) == pytest.approx(whole, abs=1e-9)


def test_a_way_that_runs_back_exchanges_its_ends() -> None:
    one, other = way((line(45, ohm_per_m=20), 60.0)), way((line(52, ohm_per_m=20), 80.0))
    turned = way((line(52, ohm_per_m=20), 80.0))
    along = crosstalk(one, other, [place(40.0, 0.03, 0.01, at_mm=30.0, other_at_mm=25.0)])
    back = crosstalk(one, turned, [place(40.0, 0.03, 0.01, at_mm=30.0, other_at_mm=55.0, is_opposite=True)])
    assert back[:, :, ::-1] == pytest.approx(along, abs=1e-9)


@pytest.mark.parametrize("ohm", [50.0, 40.0])
def test_weak_coupling_is_near_the_exact_modes(ohm: float) -> None:
    """Two lines of 40 mm between their sum and difference modes, within 3 % to 13 GHz.

    Left out is the square of the coupling, of the far end (omega T (kC - kL)/2)^2: at 40 GHz a tenth.
    """
    k_l, k_c, mm = 0.02, 0.008, 40.0
    own = line(ohm, ohm_per_m=15)
    henry, farad = own.inductance_h_per_m, own.capacitance_f_per_m
    chains = []
    for sign in (-1, 1):
        values = henry * (1 + sign * k_l), own.conductance_s_per_m, farad / (1 + sign * k_c)
        mode = LineLoss(GHZ, own.resistance_ohm_per_m, *values, 0 * GHZ, 0 * GHZ, 0 * GHZ)
        chains.append(line_chain(mode, mm))
    exact = s_of_pair_chain(chain_of_modes(*chains), 50.0)
    one = way((own, mm))
    found = crosstalk(one, one, [place(mm, k_l, k_c)])
    for mine, theirs in ((found[:, NEAR, NEAR], exact[:, 2, 0]), (found[:, FAR, NEAR], exact[:, 3, 0])):
        for last_ghz, most_off in ((13, 0.03), (40, 0.15)):
            here = last_ghz >= GHZ
            assert np.abs(mine - theirs)[here].max() < most_off * np.abs(theirs[here]).max()


def _exact(inductance: Real, potential: Real, mm: float) -> Complex:
    """S-parameters between 50 ohm of four lossless traces, ports near and then far: the exact modes of the matrices.

    Both in units of a single trace's, L = 50 ohm times `TAU_NS_PER_MM` and P = 1/C likewise.
    """
    slow = TAU_NS_PER_MM * 1e-6
    found = []
    for ghz in GHZ:
        series = 2e9j * np.pi * ghz * 50 * slow * inductance
        shunt = 2e9j * np.pi * ghz * slow / 50 * np.linalg.inv(potential)
        both = np.block([[0 * series, series], [shunt, 0 * shunt]])
        values, vectors = np.linalg.eig(both)
        if ghz == 0:
            chain = np.eye(8, dtype=np.complex128)
        else:
            chain = vectors @ np.diag(np.exp(values * mm * 1e-3)) @ np.linalg.inv(vectors)
        found.append(chain)
    a, b, c, d = (np.array(found)[:, i : i + 4, k : k + 4] for i in (0, 4) for k in (0, 4))
    b, c = b / 50, c * 50
    inverse = np.linalg.inv(a + b + c + d)
    upper = [(a + b - c - d) @ inverse, np.zeros_like(a)]
    return np.concatenate([np.concatenate(upper, axis=2), np.concatenate([2 * inverse, np.zeros_like(a)], axis=2)], 1)


@pytest.mark.parametrize(("gap", "most_off"), [(2.0, 0.06), (4.0, 0.02)])
def test_two_pairs_couple_as_four_traces_do(gap: float, most_off: float) -> None:
    """Wires one over a plane by their images, the field partly in air, against the exact modes, to 19 GHz.

    Two heights apart the coupling is 5 %, four 1 %. The power over all frequencies is within
    6 and 2 % of amplitude; value by value, late by the square of the coupling, three times as much.
    """
    x = np.array([0.0, 1.5, 1.5 + gap, 3.0 + gap])
    apart = np.abs(x[:, None] - x)
    matrices = []
    for height, own in ((1.0, 2.0), (0.7, 1.9)):
        mutual = 0.5 * np.log1p((2 * height / np.where(apart > 0, apart, 1.0)) ** 2)
        matrices.append(np.where(apart > 0, mutual, own) / own)
    inductance, potential = matrices
    turn = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    pair_l, pair_p = (turn @ matrix @ turn.T for matrix in matrices)
    mm = 30.0
    s = _exact(inductance, potential, mm)
    near, far = (turn @ s[:, k : k + 4, :4] @ turn.T / 2 for k in (0, 4))
    ohm = 50 * math.sqrt(pair_l[0, 0] * pair_p[0, 0]) / 2
    slow = TAU_NS_PER_MM * math.sqrt(pair_l[0, 0] / pair_p[0, 0])
    one = way((line(ohm, slow), mm))
    share = pair_l[0, 1] / pair_l[0, 0], pair_p[0, 1] / pair_p[0, 0]
    found = crosstalk(one, one, [place(mm, *share)])
    here = GHZ <= 19
    for mine, theirs in ((found[here, NEAR, NEAR], near[here, 1, 0]), (found[here, FAR, NEAR], far[here, 1, 0])):
        assert np.linalg.norm(mine) == pytest.approx(np.linalg.norm(theirs), rel=most_off)
        assert np.linalg.norm(mine - theirs) < 3 * most_off * np.linalg.norm(theirs)


def test_a_stub_behind_the_run_takes_its_notch_from_the_far_end() -> None:
    """What resonates in the victim's way shows in its crosstalk at the end behind it, and little at the other."""
    plain = line(50)
    stub = WayStep(open_stub_chain(GHZ, 2.0, 50, 4.0, 0.001))
    run = WayStep(line_chain(plain, 60.0), plain, 60.0, (60.0, 60.0))
    victim = SignalWay(frequency_ghz=GHZ, steps=(run, stub), reference_ohm=50.0)
    coupled = [place(60.0, 0.03, 0.01)]
    other = way((plain, 60.0))
    ratio = np.abs(crosstalk(victim, other, coupled)[1:] / crosstalk(other, other, coupled)[1:])
    at = int(np.argmin(np.abs(GHZ - 18.74))) - 1  # a quarter of a wave in 2 mm of Dk 4
    assert np.abs(victim.s[at + 1, 1, 0]) < 0.05
    assert ratio[at, FAR, NEAR] < 0.05
    assert ratio[at, NEAR, NEAR] > 0.5
