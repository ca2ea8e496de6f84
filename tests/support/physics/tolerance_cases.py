"""Lines whose sensitivities another program has worked out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from stackup_lib.field_solver.sections import Mask
from stackup_lib.transmission_lines.process import LengthTolerance, Process, Tolerance
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment

CASES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[3] / "fixtures/reference/sensitivities.toml").read_text(encoding="utf-8")
)["case"]
MASK = Mask(er=3.8, on_laminate_mm=0.0305, on_trace_mm=0.0152, between_mm=0.0305)


def _budget(sigmas: float = 3.0, **change: Any) -> Process:
    """The limits of the reference budget."""

    def share(relative: float) -> Tolerance:
        return Tolerance(relative=relative, sigmas=sigmas)

    tenth = LengthTolerance(relative=0.1, sigmas=sigmas)
    given: dict[str, Any] = {
        "width": LengthTolerance(absolute_mm=0.02, sigmas=sigmas),
        "taper": share(0.5),
        "copper": share(0.2),
        "core_thickness": tenth,
        "prepreg_thickness": tenth,
        "core_dk": share(0.05),
        "prepreg_dk": share(0.05),
        "mask_thickness": share(0.4),
        "mask_dk": share(0.1),
    }
    return Process(**(given | change))


def reference_process(sigmas: float = 3.0) -> Process:
    """The reference moves neither coplanar ground with the width nor the taper with the copper."""
    return _budget(sigmas, etches_coplanar_ground=False, taper_follows_copper=False)


def site_of(case: dict[str, Any]) -> TraceEnvironment:
    p = case["parameters_mm"]
    stripline = "h2" in p
    lower = DielectricSheet(
        name="1", kind="core", thickness_mm=p["h1" if stripline else "h"], dk=p["dk1" if stripline else "dk"]
    )
    upper = (DielectricSheet(name="2", kind="prepreg", thickness_mm=p["h2"], dk=p["dk2"]),) if stripline else ()
    return TraceEnvironment(
        layer="In1.Cu",
        reference_below="In2.Cu",
        reference_above="F.Cu" if stripline else None,
        below=(lower,),
        above=upper,
        copper_mm=p["copper"],
        taper_mm=p["base"] - p["top"],
        mask=MASK if case["masked"] else None,
    )


NAMES = {
    "width": "width",
    "copper": "copper",
    "taper": "taper",
    "h": "thickness 1",
    "h1": "thickness 1",
    "h2": "thickness 2",
    "dk": "dk 1",
    "dk1": "dk 1",
    "dk2": "dk 2",
    "mask_thickness": "mask thickness",
    "mask_dk": "mask dk",
}
