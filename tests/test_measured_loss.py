"""Loss per length from drawing to dB: against field solvers, and against boards that were measured."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from drc_rules.lines import DF_SLACK, UNKNOWN_FOIL, limit_of
from stackup_lib.lines.cases import section_of_case, value_of_quantity
from stackup_lib.lines.conductor_models import NICKEL_HIGH, NICKEL_LOW, NickelGold
from stackup_lib.lines.dielectric_models import ConstantDielectric, PermittivityModel, wideband_debye
from stackup_lib.lines.foil_roughness import FoilFace, RzInterval, face_roughness
from stackup_lib.lines.laminate_models import through_point
from stackup_lib.lines.loss import Face, Filling, line_from_impedance, loss_per_length, trace_depth_mm
from stackup_lib.lines.lossy import CopperFaces, LineMaterials, SolvedLine, loss_of, solve_line
from stackup_lib.lines.perturbation import Mode, perturb
from stackup_lib.lines.roughness import Gradient, Roughness
from stackup_lib.lines.site import LineSite, Sheet
from stackup_lib.lines.solver import solve
from stackup_lib.materials import find_foil

REFERENCE = Path(__file__).parents[1] / "fixtures" / "reference"
SOLVERS: list[dict[str, Any]] = tomllib.loads((REFERENCE / "solver_loss_cases.toml").read_text(encoding="utf-8"))[
    "case"
]
MEASURED = tomllib.loads((REFERENCE / "measured_loss_cases.toml").read_text(encoding="utf-8"))
LINES: dict[str, dict[str, Any]] = {line["id"]: line for line in MEASURED["line"]}
MODES: dict[str, Mode] = {"single": "single", "odd": "odd", "even": "even"}
PER_INCH = 25.4


# --- field solvers ---------------------------------------------------------------------------------------------------


def solver_loss_db_per_inch(case: dict[str, Any]) -> float:
    """Return our loss of a smooth line that a field solver reports, from its drawing alone."""
    geometry, _, word = case["geometry"].partition(" ")
    mode = MODES[word or "single"]
    dk, df = case["dk"], case["df"]
    section = section_of_case(geometry, case["parameters_mm"] | {"er": dk})
    solution, found = solve(section), perturb(section, mode)
    strip, crowding = section.strips[0], found.crowding
    planes = crowding.plane_below_per_mm + crowding.plane_above_per_mm
    faces = (
        Face(crowding.strip_per_mm, trace_depth_mm(crowding.strip_per_mm, strip.base_width_mm * strip.thickness_mm)),
        Face(planes, strip.thickness_mm, of_plane=True),
    )
    causal = wideband_debye(dk, df, 1.0, lower_corner_ghz=1e-6, upper_corner_ghz=159.15494)
    model: PermittivityModel = ConstantDielectric(dk, df) if case["id"].startswith("HFSS") else causal
    z, eps = {"single": ("Z0", "eps_eff"), "odd": ("Zodd", "eps_eff_odd"), "even": ("Zeven", "eps_eff_even")}[mode]
    filling = Filling(math.fsum(found.shares.layers), dk, model)
    line = line_from_impedance(value_of_quantity(solution, z), value_of_quantity(solution, eps), (filling,), faces)
    return float(loss_per_length(line, case["frequency_ghz"]).total_db_per_mm) * PER_INCH


BEYOND = {"AN2D-SL-40.24": 0.022, "AN2D-SL-67": 0.032}
"""Above 30 GHz the unstated reference frequency and corner of these exports' Dk matter, and 67 GHz is out of range."""


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


@dataclass(frozen=True)
class Point:
    """A measured loss and ours, least lossy, nominal and lossiest, in dB/inch."""

    line: str
    frequency_ghz: float
    measured: float
    uncertainty: float
    low: float
    nominal: float
    high: float
    in_range: bool

    @property
    def error(self) -> float:
        """Nominal over measured, less 1."""
        return self.nominal / self.measured - 1


@cache
def solved(line_id: str) -> SolvedLine:
    """Return a measured line, solved with the product's own pipeline."""
    given = LINES[line_id]
    size = given["parameters_mm"]
    site = LineSite(
        layer="F.Cu",
        reference_below="GND",
        below=(Sheet(name="laminate", kind="core", thickness_mm=size["h"], dk=size["er"]),),
        copper_mm=size["t"],
    )
    return solve_line(site, size["w"], coplanar_gap_mm=size.get("g"))


def loss_db_per_inch(
    line_id: str,
    ghz: float,
    bonded: Roughness,
    other: Roughness,
    *,
    df_factor: float = 1.0,
    finish: NickelGold | None = None,
) -> float:
    """Return our loss of a measured line with given roughness of bonded faces (trace and plane) and of the others."""
    given = LINES[line_id]
    size = given["parameters_mm"]
    materials = LineMaterials(
        sheets=(through_point(size["er"], given["df"] * df_factor, given["spec_ghz"]),),
        faces=CopperFaces(bonded=bonded, other=other, plane_below=bonded, plane_above=bonded),
        plane_copper_mm=(size["t"], size["t"]),
        finish=finish,
    )
    return float(loss_of(solved(line_id), materials, ghz).total_db_per_mm) * PER_INCH


def foil_of(line_id: str) -> tuple[RzInterval, RzInterval]:
    """Return Rz of bonded and other face as the product takes it: from the named foil, or from no name at all."""
    name = LINES[line_id]["foil"]
    if not name:
        any_face = RzInterval(low_um=0.0, nominal_um=UNKNOWN_FOIL.high_um / 2, high_um=UNKNOWN_FOIL.high_um)
        return UNKNOWN_FOIL, any_face
    match = find_foil(name)
    bonded, other = (face_roughness(match, face, "F.Cu").value for face in (FoilFace.BONDED, FoilFace.OTHER))
    assert bonded is not None
    assert other is not None
    return bonded, other


@cache
def points() -> tuple[Point, ...]:
    """Every measured point, with the interval from foil, Df within 10 % and what nickel may be."""
    out: list[Point] = []
    for line_id, given in LINES.items():
        bonded, other = (rz.laws() for rz in foil_of(line_id))
        nickel = (NickelGold(nickel=NICKEL_LOW), NickelGold(), NickelGold(nickel=NICKEL_HIGH))
        finishes = nickel if given["finish"] == "ENIG" else (None, None, None)
        limit = limit_of(solved(line_id)).frequency_ghz
        for ghz, measured, uncertainty in given["points"]:
            low, nominal, high = (
                loss_db_per_inch(line_id, ghz, bonded[k], other[k], df_factor=factor, finish=finishes[k])
                for k, factor in enumerate((1 - DF_SLACK, 1.0, 1 + DF_SLACK))
            )
            out.append(Point(line_id, ghz, measured, uncertainty, low, nominal, high, ghz <= limit))
    return tuple(out)


def in_range(line_id: str) -> list[Point]:
    """Return the points of a line up to where a quasi-static answer is given."""
    return [point for point in points() if point.line == line_id and point.in_range]


def test_stated_intervals_contain_the_measurements() -> None:
    """All 30 measured points lie inside the interval from foil, Df and nickel, those beyond the range included."""
    assert len(points()) == 30
    assert [p for p in points() if not p.low <= p.measured <= p.high] == []
    assert sum(p.in_range for p in points()) == 17


def test_intervals_are_not_empty_words() -> None:
    """Where the foil is named the interval of bare copper spans a factor below 2.4, of FR-4 without foil below 1.5."""
    assert max(p.high / p.low for p in in_range("ASTRA-Copper")) < 2.4
    fr4 = [p for line in ("SKRF-MSL", "SKRF-CPWG") for p in in_range(line)]
    assert max(p.high / p.low for p in fr4) < 1.5


def test_fr4_lines_are_met_within_ten_per_cent_although_nobody_states_their_foil() -> None:
    """Microstrip and grounded coplanar line on FR-4: 8 % worst and 3 % median in range, 9 % worst of all points."""
    fr4 = [p for line in ("SKRF-MSL", "SKRF-CPWG") for p in in_range(line)]
    assert len(fr4) == 5
    assert max(abs(p.error) for p in fr4) < 0.08
    assert median(abs(p.error) for p in fr4) < 0.03
    assert max(abs(p.error) for p in points() if p.line.startswith("SKRF")) < 0.1


def test_astra_microstrip_by_its_foils_own_figures_is_met_as_far_as_it_was_measured() -> None:
    """Nothing fitted, the maker's nominal 2 um Rz: 3 to 11 % low, within 10 % and the measurement's own uncertainty."""
    astra = in_range("ASTRA-Copper")
    assert len(astra) == 6
    assert all(-0.12 < p.error < -0.03 for p in astra)
    assert all(abs(p.error) < 0.1 + p.uncertainty / p.measured for p in astra)


def test_bare_copper_in_range_is_met_with_a_median_below_five_per_cent() -> None:
    """Astra by its foil and FR-4 without a stated one: eleven points."""
    bare = [p for line in ("ASTRA-Copper", "SKRF-MSL", "SKRF-CPWG") for p in in_range(line)]
    assert len(bare) == 11
    assert median(abs(p.error) for p in bare) < 0.05


def test_astra_microstrip_with_the_roughness_quoted_beside_the_data_reads_high() -> None:
    """1 um rms on bonded face and plane, 0.05 um elsewhere, by the same law: 32 to 43 % too much from 10 to 28 GHz."""
    rms = LINES["ASTRA-Copper"]["author_rms_um"]
    bonded, other = Gradient(rms["bonded"]), Gradient(rms["other"])
    errors = [
        loss_db_per_inch("ASTRA-Copper", p.frequency_ghz, bonded, other) / p.measured - 1
        for p in in_range("ASTRA-Copper")
        if p.frequency_ghz >= 10
    ]
    assert min(errors) > 0.32
    assert max(errors) < 0.43


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
    """Rq of the Astra line fitted at 10 GHz is 0.34 um; the other points to 40 GHz are met: 7 % worst, 5 % median."""
    rq = fitted_rq_um("ASTRA-Copper", 10.0)
    assert rq == pytest.approx(0.34, abs=0.01)
    others = [p for p in points() if p.line == "ASTRA-Copper" and p.frequency_ghz <= 40 and p.frequency_ghz != 10]
    errors = [loss_db_per_inch(p.line, p.frequency_ghz, Gradient(rq), Gradient(rq)) / p.measured - 1 for p in others]
    assert len(errors) == 6
    assert max(abs(e) for e in errors) < 0.07
    assert median(abs(e) for e in errors) < 0.05


def test_beyond_the_stated_range_the_model_reads_low_and_says_so() -> None:
    """At 56 GHz and above the Astra line loses more than any quasi-static nominal; these points are out of range."""
    far = [p for p in points() if p.line == "ASTRA-Copper" and p.frequency_ghz >= 56]
    assert len(far) == 3
    assert all(not p.in_range and p.error < -0.25 for p in far)


def test_enig_is_an_interval_and_no_figure() -> None:
    """Nickel at its typical figures misses by up to 39 %: its conductivity and permeability are not known better."""
    enig = in_range("ASTRA-ENIG")
    bare = {p.frequency_ghz: p for p in in_range("ASTRA-Copper")}
    assert len(enig) == 6
    errors = {p.frequency_ghz: p.error for p in enig}
    assert max(abs(e) for e in errors.values()) == errors[5.0] == pytest.approx(0.394, abs=0.01)
    assert all(e < 0 for ghz, e in errors.items() if ghz >= 16)
    for point in enig:
        if point.frequency_ghz in bare:
            assert point.nominal > 1.3 * bare[point.frequency_ghz].nominal
            assert point.measured > 1.2 * bare[point.frequency_ghz].measured


def test_every_figure_that_was_left_out_says_why() -> None:
    """Budgets, rules of thumb and boards of unknown stackup are listed with what they lack, each once."""
    left = [name for group in MEASURED["left_out"] for name in group["ids"]]
    assert len(left) == len(set(left)) == 30
    assert all(group["missing"] for group in MEASURED["left_out"])
    assert len(left) + len(points()) + len(SOLVERS) == 85
