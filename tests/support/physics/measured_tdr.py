"""Steps of impedance along a line as measured over time, and ours."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from stackup_lib.transmission_lines.loss import loss_per_length
from stackup_lib.transmission_lines.lossy import CopperFaces, LineMaterials, line_of, solve_line
from stackup_lib.transmission_lines.materials.laminate_models import through_point
from stackup_lib.transmission_lines.materials.roughness import Smooth
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from stackup_lib.transmission_lines.two_port import in_a_row, line_chain, s_of_chain, step_impedance_ohm

FILE = Path(__file__).parents[3] / "fixtures" / "reference" / "measured_tdr_cases.toml"
CASE: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))["stepped"][0]
GHZ = np.linspace(0, 10, 1001)
PORT_OHM = 50.0
LATER_PS = 250.0
"""Behind both sections, ahead of the echo between them."""


@cache
def stepped_ohm() -> dict[str, tuple[float, float, float]]:
    """What a step sees from either port: the extreme in the first section, in the second, and behind both."""
    smooth = CopperFaces(bonded=Smooth(), other=Smooth(), plane_below=Smooth(), plane_above=Smooth())
    materials = LineMaterials(
        sheets=(through_point(CASE["er"], CASE["df"], CASE["at_ghz"]),),
        faces=smooth,
        plane_copper_mm=(CASE["t"], CASE["t"]),
        finish=None,
    )
    site = TraceEnvironment(
        layer="F.Cu",
        reference_below="GND",
        below=(DielectricSheet(name="laminate", kind="core", thickness_mm=CASE["h"], dk=CASE["er"]),),
        copper_mm=CASE["t"],
        taper_mm=CASE["taper"],
    )
    lines = {
        width: loss_per_length(line_of(solve_line(site, width), materials), GHZ) for width, _ in CASE["sections_mm"]
    }
    s = s_of_chain(in_a_row((line_chain(lines[w], mm) for w, mm in CASE["sections_mm"]), len(GHZ)), PORT_OHM)
    return {"port1": _extremes(s[:, 0, 0], 1), "port2": _extremes(s[:, 1, 1], -1)}


def _extremes(reflection: np.ndarray, sign: int) -> tuple[float, float, float]:
    time_ps, ohm = step_impedance_ohm(GHZ, reflection, PORT_OHM)
    within = (time_ps > 400) & (time_ps < 1400)  # behind the first 50 mm, ahead of the last
    first = int(np.argmin(np.where(within, sign * ohm, np.inf)))
    second = first + int(np.argmax(np.where(within, sign * ohm, -np.inf)[first:]))
    return float(ohm[first]), float(ohm[second]), float(np.interp(time_ps[second] + LATER_PS, time_ps, ohm))
