"""How far power over frequency is from `fixtures/reference/power_frequency_cases.toml`, as shares of |Z|."""

from __future__ import annotations

import math
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from stackup_lib.power.over_frequency.capacitors import capacitor_data, ceramic_branch, typical_capacitor
from stackup_lib.power.over_frequency.circuit import GROUND, SeriesBranch, solve
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort
from tests.support.physics.plane_cells import rectangle_ohm
from tests.support.small_boards.decoupled import NET, context_of

CASES = tomllib.loads(
    (Path(__file__).parents[3] / "fixtures" / "reference" / "power_frequency_cases.toml").read_text(encoding="utf-8")
)
LIGHT_M_PER_S = 299792458
XEON = (
    SeriesBranch("bulk", "vr", GROUND, 0.667e-3, 172e-12, 10008e-6),
    SeriesBranch("MB1", "vr", "hf1", 0.03e-3, 12.7e-12),
    SeriesBranch("HF1", "hf1", GROUND, 1.25e-3, 68e-12, 352e-6),
    SeriesBranch("MB2", "hf1", "load", 0.29e-3, 60e-12),
    SeriesBranch("HF2", "load", GROUND, 0.833e-3, 90e-12, 264e-6),
)
P4 = (
    SeriesBranch("OS-CON", "load", GROUND, 9.28e-3, 6.4e-9, 560e-6, count=10),
    SeriesBranch("MLCC", "load", GROUND, 3.5e-3, 1.15e-9, 10e-6, count=30),
)


def cavities_off() -> list[float]:
    """Cavities from their dimensions, self and transfer impedance."""
    off: list[float] = []
    for case in CASES["cavity"]:
        length, width = case["length_mm"], case["width_mm"]
        pair = PlanePair(length * width, case["spacing_mm"], case["dk"], case["df"])
        ports = [PlanePort(length / 2, width / 2, 1), PlanePort(length / 10, width / 10, 1)]
        points = np.array(case["points"])
        found = rectangle_ohm(pair, (length, width), ports, points[:, 0])
        for ohm, (r, x) in ((found[:, 0, 0], points[:, 1:3].T), (found[:, 0, 1], points[:, 3:5].T)):
            off += list(np.abs(ohm - (r + 1j * x)) / np.abs(r + 1j * x))
    return off


def ladders_off() -> list[float]:
    """Networks with their elements as published."""
    off: list[float] = []
    for name, branches in (("PDN-INTEL-XEON", XEON), ("PDN-INTEL-P4-BANK", P4)):
        points = np.array(next(case["points"] for case in CASES["ladder"] if case["id"] == name))
        expected = points[:, 1] + 1j * points[:, 2]
        found = solve(branches, "load", points[:, 0]).impedance_ohm
        off += list(np.abs(found - expected) / np.abs(expected))
    return off


def capacitors_off(*, plain: bool) -> list[float]:
    """Measured parts by what the others of their size say, signed; `plain` with R and L that do not change."""
    data, off = capacitor_data(), []
    for case in CASES["part"]:
        part = next(row for row in data.measured if row.part == case["id"])
        rest = data.model_copy(update={"measured": tuple(row for row in data.measured if row is not part)})
        typical = typical_capacitor(part.size, part.nominal_uf * 1e-6, rest)
        assert typical is not None
        of = (typical.esr_ohm.nominal, typical.esl_h.nominal, 0.0 if plain else typical.skin_ohm.nominal)
        model = SeriesBranch("C", "a", GROUND, of[0], of[1], part.uf * 1e-6)
        if not plain:
            model = ceramic_branch("C", "a", part.uf * 1e-6, of, mounting_h=0.0)
        points = np.array(case["points"])
        off += list(np.abs(model.impedance_ohm(points[:, 0])) / np.hypot(points[:, 1], points[:, 2]) - 1)
    return off


def rebuilt_off(name: str, folder: Path | None = None) -> list[float]:
    """A cavity drawn as a board and read back, at its load in the middle, below half of its first mode."""
    case = next(one for one in CASES["cavity"] if one["id"] == name)
    with tempfile.TemporaryDirectory() as made:
        row = pdn_of(context_of(folder or Path(made), **bare_planes(case)), NET)
    logs = [math.log(point.hz) for point in row.points], [math.log(point.mohm.nominal / 1e3) for point in row.points]
    longest_m = max(case["length_mm"], case["width_mm"]) / 1e3
    most_hz = LIGHT_M_PER_S / math.sqrt(case["dk"]) / longest_m / 4
    off = []
    for hz, r, x in (point[:3] for point in case["points"]):
        ohm = math.hypot(r, x)
        if hz <= most_hz and ohm < 100:
            off.append(abs(math.exp(float(np.interp(math.log(hz), *logs))) / ohm - 1))
    return off


def bare_planes(case: dict[str, Any]) -> dict[str, Any]:
    """A cavity as a two-layer board with a load in its middle, fed through 100 uH: no matter below 100 ohm."""
    pads = [
        {"number": "1", "net": NET, "size_mm": [0.8, 0.8], "kind": "through", "drill_mm": 0.4},
        {"number": "2", "net": "GND", "at_mm": [1.5, 0], "size_mm": [0.8, 0.8], "kind": "through", "drill_mm": 0.4},
    ]
    config = f'[[rail]]\nnet = "{NET}"\nvoltage_v = 1\nto = ["U1"]\n'
    length, width = case["length_mm"] + 1, case["width_mm"] + 1
    return {
        "size_mm": [length, width],
        "stackup": f'F.Cu 0.035\ncore {case["spacing_mm"]} "X" dk={case["dk"]} df={case["df"]}\nB.Cu 0.035',
        "planes": {"F.Cu": NET, "B.Cu": "GND"},
        "vias": [],
        "parts": [{"reference": "U1", "at_mm": [length / 2, width / 2], "pads": pads}],
        "config": config + "pdn.regulator_mohm = 100000\npdn.regulator_nh = 100000\n",
    }
