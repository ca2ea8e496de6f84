"""Losses of lines as measured, by a curve that is fitted to them, and as we solve them."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.lines.solved_lines import limit_of
from stackup_lib.field_solver.perturbation import Mode, perturb
from stackup_lib.field_solver.solver import solve
from stackup_lib.materials import find_foil
from stackup_lib.transmission_lines.buildup import OUTER_TAPER_PER_COPPER
from stackup_lib.transmission_lines.loss import Face, Filling, line_from_impedance, loss_per_length, trace_depth_mm
from stackup_lib.transmission_lines.lossy import CopperFaces, LineMaterials, SolvedLine, loss_of, solve_line
from stackup_lib.transmission_lines.material_range import DF_SLACK, UNKNOWN_FOIL
from stackup_lib.transmission_lines.materials.conductor_models import NICKEL_HIGH, NICKEL_LOW, NickelGold
from stackup_lib.transmission_lines.materials.dielectric_models import (
    PermittivityModel,
    wideband_debye,
)
from stackup_lib.transmission_lines.materials.foil_roughness import FoilFace, RzInterval, face_roughness
from stackup_lib.transmission_lines.materials.laminate_models import through_point
from stackup_lib.transmission_lines.materials.roughness import Roughness, cannonball
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from stackup_lib.validation.cases import section_of_case, value_of_quantity
from tests.support.physics.closed_forms import ConstantDielectric

REFERENCE = Path(__file__).parents[3] / "fixtures" / "reference"
SOLVERS: list[dict[str, Any]] = tomllib.loads((REFERENCE / "solver_loss_cases.toml").read_text(encoding="utf-8"))[
    "case"
]
MEASURED = tomllib.loads((REFERENCE / "measured_loss_cases.toml").read_text(encoding="utf-8"))
LINES: dict[str, dict[str, Any]] = {line["id"]: line for line in MEASURED["line"]}
MODES: dict[str, Mode] = {"single": "single", "odd": "odd", "even": "even"}
PER_INCH = 25.4


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
def solved(line_id: str, dk: float | None = None, taper_mm: float | None = None) -> SolvedLine:
    """Return a measured line, solved with the product's own pipeline; its walls as stated, else the product's."""
    size = LINES[line_id]["parameters_mm"]
    if taper_mm is None:
        taper_mm = size.get("taper", OUTER_TAPER_PER_COPPER * size["t"])
    site = TraceEnvironment(
        layer="F.Cu",
        reference_below="GND",
        below=(DielectricSheet(name="laminate", kind="core", thickness_mm=size["h"], dk=dk or size["er"]),),
        copper_mm=size["t"],
        taper_mm=taper_mm,
    )
    return solve_line(site, size["w"], coplanar_gap_mm=size.get("g"))


def materials_of(
    line_id: str,
    bonded: Roughness,
    other: Roughness,
    *,
    df_factor: float = 1.0,
    finish: NickelGold | None = None,
    dk: float | None = None,
) -> LineMaterials:
    """Return what a measured line is made of, with given roughness of bonded faces (trace and plane) and of others."""
    given = LINES[line_id]
    size = given["parameters_mm"]
    return LineMaterials(
        sheets=(through_point(dk or size["er"], given["df"] * df_factor, given["spec_ghz"]),),
        faces=CopperFaces(bonded=bonded, other=other, plane_below=bonded, plane_above=bonded),
        plane_copper_mm=(size["t"], size["t"]),
        finish=finish,
    )


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
    materials = materials_of(line_id, bonded, other, df_factor=df_factor, finish=finish)
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


CURVE: NDArray[np.float64] = np.array([row for row in LINES["ASTRA-Copper"]["curve"] if row[0] <= 35])
"""Frequency in GHz, loss and uncertainty in dB/mm of the bare Astra line, in range."""


def curve_db_per_mm(
    *, dk: float | None = None, taper_mm: float | None = None, rz_um: float | None = None
) -> NDArray[np.float64]:
    """Return our nominal loss at the frequencies of the curve: as the product takes the line, or with one change."""
    bonded, other = (rz.laws()[1] for rz in foil_of("ASTRA-Copper"))
    materials = materials_of("ASTRA-Copper", bonded if rz_um is None else cannonball(rz_um), other, dk=dk)
    return loss_of(solved("ASTRA-Copper", dk, taper_mm), materials, CURVE[:, 0]).total_db_per_mm


def smooth_db_per_mm() -> NDArray[np.float64]:
    """Return a smooth curve through the measured one: sqrt(f) for copper, f for dielectric, f^1.5 for roughness."""
    f, measured, _ = CURVE.T
    terms = np.stack([np.sqrt(f), f, f**1.5], axis=1)
    return np.asarray(terms @ np.linalg.lstsq(terms / measured[:, None], np.ones(len(f)), rcond=None)[0])
