"""Loss per length from drawing to dB: against field solvers, and against boards that were measured."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import pytest

from drc_rules.analysis.lines.solved_lines import limit_of
from stackup_lib.field_solver.perturbation import perturb
from stackup_lib.field_solver.validity import microstrip_eps_eff
from stackup_lib.transmission_lines.lossy import loss_of
from stackup_lib.transmission_lines.materials.roughness import Gradient
from stackup_lib.validation.cases import section_of_case
from tests.support.physics.measured_loss import (
    BEYOND,
    CURVE,
    LINES,
    MEASURED,
    MODES,
    SOLVERS,
    curve_db_per_mm,
    foil_of,
    in_range,
    loss_db_per_inch,
    materials_of,
    points,
    smooth_db_per_mm,
    solved,
    solver_loss_db_per_inch,
)

# --- field solvers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", SOLVERS, ids=lambda case: case["id"])
def test_drawings_to_the_loss_of_field_solvers(case: dict[str, Any]) -> None:
    """HFSS and 2D Extractor within 2 %, but for a causal stripline: 2.1 % at 40 GHz and 3.1 % at 67 GHz."""
    limit = BEYOND.get(case["id"], 0.02)
    assert solver_loss_db_per_inch(case) == pytest.approx(case["loss_db_per_inch"], rel=limit)


def test_hand_fed_crowding_was_right() -> None:
    """Crowding by moving walls, which the reference file holds, is that of the squared charge within 0.3 %."""
    for case in SOLVERS:
        geometry, _, word = case["geometry"].partition(" ")
        section = section_of_case(geometry, case["parameters_mm"] | {"er": case["dk"]})
        crowding = perturb(section, MODES[word or "single"]).crowding
        planes = crowding.plane_below_per_mm + crowding.plane_above_per_mm
        assert crowding.strip_per_mm == pytest.approx(case["trace_per_mm"], rel=3e-3), case["id"]
        assert planes == pytest.approx(case["plane_per_mm"], rel=3e-3), case["id"]


# --- measurements ----------------------------------------------------------------------------------------------------


def test_stated_intervals_contain_the_measurements() -> None:
    """All 48 measured points lie inside the interval from foil, Df and nickel, those beyond the range included."""
    assert len(points()) == 48
    assert [p for p in points() if not p.low <= p.measured <= p.high] == []
    assert sum(p.in_range for p in points()) == 32


def test_intervals_are_not_empty_words() -> None:
    """Where the foil is named the interval of bare copper spans a factor below 2.4, of FR-4 without foil below 1.6."""
    assert max(p.high / p.low for p in in_range("ASTRA-Copper")) < 2.4
    fr4 = [p for line in ("SKRF-MSL", "SKRF-CPWG") for p in in_range(line)]
    assert max(p.high / p.low for p in fr4) < 1.6


def test_fr4_lines_of_unknown_foil_are_met_within_ten_per_cent() -> None:
    """Microstrip and grounded coplanar line on FR-4: 10 % worst and 6 % median in range, 15 % worst of all points."""
    fr4 = [p for line in ("SKRF-MSL", "SKRF-CPWG") for p in in_range(line)]
    assert len(fr4) == 5
    assert max(abs(p.error) for p in fr4) < 0.1
    assert median(abs(p.error) for p in fr4) < 0.061
    assert max(abs(p.error) for p in points() if p.line.startswith("SKRF")) < 0.15


def test_astra_microstrip_by_its_laminates_foil_is_met() -> None:
    """Nothing fitted, Rz of 2 um, the product's outer etch: 0 to 9 % low, 5 % in the median."""
    astra = in_range("ASTRA-Copper")
    assert len(astra) == 6
    assert all(-0.09 < p.error < 0 for p in astra)
    assert median(abs(p.error) for p in astra) < 0.05


def test_bare_copper_in_range_is_met_within_ten_per_cent() -> None:
    """Astra by its foil and FR-4 without a stated one, eleven points: 10 % worst, 5.0 % median."""
    bare = [p for line in ("ASTRA-Copper", "SKRF-MSL", "SKRF-CPWG") for p in in_range(line)]
    assert len(bare) == 11
    assert max(abs(p.error) for p in bare) < 0.1
    assert median(abs(p.error) for p in bare) < 0.0505


def test_megtron_7_lines_are_met_within_a_fifth_with_the_usual_foil() -> None:
    """Two widths, nothing fitted: 94 um within 14 % and 5 % in the median, 209 um up to 19 % low, 14 % in the median.

    The narrow line is met within 3 % from 10 to 28 GHz. The wide one loses more below 40 GHz than copper, foil and Df
    account for, and as much as the narrow one above.
    """
    narrow, wide = in_range("M7-94"), in_range("M7-209")
    assert (len(narrow), len(wide)) == (8, 7)
    assert max(abs(p.error) for p in narrow) < 0.145
    assert median(abs(p.error) for p in narrow) < 0.05
    assert all(abs(p.error) < 0.035 for p in narrow if 10 <= p.frequency_ghz <= 28)
    assert all(-0.19 < p.error < 0 for p in wide)
    assert median(abs(p.error) for p in wide) < 0.145
    assert all(abs(p.error) < 0.055 for p in wide if p.frequency_ghz >= 40)


def test_megtron_7_lines_are_faster_than_the_dk_of_their_own_solution_says() -> None:
    """2 to 6 % of effective permittivity, 1 to 3 % of delay: both lines alike, so it is the Dk of a thin ply."""
    for name in ("M7-94", "M7-209"):
        bonded, other = (rz.laws()[1] for rz in foil_of(name))
        f, measured, _ = np.array(LINES[name]["eps_eff"]).T
        line, size = solved(name), LINES[name]["parameters_mm"]
        slow = (loss_of(line, materials_of(name, bonded, other), f).delay_ps_per_mm * 0.299792458) ** 2
        risen = [microstrip_eps_eff(x, size["w"], size["h"], size["er"], line.eps_eff) / line.eps_eff for x in f]
        error = slow * np.array(risen) / measured - 1
        assert np.all((error > 0.02) & (error < 0.06)), (name, error)


def test_astra_microstrip_with_the_roughness_quoted_beside_the_data_reads_high() -> None:
    """1 um rms on bonded face and plane, 0.05 um elsewhere, gradient law: 37 to 49 % too much from 10 to 28 GHz."""
    rms = LINES["ASTRA-Copper"]["author_rms_um"]
    bonded, other = Gradient(rms["bonded"]), Gradient(rms["other"])
    errors = [
        loss_db_per_inch("ASTRA-Copper", p.frequency_ghz, bonded, other) / p.measured - 1
        for p in in_range("ASTRA-Copper")
        if p.frequency_ghz >= 10
    ]
    assert min(errors) > 0.37
    assert max(errors) < 0.49


def fitted_rq_um(line_id: str, ghz: float) -> float:
    """Return the one Rq of all faces with which a line loses at one frequency what was measured there."""
    measured = next(p.measured for p in points() if (p.line, p.frequency_ghz) == (line_id, ghz))
    low, high = 0.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        if loss_db_per_inch(line_id, ghz, Gradient(middle), Gradient(middle)) < measured:
            low = middle
        else:
            high = middle
    return low


def test_one_roughness_from_one_frequency_gives_the_others() -> None:
    """Rq of the Astra line fitted at 10 GHz is 0.31 um; the other points to 40 GHz are met: 8 % worst, 5 % median."""
    rq = fitted_rq_um("ASTRA-Copper", 10.0)
    assert rq == pytest.approx(0.315, abs=0.01)
    others = [p for p in points() if p.line == "ASTRA-Copper" and p.frequency_ghz <= 40 and p.frequency_ghz != 10]
    errors = [loss_db_per_inch(p.line, p.frequency_ghz, Gradient(rq), Gradient(rq)) / p.measured - 1 for p in others]
    assert len(errors) == 6
    assert max(abs(e) for e in errors) < 0.08
    assert median(abs(e) for e in errors) < 0.05


def test_beyond_the_stated_range_the_model_reads_low_and_says_so() -> None:
    """At 56 GHz and above the Astra line loses more than any quasi-static nominal; these points are out of range."""
    far = [p for p in points() if p.line == "ASTRA-Copper" and p.frequency_ghz >= 56]
    assert len(far) == 3
    assert all(not p.in_range and p.error < -0.2 for p in far)


def test_enig_is_an_interval_and_no_figure() -> None:
    """Nickel at its typical values misses by up to 39 %: its conductivity and permeability are not known better."""
    enig = in_range("ASTRA-ENIG")
    bare = {p.frequency_ghz: p for p in in_range("ASTRA-Copper")}
    assert len(enig) == 6
    errors = {p.frequency_ghz: p.error for p in enig}
    assert max(abs(e) for e in errors.values()) == errors[5.0] == pytest.approx(0.385, abs=0.01)
    assert all(e < 0 for ghz, e in errors.items() if ghz >= 16)
    for point in enig:
        if point.frequency_ghz in bare:
            assert point.nominal > 1.3 * bare[point.frequency_ghz].nominal
            assert point.measured > 1.2 * bare[point.frequency_ghz].measured


# --- the one curve whose foil and material are known apart from its loss ----------------------------------------------


def test_the_whole_measured_curve_is_met() -> None:
    """All 35 frequencies in range of the bare Astra line, nothing fitted: 10 % worst from 2 GHz on, 4 % median."""
    assert solved("ASTRA-Copper").section.strips[0].top_width_mm == pytest.approx(0.284 - 0.01)
    assert limit_of(solved("ASTRA-Copper")).frequency_ghz == pytest.approx(35.3, abs=0.2)
    errors = curve_db_per_mm() / CURVE[:, 1] - 1
    assert len(errors) == 35
    assert np.all(np.abs(errors[1:]) < 0.10)
    assert 0.1 < errors[0] < CURVE[0, 2] / CURVE[0, 1] < 0.17  # at 1 GHz the measurement is uncertain by that
    assert np.median(np.abs(errors)) < 0.035
    uncertain = dict(zip(CURVE[:, 0].tolist(), (CURVE[:, 2] / CURVE[:, 1]).tolist(), strict=True))
    assert [round(100 * uncertain[ghz]) for ghz in (1, 10, 20, 34)] == [17, 7, 3, 1]


def test_the_largest_misses_lie_on_a_bump_that_no_uniform_line_has() -> None:
    """From 20 to 21 GHz the measured loss falls; of a smooth curve through it ours is nowhere 8 % off."""
    f, measured, _ = CURVE.T
    bump = measured / smooth_db_per_mm() - 1
    assert set(f[bump > 0.04]) <= {18.0, 19.0, 20.0, 2.0}
    assert measured[20] < measured[19]
    ours = curve_db_per_mm()
    assert np.all(np.diff(ours) > 0)
    apart = ours / smooth_db_per_mm() - 1
    assert np.all(np.abs(apart)[1:] < 0.08)
    assert np.all(np.abs(apart)[3:] < 0.05)
    assert np.all((apart[8:] > -0.05) & (apart[8:] < -0.025))
    worst = np.argsort(np.abs(ours / measured - 1)[1:])[-3:] + 1
    assert set(f[worst]) == {18.0, 19.0, 20.0}


def test_what_each_unknown_of_that_line_is_worth() -> None:
    """Half a micrometre of Rz moves the loss at 20 GHz by 8 %, its etch by 3 %, the maker's Dk by 1.4 %."""
    base = curve_db_per_mm()[19]
    assert curve_db_per_mm(rz_um=2.5)[19] / base - 1 == pytest.approx(0.08, abs=0.01)
    assert curve_db_per_mm(rz_um=1.5)[19] / base - 1 == pytest.approx(-0.075, abs=0.01)
    assert curve_db_per_mm(taper_mm=0.0)[19] / base - 1 == pytest.approx(-0.026, abs=0.005)
    assert curve_db_per_mm(taper_mm=0.02)[19] / base - 1 == pytest.approx(0.044, abs=0.005)
    assert curve_db_per_mm(dk=3.0)[19] / base - 1 == pytest.approx(0.014, abs=0.003)


def test_the_same_line_is_as_slow_as_measured() -> None:
    """Effective permittivity with inner inductance and dispersion: 0.4 to 1 % low, its course met within 0.2 %."""
    bonded, other = (rz.laws()[1] for rz in foil_of("ASTRA-Copper"))
    f, measured, uncertain = np.array(LINES["ASTRA-Copper"]["eps_eff"]).T
    assert np.all((uncertain / measured > 0.003) & (uncertain / measured < 0.007))
    line, size = solved("ASTRA-Copper"), LINES["ASTRA-Copper"]["parameters_mm"]
    delay = loss_of(line, materials_of("ASTRA-Copper", bonded, other), f).delay_ps_per_mm
    static = line.eps_eff
    risen = np.array([microstrip_eps_eff(x, size["w"], size["h"], size["er"], static) / static for x in f])
    ours = (delay * 0.299792458) ** 2 * risen
    error = ours / measured - 1
    assert np.all((error > -0.01) & (error < -0.004))
    assert np.ptp(error[1:]) < 0.002  # from 5 GHz on
    assert risen[-1] == pytest.approx(1.0115, abs=3e-4)


def test_no_measured_line_has_a_foil_that_its_authors_state() -> None:
    """What is not stated by who measured is said of each line, and dielectrics that were fitted to it are called so."""
    for given in LINES.values():
        assert given["foil_from"] == "nobody" or "who measured names none" in given["foil_from"]
        assert bool(given["foil"]) == (given["foil_from"] != "nobody")
        assert ("taper" in given["parameters_mm"]) == ("as stated" in given["walls_from"])
    assert all("fitted" in LINES[line]["dielectric_from"] for line in ("SKRF-MSL", "SKRF-CPWG"))
    msl, cpwg = (LINES[line]["parameters_mm"] for line in ("SKRF-MSL", "SKRF-CPWG"))
    assert (msl["er"], LINES["SKRF-MSL"]["df"]) == (cpwg["er"], LINES["SKRF-CPWG"]["df"]) == (4.421, 0.0167)


def test_every_figure_that_was_left_out_says_why() -> None:
    """Budgets, rules of thumb and boards of unknown stackup are listed with what they lack, each once."""
    left = [name for group in MEASURED["left_out"] for name in group["ids"]]
    assert len(left) == len(set(left)) == 30
    assert all(group["missing"] for group in MEASURED["left_out"])
    assert len(left) + len(points()) + len(SOLVERS) == 103
