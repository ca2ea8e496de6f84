"""Published impedances and what our solver makes of the same dimensions."""

from __future__ import annotations

import tomllib
from pathlib import Path

from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.loss import Face, Filling, line_from_impedance, loss_per_length, trace_depth_mm
from stackup_lib.transmission_lines.materials.dielectric_models import (
    PermittivityModel,
    wideband_debye,
)
from stackup_lib.validation.case_files import read_cases
from stackup_lib.validation.cases import section_of_case, value_of_quantity
from stackup_lib.validation.compare import CaseOutcome, validate
from tests.support.once_per_run import once_per_run
from tests.support.physics.closed_forms import ConstantDielectric

REFERENCE = Path(__file__).parents[3] / "fixtures" / "reference"
FILE = tomllib.loads((REFERENCE / "published_cases.toml").read_text(encoding="utf-8"))
GROUPS = FILE["groups"]
ENTRIES = {entry["id"]: entry for entry in FILE["case"]}
LOSS = {
    case["id"]: case
    for case in tomllib.loads((REFERENCE / "solver_loss_cases.toml").read_text(encoding="utf-8"))["case"]
}
LIMIT_PCT = 0.5


@once_per_run
def outcomes() -> tuple[CaseOutcome, ...]:
    """Every published value, solved."""
    return tuple(validate(read_cases(REFERENCE / "published_cases.toml"), LIMIT_PCT))


def group_of(outcome: CaseOutcome) -> str:
    """Return the program or fab that a value is from."""
    return str(ENTRIES[outcome.id]["group"])


DYNAMIC = [
    # published value, line of known crowding with the same copper, GHz
    ("HFSS-1", "Z0", "HFSS-L1", 1.0),
    ("HFSS-2", "Z0", "HFSS-L1", 1.0),
    ("HFSS-2", "eps_eff", "HFSS-L1", 1.0),
    ("HFSS-5", "Zodd", "HFSS-L6", 1.0),
    ("HFSS-5", "Zeven", "HFSS-L7", 1.0),
    ("AN2D-1", "Zodd", "AN2D-DIFF-odd-10", 10.0),
    ("HFSS-6", "Zodd", "HFSS-L4", 1.0),
    ("HFSS-6", "Zeven", "HFSS-L5", 1.0),
    ("HFSS-6", "eps_eff_odd", "HFSS-L4", 1.0),
    ("HFSS-6", "eps_eff_even", "HFSS-L5", 1.0),
]


def with_internal_inductance(case_id: str, quantity: str, loss_id: str, ghz: float) -> float:
    """Return our value of a published quantity with the field inside smooth copper, and causal Dk for 2D Extractor."""
    entry, copper = ENTRIES[case_id], LOSS[loss_id]
    solution = solve(section_of_case(entry["geometry"], entry["parameters_mm"]))
    mode = quantity.removeprefix("Z").removeprefix("eps_eff_")
    pair = mode in ("odd", "even")
    static = value_of_quantity(solution, f"Z{mode}" if pair else "Z0")
    eps = value_of_quantity(solution, f"eps_eff_{mode}" if pair else "eps_eff")
    dk, size = entry["parameters_mm"]["er"], copper["parameters_mm"]
    model: PermittivityModel = ConstantDielectric(dk, 0.02)
    if loss_id.startswith("AN2D"):
        model = wideband_debye(dk, 0.02, 1.0, lower_corner_ghz=1e-6, upper_corner_ghz=159.15494)
    trace = copper["trace_per_mm"]
    faces = (
        Face(trace, trace_depth_mm(trace, size["w"] * size["t"])),
        Face(copper["plane_per_mm"], size["t"], of_plane=True),
    )
    line = line_from_impedance(static, eps, (Filling(copper["dielectric_share"], dk, model),), faces)
    got = loss_per_length(line, ghz)
    if quantity.startswith("Z"):
        return float(got.impedance_ohm.real)
    return float(got.delay_ps_per_mm * 0.299792458) ** 2
